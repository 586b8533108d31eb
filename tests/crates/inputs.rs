//! The root of the packages `edition-2018`, `-2021` and `-2024`: every kind of input of the
//! attribute, with what it is to do, in each edition of the language.

#![cfg(test)]
#![deny(warnings)]
#![allow(
    clippy::duplicate_mod,
    clippy::uninlined_format_args,
    reason = "each of these is a test program in `tests/` too, where it has `support` to itself"
)]

#[path = "../arguments.rs"]
mod arguments;
#[path = "../attributes.rs"]
mod attributes;
#[path = "../body.rs"]
mod body;
#[path = "../cancellation.rs"]
mod cancellation;
#[path = "../drop_order.rs"]
mod drop_order;
#[path = "../fallback_on.rs"]
mod fallback_on;
#[path = "../future_props.rs"]
mod future_props;
#[path = "../generics.rs"]
mod generics;
#[path = "../hygiene.rs"]
mod hygiene;
#[path = "../last_good/functions.rs"]
mod last_good;
#[path = "../parameters.rs"]
mod parameters;
#[path = "../receivers.rs"]
mod receivers;
#[path = "../return_type.rs"]
mod return_type;
#[path = "../traits.rs"]
mod traits;
