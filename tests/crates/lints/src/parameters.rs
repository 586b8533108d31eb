//! Parameters of many kinds.

use core::fmt::Display;
use std::rc::Rc;

#[cfg(code = "guarded")]
use breakerbox::circuit_breaker;

use crate::{Error, pause};

/// Two numbers.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// The first night.
    pub from: u32,
    /// The last.
    pub to: u32,
}

/// Owned.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn owned(a: String, b: Vec<u8>) -> Result<usize, Error> {
    pause().await;
    Ok(a.len() + b.len())
}

/// Consumed.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn consumed(a: String, b: Vec<u8>) -> Result<(Vec<u8>, String), Error> {
    pause().await;
    Ok((b, a))
}

/// Mutable.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn mutable(mut a: String, mut b: &str, c: Vec<u8>) -> Result<usize, Error> {
    a.push_str(b);
    b = b.trim();
    pause().await;
    Ok(a.len() + b.len() + c.len())
}

/// Mutable.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn mutable_plain(mut a: String, mut b: u32, c: Vec<u8>) -> Result<String, Error> {
    b += 1;
    a.push_str(&b.to_string());
    a.push_str(&c.len().to_string());
    Ok(a)
}

/// Not used.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn underscored(_a: String, _b: Vec<u8>, _: String, _c: u8) -> Result<u8, Error> {
    pause().await;
    Ok(1)
}

/// Not used.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn underscored_plain(
    _a: String,
    mut b: String,
    _: Vec<u8>,
    _c: Option<String>,
) -> Result<String, Error> {
    b.push('!');
    Ok(b)
}

/// Results and others that must be used.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn must_be_used(
    a: Result<u8, String>,
    b: Box<dyn Display + Send>,
    c: Rc<u8>,
) -> Result<u8, Error> {
    pause().await;
    let _ = b.to_string();
    a.map(|number| number + *c).map_err(|_| Error::Down)
}

/// Patterns.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn patterns(
    (a, _): (String, String),
    Stay { from, .. }: Stay,
    [b, ..]: [String; 2],
) -> Result<usize, Error> {
    pause().await;
    usize::try_from(from).map_or(Err(Error::Down), |from| Ok(a.len() + b.len() + from))
}

/// Patterns.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn patterns_plain(
    (mut a, ref b): (String, String),
    (c, _): (String, u8),
    stay @ Stay { .. }: Stay,
) -> Result<String, Error> {
    a.push_str(b);
    a.push_str(&c);
    a.push_str(&stay.to.to_string());
    Ok(a)
}

/// Functions.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn functions(
    mut each: impl FnMut(&str) + Send,
    shown: &(impl Display + Sync),
) -> Result<(), Error> {
    each(&shown.to_string());
    pause().await;
    Ok(())
}

/// Generic.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn generic<'a, T, const N: usize>(
    value: &'a T,
    many: [T; N],
) -> Result<Vec<&'a str>, Error>
where
    T: AsRef<str> + Sync + Send,
{
    pause().await;
    Ok(many.iter().map(|_| value.as_ref()).collect())
}

/// Lent.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn lent<'a>(a: &'a mut Vec<String>, b: &str) -> Result<&'a mut String, Error> {
    a.push(b.to_owned());
    a.last_mut().ok_or(Error::Down)
}

/// As a cache would.
#[must_use]
pub fn cached(name: &str) -> Option<Result<usize, Error>> {
    name.len().checked_sub(1).map(Ok)
}

/// Beside a fallback.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(fallback = cached(&a)))]
pub async fn beside_a_fallback(mut a: String, mut b: String, _: Vec<u8>) -> Result<usize, Error> {
    a.push('!');
    b.push('!');
    pause().await;
    Ok(a.len() + b.len())
}

/// Many.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
#[expect(clippy::too_many_arguments, reason = "to see that it is")]
pub fn many(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> Result<u8, Error> {
    Ok(a + b + c + d + e + f + g + h)
}
