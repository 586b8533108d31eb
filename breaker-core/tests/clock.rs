//! What a clock's resolution is added to, and what it is not.

use breaker_core::{
    Circuit, Clock, ManualClock, Outcome, Reading, Reason, Rejected, Settings, Snapshot, State,
};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);
const PROBE_TIMEOUT: Duration = Duration::from_secs(60);
const RESOLUTION: Duration = Duration::from_millis(4);
const NANO: Duration = Duration::from_nanos(1);

/// A clock that may lag by 4 ms.
#[derive(Default)]
struct Coarse(ManualClock);

impl Clock for Coarse {
    fn now(&self) -> u64 {
        self.0.now()
    }

    fn resolution(&self) -> u64 {
        u64::try_from(RESOLUTION.as_nanos()).unwrap()
    }

    fn exact(&self) -> u64 {
        self.0.now() + 1
    }

    fn entropy(&self) -> Option<u64> {
        Some(7)
    }
}

fn circuit() -> Circuit {
    Circuit::new(Settings::new().threshold(1).reset(RESET).jitter(0.0).must())
}

fn tripped(clock: &Coarse) -> Circuit {
    let circuit = circuit();
    circuit.admit(clock).unwrap().failure();
    circuit
}

fn refused(circuit: &Circuit, clock: &Coarse) -> Rejected {
    circuit.admit(clock).expect_err("admitted")
}

/// The wait is so long, and not a nanosecond less.
fn assert_waits(circuit: &Circuit, clock: &Coarse, reason: Reason, wait: Duration) {
    let now = refused(circuit, clock);
    assert_eq!((now.reason, now.retry_after), (reason, Some(wait)));
    clock.0.advance(wait - NANO);
    assert_eq!(refused(circuit, clock).retry_after, Some(NANO));
    clock.0.advance(NANO);
    assert!(circuit.admit(clock).is_ok());
}

#[test]
fn the_resolution_is_added_to_a_configured_wait() {
    let clock = Coarse::default();
    let circuit = tripped(&clock);
    assert_waits(&circuit, &clock, Reason::Open, RESET + RESOLUTION);
}

#[test]
fn the_resolution_is_added_to_a_wait_that_was_asked_for() {
    let wait = Duration::from_secs(7);
    let clock = Coarse::default();
    let by_operator = circuit();
    by_operator.open_for(wait, &clock);
    assert_waits(&by_operator, &clock, Reason::Open, wait + RESOLUTION);

    let by_overload = circuit();
    by_overload.admit(&clock).unwrap().overloaded(wait);
    assert_waits(&by_overload, &clock, Reason::Open, wait + RESOLUTION);
}

#[test]
fn the_resolution_is_added_to_the_probe_timeout() {
    let clock = Coarse::default();
    let circuit = tripped(&clock);
    clock.0.advance(RESET + RESOLUTION);
    let _stuck = circuit.admit(&clock).unwrap();
    let wait = PROBE_TIMEOUT + RESOLUTION;
    assert_waits(&circuit, &clock, Reason::HalfOpenFull, wait);
}

#[test]
fn no_wait_has_no_resolution_to_wait_for() {
    let clock = Coarse::default();
    let restored = circuit();
    let half_open = Snapshot {
        state: State::HalfOpen,
        time_left: Duration::ZERO,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    restored.restore(&half_open, &clock).unwrap();
    assert_eq!(restored.state(), State::Open);
    assert!(restored.admit(&clock).is_ok(), "a probe, at once");

    let opened_for_nothing = circuit();
    opened_for_nothing.open_for(Duration::ZERO, &clock);
    assert!(opened_for_nothing.admit(&clock).is_ok());
}

#[test]
fn the_resolution_is_added_once_however_often_a_snapshot_is_handed_on() {
    let clock = Coarse::default();
    let mut circuit = tripped(&clock);
    for _ in 0..10 {
        let snapshot = circuit.snapshot(&clock);
        assert_eq!(snapshot.time_left, RESET);
        circuit = self::circuit();
        circuit.restore(&snapshot, &clock).unwrap();
    }
    assert_waits(&circuit, &clock, Reason::Open, RESET + RESOLUTION);
}

#[test]
fn a_snapshot_has_nothing_left_of_a_wait_once_only_the_resolution_is_missing() {
    let clock = Coarse::default();
    let circuit = tripped(&clock);
    clock.0.advance(RESET);
    assert_eq!(circuit.snapshot(&clock).time_left, Duration::ZERO);
    assert_eq!(refused(&circuit, &clock).retry_after, Some(RESOLUTION));
}

#[test]
fn a_change_says_the_wait_without_the_resolution() {
    let clock = Coarse::default();
    let effect = circuit().admit(&clock).unwrap().failure();
    assert_eq!(effect.change().unwrap().wait, Some(RESET));
}

#[test]
fn an_explicit_time_is_exact() {
    let circuit = circuit();
    circuit
        .admit_at(0)
        .unwrap()
        .settle_at(Outcome::Failure, 10_000);
    let refused = circuit.admit_at(10_000).unwrap_err();
    assert_eq!(refused.retry_after, Some(RESET));
    assert_eq!(Reading(7).resolution(), 0);
}

#[test]
fn a_reference_to_a_clock_is_that_clock() {
    fn read(clock: impl Clock) -> (u64, u64, u64, Option<u64>) {
        let resolution = clock.resolution();
        (clock.now(), resolution, clock.exact(), clock.entropy())
    }
    let clock = Coarse(ManualClock::new(5));
    assert_eq!(read(&clock), (5, 4_000_000, 6, Some(7)));
    assert_eq!(read(&clock as &dyn Clock), (5, 4_000_000, 6, Some(7)));
}

#[test]
fn an_exact_clock_is_the_same_as_now_and_has_no_resolution() {
    let clock = ManualClock::new(5);
    assert_eq!((clock.exact(), clock.resolution()), (5, 0));
}
