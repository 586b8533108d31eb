//! Classifiers made of classifiers.

use super::weight;
use crate::verdict::Verdict;
use breaker_core::Outcome;
use core::time::Duration;

/// What two verdicts make together, in whatever order they come.
type Merge = fn(Option<Outcome>, Option<Outcome>) -> Option<Outcome>;

/// Counts what any of them counts, as the gravest of them says: `any((a, b))`,
/// `any([a, b, c])`. Each is asked, in order.
///
/// From mild to grave:
///
/// | | said by |
/// | --- | --- |
/// | nothing | `false`, or `None`: no failure. With `classify` that ignores the call, with `classify_output` it is a success |
/// | [`Outcome::Success`] | |
/// | [`Outcome::Ignored`] | |
/// | [`Outcome::Dropped`] | |
/// | [`Outcome::Failure`] | `true` |
/// | [`Outcome::Panicked`] | |
/// | [`Outcome::Overloaded`], the longer the graver | |
///
/// The last three count. A closure among them has to name the error's type.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use std::io::{self, ErrorKind};
///
/// type Answer = Result<String, CallError<io::Error>>;
///
/// // Of a socket's file that is missing nobody knows when it comes back.
/// #[circuit_breaker(threshold = 1, classify = classify::any((
///     classify::io,
///     classify::only([ErrorKind::NotFound]),
///     |e: &CallError<io::Error>| e.to_string().contains("try later"),
/// )))]
/// fn read(path: &str) -> Answer {
///     Ok(std::fs::read_to_string(path)?)
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(read("/nowhere"), Err(CallError::Call(_))));
/// assert!(matches!(read("/nowhere"), Err(CallError::Open(_))));
/// ```
///
/// To use one in several places, put it into a function: its type has no name.
///
/// ```
/// use breakerbox::{CallError, Outcome, classify};
/// use std::io;
///
/// fn is_outage(error: &CallError<io::Error>) -> Option<Outcome> {
///     classify::any((classify::io, is_ours))(error)
/// }
///
/// fn is_ours(error: &CallError<io::Error>) -> bool {
///     matches!(error, CallError::Call(e) if e.kind() == io::ErrorKind::AddrInUse)
/// }
/// # let in_use = CallError::Call(io::ErrorKind::AddrInUse.into());
/// # assert_eq!(is_outage(&in_use), Some(Outcome::Failure));
/// ```
pub const fn any<E, L>(classifiers: L) -> impl Fn(&E) -> Option<Outcome> + Clone
where
    L: Classifiers<E> + Clone,
{
    move |error| classifiers.merged(error, weight::any)
}

/// Counts what all of them count, as the gravest of them says; what one of them
/// doesn't count is as the mildest says. Each is asked, in order.
///
/// [`any`] has the order. Of `Overloaded(10 s)` and `Failure` it makes
/// `Overloaded(10 s)`, of `Overloaded(10 s)` and `false` it makes `false`: so a
/// condition may stand beside a classifier without losing how long to wait.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use std::io::{self, ErrorKind};
///
/// // Here the peer hangs up when it has nothing more to say.
/// #[circuit_breaker(threshold = 1, classify = classify::all((
///     classify::io,
///     classify::not(classify::only([ErrorKind::UnexpectedEof])),
/// )))]
/// fn read(mut from: impl io::Read) -> Result<u8, CallError<io::Error>> {
///     let mut byte = [0];
///     from.read_exact(&mut byte)?;
///     Ok(byte[0])
/// }
/// # let _scope = breakerbox::test::scope();
/// for _ in 0..2 {
///     assert!(matches!(read(&b""[..]), Err(CallError::Call(_))));
/// }
/// assert_eq!(read(&b"x"[..]).unwrap(), b'x');
/// ```
pub const fn all<E, L>(classifiers: L) -> impl Fn(&E) -> Option<Outcome> + Clone
where
    L: Classifiers<E> + Clone,
{
    move |error| classifiers.merged(error, weight::all)
}

/// Counts what it doesn't count, as a plain failure, and nothing else.
///
/// | it says | this says |
/// | --- | --- |
/// | `true`, `Failure`, `Panicked`, `Overloaded` | `false` |
/// | `false`, `None`, `Success`, `Ignored` | `Failure` |
/// | `Dropped` | `Dropped`: given up is neither |
///
/// ```
/// use breakerbox::{Outcome, classify};
/// use std::io::{Error, ErrorKind};
///
/// let all_but_these = classify::not(classify::only([ErrorKind::NotFound]));
/// assert_eq!(all_but_these(&Error::from(ErrorKind::NotFound)), None);
/// assert_eq!(all_but_these(&Error::from(ErrorKind::Other)), Some(Outcome::Failure));
/// ```
pub const fn not<E, F, V>(classifier: F) -> impl Fn(&E) -> Option<Outcome> + Clone
where
    F: Fn(&E) -> V + Clone,
    V: Verdict,
{
    move |error| weight::not(classifier(error).stated())
}

/// What the classifier says, but [`Outcome::Overloaded`] for no longer than
/// `longest`.
///
/// Whoever sends a `Retry-After` decides for how long nobody calls it any more: a
/// year, if it likes, by mistake or on purpose. Nothing else limits it (the
/// breaker's `max_reset` does not). Put this around every classifier that reads a
/// `Retry-After`, unless you would take any from this dependency.
///
/// ```
/// use breakerbox::{CallError, Outcome, circuit_breaker, classify};
/// use std::time::Duration;
///
/// const LONGEST: Duration = Duration::from_secs(120);
///
/// fn as_it_says(error: &CallError<u64>) -> Outcome {
///     match error {
///         CallError::Call(seconds) => Outcome::Overloaded(Duration::from_secs(*seconds)),
///         _ => Outcome::Ignored,
///     }
/// }
///
/// #[circuit_breaker(classify = classify::at_most(LONGEST, as_it_says))]
/// fn rooms(retry_after: u64) -> Result<u32, CallError<u64>> {
///     Err(CallError::Call(retry_after))
/// }
/// let scope = breakerbox::test::scope();
/// assert_eq!(rooms(86_400 * 365), Err(CallError::Call(86_400 * 365)));
/// let Err(CallError::Open(refused)) = rooms(0) else { unreachable!() };
/// assert_eq!(refused.retry_after(), Some(LONGEST));
/// ```
pub const fn at_most<E, F, V>(
    longest: Duration,
    classifier: F,
) -> impl Fn(&E) -> Option<Outcome> + Clone
where
    F: Fn(&E) -> V + Clone,
    V: Verdict,
{
    move |error| match classifier(error).stated() {
        Some(Outcome::Overloaded(wait)) => Some(Outcome::Overloaded(wait.min(longest))),
        other => other,
    }
}

/// For `classify_output`: an `Ok` by one classifier, an `Err` by another, where what
/// the latter doesn't count is ignored.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use std::io;
///
/// #[circuit_breaker(threshold = 1, classify_output = classify::result(
///     |text: &String| text.starts_with("-ERR"),
///     classify::io,
/// ))]
/// fn ask(answer: io::Result<String>) -> Result<String, CallError<io::Error>> {
///     Ok(answer?)
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(ask(Err(io::ErrorKind::NotFound.into())).is_err());
/// assert!(ask(Ok("-ERR loading".into())).is_ok()); // the caller gets it as it is: it opens
/// assert!(matches!(ask(Ok("+OK".into())), Err(CallError::Open(_))));
/// ```
pub const fn result<T, E, F, G, V, W>(
    ok: F,
    err: G,
) -> impl Fn(&Result<T, E>) -> Option<Outcome> + Clone
where
    F: Fn(&T) -> V + Clone,
    G: Fn(&E) -> W + Clone,
    V: Verdict,
    W: Verdict,
{
    move |output| match output {
        Ok(value) => ok(value).stated(),
        Err(error) => Some(err(error).outcome(Outcome::Ignored)),
    }
}

/// A tuple or an array of classifiers of `E`: up to eight functions or closures,
/// or any number of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple or array of classifiers of `{E}`",
    label = "expected functions or closures in parentheses of their own: `((first, second))`",
    note = "a tuple takes up to eight of them, each over `&` the error; a closure names its type: `|error: &MyError| ..`",
    note = "several of one type may stand in an array"
)]
pub trait Classifiers<E> {
    /// What they say together, by a rule for two.
    #[doc(hidden)]
    fn merged(&self, error: &E, by: Merge) -> Option<Outcome>;
}

impl<E, F, V, const N: usize> Classifiers<E> for [F; N]
where
    F: Fn(&E) -> V,
    V: Verdict,
{
    fn merged(&self, error: &E, by: Merge) -> Option<Outcome> {
        const { assert!(N > 0, "none of no classifiers can say anything") };
        self.iter()
            .map(|classifier| classifier(error).stated())
            .reduce(by)
            .flatten()
    }
}

macro_rules! tuples {
    ($first:ident $first_verdict:ident $($classifier:ident $verdict:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<E, $first, $first_verdict, $($classifier, $verdict),*> Classifiers<E>
            for ($first, $($classifier,)*)
        where
            $first: Fn(&E) -> $first_verdict,
            $first_verdict: Verdict,
            $($classifier: Fn(&E) -> $verdict, $verdict: Verdict,)*
        {
            #[allow(non_snake_case)]
            fn merged(&self, error: &E, by: Merge) -> Option<Outcome> {
                let ($first, $($classifier,)*) = self;
                let verdicts = [$first(error).stated(), $($classifier(error).stated()),*];
                verdicts.into_iter().reduce(by).flatten()
            }
        }
        tuples!(@fewer $($classifier $verdict)*);
    };
    (@fewer) => {};
    (@fewer $($rest:tt)+) => { tuples!($($rest)+); };
}

tuples!(A VA B VB C VC D VD F VF G VG H VH I VI);
