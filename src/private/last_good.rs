//! `last_good = ..`
#![allow(
    clippy::type_complexity,
    reason = "what types must be is found out once, and handed on in types"
)]

use super::Expect;
use crate::bound::Bound;
use crate::fallback::{Asked, NoAnswer};
use crate::keyed::Key;
use crate::last_good::{Aged, Answers, BlockingStore, Reply, Store};
use crate::limit::Never;
use crate::observe::{LastGoodStep, Panicked};
use crate::served::Served;
use crate::subject::Subject;
use breaker_core::Outcome;
use core::any::Any;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use pin_project_lite::pin_project;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Keeps an answer. What goes wrong is told to the observers, and to nobody else.
pub fn keep<Sub, O, T, V, A, Q, E, F, Load>(
    breaker: Sub,
    question: Question<'_, '_, O, T, V, A, Q, Reply<(), E, F>, Load>,
    served: &Served<T>,
) -> Asked<(), Never, Watched<Sub, F>>
where
    Sub: Subject,
    A: ?Sized,
    Q: ?Sized,
    E: Error + 'static,
{
    let step = LastGoodStep::Store;
    let reply = ask(breaker, step, || {
        (question.keep)(question.answers, question.key, served)
    });
    match reply {
        Some(Reply::Later(future)) => {
            return Asked::Later(Watched {
                breaker,
                step,
                future,
            });
        }
        Some(Reply::Now(done)) => drop(told(breaker, step, done)),
        None => {}
    }
    Asked::Now(Ok(()))
}

/// [`keep`], where nothing can be awaited.
pub fn keep_now<Sub, O, T, V, A, Q, E, Load>(
    breaker: Sub,
    question: Question<'_, '_, O, T, V, A, Q, Result<(), E>, Load>,
    served: &Served<T>,
) where
    Sub: Subject,
    A: ?Sized,
    Q: ?Sized,
    E: Error + 'static,
{
    let step = LastGoodStep::Store;
    let done = ask(breaker, step, || {
        (question.keep)(question.answers, question.key, served)
    });
    if let Some(done) = done {
        told(breaker, step, done);
    }
}

/// Asks for the last good answer.
pub fn load<Sub, O, T, V, A, Q, E, F, Keep>(
    breaker: Sub,
    question: Question<'_, '_, O, T, V, A, Q, Keep, (Duration, Reply<Option<Aged<V>>, E, F>)>,
) -> Asked<O, NoAnswer, Answering<O, T, V, Watched<Sub, F>>>
where
    Sub: Subject,
    A: ?Sized,
    Q: ?Sized,
    E: Error + 'static,
{
    let step = LastGoodStep::Load;
    let reply = ask(breaker, step, || {
        (question.load)(question.answers, question.key)
    });
    let Some((ttl, reply)) = reply else {
        return Asked::Now(Err(NoAnswer));
    };
    let found = Found {
        form: question.form,
        of_value: question.of_value,
        ttl,
    };
    match reply {
        Reply::Later(future) => Asked::Later(Answering {
            found,
            future: Watched {
                breaker,
                step,
                future,
            },
        }),
        Reply::Now(reply) => Asked::Now(found.output(told(breaker, step, reply)).ok_or(NoAnswer)),
    }
}

/// [`load`], where nothing can be awaited.
///
/// # Errors
/// [`NoAnswer`]
pub fn load_now<Sub, O, T, V, A, Q, E, Keep>(
    breaker: Sub,
    question: Question<'_, '_, O, T, V, A, Q, Keep, Result<Option<Served<V>>, E>>,
) -> Result<O, NoAnswer>
where
    Sub: Subject,
    A: ?Sized,
    Q: ?Sized,
    E: Error + 'static,
{
    let step = LastGoodStep::Load;
    let found = ask(breaker, step, || {
        (question.load)(question.answers, question.key)
    });
    let served = found.and_then(|found| told(breaker, step, found)).flatten();
    let served = served.ok_or(NoAnswer)?;
    Ok((question.form.served)(served.map(question.of_value)))
}

/// What becomes of what a store has.
#[derive(Debug)]
pub struct Found<O, T, V> {
    form: Form<O, T>,
    of_value: fn(V) -> T,
    ttl: Duration,
}

impl<O, T, V> Found<O, T, V> {
    /// The output, if what was found may still be served.
    fn output(&self, found: Option<Option<Aged<V>>>) -> Option<O> {
        let served = crate::last_good::served(found.flatten(), self.ttl)?;
        Some((self.form.served)(served.map(self.of_value)))
    }
}

/// Tells the observers what went wrong, if anything did.
fn told<S: Subject, T, E>(breaker: S, step: LastGoodStep, reply: Result<T, E>) -> Option<T>
where
    E: Error + 'static,
{
    match reply {
        Ok(reply) => Some(reply),
        Err(error) => {
            tell(breaker, step, &error);
            None
        }
    }
}

#[cold]
fn tell<S: Subject>(breaker: S, step: LastGoodStep, error: &(dyn Error + 'static)) {
    let bound = Bound::new(breaker);
    bound.audience().last_good_failed(&breaker, step, error);
}

/// What a store says, if there is one.
fn ask<'a, S: Subject, R>(
    breaker: S,
    step: LastGoodStep,
    theirs: impl FnOnce() -> Opened<'a, R>,
) -> Option<R> {
    match watch(breaker, step, theirs)? {
        Ok(reply) => Some(reply),
        Err(error) => {
            tell(breaker, step, error);
            None
        }
    }
}

/// Runs what is a store's. The caller's answer survives a panic there.
fn watch<S: Subject, T>(breaker: S, step: LastGoodStep, theirs: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(theirs)) {
        Ok(done) => Some(done),
        Err(panic) => {
            tell(breaker, step, &panicked(&*panic));
            // The payload may panic in its destructor.
            core::mem::forget(panic);
            None
        }
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Panicked {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Panicked::new(text)
}

pin_project! {
    /// A store's future, for what it gives if nothing goes wrong. (Its fields are public
    /// for the compiler, who sees that there is none if there is no such future.)
    #[must_use = "futures do nothing unless polled"]
    pub struct Watched<S, F> {
        pub breaker: S,
        pub step: LastGoodStep,
        #[pin]
        pub future: F,
    }
}

impl<S, F, T, E> Future for Watched<S, F>
where
    S: Subject,
    F: Future<Output = Result<T, E>>,
    E: Error + 'static,
{
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.project();
        let (breaker, step) = (*this.breaker, *this.step);
        match watch(breaker, step, || this.future.poll(context)) {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(reply)) => Poll::Ready(told(breaker, step, reply)),
            None => Poll::Ready(None),
        }
    }
}

impl<S, F> fmt::Debug for Watched<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of an answer.
    #[must_use = "futures do nothing unless polled"]
    pub struct Answering<O, T, V, F> {
        pub found: Found<O, T, V>,
        #[pin]
        pub future: F,
    }
}

impl<O, T, V, F> Future for Answering<O, T, V, F>
where
    F: Future<Output = Option<Option<Aged<V>>>>,
{
    type Output = Option<O>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<O>> {
        let this = self.project();
        let found = &*this.found;
        this.future.poll(context).map(|answer| found.output(answer))
    }
}

impl<O, T, V, F> fmt::Debug for Answering<O, T, V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}
