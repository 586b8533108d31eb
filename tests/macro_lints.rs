//! The attribute sets off no lint in the user's code that the plain code does not: here is all
//! of it under nearly every lint of rustc and clippy.

#![deny(
    warnings,
    missing_docs,
    unused,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction,
    future_incompatible,
    let_underscore,
    nonstandard_style,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![allow(
    clippy::absolute_paths,
    clippy::arbitrary_source_item_ordering,
    clippy::blanket_clippy_restriction_lints,
    clippy::implicit_return,
    clippy::min_ident_chars,
    clippy::missing_docs_in_private_items,
    clippy::missing_inline_in_public_items,
    clippy::pub_use,
    clippy::question_mark_used,
    clippy::shadow_reuse,
    clippy::single_call_fn,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    clippy::tests_outside_test_module,
    reason = "house styles that exclude each other, or are no matter of the attribute"
)]

use std::sync::Arc;
use std::time::Duration;

use breakerbox::{Breaker, CallError, CircuitOpenError, TimeoutError, breaker, circuit_breaker};

/// The error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It is down.
    Down,
    /// It took too long.
    Late(TimeoutError),
    /// The circuit is open.
    Open(CircuitOpenError),
}

impl From<CircuitOpenError> for Error {
    fn from(refused: CircuitOpenError) -> Self {
        Self::Open(refused)
    }
}

impl From<TimeoutError> for Error {
    fn from(late: TimeoutError) -> Self {
        Self::Late(late)
    }
}

const fn is_down(error: &Error) -> bool {
    matches!(*error, Error::Down)
}

const LIMIT: u32 = 4;

breaker! {
    /// The property-management system.
    pub static PMS = { threshold: LIMIT, reset: "30s", jitter: 0.2 }

    static PRIVATE = {}

    /// By rate.
    pub static RATES = { failure_rate: 0.5, window: LIMIT, min_calls: LIMIT }
}

/// By rate.
///
/// # Errors
/// When refused.
#[circuit_breaker(
    failure_rate = 0.5,
    window = Duration::from_secs(10),
    min_calls = 10,
    slow = "1s",
    slow_rate = 0.5
)]
pub async fn by_rate(hotel: &str) -> Result<usize, Error> {
    std::future::ready(()).await;
    Ok(hotel.len())
}

/// By rate, with the default window.
///
/// # Errors
/// When refused.
#[circuit_breaker(failure_rate = 0.5)]
pub fn by_rate_plain(hotel: &str) -> Result<usize, Error> {
    Ok(hotel.len())
}

/// Without options.
///
/// # Errors
/// When refused.
#[circuit_breaker]
pub async fn bare(hotel: &str) -> Result<usize, Error> {
    std::future::ready(()).await;
    Ok(hotel.len())
}

/// Without options.
///
/// # Errors
/// When refused.
#[circuit_breaker]
pub fn bare_plain(hotel: &str) -> Result<&str, Error> {
    Ok(hotel)
}

/// With all options.
///
/// # Errors
/// When refused.
#[circuit_breaker(
    name = "everything",
    threshold = LIMIT,
    reset = "30s",
    backoff = 2,
    max_reset = "1m",
    jitter = 0.2,
    probes = 2,
    close_after = 3,
    probe_timeout = "70s",
    on_cancel = failure,
    classify = is_down,
    timeout = "2s",
    fallback = cached,
    fallback_on = any,
    open_error = Error::Open,
    timeout_error = Error::Late,
)]
pub async fn everything(hotel: &str, nights: u32) -> Result<String, Error> {
    std::future::ready(()).await;
    Ok(format!("{hotel}{nights}"))
}

#[expect(clippy::unnecessary_wraps, reason = "as a cache would")]
fn cached(hotel: &str, nights: u32) -> Option<Result<String, Error>> {
    Some(Ok(format!("{hotel}{nights}")))
}

/// A client.
#[derive(Debug)]
pub struct Client {
    breaker: Arc<Breaker>,
    name: String,
}

impl Client {
    /// With a fallback.
    ///
    /// # Errors
    /// When refused.
    #[circuit_breaker(breaker = self.breaker, fallback = self.cached(&hotel))]
    pub async fn get(&self, mut hotel: String) -> Result<String, Error> {
        std::future::ready(()).await;
        hotel.push_str(&self.name);
        Ok(hotel.clone())
    }

    #[expect(clippy::unnecessary_wraps, reason = "as a cache would")]
    fn cached(&self, hotel: &str) -> Result<String, Error> {
        Ok(format!("{}{hotel}", self.name))
    }

    /// Of an `Option`.
    #[circuit_breaker(
        breaker = PMS,
        classify_output = Option::is_none,
        open_error = |_| None,
        timeout = Duration::from_secs(2),
        timeout_error = |_| None,
    )]
    pub async fn option(&mut self, hotel: &str) -> Option<&mut String> {
        std::future::ready(()).await;
        if hotel.is_empty() {
            None
        } else {
            Some(&mut self.name)
        }
    }

    /// Of an `Arc`, with parameters that are dropped.
    ///
    /// # Errors
    /// When refused.
    #[circuit_breaker(shared)]
    pub fn plain(self: Arc<Self>, mut hotel: String, _: Vec<u8>) -> Result<String, Error> {
        hotel.push_str(&self.name);
        Ok(hotel)
    }

    /// Of two parameters that are dropped.
    ///
    /// # Errors
    /// When refused.
    #[circuit_breaker(shared, fallback = |_| Ok(0))]
    pub async fn two(&self, hotel: String, nights: Vec<u8>, _: String) -> Result<usize, Error> {
        std::future::ready(()).await;
        Ok(self.name.len().max(hotel.len()).max(nights.len()))
    }
}

/// Never.
#[circuit_breaker(open_error = |_| std::process::abort())]
pub async fn forever() -> ! {
    std::future::ready(()).await;
    std::process::abort()
}

/// An opaque type.
///
/// # Errors
/// When refused.
#[circuit_breaker(breaker = PRIVATE)]
pub async fn opaque(nights: u32) -> Result<impl Iterator<Item = u32>, Error> {
    std::future::ready(()).await;
    Ok(0..nights)
}

/// Nothing.
#[circuit_breaker(classify_output = |&()| false, open_error = |_| ())]
pub async fn nothing() {
    std::future::ready(()).await;
}

/// Nothing.
#[circuit_breaker(classify_output = |&()| false, open_error = |_| ())]
pub fn nothing_plain(done: &mut bool) {
    *done = true;
}

/// Inner attributes.
///
/// # Errors
/// When refused.
#[circuit_breaker]
pub async fn inner() -> Result<u8, Error> {
    #![expect(clippy::let_and_return, reason = "to see that they are kept")]

    std::future::ready(()).await;
    let answer = Ok(1);
    answer
}

#[circuit_breaker]
#[expect(dead_code, reason = "to see that it is")]
async fn dead() -> Result<u8, CallError<Error>> {
    std::future::ready(()).await;
    Ok(1)
}

#[circuit_breaker]
#[expect(dead_code, reason = "to see that it is")]
fn dead_plain() -> Result<u8, CallError<Error>> {
    Ok(1)
}
