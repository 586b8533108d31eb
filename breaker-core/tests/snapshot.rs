//! Snapshots: what they say, and what a restored breaker makes of them.

use breaker_core::{Circuit, Effect, ManualClock, Settings, Snapshot, SnapshotError, State};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(10);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const SETTINGS: Settings = Settings::new().threshold(1).reset(RESET);

const CLOSED: Snapshot = Snapshot {
    state: State::Closed,
    time_left: Duration::ZERO,
    imposed: false,
    consecutive: 0,
    reopenings: 0,
};

fn circuit() -> Circuit {
    Circuit::new(SETTINGS.must())
}

/// The snapshot, restored elsewhere and taken again.
fn handed_on(snapshot: Snapshot, settings: Settings) -> Snapshot {
    let (elsewhere, clock) = (Circuit::new(settings.must()), ManualClock::new(12_345));
    elsewhere.restore(&snapshot, &clock).unwrap();
    elsewhere.snapshot(&clock)
}

#[test]
fn a_wait_that_was_asked_for_is_marked_and_stays_so() {
    let (asked, clock) = (HOUR, ManualClock::new(0));
    let by_operator = circuit();
    by_operator.open_for(asked, &clock);
    let by_overload = circuit();
    by_overload.admit(&clock).unwrap().overloaded(asked);
    let while_probing = circuit();
    while_probing.open_for(Duration::ZERO, &clock);
    while_probing.admit(&clock).unwrap().overloaded(asked);

    for circuit in [by_operator, by_overload, while_probing] {
        let snapshot = circuit.snapshot(&clock);
        assert_eq!(snapshot.state, State::Open);
        assert!(snapshot.imposed);
        assert_eq!(snapshot.time_left, asked);
        let twice = handed_on(handed_on(snapshot, SETTINGS), SETTINGS);
        assert_eq!(twice, snapshot, "beyond `reset` it is still all there");
    }
}

#[test]
fn a_configured_wait_is_not_marked_and_stays_so() {
    let (circuit, clock) = (circuit(), ManualClock::new(0));
    circuit.admit(&clock).unwrap().failure();
    clock.advance(Duration::from_secs(3));
    let snapshot = circuit.snapshot(&clock);
    assert!(!snapshot.imposed);
    assert_eq!(snapshot.time_left, Duration::from_secs(7));
    assert_eq!(handed_on(snapshot, SETTINGS), snapshot);
    for state in [State::Closed, State::ForcedOpen, State::Shadow] {
        let other = handed_on(Snapshot { state, ..CLOSED }, SETTINGS);
        assert_eq!(other, Snapshot { state, ..CLOSED });
    }
}

#[test]
fn a_restored_wait_that_was_asked_for_is_clamped_to_a_day() {
    let left = |time_left| {
        let snapshot = Snapshot {
            state: State::Open,
            time_left,
            imposed: true,
            ..CLOSED
        };
        handed_on(snapshot, SETTINGS).time_left
    };
    assert_eq!(left(HOUR), HOUR);
    assert_eq!(left(DAY), DAY);
    assert_eq!(left(DAY + Duration::from_secs(1)), DAY);
    assert_eq!(left(Duration::MAX), DAY);
}

#[test]
fn any_other_restored_wait_is_clamped_to_the_one_backed_off() {
    let left = |settings: Settings, reopenings, time_left| {
        let snapshot = Snapshot {
            state: State::Open,
            time_left,
            reopenings,
            ..CLOSED
        };
        handed_on(snapshot, settings.jitter(1.0)).time_left
    };
    let backed_off = SETTINGS.backoff(2.0);
    let capped = backed_off.max_reset(RESET * 3);
    for longer in [HOUR, DAY * 2, Duration::MAX] {
        assert_eq!(left(SETTINGS, 2, longer), RESET);
        assert_eq!(left(backed_off, 0, longer), RESET);
        assert_eq!(left(backed_off, 2, longer), RESET * 4);
        assert_eq!(left(capped, 2, longer), RESET * 3);
    }
    assert_eq!(left(backed_off, 2, RESET * 3), RESET * 3, "not stretched");
}

#[test]
fn what_is_left_is_never_cut_when_it_is_handed_on() {
    for nanos in [1, 9_999, 10_000, 10_001, 1_234_567, 9_999_999_999] {
        let time_left = Duration::from_nanos(nanos);
        let snapshot = Snapshot {
            state: State::Open,
            time_left,
            ..CLOSED
        };
        let left = handed_on(snapshot, SETTINGS).time_left;
        let rounded_up = time_left..time_left + Duration::from_micros(10);
        assert!(rounded_up.contains(&left), "{time_left:?} became {left:?}");
    }
}

#[test]
fn reopenings_are_handed_on_and_back_off_further() {
    let clock = ManualClock::new(0);
    let settings = SETTINGS.backoff(2.0);
    let restored = Circuit::new(settings.must());
    let snapshot = Snapshot {
        state: State::HalfOpen,
        reopenings: 2,
        ..CLOSED
    };
    restored.restore(&snapshot, &clock).unwrap();
    let Effect::Tripped(change) = restored.admit(&clock).unwrap().failure() else {
        panic!("the probe did not reopen");
    };
    assert_eq!(change.wait, Some(RESET * 8));
    assert_eq!(restored.snapshot(&clock).reopenings, 3);
}

/// How long after its trip a breaker admits a probe that is saved and restored
/// once every `step`.
fn recovers_after(step: Duration) -> Duration {
    let clock = ManualClock::new(0);
    let mut live = circuit();
    live.admit(&clock).unwrap().failure();
    for steps in 1.. {
        clock.advance(step);
        let saved = live.snapshot(&clock);
        live = circuit();
        live.restore(&saved, &clock).unwrap();
        if live.admit(&clock).is_ok() {
            return step * steps;
        }
        assert!(step * steps < RESET * 2, "time stands still: {saved:?}");
    }
    unreachable!("the loop has no end")
}

#[test]
fn time_goes_on_however_often_a_snapshot_is_handed_on() {
    for nanos in [900_000, 899_999, 901_000, 905_001, 1_000_000, 100_000_000] {
        let step = Duration::from_nanos(nanos);
        let recovered = recovers_after(step);
        assert!(recovered >= RESET, "too early, in steps of {step:?}");
        // Two roundings up to 10 us in each step.
        let latest = RESET + RESET / 40 + step;
        assert!(recovered <= latest, "{recovered:?} in steps of {step:?}");
    }
}

#[test]
fn time_that_passes_while_nobody_has_the_breaker_is_not_counted() {
    let clock = ManualClock::new(0);
    let before = circuit();
    before.admit(&clock).unwrap().failure();
    clock.advance(RESET / 2);
    let saved = before.snapshot(&clock);
    let other_origin = ManualClock::new(u64::MAX / 2);
    let after = circuit();
    after.restore(&saved, &other_origin).unwrap();
    let refused = after.admit(&other_origin).unwrap_err();
    assert!(refused.retry_after.unwrap() >= RESET / 2);
    other_origin.advance(RESET / 2 + Duration::from_micros(10));
    assert!(after.admit(&other_origin).is_ok());
}

#[test]
fn what_was_admitted_before_a_restore_is_late() {
    let (circuit, clock) = (circuit(), ManualClock::new(0));
    let permit = circuit.admit(&clock).unwrap();
    circuit.restore(&CLOSED, &clock).unwrap();
    assert_eq!(permit.failure(), Effect::Late);
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let clock = ManualClock::new(0);
    let circuit = Circuit::new(SETTINGS.threshold(3).must());
    circuit.admit(&clock).unwrap().failure();
    let (before, generation) = (circuit.snapshot(&clock), circuit.generation());
    let cases = [
        (
            Snapshot {
                time_left: Duration::from_nanos(1),
                ..CLOSED
            },
            SnapshotError::ClosedWithTimeLeft,
        ),
        (
            Snapshot {
                consecutive: 3,
                ..CLOSED
            },
            SnapshotError::BeyondThreshold {
                consecutive: 3,
                threshold: 3,
            },
        ),
    ];
    for (nonsense, error) in cases {
        assert_eq!(circuit.restore(&nonsense, &clock), Err(error));
        assert_eq!(circuit.snapshot(&clock), before);
        assert_eq!(circuit.generation(), generation);
    }
    let almost = Snapshot {
        consecutive: 2,
        ..CLOSED
    };
    let change = circuit.restore(&almost, &clock).unwrap();
    assert_eq!((change.from, change.to), (State::Closed, State::Closed));
    assert_eq!(circuit.snapshot(&clock).consecutive, 2);
}
