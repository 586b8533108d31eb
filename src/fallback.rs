//! What a fallback may give.

use core::future::Future;

/// The function's own type, or an `Option` of it.
#[diagnostic::on_unimplemented(
    message = "the fallback gives `{Self}`, but the function returns `{O}`",
    label = "expected `{O}` or `Option<{O}>`",
    note = "a fallback gives the function's own type, or an `Option` of it (`None`: the caller gets the original error)",
    note = "a plain function can't wait: its fallback can't be an `async fn`"
)]
pub trait Fallback<O> {
    /// The answer, if there is one.
    fn answer(self) -> Option<O>;
}

#[diagnostic::do_not_recommend]
impl<O> Fallback<O> for O {
    fn answer(self) -> Option<O> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<O> Fallback<O> for Option<O> {
    fn answer(self) -> Self {
        self
    }
}

/// The function's own type, an `Option` of it, or a future of one of these.
/// `M` tells the two ways apart.
#[diagnostic::on_unimplemented(
    message = "the fallback gives `{Self}`, but the function returns `{O}`",
    label = "expected `{O}`, `Option<{O}>` or a future of one of them",
    note = "a fallback gives the function's own type, or an `Option` of it (`None`: the caller gets the original error)"
)]
pub trait AsyncFallback<O, M> {
    /// The answer, if there is one.
    fn answer(self) -> impl Future<Output = Option<O>>;
}

/// The fallback gave a value.
#[derive(Debug)]
pub struct Value;

/// The fallback gave a future.
#[derive(Debug)]
pub struct Awaited;

#[diagnostic::do_not_recommend]
impl<O, V: Fallback<O>> AsyncFallback<O, Value> for V {
    fn answer(self) -> impl Future<Output = Option<O>> {
        core::future::ready(Fallback::answer(self))
    }
}

#[diagnostic::do_not_recommend]
impl<O, F: Future<Output: Fallback<O>>> AsyncFallback<O, Awaited> for F {
    async fn answer(self) -> Option<O> {
        Fallback::answer(self.await)
    }
}
