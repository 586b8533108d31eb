//! What expansions of the macros name. Not for users: anything here may change
//! in any release.

pub use crate::call::{Ended, Guarded, run_sync};
pub use crate::entered::{Entered, enter, run_entered_sync};
pub use crate::error::{CircuitOpenError, TimeoutError};
pub use crate::fallback::{Asked, AsyncFallback, Fallback, NoAnswer};
pub use crate::guard::Guard;
pub use crate::limit::{Never, Unlimited};
pub use crate::refusal::{OpenAfter, OpenError, Refusable, TimedOutAfter, TimeoutErrorFrom};
pub use crate::verdict::{ByOutput, Classify, ResultLike};
use breaker_core::ConfigError;
pub use breaker_core::{Config, OnCancel, RateConfig, Settings, Window};
pub use core;
pub use core::time::Duration;

use crate::bound::Bound;
use crate::call::Expiry;
use crate::cause::Cause;
use crate::limit::Limit;
use crate::notify::InPlaceOf;
use crate::subject::Subject;
use crate::verdict::Verdict;
#[cfg(feature = "std")]
use breaker_core::{Clock, Policy};

#[path = "private/by_path.rs"]
mod by_path;
#[cfg(feature = "std")]
#[path = "private/keyed.rs"]
mod keyed;
#[cfg(not(feature = "std"))]
#[path = "private/no_keyed.rs"]
mod keyed;

#[cfg(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
#[path = "private/generated.rs"]
mod generated;
#[cfg(not(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
#[path = "private/no_generated.rs"]
mod generated;

#[cfg(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
#[path = "private/keyed_static.rs"]
mod keyed_static;
#[cfg(not(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
#[path = "private/no_keyed_static.rs"]
mod keyed_static;

#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
#[path = "private/last_good.rs"]
mod last_good;
#[cfg(not(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
#[path = "private/no_last_good.rs"]
mod last_good;

pub use by_path::{Argument, ByPath, all_cases};
use core::future::Future;
use core::marker::PhantomData;
pub use generated::*;
pub use keyed::*;
pub use keyed_static::*;
pub use last_good::*;

/// The type of a generated `static`.
pub type Breaker = crate::breaker::Breaker;

/// The type of a generated `static` that trips by rate.
pub type RateBreaker<const SLOTS: usize> =
    crate::breaker::Breaker<crate::clock::DefaultClock, breaker_core::Sliding<SLOTS>>;

/// The constant of `max_keys = ..`.
///
/// # Panics
/// If it is 0.
#[must_use]
pub const fn max_keys(max_keys: u32) -> u32 {
    assert!(max_keys > 0, "{}", ConfigError::ZeroMaxKeys.message());
    max_keys
}

/// A method's default name gets the type that the method belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The type's name.
    pub type_name: fn() -> &'static str,
    /// The method's.
    pub function: &'static str,
}

/// A constant that says what a rate is taken of: a count or a duration, told
/// apart by its type.
#[derive(Debug)]
pub struct WindowOf<T>(pub T);

impl WindowOf<u32> {
    /// The last so many calls.
    #[must_use]
    pub const fn window(self) -> Window {
        Window::calls(self.0)
    }
}

impl WindowOf<Duration> {
    /// The last so much time.
    #[must_use]
    pub const fn window(self) -> Window {
        Window::time(self.0)
    }
}

/// What the constant of `window = ..` may be.
#[diagnostic::on_unimplemented(
    message = "`window` is a count of calls (`u32`) or a `Duration`, not `{Self}`",
    label = "expected `u32` or `Duration`"
)]
pub trait CallsOrTime {}

impl CallsOrTime for u32 {}
impl CallsOrTime for Duration {}

/// The constant of `window = ..`.
#[must_use]
pub const fn window_of<T: CallsOrTime>(constant: T) -> WindowOf<T> {
    WindowOf(constant)
}

/// Gives every `WindowOf` a `window`, so that of one that `window_of` refuses
/// nothing else is said.
pub trait AnyWindow: Sized {
    fn window(self) -> Window;
}

impl<T> AnyWindow for WindowOf<T> {
    fn window(self) -> Window {
        unreachable!("the compiler refused it")
    }
}

/// A method's generated `static`: its default name gets the type at the first
/// call, since a `static` can't name `Self`.
#[cfg(feature = "std")]
#[inline]
pub fn of_type<C, P>(
    breaker: &'static crate::breaker::Breaker<C, P>,
    type_name: fn() -> &'static str,
    function: &str,
) -> &'static crate::breaker::Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    crate::registry::enter_method(breaker, type_name, function);
    breaker
}

/// The breaker of `breaker = ..`.
#[inline]
pub fn breaker<B: Guard + ?Sized>(guard: &B) -> B::Subject<'_> {
    guard.subject()
}

/// Carries the function's output type into calls that would else have to infer
/// it.
#[derive(Debug)]
pub struct Expect<O>(PhantomData<fn() -> O>);

impl<O> Clone for Expect<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Expect<O> {}

#[must_use]
#[inline]
pub const fn expect<O>() -> Expect<O> {
    Expect(PhantomData)
}

#[inline]
pub fn by_output<O, F, R>(_: Expect<O>, classify: F) -> ByOutput<F>
where
    F: FnOnce(&O) -> R,
    R: Verdict,
{
    ByOutput(classify)
}

#[inline]
pub fn run<S, F, K>(
    subject: S,
    classify: K,
    body: F,
) -> Guarded<F, K, Unlimited, S, CircuitOpenError>
where
    S: Subject,
    F: Future,
    K: Classify<F::Output>,
{
    Guarded::new(subject, classify, Unlimited, body)
}

/// The timer of `timeout = ..`.
#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "`timeout` needs a timer",
        label = "no timer without breakerbox's feature `js`",
        note = "in JavaScript (a browser, an edge worker, Node) enable breakerbox's feature `js`"
    )
)]
#[cfg_attr(
    not(all(target_family = "wasm", target_os = "unknown")),
    diagnostic::on_unimplemented(
        message = "`timeout` needs a timer",
        label = "no timer without a runtime",
        note = "enable breakerbox's feature `tokio`"
    )
)]
pub trait DefaultTimer<Of> {
    type Timer: crate::timer::Timer;

    fn timer() -> Self::Timer;
}

#[derive(Debug)]
pub struct TheDefault;

#[cfg(any(
    all(feature = "js", all(target_family = "wasm", target_os = "unknown")),
    all(
        feature = "tokio",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
impl<Of> DefaultTimer<Of> for TheDefault {
    type Timer = crate::timer::DefaultTimer;

    fn timer() -> crate::timer::DefaultTimer {
        crate::timer::DEFAULT
    }
}

type Limited<Of> = crate::limit::Within<<TheDefault as DefaultTimer<Of>>::Timer>;

/// What `timeout = ..` may be where only the call knows it.
#[diagnostic::on_unimplemented(
    message = "`timeout` is a `Duration`, not `{Self}`",
    label = "expected `Duration`",
    note = "make one of a number: `timeout = Duration::from_millis(..)`"
)]
pub trait TimeLimit {
    fn duration(self) -> Duration;
}

impl TimeLimit for Duration {
    #[inline]
    fn duration(self) -> Duration {
        self
    }
}

/// The time limit that only the call knows.
#[inline]
pub fn timeout(limit: impl TimeLimit) -> Duration {
    limit.duration()
}

#[inline]
pub fn run_timeout<S, F, K>(
    subject: S,
    classify: K,
    timeout: Duration,
    body: F,
) -> Guarded<F, K, Limited<F>, S, CircuitOpenError>
where
    S: Subject,
    F: Future,
    K: Classify<F::Output>,
    TheDefault: DefaultTimer<F>,
    Limited<F>: Limit<Expired: Expiry<Error = TimeoutError>>,
{
    Guarded::within(subject, classify, TheDefault::timer(), timeout, body)
}

/// [`run`] of a call that was admitted before.
#[inline]
pub fn run_entered<S, F, K>(
    entered: Entered<S>,
    classify: K,
    body: F,
) -> Guarded<F, K, Unlimited, S, Never>
where
    S: Subject,
    F: Future,
    K: Classify<F::Output>,
{
    Guarded::by(entered.ticket(), classify, Unlimited, body)
}

/// [`run_timeout`] of a call that was admitted before.
#[inline]
pub fn run_entered_timeout<S, F, K>(
    entered: Entered<S>,
    classify: K,
    timeout: Duration,
    body: F,
) -> Guarded<F, K, Limited<F>, S, Never>
where
    S: Subject,
    F: Future,
    K: Classify<F::Output>,
    TheDefault: DefaultTimer<F>,
    Limited<F>: Limit<Expired: Expiry<Error = TimeoutError>>,
{
    let ticket = entered.ticket();
    Guarded::by_within(ticket, classify, TheDefault::timer(), timeout, body)
}

/// The output of a refused call.
pub fn open<O>(_: Expect<O>, open: CircuitOpenError) -> O
where
    O: Refusable<Error: OpenError>,
{
    O::refused(O::Error::from_open(open))
}

/// The output of a call that took too long.
pub fn timed_out<O>(_: Expect<O>, timed_out: TimeoutError) -> O
where
    O: Refusable<Error: TimeoutErrorFrom>,
{
    O::refused(O::Error::from_timeout(timed_out))
}

/// What a fallback gave in place of an answer, `M`, and the output it was asked
/// for.
#[derive(Debug)]
pub struct After<O, M>(M, Expect<O>);

#[inline]
pub fn after<O, M>(expect: Expect<O>, missing: M) -> After<O, M> {
    After(missing, expect)
}

/// [`open`], where a fallback was asked before.
pub fn open_after<O, M>(after: After<O, M>, open: CircuitOpenError) -> O
where
    M: OpenAfter<O>,
{
    after.0.open(open)
}

/// [`timed_out`], where a fallback was asked before.
pub fn timed_out_after<O, M>(after: After<O, M>, timed_out: TimeoutError) -> O
where
    M: TimedOutAfter<O>,
{
    after.0.timed_out(timed_out)
}

#[inline]
pub fn never<O>(never: Never) -> O {
    match never {}
}

/// What `open_error` or `timeout_error` may be where it is not a closure. (A
/// closure learns its parameter's type from `FnOnce` only.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function from `{R}` to `{E}`",
    label = "expected a function or closure that takes a `{R}` and gives `{E}`",
    note = "a value, such as a variant without fields, needs `|_|` before it: `|_| MyError::Refused`"
)]
pub trait Makes<R, E> {
    fn make(self, refusal: R) -> E;
}

#[diagnostic::do_not_recommend]
impl<F, R, E> Makes<R, E> for F
where
    F: FnOnce(R) -> E,
{
    #[inline]
    fn make(self, refusal: R) -> E {
        self(refusal)
    }
}

/// What there may be to judge, and a classifier that is not a closure.
#[derive(Debug)]
pub struct Judged<T, F>(pub Option<T>, pub F);

impl<T, F, V> Judged<T, F>
where
    F: FnOnce(T) -> V,
{
    /// The verdict on what there is.
    #[inline]
    pub fn verdict(self) -> Option<V> {
        self.0.map(self.1)
    }
}

/// Of a classifier that takes something else, or is no function.
pub trait Misjudged<T> {
    type By;

    fn verdict(self) -> <Self::By as Judges<T>>::Verdict
    where
        Self::By: Judges<T>;
}

impl<T, F> Misjudged<T> for Judged<T, F> {
    type By = F;

    fn verdict(self) -> F::Verdict
    where
        F: Judges<T>,
    {
        unreachable!("the compiler refused it")
    }
}

/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that takes a `{T}`",
    label = "expected a function or closure that takes a `{T}`, and nothing else",
    note = "it says whether that counts as a failure, by a `bool` or an `Outcome`",
    note = "what takes something else, or more, needs a closure around it: `|error| self.counts(error)`",
    note = "a value needs `|_|` before it: `|_| true`"
)]
pub trait Judges<T> {
    type Verdict;
}

impl<T, E> Expect<Result<T, E>> {
    /// The output that `open_error` or `timeout_error` makes: of a `Result`, the
    /// error.
    pub fn refused_by<F, R>(self, make: F, refusal: R) -> Result<T, E>
    where
        F: FnOnce(R) -> E,
    {
        Err(make(refusal))
    }

    /// The same, by what is not a closure.
    pub fn refused_by_other<F, R>(self, refusal: R, make: F) -> Result<T, E>
    where
        F: Makes<R, E>,
    {
        Err(make.make(refusal))
    }
}

/// The output that `open_error` or `timeout_error` makes where there is no
/// `Result`: the whole of it.
pub trait RefusedOutput<O>: Sized {
    fn refused_by<F, R>(self, make: F, refusal: R) -> O
    where
        F: FnOnce(R) -> O;

    fn refused_by_other<F, R>(self, refusal: R, make: F) -> O
    where
        F: Makes<R, O>;
}

impl<O> RefusedOutput<O> for Expect<O> {
    fn refused_by<F, R>(self, make: F, refusal: R) -> O
    where
        F: FnOnce(R) -> O,
    {
        make(refusal)
    }

    fn refused_by_other<F, R>(self, refusal: R, make: F) -> O
    where
        F: Makes<R, O>,
    {
        make.make(refusal)
    }
}

/// How a time limit's end looks to a fallback.
pub trait Overtime {
    fn cause<O>(&self) -> Cause<'_, O>;
}

impl Overtime for Never {
    fn cause<O>(&self) -> Cause<'_, O> {
        match *self {}
    }
}

impl Overtime for TimeoutError {
    fn cause<O>(&self) -> Cause<'_, O> {
        Cause::TimedOut(self)
    }
}

impl<O, T: Overtime> Ended<O, T> {
    /// Why the fallback runs.
    pub fn cause(&self) -> Cause<'_, O> {
        match self {
            Self::Done(output) | Self::Failed(output) => Cause::Failed(output),
            Self::Open(open) => Cause::Open(open),
            Self::TimedOut(timed_out) => timed_out.cause(),
        }
    }
}

/// Why the fallback of a refused call runs.
#[inline]
pub fn cause_open<O>(_: Expect<O>, open: &CircuitOpenError) -> Cause<'_, O> {
    Cause::Open(open)
}

/// Calls a fallback with its cause; tells the closure its parameter's type.
#[inline]
pub fn with_cause<'a, O, F, R>(cause: Cause<'a, O>, fallback: F) -> R
where
    F: FnOnce(Cause<'a, O>) -> R,
{
    fallback(cause)
}

/// Asks a fallback that may be a future.
#[inline]
pub fn fallback<O, V, M>(_: Expect<O>, value: V) -> Asked<O, V::Missing, V::Later>
where
    V: AsyncFallback<O, M>,
{
    value.ask()
}

/// The fallback's future. Where there can't be one, the compiler learns here
/// that nothing after it is ever reached.
#[inline]
pub fn later<L: Future>(future: L) -> L {
    future
}

/// Asks a fallback that is a value.
#[inline]
pub fn fallback_sync<O, V>(_: Expect<O>, value: V) -> Result<O, V::Missing>
where
    V: Fallback<O>,
{
    value.answer()
}

/// Reports a served fallback.
pub fn served<O, T, S: Subject>(subject: S, ended: &Ended<O, T>) {
    let in_place_of = match ended {
        Ended::Open(_) => InPlaceOf::Open,
        Ended::Done(_) | Ended::Failed(_) => InPlaceOf::Failed,
        Ended::TimedOut(_) => InPlaceOf::TimedOut,
    };
    served_in_place_of(subject, in_place_of);
}

/// [`served`] in place of a call that was refused before it was made.
pub fn served_open<S: Subject>(subject: S) {
    served_in_place_of(subject, InPlaceOf::Open);
}

fn served_in_place_of<S: Subject>(subject: S, in_place_of: InPlaceOf) {
    let bound = Bound::new(subject);
    let lent = bound.lent();
    lent.tell_fallback(lent.circuit().generation(), in_place_of);
}

/// A parameter that the body and the fallback both take.
#[diagnostic::on_unimplemented(
    message = "the body consumes this parameter and the fallback wants it too",
    label = "`{Self}` goes into the body, whether that runs or not",
    note = "take the parameter by reference",
    note = "or write the fallback as a call that only borrows what it needs: `fallback = cached(&x)`, and let the body borrow too",
    note = "or let the body work on a clone",
    note = "or, where it is for refused calls alone, write `fallback_on = open`: then only one of them takes it"
)]
pub trait Reused {}

#[diagnostic::do_not_recommend]
impl<T: Copy> Reused for T {}

#[inline]
pub const fn reused<T: Reused>() {}

/// A parameter that the body and `last_good` both take.
#[diagnostic::on_unimplemented(
    message = "the body consumes this parameter and `last_good` wants it too",
    label = "`{Self}` goes into the body, and the answer is kept after that",
    note = "take the parameter by reference",
    note = "or let the body work on a clone"
)]
pub trait ReusedByLastGood {}

#[diagnostic::do_not_recommend]
impl<T: Copy> ReusedByLastGood for T {}

#[inline]
pub const fn reused_by_last_good<T: ReusedByLastGood>() {}
