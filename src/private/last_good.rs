//! `last_good = ..`
#![allow(
    clippy::type_complexity,
    reason = "what types must be is found out once, and handed on in types"
)]

use super::Expect;
use crate::keyed::Key;
use crate::last_good::{Aged, Answers, BlockingStore, Reply, Store};
use crate::served::Served;
use breaker_core::Outcome;
use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};

#[path = "last_good/asking.rs"]
mod asking;

pub use asking::{Answering, Found, Watched, keep, keep_now, load, load_now};

/// The output of a function with last-good answers.
#[diagnostic::on_unimplemented(
    message = "`last_good` must tell the caller how old an answer is, and `{Self}` can't",
    label = "expected `Result<Served<T>, E>`",
    note = "return `Result<breakerbox::Served<T>, E>`, and give `Ok(Served::fresh(answer))` in the body"
)]
pub trait LastGoodOutput: Sized {
    type Value;

    /// The answer, if the dependency gave it in this call.
    ///
    /// # Errors
    /// The output, where there is nothing to keep.
    fn fresh(self) -> Result<Served<Self::Value>, Self>;

    fn served(served: Served<Self::Value>) -> Self;
}

impl<T, E> LastGoodOutput for Result<Served<T>, E> {
    type Value = T;

    #[inline]
    fn fresh(self) -> Result<Served<T>, Self> {
        match self {
            Ok(served) if !served.stale => Ok(served),
            output => Err(output),
        }
    }

    #[inline]
    fn served(served: Served<T>) -> Self {
        Ok(served)
    }
}

/// An answer of answers `V`.
#[diagnostic::on_unimplemented(
    message = "the function gives `Served<{Self}>`, and these last-good answers are `{V}`",
    label = "expected `Served<{V}>`",
    note = "declare answers of their own for this function: `static ANSWERS: LastGood<_, {Self}> = ..`"
)]
pub trait AnswerOf<V>: Sized {
    fn as_value(&self) -> &V;

    fn of_value(value: V) -> Self;
}

#[diagnostic::do_not_recommend]
impl<V> AnswerOf<V> for V {
    #[inline]
    fn as_value(&self) -> &V {
        self
    }

    #[inline]
    fn of_value(value: V) -> Self {
        value
    }
}

/// Where an answer is looked at before it is known what is kept, this lets it be no
/// answer at all: else the compiler would say so in words of its own.
#[derive(Debug)]
pub struct Unlike<T>(T);

#[diagnostic::do_not_recommend]
impl<T> AnswerOf<Unlike<T>> for T {
    fn as_value(&self) -> &Unlike<T> {
        unreachable!("nobody keeps this")
    }

    fn of_value(value: Unlike<T>) -> T {
        value.0
    }
}

/// A key of answers that are kept by `K`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key of these last-good answers, which are kept by `{K}`",
    label = "expected a key that is kept as `{K}`",
    note = "say which question an answer belongs to by `last_good_key = ..`; without, it is `key`, or `()` where the function has no parameters",
    note = "or declare the answers by another key: `LastGood<{Self}, _>`",
    note = "a key of your own is copied before the call: what it is kept as must be a `Key` too"
)]
pub trait AnswerKey<K>: Key<Owned = K> {}

#[diagnostic::do_not_recommend]
impl<K, Q: Key<Owned = K> + ?Sized> AnswerKey<K> for Q {}

/// The key of `last_good_key = ..`, for later: the body may take away and change what
/// it was made of.
#[inline]
pub fn last_good_key<Q: Key + ?Sized>(key: &Q) -> Q::Owned {
    key.to_key()
}

/// How the function's output holds an answer `T`.
///
/// What a type must be is asked for once, here and in [`question`], and handed on as
/// functions: so that a mistake is reported once.
#[derive(Debug)]
pub struct Form<O, T> {
    fresh: fn(O) -> Result<Served<T>, O>,
    served: fn(Served<T>) -> O,
}

impl<O, T> Clone for Form<O, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, T> Copy for Form<O, T> {}

#[inline]
pub fn form<O: LastGoodOutput>(_: Expect<O>) -> Form<O, O::Value> {
    Form {
        fresh: O::fresh,
        served: O::served,
    }
}

/// Whether a classifier of outputs said that this one is a success.
#[derive(Debug, Default)]
pub struct Noted(AtomicBool);

impl Noted {
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    #[inline]
    pub fn note(&self, outcome: Outcome) -> Outcome {
        self.0.store(outcome == Outcome::Success, Ordering::Relaxed);
        outcome
    }
}

/// What there is to keep of the output of a call that was no failure.
///
/// # Errors
/// The output, where there is nothing.
#[inline]
pub fn fresh<O, T>(form: Form<O, T>, output: O) -> Result<Served<T>, O> {
    (form.fresh)(output)
}

/// [`fresh`], after a classifier that may have called it no success.
///
/// # Errors
/// The output, where there is nothing.
#[inline]
pub fn fresh_if<O, T>(form: Form<O, T>, noted: &Noted, output: O) -> Result<Served<T>, O> {
    if noted.0.load(Ordering::Relaxed) {
        (form.fresh)(output)
    } else {
        Err(output)
    }
}

/// The output again.
#[inline]
pub fn kept<O, T>(form: Form<O, T>, served: Served<T>) -> O {
    (form.served)(served)
}

/// Which question it is, and who has answers to it: how to keep one, how to find one.
pub struct Question<'a, 'k, O, T, V, A: ?Sized, Q: ?Sized, Keep, Load> {
    form: Form<O, T>,
    answers: &'a A,
    key: &'k Q,
    of_value: fn(V) -> T,
    keep: fn(&'a A, &Q, &Served<T>) -> Opened<'a, Keep>,
    load: fn(&'a A, &Q) -> Opened<'a, Load>,
}

/// What answers say, if there are any; else why there are none.
type Opened<'a, R> = Result<R, &'a (dyn Error + 'static)>;

impl<O, T, V, A: ?Sized, Q: ?Sized, Keep, Load> fmt::Debug
    for Question<'_, '_, O, T, V, A, Q, Keep, Load>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").finish_non_exhaustive()
    }
}

/// What a store says to [`keep`] and [`load`].
type Keeping<'a, S, K, V> = Reply<(), <S as Store<K, V>>::Error, <S as Store<K, V>>::Saving<'a>>;
type Loading<'a, S, K, V> = (
    Duration,
    Reply<Option<Aged<V>>, <S as Store<K, V>>::Error, <S as Store<K, V>>::Loading<'a>>,
);

/// The question of a function that may wait.
#[inline]
pub fn question<'a, 'k, O, T, A, Q>(
    form: Form<O, T>,
    answers: &'a A,
    key: &'k Q,
) -> Question<
    'a,
    'k,
    O,
    T,
    A::Value,
    A,
    Q,
    Keeping<'a, A::Store, A::Key, A::Value>,
    Loading<'a, A::Store, A::Key, A::Value>,
>
where
    T: AnswerOf<A::Value>,
    A: Answers<Store: Store<A::Key, A::Value>> + ?Sized,
    Q: AnswerKey<A::Key> + ?Sized,
{
    Question {
        form,
        answers,
        key,
        of_value: T::of_value,
        keep: |answers, key, served| {
            let answers = answers.last_good()?;
            Ok(answers.save(key, served.value.as_value(), served.age))
        },
        load: |answers, key| {
            let answers = answers.last_good()?;
            Ok((answers.ttl(), answers.backend().load(key)))
        },
    }
}

/// The question of a function that can't wait.
#[inline]
pub fn question_now<'a, 'k, O, T, A, Q>(
    form: Form<O, T>,
    answers: &'a A,
    key: &'k Q,
) -> Question<
    'a,
    'k,
    O,
    T,
    A::Value,
    A,
    Q,
    Result<(), <A::Store as Store<A::Key, A::Value>>::Error>,
    Result<Option<Served<A::Value>>, <A::Store as Store<A::Key, A::Value>>::Error>,
>
where
    T: AnswerOf<A::Value>,
    A: Answers<Store: BlockingStore<A::Key, A::Value>> + ?Sized,
    Q: AnswerKey<A::Key> + ?Sized,
{
    Question {
        form,
        answers,
        key,
        of_value: T::of_value,
        keep: |answers, key, served| {
            let answers = answers.last_good()?;
            Ok(answers.prime_now(key, served.value.as_value(), served.age))
        },
        load: |answers, key| Ok(answers.last_good()?.load_now(key)),
    }
}
