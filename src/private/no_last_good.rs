//! `last_good = ..` without breakerbox's feature `last-good`, or where there is no
//! clock: a clear message, and nothing else.

use super::Expect;
use crate::fallback::{Asked, NoAnswer, NoFuture};
use crate::limit::Never;
use breaker_core::Outcome;
use core::marker::PhantomData;

/// Nothing implements it.
#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "`last_good` needs breakerbox's feature `last-good`, and a clock",
        label = "no last-good answers here",
        note = "enable breakerbox's feature `last-good`, and in JavaScript (a browser, an edge worker, Node) its feature `js`",
        note = "or write a `fallback` that gives the last answer"
    )
)]
#[cfg_attr(
    not(all(target_family = "wasm", target_os = "unknown")),
    diagnostic::on_unimplemented(
        message = "`last_good` needs breakerbox's feature `last-good`",
        label = "no last-good answers without it",
        note = "enable breakerbox's feature `last-good`",
        note = "or write a `fallback` that gives the last answer"
    )
)]
pub trait LastGoodFeature {}

#[derive(Debug)]
pub struct Question<O>(PhantomData<fn() -> O>);

#[derive(Debug, Default)]
pub struct Noted(());

impl Noted {
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }

    pub fn note(&self, outcome: Outcome) -> Outcome {
        outcome
    }
}

pub fn last_good_key<Q: ?Sized>(_: &Q) {}

/// How the function's output holds an answer.
#[derive(Debug)]
pub struct Form<O>(PhantomData<fn() -> O>);

pub fn form<O>(_: Expect<O>) -> Form<O> {
    Form(PhantomData)
}

pub fn question<O, A: LastGoodFeature + ?Sized, Q: ?Sized>(
    _: Form<O>,
    _: &A,
    _: &Q,
) -> Question<O> {
    Question(PhantomData)
}

pub fn question_now<O, A: LastGoodFeature + ?Sized, Q: ?Sized>(
    _: Form<O>,
    _: &A,
    _: &Q,
) -> Question<O> {
    Question(PhantomData)
}

pub fn fresh<O>(_: Form<O>, output: O) -> Result<(), O> {
    Err(output)
}

pub fn fresh_if<O>(_: Form<O>, _: &Noted, output: O) -> Result<(), O> {
    Err(output)
}

pub fn kept<O>(_: Form<O>, (): ()) -> O {
    unreachable!("the compiler refused it")
}

pub fn keep<S, O>(_: S, _: Question<O>, (): &()) -> Asked<(), Never, NoFuture<()>> {
    Asked::Now(Ok(()))
}

pub fn keep_now<S, O>(_: S, _: Question<O>, (): &()) {}

pub fn load<S, O>(_: S, _: Question<O>) -> Asked<O, NoAnswer, NoFuture<Option<O>>> {
    Asked::Now(Err(NoAnswer))
}

pub fn load_now<S, O>(_: S, _: Question<O>) -> Result<O, NoAnswer> {
    Err(NoAnswer)
}
