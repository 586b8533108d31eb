//! A sensor read through a breaker, on a machine without an operating system.
#![no_std]

use breakerbox::{Breaker, CallError, Clock, Settings, circuit_breaker};
use core::sync::atomic::{AtomicU32, Ordering};

/// Milliseconds since start-up: on a real board a timer's interrupt counts them.
pub static TICKS: AtomicU32 = AtomicU32::new(0);

/// The board's clock.
#[derive(Clone, Copy, Debug)]
pub struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> u64 {
        u64::from(TICKS.load(Ordering::Relaxed)) * 1_000_000
    }

    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn entropy(&self) -> Option<u64> {
        // The board's serial number, say.
        Some(0x5EED)
    }
}

/// The sensor's breaker.
pub static SENSOR: Breaker<Ticks> = Breaker::with_clock(
    "sensor",
    Settings::new().threshold(2).jitter(0.0).must(),
    Ticks,
);

/// What the bus says where the sensor doesn't answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;

fn last_good(_: Option<i16>) -> Option<Result<i16, CallError<NoAnswer>>> {
    None
}

/// Reads the temperature.
///
/// # Errors
/// [`CallError`]: no answer, or refused.
#[circuit_breaker(breaker = SENSOR, fallback = last_good)]
pub fn temperature(register: Option<i16>) -> Result<i16, CallError<NoAnswer>> {
    register.ok_or(CallError::Call(NoAnswer))
}

/// Reads the temperature by interrupt.
///
/// # Errors
/// [`CallError`]: no answer, or refused.
#[circuit_breaker(breaker = SENSOR)]
pub async fn temperature_later(register: Option<i16>) -> Result<i16, CallError<NoAnswer>> {
    register.ok_or(CallError::Call(NoAnswer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakerbox::State;
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    #[test]
    fn it_trips_and_recovers_by_the_boards_clock() {
        assert_eq!(temperature(Some(21)), Ok(21));
        for _ in 0..2 {
            assert_eq!(temperature(None), Err(CallError::Call(NoAnswer)));
        }
        assert_eq!(SENSOR.state(), State::Open);
        assert!(matches!(temperature(Some(21)), Err(CallError::Open(_))));
        // A tick may be a millisecond late, so the wait is that much longer.
        TICKS.store(30_000, Ordering::Relaxed);
        assert!(matches!(temperature(Some(21)), Err(CallError::Open(_))));
        TICKS.store(30_001, Ordering::Relaxed);
        let mut context = Context::from_waker(Waker::noop());
        let probe = pin!(temperature_later(Some(22))).poll(&mut context);
        assert_eq!(probe, Poll::Ready(Ok(22)));
        assert_eq!(SENSOR.state(), State::Closed);
    }
}
