//! The macros of `breakerbox`, which re-exports them: `#[circuit_breaker(..)]` and `breaker!`.
//!
//! The modules are the stages. `args` reads the options, `validate` finds contradictions and
//! makes a `model`, `expand` prints it. Mistakes are gathered on the way and reported together.

mod args;
mod breaker_macro;
mod captures;
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
/// #[circuit_breaker]
/// async fn rates(hotel: &str) -> Result<Rates, CallError<reqwest::Error>> { .. }
///
/// #[circuit_breaker(threshold = 3, reset = "10s", classify = is_transient, fallback = cached)]
/// async fn rooms(hotel: &str) -> Result<Rooms, PmsError> { .. }
/// ```
///
/// After `threshold` counted failures in a row the circuit opens: calls are refused, or served by
/// the `fallback`, without running the function. After `reset` one call is let through to find
/// out. It goes above `async fn` and plain functions, methods and trait methods with a body,
/// generic ones too. The function's own result passes through untouched.
///
/// **The guide has an example of each option, and how to choose:**
/// <https://docs.rs/breakerbox/latest/breakerbox/guide/>
///
/// | option | value | default |
/// | --- | --- | --- |
/// | `name` | a string: in errors, events and the registry | the path of the function |
/// | `threshold` | failures in a row that open the circuit | 5 |
/// | `failure_rate` | instead: the share of failures in the `window` that opens it | |
/// | `window` | of which calls: the last so many (`100`), or of the last so long (`"10s"`) | 100 |
/// | `min_calls` | calls in the `window` before which no rate opens the circuit | 20, or all of a smaller `window` |
/// | `slow`, `slow_rate` | beside `failure_rate`: how long a call takes that is slow; the share of them that opens | |
/// | `reset` | how long it stays open before a probe | `"30s"` |
/// | `backoff`, `max_reset` | factor by which the wait grows when a trial fails; the longest wait | 1, none |
/// | `jitter` | random share that is added to each wait | 0.1 |
/// | `probes` | probes at the same time; beside `close_rate` in all | 1 |
/// | `close_after` | successful probes that close the circuit | `probes` |
/// | `close_rate` | instead: of `probes` results, the share of failures that reopens it | |
/// | `probe_timeout` | after this, probes that never ended are given up | the larger of `reset` and 60 s |
/// | `on_cancel` | what a dropped call counts as: `ignore`, or `failure` | `ignore` |
/// | `breaker` | another breaker: `PMS` (of `breaker!`), `self.breaker` | a static of the function's own |
/// | `shared` | on a method: one breaker for all instances is meant | |
/// | `key`, `max_keys` | one breaker for each key, an expression over the parameters; how many are kept | none, 10,000 |
/// | `classify` | function or closure over `&E`: `true` if it counts, or an `Outcome`; for common clients `classify::reqwest` and others | every `Err` counts |
/// | `classify_output` | instead: over `&` the whole output, also where it is no `Result` | |
/// | `timeout` | `async` only: after this the call is dropped and counts; also `self.timeout`, or of a parameter | none |
/// | `fallback` | what serves the caller instead: `cached` (same parameters), `cached(hotel)`, `\|cause\| ..`, `{NO_ROOMS}` | none |
/// | `fallback_on` | `any`: counted failures, timeouts and refusals; `open`: refusals only | `any` |
/// | `last_good` | instead: where the last good answers are (feature `last-good`), for a function that returns `Result<Served<T>, E>` | none |
/// | `last_good_key` | which question an answer belongs to, an expression over the parameters | `key` |
/// | `open_error` | function or closure that makes the error of a refused call | `From<CircuitOpenError>` |
/// | `timeout_error` | the same for a call that took too long | `From<TimeoutError>` |
/// | `crate` | path of the library, if it has another name | `::breakerbox` |
///
/// A duration is a string (`"30s"`, `"250ms"`, `"1m30s"`, `"1.5s"`) or a constant `Duration`
/// (a `timeout` need not be constant: each call asks for it, and cuts it to `probe_timeout`);
/// numbers are literals or constants, `u32` for counts, `f64` for shares and factors. A method
/// with `self` must have `breaker`, `key` or `shared`. Mistakes are errors of the compiler, each
/// at its own place, and all of them at once.
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
