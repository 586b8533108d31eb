//! Waiting for what is to come, with limits that only a hang reaches.

use std::thread;
use std::time::{Duration, Instant};

/// No test waits longer for anything.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Looks again and again until there is something.
///
/// # Panics
/// If nothing comes within [`LIMIT`].
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match within(LIMIT, look) {
        Some(found) => found,
        None => panic!("waited {LIMIT:?} for {what}"),
    }
}

/// Looks again and again until it is so.
///
/// # Panics
/// If it isn't within [`LIMIT`].
pub fn until_so(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

/// Looks again and again for so long.
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if start.elapsed() > limit {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The clock that all processes of this machine share, in microseconds: no host's time of day.
#[must_use]
pub fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let micros = |number: i64| u64::try_from(number).unwrap_or(0);
    micros(now.tv_sec) * 1_000_000 + micros(now.tv_nsec) / 1_000
}
