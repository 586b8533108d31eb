//! Observers: what they hear, in which order, and what they can't break.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod events;
mod record;
