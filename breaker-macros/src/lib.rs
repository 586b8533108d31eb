//! The macros of `breakerbox`, which re-exports them: `#[circuit_breaker(..)]` and `breaker!`.
//!
//! The modules are the stages. `args` reads the options, `validate` finds contradictions and
//! makes a `model`, `expand` prints it. Mistakes are gathered on the way and reported together.

mod args;
mod breaker_macro;
mod captures;
mod duration;
mod error;
mod expand;
mod function;
mod model;
mod place;
mod validate;

use proc_macro2::TokenStream;

use args::{Args, Style};
use error::Errors;
use function::Function;

/// Guards a function with a circuit breaker.
///
/// ```text
/// #[circuit_breaker(threshold = 5, reset = "30s", classify = is_transient, fallback = cached)]
/// async fn inventory(hotel: &str) -> Result<Inventory, PmsError> { .. }
/// ```
///
/// After `threshold` counted failures in a row the circuit opens: calls are refused, or served
/// by the fallback, without running the function. After `reset` one call is let through to
/// find out. All options may be left out: `#[circuit_breaker]`.
///
/// It goes above `async fn` and plain functions, methods and trait methods (with a body),
/// generic ones too (one breaker for all types), and below `#[async_trait]`. The function's own
/// result passes through untouched. A mistake in the options is an error at its own place, and
/// all of them are reported at once.
///
/// # Beside other attributes
/// The outer one is expanded first, and the inner one is a part of the guarded call:
///
/// - `#[tracing::instrument]`: written below, its span covers refused calls too; above, only calls
///   that are made. Above, it moves what the body uses, so a `fallback` can only have parameters
///   that are references or copied.
/// - `#[tokio::main]`, `#[tokio::test]`: written above, they make a plain function, and `timeout`
///   needs an `async fn`. `#[async_recursion]` and the like, which make a future, go below.
/// - `#[track_caller]` on a plain function is refused: the guard would be who calls the body.
///
/// What can't be guarded: a `const fn`, a plain function that returns a future, a method without
/// a body, a function with C's `...`.
///
/// Parameters are dropped in the order in which the plain function drops them, with two
/// exceptions. Where a fallback uses one, those that the body only borrows are dropped last; and
/// where another attribute comes below, those called `_` are.
///
/// # The breaker
/// Without `breaker`, a `static` of the function's own, with these settings:
///
/// | option | value | default |
/// | --- | --- | --- |
/// | `name` | a string: in events, errors and the registry | the path of the function |
/// | `threshold` | failures in a row that open the circuit, 1 to 134,217,726 | 5 |
/// | `failure_rate` | instead: the share of failures in the `window` that opens it, above 0 | |
/// | `window` | the last calls, 1 to 4,095 (`100`), or the last time, from 10 ms on (`"10s"`), of which a rate is taken | 100 |
/// | `min_calls` | calls in the `window` before which no rate opens the circuit, 1 to 131,071 | 20, or all of a smaller `window` |
/// | `slow`, `slow_rate` | beside `failure_rate`: the duration beyond which a call is slow, and the share of such calls that opens it | |
/// | `reset` | duration until a probe is let through | `"30s"` |
/// | `backoff` | factor on `reset` for each time that a probe failed, at least 1 | 1 |
/// | `max_reset` | the longest wait, not below `reset` | none |
/// | `jitter` | random share that is added to each wait, 0 to 1 | 0.1 |
/// | `probes` | probes at the same time, 1 to 511; beside `close_rate` to 255 | 1 |
/// | `close_after` | successful probes that close the circuit, 1 to 511 | `probes` |
/// | `close_rate` | instead: of `probes` results, the share of failures, above 0, that reopens it | |
/// | `probe_timeout` | duration after which a lost probe is given up | the larger of `reset` and 60 s |
/// | `on_cancel` | a call that is dropped: `ignore`, or `failure` | `ignore` |
///
/// A count, factor or ratio is a literal, or any constant expression: `threshold = LIMIT`, where
/// counts are `u32`, and ratios and factors `f64`. A duration is a string with units (`"30s"`,
/// `"250ms"`, `"1m30s"`, `"1.5s"`; d, h, m, s, ms, us, ns), or a constant `Duration`. Of a
/// `window` the constant's type decides: a `u32` counts calls. They are kept in a static, so they
/// can't use `Self`, `self`, parameters or generics.
///
/// | option | value |
/// | --- | --- |
/// | `breaker` | another breaker, with settings of its own: `PMS` (a static of `breaker!`), `&self.breaker`; an expression that is evaluated before the body |
/// | `shared` | on a method, in place of `breaker`: one breaker for all instances is meant |
///
/// A method with `self` must have one of these two.
///
/// # The call
/// | option | value | default |
/// | --- | --- | --- |
/// | `classify` | function or closure over `&E`: `true` if it counts as a failure, or an `Outcome` | every `Err` counts |
/// | `classify_output` | instead: over `&` the whole output, for functions without a `Result` too | |
/// | `timeout` | duration after which the call is dropped and counts; `async` only | none |
/// | `fallback` | what serves the caller instead: see below | none |
/// | `fallback_on` | `any`: counted failures, timeouts and refusals; `open`: refusals only | `any` |
/// | `open_error` | function or closure that makes the error of a refused call; for one without fields `\|_\| MyError::Refused` | `From<CircuitOpenError>` |
/// | `timeout_error` | the same for a call that took too long | `From<TimeoutError>` |
/// | `crate` | path of the library, if it has another name | `::breakerbox` |
///
/// `Outcome::Overloaded(wait)` opens the circuit for `wait`, which `max_reset` does not cap: where
/// it comes from a `Retry-After` that you don't trust, cap it in `classify`.
///
/// Where the function returns no `Result`, `classify_output` is needed, and `open_error` and
/// `timeout_error` make the whole output. A function that returns `!` needs an `open_error`
/// that doesn't return. Beside a fallback that always answers, neither the two nor their `From`
/// are needed (with `fallback_on = open` it doesn't answer for timeouts).
///
/// # Fallbacks
/// - `fallback = cached`: a function of the same parameters, in methods of `self` first. So a
///   method is `fallback = Self::cached`, or as a call `fallback = self.cached(hotel)`.
/// - `fallback = cached(hotel, &nights)`: just that call; any other expression likewise.
/// - `fallback = {NO_ROOMS}`: a constant. The braces tell it from a function to be called.
/// - `fallback = |cause| ..`: a closure that sees the `Cause`. One that only panics
///   (`|_| todo!()`) will do.
///
/// It gives the function's own type, or an `Option` of it: with `None` the caller gets the
/// original error. Where the function itself returns an `Option<T>`, a bare `None` could be
/// either: write `None::<T>` for the answer, `None::<Option<T>>` for none. In an `async fn` it may
/// be a future of one of these. An error that does not count is no case for the fallback, and is
/// returned as it is.
///
/// A guarded future is `Send` exactly when the body's is. Only while it awaits a fallback's
/// future it keeps the original output, and then that and the fallback's future must be `Send`
/// too.
///
/// Nothing is cloned. A parameter that the body consumes is gone when the fallback runs:
/// take it by reference, or let both only borrow it.
#[proc_macro_attribute]
pub fn circuit_breaker(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    guard(args.into(), item.into()).into()
}

/// Declares breakers as statics.
///
/// ```text
/// breaker! {
///     /// The property-management system.
///     pub static PMS = { threshold: 5, reset: "30s" }
/// }
/// ```
///
/// The settings are those of a breaker in [`macro@circuit_breaker`] (and `crate`), checked at
/// compile time; `{}` means the defaults. The name is the path of the static unless `name` says
/// otherwise. A block may declare several, with attributes and visibility. Then
/// `#[circuit_breaker(breaker = PMS)]` guards functions with it, or `PMS.call(..)` by hand.
///
/// The static is a `breakerbox::Breaker`. With `failure_rate` it has its window inside:
/// `Breaker<DefaultClock, Sliding<N>>`, where N is 10 for a window of time, and for one of calls
/// a 14th of their number, rounded up: 8 for 100.
#[proc_macro]
pub fn breaker(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    breaker_macro::expand(input.into()).into()
}

/// The guarded function; or the function as it was, and every mistake beside it.
fn guard(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(args, Style::Attribute, &mut errors);
    let model = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => validate::function(args, function, &mut errors),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    match model {
        Some(model) => expand::function(&model),
        None => {
            let mut tokens = item;
            tokens.extend(errors.into_tokens());
            tokens
        }
    }
}

#[cfg(test)]
mod tests;
