//! Running a call through a breaker.

use crate::bound::{Bound, Given};
use crate::breaker::Breaker;
use crate::error::{CallError, CircuitOpenError, Refused, TimeoutError};
use crate::held::Held;
use crate::limit::{Expired, Limit, Never, Unlimited, Within};
use crate::subject::Subject;
use crate::ticket::Ticket;
use crate::timer::Timer;
use crate::verdict::{ByError, Classify, EveryErr, Verdict};
use breaker_core::{Clock, OnCancel, Outcome, Policy};
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use pin_project_lite::pin_project;

/// How a guarded call ended. `T` is [`Never`] where there is no time limit, `R`
/// where it was admitted before.
#[derive(Debug)]
pub enum Ended<O, T = TimeoutError, R = CircuitOpenError> {
    /// With this output, which is no counted failure.
    Done(O),
    /// With this output, which counted as a failure.
    Failed(O),
    /// It was refused.
    Open(R),
    /// It took too long.
    TimedOut(T),
}

/// What a limit's end is to a caller.
pub trait Expiry {
    type Error: CallEnd;

    fn error<S: Subject>(self, subject: &S) -> Self::Error;
}

/// What a limit's end is to a caller whose error is a [`CallError`].
pub trait CallEnd {
    fn call_error<E>(self) -> CallError<E>;
}

impl CallEnd for Never {
    fn call_error<E>(self) -> CallError<E> {
        match self {}
    }
}

impl CallEnd for TimeoutError {
    fn call_error<E>(self) -> CallError<E> {
        CallError::TimedOut(self)
    }
}

impl Expiry for Never {
    type Error = Self;

    fn error<S: Subject>(self, _: &S) -> Self {
        self
    }
}

impl Expiry for Expired {
    type Error = TimeoutError;

    fn error<S: Subject>(self, subject: &S) -> TimeoutError {
        TimeoutError::new(subject.name(), self.0)
    }
}

/// What a call gives that is refused: an error, or [`Never`] where it was admitted
/// before it was made.
pub trait Refusal: Sized {
    /// Small enough for registers.
    type Refused;

    fn ask<S: Subject>(ticket: &mut Ticket<S>) -> Result<(), Self::Refused>;

    fn made<S: Subject>(refused: Self::Refused, subject: &S) -> Self;
}

impl Refusal for CircuitOpenError {
    type Refused = Refused;

    #[inline]
    fn ask<S: Subject>(ticket: &mut Ticket<S>) -> Result<(), Refused> {
        if ticket.is_admitted() {
            return Ok(());
        }
        ticket.admit(Given::NONE)?;
        ticket.made_now();
        Ok(())
    }

    #[inline]
    fn made<S: Subject>(refused: Refused, subject: &S) -> Self {
        Self::new(subject.name(), refused)
    }
}

impl Refusal for Never {
    type Refused = Self;

    #[inline]
    fn ask<S: Subject>(_: &mut Ticket<S>) -> Result<(), Self> {
        Ok(())
    }

    #[inline]
    fn made<S: Subject>(refused: Self, _: &S) -> Self {
        refused
    }
}

/// Settles by the output, and says as what.
#[inline]
pub(crate) fn judge<O, S, K>(ticket: &mut Ticket<S>, classify: K, output: &O) -> Outcome
where
    S: Subject,
    K: Classify<O>,
{
    let outcome = ticket.watch(|| classify.classify(output));
    ticket.settle(outcome, Given::NONE);
    outcome
}

/// Settles by the output.
#[inline]
pub(crate) fn end<O, S, K, T, R>(ticket: &mut Ticket<S>, classify: K, output: O) -> Ended<O, T, R>
where
    S: Subject,
    K: Classify<O>,
{
    match judge(ticket, classify, &output) {
        Outcome::Success | Outcome::Ignored => Ended::Done(output),
        Outcome::Dropped if ticket.bound().config().on_cancel() == OnCancel::Ignore => {
            Ended::Done(output)
        }
        _ => Ended::Failed(output),
    }
}

/// A plain call through a breaker.
#[inline]
pub fn run_sync<O, S, K>(subject: S, classify: K, call: impl FnOnce() -> O) -> Ended<O, Never>
where
    S: Subject,
    K: Classify<O>,
{
    let mut ticket = Ticket::new(Bound::new(subject));
    if let Err(refused) = ticket.admit(Given::NONE) {
        return Ended::Open(CircuitOpenError::new(subject.name(), refused));
    }
    ticket.made_now();
    let output = ticket.watch(call);
    end(&mut ticket, classify, output)
}

pin_project! {
    /// A future through a breaker. Asks for admission when it is first polled,
    /// unless it was admitted before (`R`); dropped before that, it was never a call.
    #[must_use = "futures do nothing unless polled"]
    pub struct Guarded<F, K, L, S, R>
    where
        S: Subject,
    {
        // Dropped first: a call is over before its slot is given back. Empty once
        // it has ended.
        #[pin]
        held: Held<F, K>,
        #[pin]
        limit: L,
        ticket: Ticket<S>,
        refusal: PhantomData<fn() -> R>,
    }
}

impl<F, K, L, S: Subject> Guarded<F, K, L, S, CircuitOpenError> {
    #[inline]
    pub(crate) fn new(subject: S, classify: K, limit: L, body: F) -> Self {
        Self::by(Ticket::new(Bound::new(subject)), classify, limit, body)
    }
}

impl<F, K, L, S: Subject, R> Guarded<F, K, L, S, R> {
    /// By a ticket that is admitted, if `R` is [`Never`].
    #[inline]
    pub(crate) fn by(ticket: Ticket<S>, classify: K, limit: L, body: F) -> Self {
        Self {
            held: Held::call(body, classify),
            limit,
            ticket,
            refusal: PhantomData,
        }
    }
}

impl<F, K, T: Timer, S: Subject> Guarded<F, K, Within<T>, S, CircuitOpenError> {
    #[inline]
    pub(crate) fn within(subject: S, classify: K, timer: T, after: Duration, body: F) -> Self {
        Self::by_within(
            Ticket::new(Bound::new(subject)),
            classify,
            timer,
            after,
            body,
        )
    }
}

impl<F, K, T: Timer, S: Subject, R> Guarded<F, K, Within<T>, S, R> {
    /// [`by`](Self::by), with a limit that is cut to the breaker's `probe_timeout`.
    #[inline]
    pub(crate) fn by_within(
        ticket: Ticket<S>,
        classify: K,
        timer: T,
        after: Duration,
        body: F,
    ) -> Self {
        let limit = within(ticket.bound(), timer, after);
        Self::by(ticket, classify, limit, body)
    }
}

impl<F, K, L, S, R> Future for Guarded<F, K, L, S, R>
where
    F: Future,
    K: Classify<F::Output>,
    L: Limit<Expired: Expiry>,
    S: Subject,
    R: Refusal,
{
    type Output = Ended<F::Output, <L::Expired as Expiry>::Error, R>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some((body, classify, kept)) = this.held.as_mut().take() else {
            // Like an async block's: polled after it was ready, or had panicked.
            panic!("a guarded future was polled after it had ended");
        };
        if let Err(refused) = R::ask(this.ticket) {
            this.held.set(Held::Nothing);
            let open = R::made(refused, &this.ticket.subject());
            return Poll::Ready(Ended::Open(open));
        }
        if let Poll::Ready(output) = this.ticket.watch(|| body.poll(context)) {
            return Poll::Ready(end(this.ticket, classify, output));
        }
        let Poll::Ready(expired) = this.limit.as_mut().poll_expired(context) else {
            *kept = Some(classify);
            return Poll::Pending;
        };
        // The call is over before its slot is given back.
        this.ticket.watch(|| this.held.set(Held::Nothing));
        this.ticket.time_out();
        Poll::Ready(Ended::TimedOut(expired.error(&this.ticket.subject())))
    }
}

impl<F, K, L, S, R> fmt::Debug for Guarded<F, K, L, S, R>
where
    S: Subject,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("breaker", &self.ticket.subject().name())
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// A guarded call, made by [`Breaker::call`]: a future of
    /// `Result<T, CallError<E>>`.
    #[must_use = "futures do nothing unless polled"]
    pub struct Call<F, K, L, S>
    where
        S: Subject,
    {
        #[pin]
        guarded: Guarded<F, K, L, S, CircuitOpenError>,
    }
}

impl<F, K, S: Subject> Call<F, K, Unlimited, S> {
    #[inline]
    pub(crate) fn new(subject: S, classify: K, call: F) -> Self {
        Self {
            guarded: Guarded::new(subject, classify, Unlimited, call),
        }
    }
}

impl<F, K, L, S: Subject> Call<F, K, L, S> {
    /// Which errors count: `true` or [`Outcome::Failure`] does. Without, every
    /// `Err` counts.
    pub fn classify<T, E, N, R>(self, classify: N) -> Call<F, ByError<N>, L, S>
    where
        F: Future<Output = Result<T, E>>,
        N: FnOnce(&E) -> R,
        R: Verdict,
    {
        let Guarded {
            held,
            limit,
            ticket,
            ..
        } = self.guarded;
        Call {
            guarded: Guarded {
                held: held.classified(ByError(classify)),
                limit,
                ticket,
                refusal: PhantomData,
            },
        }
    }

    /// A limit in time, from the moment the call is first pending; past it the
    /// call is dropped and counts as a failure. One that is longer than the
    /// breaker's `probe_timeout` is cut to it: an answer after that is too late
    /// to count.
    #[cfg(any(
        all(feature = "js", all(target_family = "wasm", target_os = "unknown")),
        all(
            feature = "tokio",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub fn timeout(self, after: Duration) -> Call<F, K, Within<crate::timer::DefaultTimer>, S> {
        self.timeout_by(crate::timer::DEFAULT, after)
    }

    /// `timeout` by a timer of one's own.
    pub fn timeout_by<T: Timer>(self, timer: T, after: Duration) -> Call<F, K, Within<T>, S> {
        let Guarded { held, ticket, .. } = self.guarded;
        let limit = within(ticket.bound(), timer, after);
        Call {
            guarded: Guarded {
                held,
                limit,
                ticket,
                refusal: PhantomData,
            },
        }
    }
}

/// A limit for calls of the breaker, cut to its `probe_timeout`.
fn within<T: Timer, S: Subject>(bound: &Bound<S>, timer: T, after: Duration) -> Within<T> {
    let after = after.min(bound.probe_timeout());
    Within::new(timer, after, scope_of(bound))
}

#[cfg(feature = "test-util")]
fn scope_of<S>(bound: &Bound<S>) -> crate::limit::SleepScope
where
    S: Subject,
{
    bound.scope().cloned()
}

#[cfg(not(feature = "test-util"))]
fn scope_of<S: Subject>(_: &Bound<S>) -> crate::limit::SleepScope {
    crate::limit::SleepScope
}

impl<F, K, L, S, T, E> Future for Call<F, K, L, S>
where
    F: Future<Output = Result<T, E>>,
    K: Classify<Result<T, E>>,
    L: Limit<Expired: Expiry>,
    S: Subject,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.project().guarded.poll(context)) {
            Ended::Done(output) | Ended::Failed(output) => output.map_err(CallError::Call),
            Ended::Open(open) => Err(CallError::Open(open)),
            Ended::TimedOut(expired) => Err(expired.call_error()),
        })
    }
}

impl<F, K, L, S> fmt::Debug for Call<F, K, L, S>
where
    S: Subject,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.guarded).finish()
    }
}

impl<C, P> Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    /// Guards a future. Nothing happens before it is polled.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// use breakerbox::{Breaker, CallError, Config};
    /// use std::time::Duration;
    ///
    /// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
    ///
    /// async fn rooms() -> Result<u32, std::io::Error> {
    ///     Ok(3)
    /// }
    /// let answer = PMS
    ///     .call(rooms())
    ///     .classify(|e| e.kind() != std::io::ErrorKind::NotFound)
    ///     .timeout(Duration::from_secs(2))
    ///     .await;
    /// assert_eq!(answer.unwrap(), 3);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`CallError::Call`] with the call's own error, [`CallError::Open`] if it
    /// was refused and not made, [`CallError::TimedOut`] past its `timeout`.
    #[inline]
    pub fn call<F: Future>(&self, call: F) -> Call<F, EveryErr, Unlimited, &Self> {
        Call::new(self, EveryErr, call)
    }

    /// Which errors count in the call that follows: `true` or
    /// [`Outcome::Failure`] does.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config};
    /// use std::io::{Error, ErrorKind};
    ///
    /// let files = Breaker::new("files", Config::DEFAULT);
    /// let read = files
    ///     .classify(|e: &Error| e.kind() != ErrorKind::NotFound)
    ///     .call_sync(|| std::fs::read("/nowhere"));
    /// assert!(read.is_err());
    /// assert_eq!(files.snapshot().consecutive, 0);
    /// ```
    pub fn classify<E, R, N>(&self, classify: N) -> Classified<E, ByError<N>, &Self>
    where
        N: FnOnce(&E) -> R,
        R: Verdict,
    {
        Classified::new(self, ByError(classify))
    }

    pub(crate) fn every_err<E>(&self) -> Classified<E, EveryErr, &Self> {
        Classified::new(self, EveryErr)
    }
}

/// A breaker and what counts for the call that follows: made by
/// [`Breaker::classify`].
#[must_use = "a classifier does nothing without a call"]
pub struct Classified<E, K, S> {
    subject: S,
    classify: K,
    error: PhantomData<fn(&E)>,
}

impl<E, K, S: Subject> Classified<E, K, S> {
    #[inline]
    pub(crate) fn new(subject: S, classify: K) -> Self {
        Self {
            subject,
            classify,
            error: PhantomData,
        }
    }

    /// [`Breaker::call`].
    pub fn call<T, F>(self, call: F) -> Call<F, K, Unlimited, S>
    where
        F: Future<Output = Result<T, E>>,
    {
        Call::new(self.subject, self.classify, call)
    }

    /// [`Breaker::call_sync`].
    ///
    /// # Errors
    /// [`CallError::Call`] with the call's own error, [`CallError::Open`] if it
    /// was refused and not made.
    #[inline]
    pub fn call_sync<T>(self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>>
    where
        K: Classify<Result<T, E>>,
    {
        match run_sync(self.subject, self.classify, call) {
            Ended::Done(output) | Ended::Failed(output) => output.map_err(CallError::Call),
            Ended::Open(open) => Err(CallError::Open(open)),
            Ended::TimedOut(never) => match never {},
        }
    }
}

impl<E, K, S: Subject> fmt::Debug for Classified<E, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classified")
            .field("breaker", &self.subject.name())
            .finish_non_exhaustive()
    }
}
