//! Bodies and what they give.

use core::fmt::Display;
use std::sync::{Arc, Mutex};

use breakerbox::CircuitOpenError;
#[cfg(code = "guarded")]
use breakerbox::circuit_breaker;

use crate::{Error, pause};

/// Bare.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn waits(hotel: &str) -> Result<usize, Error> {
    pause().await;
    Ok(hotel.len())
}

/// Bare.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn plain(hotel: &str) -> Result<&str, Error> {
    Ok(hotel)
}

/// With settings.
///
/// # Errors
/// When down.
#[cfg_attr(
    code = "guarded",
    circuit_breaker(threshold = 3, reset = "30s", jitter = 0.2, probes = 2)
)]
pub fn settings(hotel: &str) -> Result<u8, Error> {
    hotel.parse().map_err(|_| Error::Down)
}

/// By rate, with a time limit.
///
/// # Errors
/// When down.
#[cfg_attr(
    code = "guarded",
    circuit_breaker(
        failure_rate = 0.5,
        window = "10s",
        slow = "1s",
        slow_rate = 0.5,
        timeout = "2s"
    )
)]
pub async fn by_rate(hotel: &str) -> Result<u8, Error> {
    pause().await;
    hotel.parse().map_err(|_| Error::Down)
}

/// Never awaits.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn never_awaits() -> Result<(), Error> {
    Ok(())
}

/// What the options name.
pub fn abort() -> ! {
    std::process::abort()
}

/// What the options name.
pub fn never_fails<T>(_: &T) -> bool {
    false
}

/// What the options name.
#[must_use]
pub fn number(_: CircuitOpenError) -> u8 {
    0
}

/// What the options name.
#[must_use]
pub fn none(_: CircuitOpenError) -> Option<char> {
    None
}

/// Never comes back.
#[cfg_attr(code = "guarded", circuit_breaker(open_error = |_| abort()))]
pub async fn never() -> ! {
    pause().await;
    std::process::abort()
}

/// Never comes back.
#[cfg_attr(code = "guarded", circuit_breaker(open_error = |_| abort()))]
pub fn never_plain() -> ! {
    panic!("as it does")
}

/// Is not written yet.
///
/// # Errors
/// When down.
///
/// # Panics
/// Always.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn not_written() -> Result<String, Error> {
    unimplemented!()
}

/// Gives nothing.
#[cfg_attr(code = "guarded", circuit_breaker(classify_output = never_fails, open_error = drop))]
pub async fn nothing() {
    pause().await;
}

/// Gives nothing.
#[cfg_attr(code = "guarded", circuit_breaker(classify_output = never_fails, open_error = drop))]
pub fn nothing_plain(done: &mut bool) {
    *done = true;
}

/// Gives something opaque.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn opaque(nights: u32) -> Result<impl Iterator<Item = u32>, Error> {
    Ok(0..nights)
}

/// Gives something opaque.
#[cfg_attr(code = "guarded", circuit_breaker(classify_output = never_fails, open_error = number))]
pub async fn all_opaque() -> impl Display {
    pause().await;
    5_u8
}

/// Gives a box.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn boxed(number: u8) -> Result<Box<dyn Display + Send>, Error> {
    pause().await;
    Ok(Box::new(number))
}

/// Gives an option.
#[cfg_attr(code = "guarded", circuit_breaker(classify_output = Option::is_none, open_error = none))]
pub fn option(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    Some(first)
}

/// Leaves early, in many ways, with as many branches as one may have.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn leaves(numbers: &[u8]) -> Result<u8, Error> {
    for &number in numbers {
        match number {
            0 => return Err(Error::Down),
            1 if numbers.len() > 1 => continue,
            2 | 3 => break,
            4 => {
                if numbers.len() > 2 {
                    return Ok(4);
                }
            }
            5 if numbers.len() > 5 || numbers.len() == 3 => return Ok(5),
            6 => {
                let Some(first) = numbers.first() else {
                    return Err(Error::Down);
                };
                return Ok(*first);
            }
            7 => {
                while numbers.len() > 7 {
                    if numbers.len() == 8 {
                        break;
                    }
                    return Ok(8);
                }
            }
            8 => return numbers.last().copied().ok_or(Error::Down),
            9 => {
                let sum: u8 = numbers.iter().copied().max().ok_or(Error::Down)?;
                return Ok(sum);
            }
            10 => return if numbers.len() > 10 { Ok(1) } else { Ok(2) },
            11 => {
                if let [first, .., last] = numbers {
                    return Ok(if first > last { *first } else { *last });
                }
            }
            12 => return Ok(u8::from(numbers.is_empty() && numbers.contains(&1))),
            _ => {}
        }
    }
    Ok(0)
}

/// Calls itself.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub fn recursive(depth: u32) -> Result<u32, Error> {
    match depth {
        0 => Ok(0),
        depth => Ok(recursive(depth - 1)? + 1),
    }
}

/// Calls itself.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn recursive_later(depth: u32) -> Result<u32, Error> {
    match depth {
        0 => Ok(0),
        depth => Ok(Box::pin(recursive_later(depth - 1)).await? + 1),
    }
}

/// Keeps a lock for a while.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn locks(shared: &Arc<Mutex<Vec<u8>>>) -> Result<usize, Error> {
    let len = {
        let mut many = shared.lock().map_err(|_| Error::Down)?;
        many.push(1);
        many.len()
    };
    pause().await;
    Ok(len)
}

/// Has items, closures and blocks inside.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn items() -> Result<u32, Error> {
    const LIMIT: u32 = 3;
    fn twice(number: u32) -> u32 {
        number * 2
    }
    let once = |number: u32| number + LIMIT;
    let later = async { once(1) };
    pause().await;
    Ok({ twice(later.await) })
}

/// Has a large variable.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker)]
pub async fn large() -> Result<u8, Error> {
    let data = [1_u8; 20_000];
    pause().await;
    data.last().copied().ok_or(Error::Down)
}

/// Has a fallback.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(fallback = cached, timeout = "1s", open_error = Error::from))]
pub async fn falls_back(hotel: &str, nights: u32) -> Result<String, Error> {
    pause().await;
    Ok(format!("{hotel}{nights}"))
}

/// Has a fallback that is a closure.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(fallback = cached(hotel, nights)))]
pub fn falls_back_plain(hotel: &str, nights: u32) -> Result<String, Error> {
    Ok(format!("{hotel}{nights}"))
}

/// Has a fallback that may want what the body takes.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(fallback = kept, fallback_on = open))]
pub fn falls_back_if_open(hotels: Vec<String>) -> Result<usize, Error> {
    let lengths = hotels.into_iter().map(|hotel| hotel.len());
    lengths.max().ok_or(Error::Down)
}

/// The same, and waits.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(fallback = kept(hotels), fallback_on = open, timeout = "1s"))]
pub async fn falls_back_later(hotels: Vec<String>) -> Result<usize, Error> {
    pause().await;
    let lengths = hotels.into_iter().map(|hotel| hotel.len());
    lengths.max().ok_or(Error::Down)
}

/// As a cache would.
#[must_use]
pub fn kept(hotels: Vec<String>) -> Option<Result<usize, Error>> {
    hotels.into_iter().map(|hotel| Ok(hotel.len())).next()
}

/// As a cache would.
#[must_use]
pub fn cached(hotel: &str, nights: u32) -> Option<Result<String, Error>> {
    (nights > 0).then(|| Ok(hotel.to_owned()))
}

/// Classifies.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(classify = is_down))]
pub async fn classified(hotel: &str) -> Result<u8, Error> {
    pause().await;
    hotel.parse().map_err(|_| Error::Down)
}

/// Whether it is down.
#[must_use]
pub fn is_down(error: &Error) -> bool {
    matches!(error, Error::Down)
}
