//! What can stand in `last_good = ..`.

use super::LastGood;
use core::error::Error;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// What can stand in the attribute's `last_good = ..`: a [`LastGood`], or what leads
/// to one: a reference, `Arc`, `Rc`, `Box` or `LazyLock`; also a `Result` of one, of a file
/// that may not open. (Then each call goes on without, and observers are told of the
/// error: [`last_good_failed`](crate::observe::Observer::last_good_failed).)
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place for last-good answers",
    label = "`last_good = ..` takes a `LastGood`, or a reference, `Arc`, `Rc`, `Box`, `LazyLock` or `Result` of one",
    note = "declare one by `static COSTS: LastGood<String, Costs> = LastGood::new(Duration::from_secs(3600))`, of the key and the answer",
    note = "or keep one in the client: `last_good = self.costs`"
)]
pub trait Answers {
    /// The key as it is kept.
    type Key: 'static;
    /// The answer.
    type Value: 'static;
    /// Where the answers are.
    type Store;

    /// The answers.
    ///
    /// # Errors
    /// Why there are none.
    fn last_good(&self) -> Found<'_, Self>;
}

/// Answers, or why there are none.
type Found<'a, A> = Result<
    &'a LastGood<<A as Answers>::Key, <A as Answers>::Value, <A as Answers>::Store>,
    &'a (dyn Error + 'static),
>;

impl<K, V, S> Answers for LastGood<K, V, S> {
    type Key = K;
    type Value = V;
    type Store = S;

    #[inline]
    fn last_good(&self) -> Found<'_, Self> {
        Ok(self)
    }
}

impl<A: Answers, E: Error + 'static> Answers for Result<A, E> {
    type Key = A::Key;
    type Value = A::Value;
    type Store = A::Store;

    fn last_good(&self) -> Found<'_, Self> {
        match self {
            Ok(answers) => answers.last_good(),
            Err(error) => Err(error),
        }
    }
}

/// What leads to answers.
macro_rules! leads_to {
    ($([$($generics:tt)*] $way:ty;)*) => {$(
        impl<$($generics)*> Answers for $way {
            type Key = A::Key;
            type Value = A::Value;
            type Store = A::Store;

            #[inline]
            fn last_good(&self) -> Found<'_, Self> {
                (**self).last_good()
            }
        }
    )*};
}

leads_to! {
    [A: Answers + ?Sized] &A;
    [A: Answers + ?Sized] &mut A;
    [A: Answers + ?Sized] Rc<A>;
    [A: Answers + ?Sized] Arc<A>;
    [A: Answers + ?Sized] Box<A>;
    [A: Answers, F: FnOnce() -> A] LazyLock<A, F>;
}
