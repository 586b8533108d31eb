//! Our own calls, as a user writes them: through `breakerbox`, its breakers `static`.

use crate::calls::{consume, poll};
use breaker_redis::{Fleet, FleetBreaker, Sharing};
use breakerbox::{
    Breaker, CallError, CircuitOpenError, Config, Effect, State, TimeoutError, breaker,
    circuit_breaker,
};
use std::hint::black_box;

/// An error of a user's own, as small as the peers'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The dependency is down.
    Down,
    /// Refused by the breaker.
    Open,
    /// Given up.
    TimedOut,
}

impl From<CircuitOpenError> for Failed {
    fn from(_: CircuitOpenError) -> Self {
        Self::Open
    }
}

impl From<TimeoutError> for Failed {
    fn from(_: TimeoutError) -> Self {
        Self::TimedOut
    }
}

/// What a user's function gives.
pub(crate) type Answer = Result<u32, Failed>;

breaker! {
    static PLAIN = { threshold: 5, reset: "30s" };
    static BY_CALLS = { failure_rate: 0.5, window: 100, min_calls: 20 };
    static BY_TIME = { failure_rate: 0.5, window: "10s", min_calls: 20 };
    static REFUSING = { threshold: 1, reset: "24h" };
}

static FLEET: FleetBreaker<Breaker> =
    FleetBreaker::declared("fleet", Config::DEFAULT, Sharing::new().counting(), || {
        &FLEET
    });

/// The function that nobody guards.
#[inline(never)]
pub(crate) fn bare(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

#[circuit_breaker]
#[inline(never)]
fn annotated(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

#[circuit_breaker(breaker = FLEET)]
#[inline(never)]
fn annotated_of_fleet(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

#[circuit_breaker(breaker = REFUSING)]
#[inline(never)]
fn annotated_refused(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

/// The asynchronous function that nobody guards.
pub(crate) async fn bare_async(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

/// Guarded by a bare `#[circuit_breaker]`.
#[circuit_breaker]
pub(crate) async fn annotated_async(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

/// What a function gives whose error says all that there is to say.
pub(crate) type Telling = Result<u32, CallError<&'static str>>;

/// The one with the larger error that nobody guards.
pub(crate) async fn bare_telling_async(rooms: u32) -> Telling {
    Ok(black_box(rooms))
}

/// The same, guarded.
#[circuit_breaker]
pub(crate) async fn telling_async(rooms: u32) -> Telling {
    Ok(black_box(rooms))
}

/// Guarded, with `classify`.
#[circuit_breaker(classify = |failed| matches!(failed, Failed::Down))]
pub(crate) async fn classified_async(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

/// Guarded, with `timeout`.
#[circuit_breaker(timeout = "2s")]
pub(crate) async fn limited_async(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

/// Guarded by a rate over time.
#[circuit_breaker(breaker = BY_TIME)]
pub(crate) async fn by_time_async(rooms: u32) -> Answer {
    Ok(black_box(rooms))
}

pub(crate) fn permit() {
    if let Ok(permit) = PLAIN.admit() {
        black_box(permit.success() == Effect::Counted);
    }
}

pub(crate) fn call_sync() {
    consume(PLAIN.call_sync(|| Ok::<_, ()>(black_box(1))));
}

pub(crate) fn call_annotated() {
    consume(annotated(black_box(1)));
}

pub(crate) fn call_bare() {
    consume(bare(black_box(1)));
}

pub(crate) fn call_by_hand() {
    consume(poll(PLAIN.call(bare_async(black_box(1)))));
}

pub(crate) fn permit_by_calls() {
    if let Ok(permit) = BY_CALLS.admit() {
        black_box(permit.success() == Effect::Counted);
    }
}

pub(crate) fn call_sync_by_calls() {
    consume(BY_CALLS.call_sync(|| Ok::<_, ()>(black_box(1))));
}

pub(crate) fn permit_by_time() {
    if let Ok(permit) = BY_TIME.admit() {
        black_box(permit.success() == Effect::Counted);
    }
}

pub(crate) fn call_sync_by_time() {
    consume(BY_TIME.call_sync(|| Ok::<_, ()>(black_box(1))));
}

/// Shares a breaker. It stays linked; the fleet's thread, which would be measured as well, ends.
pub(crate) fn share() {
    let fleet = Fleet::start("redis://127.0.0.1:1").expect("nobody waits for Redis");
    fleet.share(&FLEET).expect("it is shared once");
}

pub(crate) fn permit_of_fleet() {
    if let Ok(permit) = FLEET.admit() {
        black_box(permit.success() == Effect::Counted);
    }
}

pub(crate) fn call_sync_of_fleet() {
    consume(FLEET.call_sync(|| Ok::<_, ()>(black_box(1))));
}

pub(crate) fn call_annotated_of_fleet() {
    consume(annotated_of_fleet(black_box(1)));
}

/// Opens the breaker of the calls that are refused, for longer than any run.
pub(crate) fn open() {
    let _ = REFUSING.call_sync(|| Err::<(), _>(Failed::Down));
    assert_eq!(REFUSING.state(), State::Open);
}

pub(crate) fn admit_refused() {
    black_box(REFUSING.admit().is_err());
}

pub(crate) fn call_sync_refused() {
    consume(REFUSING.call_sync(|| Ok::<_, ()>(black_box(1))));
}

pub(crate) fn annotated_is_refused() {
    consume(annotated_refused(black_box(1)));
}
