//! A breaker by its name.

use super::book::{Book, here_and_around};
use super::found::{Found, FoundKeyed};

/// The breaker of that name, if it is known.
///
/// Breakers of [`#[circuit_breaker]`](crate::circuit_breaker) and
/// [`breaker!`](crate::breaker) are known from their first call on, those of
/// [`Breaker::shared`](crate::Breaker::shared) until they are dropped. One made by hand is never known.
///
/// ```
/// use breakerbox::{CallError, State, circuit_breaker};
///
/// #[circuit_breaker(name = "pms", threshold = 1)]
/// fn rooms() -> Result<u32, CallError<&'static str>> {
///     Err(CallError::Call("no answer"))
/// }
///
/// # let _scope = breakerbox::test::scope();
/// assert!(breakerbox::find("pms").is_none());
/// let _ = rooms();
/// let pms = breakerbox::find("pms").unwrap();
/// assert_eq!(pms.state(), State::Open);
/// pms.close();
/// assert_eq!(pms.state(), State::Closed);
/// ```
///
/// Inside a test scope, shared breakers that were made in it are found first.
#[must_use]
pub fn find(name: &str) -> Option<Found> {
    here_and_around().find_map(|book| find_in(&book, name))
}

/// By name, or by name and key: `hosts[a.example]`. Either may have brackets in it.
///
/// The names are locked only to look: a key's label is the user's code, and the
/// last that has breakers may be this one, when it drops them.
fn find_in(book: &Book, name: &str) -> Option<Found> {
    let found = book.find(name);
    if found.is_some() {
        return found;
    }
    let name = name.strip_suffix(']')?;
    name.match_indices('[').find_map(|(at, _)| {
        let keyed = book.find_keyed(&name[..at]);
        keyed?.find(&name[at + 1..])
    })
}

/// The breakers by key of that name, if they are known: those of an attribute
/// with `key` from the first call on, those of
/// [`KeyedBreakers::shared`](crate::KeyedBreakers::shared) until they are dropped.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker};
///
/// #[circuit_breaker(name = "rates", key = host)]
/// fn rates(host: &str) -> Result<u32, CallError<&'static str>> {
///     Ok(7)
/// }
///
/// # let _scope = breakerbox::test::scope();
/// assert!(breakerbox::find_keyed("rates").is_none());
/// let _ = rates("a.example");
/// let hosts = breakerbox::find_keyed("rates").unwrap();
/// assert_eq!(hosts.len(), 1);
/// for host in hosts.breakers() {
///     println!("{}: {}", host.key().unwrap(), host.state());
/// }
/// ```
#[must_use]
pub fn find_keyed(name: &str) -> Option<FoundKeyed> {
    here_and_around().find_map(|book| book.find_keyed(name))
}

/// The name that what is listed by this one asked for, and didn't get.
pub(crate) fn asked_name(name: &str) -> Option<String> {
    let (_, asked) = here_and_around().find_map(|book| book.listed_as(name))?;
    (asked.as_str() != name).then(|| asked.as_str().to_owned())
}
