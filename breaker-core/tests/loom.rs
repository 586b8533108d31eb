//! Every interleaving of a few threads, by loom. Run by `cargo xtask test`, or
//! alone:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p breaker-core --test loom --release
//! ```
//!
//! Each model says which line of `circuit.rs` it guards: without that line it
//! fails.
#![cfg(loom)]

use breaker_core::{
    Circuit, Clock, Effect, ManualClock, Outcome, Rejected, Settings, Snapshot, State,
};
use loom::sync::Arc;
use loom::thread;
use std::time::Duration;

const MILLI: u64 = 1_000_000;
const RESET: u64 = 10 * MILLI;

struct World {
    circuit: Circuit,
    clock: ManualClock,
}

impl World {
    /// A closed circuit at time 0.
    fn new(settings: Settings) -> Arc<Self> {
        let settings = settings.reset(Duration::from_nanos(RESET));
        Arc::new(Self {
            circuit: Circuit::new(settings.must()),
            clock: ManualClock::new(0),
        })
    }

    fn fail(&self) -> Option<Effect> {
        let admission = self.circuit.try_admit(&self.clock).ok()?;
        Some(
            self.circuit
                .settle(admission.generation, Outcome::Failure, &self.clock),
        )
    }

    fn ask(&self) -> Result<(), Rejected> {
        self.circuit.try_admit(&self.clock).map(drop)
    }

    /// An open circuit whose wait is over.
    fn ready_to_probe(settings: Settings) -> Arc<Self> {
        let world = Self::new(settings.threshold(1));
        assert!(matches!(world.fail(), Some(Effect::Tripped(_))));
        world.clock.set(RESET);
        world
    }
}

fn tripped(effect: Option<Effect>) -> bool {
    matches!(effect, Some(Effect::Tripped(_)))
}

/// Guards: the trip is a compare-and-swap of the whole word (`swap`).
#[test]
fn two_failures_at_once_trip_once() {
    for threshold in [1, 2] {
        loom::model(move || {
            let world = World::new(Settings::new().threshold(threshold));
            let other = Arc::clone(&world);
            let there = thread::spawn(move || tripped(other.fail()));
            let here = tripped(world.fail());
            let there = there.join().unwrap();
            assert!(here ^ there, "one transition, one event");
            assert_eq!(world.circuit.state(), State::Open);
            assert_eq!(world.circuit.generation().get(), 1);
        });
    }
}

/// Guards: the probe's slot is taken by compare-and-swap (`swap`).
#[test]
fn of_two_callers_exactly_one_is_the_probe() {
    loom::model(|| {
        let world = World::ready_to_probe(Settings::new());
        let other = Arc::clone(&world);
        let there = thread::spawn(move || other.ask().is_ok());
        let here = world.ask().is_ok();
        assert!(here ^ there.join().unwrap());
    });
}

/// Guards: an outcome counts only in its own generation (the first `if` of
/// `settle_slowly`).
#[test]
fn a_stale_outcome_neither_trips_nor_closes_the_next_trial() {
    for outcome in [Outcome::Success, Outcome::Failure] {
        loom::model(move || {
            let world = World::new(Settings::new().threshold(1));
            let stale = world.circuit.try_admit(&world.clock).unwrap().generation;
            assert!(tripped(world.fail()));
            world.clock.set(RESET);
            let other = Arc::clone(&world);
            let there = thread::spawn(move || other.circuit.settle(stale, outcome, &other.clock));
            let probe = world.circuit.try_admit(&world.clock).unwrap();
            assert_eq!(there.join().unwrap(), Effect::Late);
            assert_eq!(world.circuit.state(), State::HalfOpen);
            let closed = world
                .circuit
                .settle(probe.generation, Outcome::Success, &world.clock);
            assert!(matches!(closed, Effect::Closed(_)));
        });
    }
}

/// Guards: an operator call is a compare-and-swap that starts a new generation
/// (`operate`).
#[test]
fn an_operator_and_an_outcome_leave_one_of_the_two_orders() {
    loom::model(|| {
        let world = World::new(Settings::new().threshold(1));
        let admitted = world.circuit.try_admit(&world.clock).unwrap().generation;
        let other = Arc::clone(&world);
        let there = thread::spawn(move || {
            other
                .circuit
                .settle(admitted, Outcome::Failure, &other.clock)
        });
        let change = world.circuit.force_open(&world.clock);
        match there.join().unwrap() {
            Effect::Tripped(_) => assert_eq!(change.from, State::Open),
            Effect::Late => assert_eq!(change.from, State::Closed),
            effect => panic!("{effect:?}"),
        }
        assert_eq!(world.circuit.state(), State::ForcedOpen);
    });
}

/// Guards: a slot is given back only in the generation that gave it (the first
/// `if` of `settle_slowly`). Else the next trial would have one slot too many.
#[test]
fn a_permit_dropped_while_the_breaker_closes_gives_no_slot_to_the_next_trial() {
    loom::model(|| {
        let world = World::ready_to_probe(Settings::new());
        let probe = world.circuit.try_admit(&world.clock).unwrap().generation;
        let other = Arc::clone(&world);
        let there =
            thread::spawn(move || other.circuit.settle(probe, Outcome::Dropped, &other.clock));
        world.circuit.open_for(Duration::ZERO, &world.clock);
        world.ask().expect("the first probe of the next trial");
        let dropped = there.join().unwrap();
        assert!(matches!(dropped, Effect::Late | Effect::Neutral));
        assert!(world.ask().is_err(), "a second probe in the next trial");
    });
}

/// Guards: a reader that meets another generation's stamp takes it that no time
/// has passed (`belongs_to` in `elapsed`). The stamp that a careless reader
/// would act on is old enough to let it in.
#[test]
fn between_the_trip_and_its_stamp_no_probe_is_let_in() {
    loom::model(|| {
        let world = World::new(Settings::new().threshold(1));
        world.clock.set(100 * RESET);
        let other = Arc::clone(&world);
        let there = thread::spawn(move || tripped(other.fail()));
        // Admitted while it was closed, or refused; and then again.
        for _ in 0..2 {
            if let Ok(admission) = world.circuit.try_admit(&world.clock) {
                assert_eq!(admission.change, None, "a probe within the wait");
            }
        }
        assert!(there.join().unwrap());
        let refused = world.ask().unwrap_err();
        assert_eq!(refused.retry_after, Some(Duration::from_nanos(RESET)));
    });
}

/// Guards: as above, for a probe that starts a trial.
#[test]
fn between_the_first_probe_and_its_stamp_no_new_trial_starts() {
    loom::model(|| {
        let probe_timeout = Duration::from_nanos(RESET);
        let world = World::ready_to_probe(Settings::new().probe_timeout(probe_timeout));
        world.clock.set(100 * RESET);
        let other = Arc::clone(&world);
        let there = thread::spawn(move || other.ask().is_ok());
        let here = world.ask().is_ok();
        let there = there.join().unwrap();
        assert!(here ^ there, "two probes in flight");
        assert_eq!(world.circuit.generation().get(), 2, "one trial");
    });
}

/// Guards: within a trial the stamp moves before the word (`stamp_probe` before
/// `swap` in `try_admit_unless_closed`).
#[test]
fn a_trial_is_never_seen_full_with_the_time_of_the_probe_before() {
    loom::model(|| {
        let probe_timeout = Duration::from_nanos(RESET);
        let settings = Settings::new().probes(2).probe_timeout(probe_timeout);
        let world = World::ready_to_probe(settings);
        world.ask().unwrap();
        world.clock.set(100 * RESET);
        let other = Arc::clone(&world);
        let there = thread::spawn(move || other.ask().is_ok());
        let here = world.ask().is_ok();
        let there = there.join().unwrap();
        assert!(here ^ there, "a second trial beside a probe just admitted");
        assert_eq!(world.circuit.generation().get(), 2);
    });
}

/// Guards: as the trip's, for a restored opening.
#[test]
fn between_a_restore_and_its_stamp_no_probe_is_let_in() {
    loom::model(|| {
        let world = World::new(Settings::new().threshold(1));
        world.clock.set(100 * RESET);
        let other = Arc::clone(&world);
        let there = thread::spawn(move || {
            let snapshot = Snapshot {
                state: State::Open,
                time_left: Duration::from_nanos(RESET),
                imposed: false,
                consecutive: 0,
                reopenings: 0,
            };
            other.circuit.restore(&snapshot, &other.clock).unwrap();
        });
        if let Ok(admission) = world.circuit.try_admit(&world.clock) {
            assert_eq!(admission.change, None, "a probe within the wait");
        }
        there.join().unwrap();
        assert!(world.ask().is_err());
    });
}

/// A clock that another thread moves on while it is read, so that a thread that
/// is held up holds an old reading.
struct Moving(Arc<World>);

impl Clock for Moving {
    fn now(&self) -> u64 {
        self.0.clock.now()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// Guards: who was overtaken does not stamp (the check of the generation in
/// `stamp_entry`), and a stamp only moves forward.
#[test]
fn a_thread_that_was_held_up_does_not_cut_a_newer_opening_short() {
    loom::model(|| {
        let world = World::new(Settings::new().threshold(1));
        let other = Arc::clone(&world);
        // Trips generation 1 at time 0, and is held up anywhere.
        let there = thread::spawn(move || {
            let clock = Moving(Arc::clone(&other));
            let admitted = other.circuit.try_admit(&clock);
            admitted.is_ok_and(|admission| {
                let effect = other
                    .circuit
                    .settle(admission.generation, Outcome::Failure, &clock);
                matches!(effect, Effect::Tripped(_))
            })
        });
        // Closes it again and trips, much later.
        world.clock.set(100 * RESET);
        world.circuit.close(&world.clock);
        let here = tripped(world.fail());
        let refused_before = world.ask().is_err();
        let there = there.join().unwrap();
        if here && !there {
            assert!(refused_before);
        }
        if world.circuit.state() == State::Open {
            let left = world.ask().unwrap_err().retry_after.unwrap();
            let opened_late = here;
            if opened_late {
                assert_eq!(left, Duration::from_nanos(RESET), "cut short");
            }
        }
    });
}

/// Guards: the clock is read after the stamp it is compared with (`elapsed`). A
/// reading from before the stamp would look like a clock that was set back, and
/// move the stamp back with it.
#[test]
fn a_reader_that_was_held_up_does_not_move_the_stamp_back() {
    loom::model(|| {
        let settings = Settings::new()
            .probes(2)
            .probe_timeout(Duration::from_nanos(RESET));
        let world = World::ready_to_probe(settings);
        world.ask().unwrap();
        let other = Arc::clone(&world);
        // Asks at any time while the clock moves on.
        let there = thread::spawn(move || other.ask().is_ok());
        world.clock.set(RESET + RESET / 2);
        let here = world.ask().is_ok();
        let there = there.join().unwrap();
        assert!(here ^ there);
        if here {
            // The last probe was admitted at 1.5 x RESET: its timeout is over at
            // 2.5 x RESET, not before.
            world.clock.set(2 * RESET + RESET / 4);
            assert!(world.ask().is_err(), "a new trial too early");
        }
    });
}
