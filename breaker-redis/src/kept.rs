//! What fleet breakers are made of, by the place where it is kept.

use crate::breaker::FleetBreaker;
use crate::keyed::FleetKeyedBreakers;
use breakerbox::{Breaker, KeyedBreakers};
use std::sync::Arc;

/// What [`FleetBreaker::of`] takes: a breaker, a reference to one, or one in an `Arc`.
///
/// The type of the result follows from this alone, and not from what a `static` declares: so where they
/// differ the compiler says both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a breaker that a `FleetBreaker` is made of",
    label = "expected a breaker, a reference to one, or an `Arc` of one",
    note = "of a `static` give a reference: `FleetBreaker::of(&PMS, Sharing::new())`",
    note = "breakers by key are shared by `FleetKeyedBreakers::of`"
)]
pub trait Kept: Sized {
    /// `FleetBreaker<Self>`.
    type Fleet;
}

/// What [`FleetKeyedBreakers::of`] takes, in the same way as [`Kept`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not breakers by key that `FleetKeyedBreakers` are made of",
    label = "expected `KeyedBreakers`, a reference to some, or an `Arc` of some",
    note = "of a `static` give a reference: `FleetKeyedBreakers::of(&HOSTS, Sharing::new())`",
    note = "a single breaker is shared by `FleetBreaker::of`"
)]
pub trait KeptKeyed: Sized {
    /// `FleetKeyedBreakers<Self>`.
    type Fleet;
}

impl<C, P> Kept for Breaker<C, P> {
    type Fleet = FleetBreaker<Self>;
}

impl<C, P> Kept for &Breaker<C, P> {
    type Fleet = FleetBreaker<Self>;
}

impl<C, P> Kept for Arc<Breaker<C, P>> {
    type Fleet = FleetBreaker<Self>;
}

impl<O, C, P> KeptKeyed for KeyedBreakers<O, C, P> {
    type Fleet = FleetKeyedBreakers<Self>;
}

impl<O, C, P> KeptKeyed for &KeyedBreakers<O, C, P> {
    type Fleet = FleetKeyedBreakers<Self>;
}

impl<O, C, P> KeptKeyed for Arc<KeyedBreakers<O, C, P>> {
    type Fleet = FleetKeyedBreakers<Self>;
}
