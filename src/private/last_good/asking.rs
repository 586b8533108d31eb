//! What a store is asked, and what becomes of what goes wrong there.

use super::{Form, Opened, Question};
use crate::bound::Bound;
use crate::fallback::{Asked, NoAnswer};
use crate::last_good::{Aged, Reply};
use crate::limit::Never;
use crate::observe::{LastGoodStep, Panicked};
use crate::served::Served;
use crate::subject::Subject;
use core::any::Any;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use pin_project_lite::pin_project;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    match question.asked_to_keep(breaker, served) {
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
    if let Some(done) = question.asked_to_keep(breaker, served) {
        told(breaker, LastGoodStep::Store, done);
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
    let Some((ttl, reply)) = question.asked_to_load(breaker) else {
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
    let found = question.asked_to_load(breaker);
    let found = found.and_then(|found| told(breaker, LastGoodStep::Load, found));
    let served = found.flatten().ok_or(NoAnswer)?;
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

impl<O, T, V, A: ?Sized, Q: ?Sized, Keep, Load> Question<'_, '_, O, T, V, A, Q, Keep, Load> {
    /// What the store says to an answer, if there is a store and it doesn't panic.
    fn asked_to_keep(&self, breaker: impl Subject, served: &Served<T>) -> Option<Keep> {
        ask(breaker, LastGoodStep::Store, || {
            (self.keep)(self.answers, self.key, served)
        })
    }

    /// What the store says when it is asked for the answer, likewise.
    fn asked_to_load(&self, breaker: impl Subject) -> Option<Load> {
        ask(breaker, LastGoodStep::Load, || {
            (self.load)(self.answers, self.key)
        })
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
    bound.lent().tell_last_good_failed(step, error);
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
