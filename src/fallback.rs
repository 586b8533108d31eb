//! What a fallback may give.

use crate::limit::Never;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

/// The function's own type, or an `Option` of it.
#[diagnostic::on_unimplemented(
    message = "the fallback gives `{Self}`, but the function returns `{O}`",
    label = "expected `{O}` or `Option<{O}>`",
    note = "a fallback gives the function's own type, or an `Option` of it (`None`: the caller gets the original error)",
    note = "a closure that never returns says what it would give: `|_| -> {O} {{ .. }}`",
    note = "a plain function can't wait: its fallback can't be an `async fn`"
)]
pub trait Fallback<O> {
    /// What there may be in place of an answer: [`Never`] or [`NoAnswer`].
    type Missing;

    /// The answer, if there is one.
    fn answer(self) -> Result<O, Self::Missing>;
}

/// The fallback gave `None`.
#[derive(Clone, Copy, Debug)]
pub struct NoAnswer;

#[diagnostic::do_not_recommend]
impl<O> Fallback<O> for O {
    type Missing = Never;

    fn answer(self) -> Result<O, Never> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<O> Fallback<O> for Option<O> {
    type Missing = NoAnswer;

    fn answer(self) -> Result<O, NoAnswer> {
        self.ok_or(NoAnswer)
    }
}

/// The function's own type, an `Option` of it, or a future of one of these.
/// `M` tells the two ways apart.
#[diagnostic::on_unimplemented(
    message = "the fallback gives `{Self}`, but the function returns `{O}`",
    label = "expected `{O}`, `Option<{O}>` or a future of one of them",
    note = "a fallback gives the function's own type, or an `Option` of it (`None`: the caller gets the original error)",
    note = "a closure that never returns says what it would give: `|_| -> {O} {{ .. }}`"
)]
pub trait AsyncFallback<O, M> {
    /// What there may be in place of an answer.
    type Missing;

    /// What to await for the answer.
    type Later: Future<Output: Fallback<O, Missing = Self::Missing>>;

    /// The answer, or what to await for it.
    fn ask(self) -> Asked<O, Self::Missing, Self::Later>;
}

/// What came of asking a fallback.
#[derive(Debug)]
pub enum Asked<O, M, L> {
    /// It answered, or had nothing.
    Now(Result<O, M>),
    /// It has to be awaited.
    Later(L),
}

/// The fallback gave a value.
#[derive(Debug)]
pub struct Value;

/// The fallback gave a future.
#[derive(Debug)]
pub struct Awaited;

#[diagnostic::do_not_recommend]
impl<O, V: Fallback<O>> AsyncFallback<O, Value> for V {
    type Missing = V::Missing;
    type Later = NoFuture<V>;

    fn ask(self) -> Asked<O, V::Missing, NoFuture<V>> {
        Asked::Now(self.answer())
    }
}

#[diagnostic::do_not_recommend]
impl<O, F: Future<Output: Fallback<O>>> AsyncFallback<O, Awaited> for F {
    type Missing = <F::Output as Fallback<O>>::Missing;
    type Later = F;

    fn ask(self) -> Asked<O, Self::Missing, F> {
        Asked::Later(self)
    }
}

/// A future that there can't be. The compiler sees that too (the fields are
/// public for it), so that a function whose fallback is a value keeps nothing
/// for the time in which it would be awaited.
#[derive(Debug)]
pub struct NoFuture<V>(pub Never, pub PhantomData<fn() -> V>);

impl<V> Future for NoFuture<V> {
    type Output = V;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<V> {
        match self.0 {}
    }
}
