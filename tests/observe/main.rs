//! Observers: what they hear, in which order, and what they can't break.

#[path = "../support/mod.rs"]
mod support;

mod adaptors;
mod badly;
mod calls;
mod circuits;
mod events;
mod flood;
mod labels;
mod late;
mod left;
mod names;
mod order;
mod permits;
mod record;
