//! `key = ..` beside `breaker = ..` where there is no std: a clear message, and
//! nothing else.

use crate::breaker::Breaker;

/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "breakers by key need breakerbox's feature `std`",
    label = "no breakers by key here",
    note = "leave `key` out: then `breaker = ..` guards all calls"
)]
pub trait KeyWithoutStd {}

pub fn breakers<G: ?Sized>(guard: &G) -> &G {
    guard
}

pub fn keyed_in<G: ?Sized, K: KeyWithoutStd + ?Sized>(_: &G, _: &K) -> Breaker {
    unreachable!("the compiler refused it")
}

pub fn key_of<B>(_: &B) {}
