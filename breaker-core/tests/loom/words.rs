//! The state word and its stamp.

use crate::race::{race, race_within};
use breaker_core::{
    Circuit, Effect, Generation, ManualClock, Outcome, Reading, Reason, Rejected, Settings,
    Snapshot, State,
};
use std::time::Duration;

const MILLI: u64 = 1_000_000;
const RESET: u64 = 10 * MILLI;

struct World {
    circuit: Circuit,
    clock: ManualClock,
}

impl World {
    /// A closed circuit at time 0.
    fn closed(settings: Settings) -> Self {
        let settings = settings.reset(Duration::from_nanos(RESET));
        Self {
            circuit: Circuit::new(settings.must()),
            clock: ManualClock::new(0),
        }
    }

    /// A circuit that opened at time 0.
    fn open(settings: Settings) -> Self {
        let world = Self::closed(settings.threshold(1));
        assert!(world.fail());
        world
    }

    /// A circuit that opened at time 0 and whose wait is over.
    fn ready_to_probe(settings: Settings) -> Self {
        let world = Self::open(settings);
        world.clock.set(RESET);
        world
    }

    /// One call that fails, by the world's clock. Did it trip?
    fn fail(&self) -> bool {
        let Ok(admission) = self.circuit.try_admit(&self.clock) else {
            return false;
        };
        let effect = self
            .circuit
            .settle(admission.generation, Outcome::Failure, &self.clock);
        matches!(effect, Effect::Tripped(_))
    }

    /// One call that fails at a time of its own.
    fn fail_at(&self, now: u64) {
        if let Ok(permit) = self.circuit.admit_at(now) {
            permit.settle(Outcome::Failure);
        }
    }

    /// A closed circuit that never changed, and trips at the first failure.
    fn closed_at(now: u64) -> Self {
        let world = Self::closed(Settings::new().threshold(1));
        world.clock.set(now);
        world
    }

    /// Open, with the whole wait left.
    fn restore_open(&self) {
        let snapshot = Snapshot {
            state: State::Open,
            time_left: Duration::from_nanos(RESET),
            imposed: false,
            consecutive: 0,
            reopenings: 0,
        };
        self.circuit.restore(&snapshot, &self.clock).unwrap();
    }

    /// Of a breaker that opens at this very time.
    fn assert_waits_wholly(&self) {
        match self.circuit.try_admit(&self.clock) {
            Ok(admission) => assert_eq!(admission.change, None, "a probe"),
            Err(refused) => {
                let wait = Duration::from_nanos(RESET);
                assert_eq!(refused.retry_after, Some(wait), "the rest of another wait");
            }
        }
    }

    /// Follows others into this state, if nothing has happened here. Did it?
    fn follow_from_the_first(&self, state: State) -> bool {
        let snapshot = Snapshot {
            state,
            time_left: Duration::ZERO,
            imposed: false,
            consecutive: 0,
            reopenings: 0,
        };
        let only_in = Some(Generation::from_number(0));
        let followed = self.circuit.follow(&snapshot, only_in, &self.clock);
        followed.unwrap().is_some()
    }

    fn ask(&self) -> Result<(), Rejected> {
        self.circuit.try_admit(&self.clock).map(drop)
    }

    /// Asks for a call that may be a probe if this is granted.
    fn ask_if(&self, granted: bool) -> Result<(), Rejected> {
        self.circuit
            .try_admit_if_granted(&self.clock, || granted)
            .map(drop)
    }

    /// Time left until a call may be admitted, asked at `now`.
    fn left_at(&self, now: u64) -> Option<u64> {
        let left = self.circuit.try_admit(&Reading(now)).err()?.retry_after?;
        Some(u64::try_from(left.as_nanos()).unwrap())
    }
}

/// Guards: the word is swapped as a whole (`compare_exchange` in `swap`).
#[test]
fn two_failures_at_once_trip_once() {
    for threshold in [1, 2] {
        race(
            move || World::closed(Settings::new().threshold(threshold)),
            World::fail,
            World::fail,
            |world, one, other| {
                assert!(one ^ other, "one transition, one event");
                assert_eq!(world.circuit.state(), State::Open);
                assert_eq!(world.circuit.generation().get(), 1);
            },
        );
    }
}

/// Guards: a slot is taken by a swap of the word (`swap`).
#[test]
fn of_two_callers_exactly_one_is_the_probe() {
    race(
        || World::ready_to_probe(Settings::new()),
        World::ask,
        World::ask,
        |_, one, other| assert!(one.is_ok() ^ other.is_ok()),
    );
}

/// Guards: a probe needs a grant in whatever state the caller finds the breaker
/// (`withheld` in `slowly`).
#[test]
fn beside_a_probe_that_was_granted_none_begins_that_was_not() {
    for probes in [1, 2] {
        race(
            move || World::ready_to_probe(Settings::new().probes(probes)),
            |world| world.ask_if(true),
            |world| world.ask_if(false),
            |world, granted, withheld| {
                granted.expect("the wait is over");
                let refused = withheld.expect_err("a probe without a grant");
                let left = refused.retry_after.unwrap();
                // With room for another it is the grant alone that is missing.
                let full = refused.reason == Reason::HalfOpenFull && !left.is_zero();
                assert!(left.is_zero() || full && world.circuit.config().probes() == 1);
                assert_eq!(world.circuit.generation().get(), 2, "one trial");
            },
        );
    }
}

/// Guards: a grant holds for the whole call, also where another thread was
/// quicker with the swap (`granted.take()` in `slowly`).
#[test]
fn a_grant_outlasts_a_swap_that_was_lost() {
    race(
        || World::ready_to_probe(Settings::new().probes(2)),
        |world| world.ask_if(true),
        |world| world.ask_if(true),
        |world, one, other| {
            one.expect("room for two");
            other.expect("room for two");
            assert_eq!(world.circuit.generation().get(), 2, "one trial");
        },
    );
}

/// Guards: an outcome counts in its own generation alone (the first `if` of
/// `settle_slowly`).
#[test]
fn a_stale_outcome_neither_trips_nor_closes_the_next_trial() {
    for outcome in [Outcome::Success, Outcome::Failure] {
        race_within(
            Some(4),
            || World::closed(Settings::new().threshold(1)),
            move |world| {
                let stale = world.circuit.try_admit(&world.clock).ok()?.generation;
                Some((stale, world.circuit.settle(stale, outcome, &world.clock)))
            },
            |world| {
                world.fail();
                world.clock.set(RESET);
                world.circuit.try_admit(&world.clock)
            },
            |world, stale, probe| {
                let Some((stale, effect)) = stale else { return };
                if let Ok(probe) = probe
                    && stale.get() == 0
                    && probe.change.is_some()
                    && world.circuit.state() == State::HalfOpen
                {
                    // Settled before the trip, or late.
                    let before = matches!(effect, Effect::Counted | Effect::Tripped(_));
                    assert!(before || effect == Effect::Late, "{effect:?}");
                    let closed =
                        world
                            .circuit
                            .settle(probe.generation, Outcome::Success, &world.clock);
                    assert!(matches!(closed, Effect::Closed(_)));
                }
            },
        );
    }
}

/// Guards: as above, for a permit that was taken before both.
#[test]
fn a_late_outcome_is_late_for_a_trial_of_any_progress() {
    race(
        || {
            let world = World::closed(Settings::new().threshold(1));
            let stale = world.circuit.try_admit(&world.clock).unwrap();
            assert_eq!(stale.generation.get(), 0);
            world.fail();
            world.clock.set(RESET);
            world
        },
        |world| {
            // Generation 0 is what a new circuit starts with.
            let zero = Circuit::new(world.circuit.config()).generation();
            world.circuit.settle(zero, Outcome::Success, &world.clock)
        },
        World::ask,
        |world, stale, probe| {
            assert_eq!(stale, Effect::Late);
            probe.expect("the wait is over");
            assert_eq!(world.circuit.state(), State::HalfOpen);
        },
    );
}

/// Guards: an operator call swaps the word too (`swap` in `enter`).
#[test]
fn an_operator_and_an_outcome_leave_one_of_the_two_orders() {
    race(
        || World::closed(Settings::new().threshold(1)),
        World::fail,
        |world| world.circuit.force_open(&world.clock),
        |world, tripped, change| {
            assert_eq!(
                change.from,
                if tripped { State::Open } else { State::Closed }
            );
            assert_eq!(world.circuit.state(), State::ForcedOpen);
        },
    );
}

/// Guards: a slot is given back in the generation that gave it alone (the first
/// `if` of `settle_slowly`). Else the next trial would have one too many.
#[test]
fn a_permit_dropped_while_the_breaker_reopens_gives_no_slot_to_the_next_trial() {
    race_within(
        Some(4),
        || World::ready_to_probe(Settings::new()),
        |world| {
            let Ok(probe) = world.circuit.try_admit(&world.clock) else {
                return;
            };
            world
                .circuit
                .settle(probe.generation, Outcome::Dropped, &world.clock);
        },
        |world| {
            world.circuit.open_for(Duration::ZERO, &world.clock);
            world.ask()
        },
        |world, (), second| {
            if second.is_ok() {
                assert!(world.ask().is_err(), "two probes in one trial");
            }
        },
    );
}

/// Guards: a reader that meets another generation's stamp takes it that no time
/// has passed (`belongs_to` in `elapsed`). The stamp that a careless reader
/// would act on is old enough to let it in.
#[test]
fn between_a_trip_and_its_stamp_no_probe_is_let_in() {
    race(
        || World::closed_at(100 * RESET),
        World::fail,
        |world| {
            let admission = world.circuit.try_admit(&world.clock);
            assert!(admission.is_err() || admission.is_ok_and(|call| call.change.is_none()));
        },
        |world, tripped, ()| {
            assert!(tripped);
            assert_eq!(world.left_at(100 * RESET), Some(RESET));
        },
    );
}

/// Guards: who is refused at once is told the whole wait (`belongs_to` in
/// `refused_at_once`). The stamp that a careless reader would act on is old
/// enough to shorten it, and not old enough to let it in.
#[test]
fn between_a_trip_and_its_stamp_the_wait_is_the_whole() {
    race(
        || World::closed_at(RESET / 2),
        World::fail,
        World::assert_waits_wholly,
        |world, tripped, ()| {
            assert!(tripped);
            world.assert_waits_wholly();
        },
    );
}

/// Guards: as above, for a restored opening.
#[test]
fn between_a_restore_and_its_stamp_the_wait_is_the_whole() {
    race(
        || World::closed_at(RESET / 2),
        World::restore_open,
        World::assert_waits_wholly,
        |world, (), ()| world.assert_waits_wholly(),
    );
}

/// Guards: what is followed is swapped against the word whose generation was looked at (`restore_as`),
/// so that nothing is undone that happened since.
#[test]
fn what_others_did_is_followed_before_a_trip_or_not_at_all() {
    for threshold in [1, 2] {
        race(
            move || {
                let world = World::closed(Settings::new().threshold(threshold));
                // Else the word is another at each try.
                (1..threshold).for_each(|_| assert!(!world.fail()));
                world
            },
            |world| world.follow_from_the_first(State::Closed),
            World::fail,
            |world, followed, tripped| {
                let trips = u32::from(tripped);
                assert!(followed || tripped, "each waits for the other");
                assert_eq!(
                    world.circuit.generation().get(),
                    u32::from(followed) + trips
                );
                assert_eq!(world.circuit.state() == State::Open, tripped);
            },
        );
    }
}

/// Guards: as above, where two follow, or an operator comes in between.
#[test]
fn of_two_that_follow_in_one_generation_one_does() {
    race(
        || World::closed(Settings::new()),
        |world| world.follow_from_the_first(State::Open),
        |world| world.follow_from_the_first(State::ForcedOpen),
        |world, one, other| {
            assert!(one ^ other);
            assert_eq!(world.circuit.state() == State::Open, one);
        },
    );
    race(
        || World::closed(Settings::new()),
        |world| world.follow_from_the_first(State::Open),
        |world| {
            let _ = world.circuit.force_open(&world.clock);
        },
        |world, _, ()| assert_eq!(world.circuit.state(), State::ForcedOpen),
    );
}

/// Guards: as above, for a trial that has just begun.
#[test]
fn between_the_first_probe_and_its_stamp_no_new_trial_begins() {
    race(
        || {
            let probe_timeout = Duration::from_nanos(RESET);
            let world = World::ready_to_probe(Settings::new().probe_timeout(probe_timeout));
            world.clock.set(100 * RESET);
            world
        },
        World::ask,
        World::ask,
        |world, one, other| {
            assert!(one.is_ok() ^ other.is_ok(), "two probes in flight");
            assert_eq!(world.circuit.generation().get(), 2, "one trial");
        },
    );
}

/// Guards: as above, for a restored opening.
#[test]
fn between_a_restore_and_its_stamp_no_probe_is_let_in() {
    race(
        || World::closed_at(100 * RESET),
        World::restore_open,
        |world| {
            let admission = world.circuit.try_admit(&world.clock);
            assert!(admission.is_err() || admission.is_ok_and(|call| call.change.is_none()));
        },
        |world, (), ()| assert_eq!(world.left_at(100 * RESET), Some(RESET)),
    );
}

/// Guards: within a trial the stamp moves before the word (`stamp_probe` before
/// `swap` in `try_admit_slowly`).
#[test]
fn a_trial_is_never_seen_full_with_the_time_of_the_probe_before() {
    race(
        || {
            let probe_timeout = Duration::from_nanos(RESET);
            let settings = Settings::new().probes(2).probe_timeout(probe_timeout);
            let world = World::ready_to_probe(settings);
            world.ask().unwrap();
            world.clock.set(100 * RESET);
            world
        },
        World::ask,
        World::ask,
        |world, one, other| {
            assert!(
                one.is_ok() ^ other.is_ok(),
                "a trial beside a probe just admitted"
            );
            assert_eq!(world.circuit.generation().get(), 2);
        },
    );
}

/// Guards: each probe that is admitted leaves another word (`turn` in
/// `Trial::admit`). Else a slot given back and taken again would look to a
/// thread that was held up as if nothing had happened.
#[test]
fn a_thread_that_was_held_up_does_not_replace_the_trial_of_a_new_probe() {
    race(
        || {
            let probe_timeout = Duration::from_nanos(RESET);
            let world = World::ready_to_probe(Settings::new().probe_timeout(probe_timeout));
            world.ask().unwrap();
            world.clock.set(100 * RESET);
            world
        },
        World::ask,
        |world| {
            let trial = world.circuit.generation();
            if trial.get() != 2 {
                return None;
            }
            world.circuit.settle(trial, Outcome::Dropped, &world.clock);
            let again = world.circuit.try_admit(&world.clock).ok()?;
            Some(again.generation.get())
        },
        |world, one, again| {
            let replaced = world.circuit.generation().get() == 3;
            let both = one.is_ok() && again == Some(2) && replaced;
            assert!(!both, "a new trial beside a probe just admitted");
        },
    );
}

/// Guards: a thread that was overtaken does not stamp (the check of the
/// generation, and `compare_exchange` after it, in `stamp_entry`).
#[test]
fn a_tripper_that_was_held_up_leaves_a_newer_stamp_alone() {
    race(
        || World::closed(Settings::new().threshold(1)),
        |world| world.fail_at(0),
        |world| {
            world.circuit.close(&Reading(100 * RESET));
            world.fail_at(100 * RESET);
        },
        |world, (), ()| {
            // Whoever tripped last: the other's opening was at time 0, and over.
            let half = RESET / 2;
            if let Some(left) = world.left_at(100 * RESET + half) {
                assert_eq!(left, half, "the opening was moved");
            }
        },
    );
}

/// Guards: a reader that was overtaken does not stamp (the word is read again in
/// `elapsed`).
#[test]
fn a_reader_that_was_held_up_leaves_a_newer_stamp_alone() {
    race(
        || World::open(Settings::new()),
        |world| {
            let _ = world.circuit.try_admit(&Reading(RESET / 4));
        },
        |world| {
            world.circuit.close(&Reading(100 * RESET));
            world.fail_at(100 * RESET);
        },
        |world, (), ()| {
            let half = RESET / 2;
            if let Some(left) = world.left_at(100 * RESET + half) {
                assert_eq!(left, half, "the opening was moved");
            }
        },
    );
}

/// Guards: a stamp within a generation only moves forward (`seen.nanos() >=
/// mine.nanos()` in `stamp_entry`).
#[test]
fn the_first_probe_does_not_stamp_over_the_second() {
    race(
        || {
            let probe_timeout = Duration::from_nanos(RESET);
            World::ready_to_probe(Settings::new().probes(2).probe_timeout(probe_timeout))
        },
        World::ask,
        |world| {
            world.clock.set(100 * RESET);
            world.ask()
        },
        |world, one, other| {
            one.unwrap();
            other.unwrap();
            // The second was admitted at 100 x RESET, whichever it was.
            assert!(
                world.left_at(100 * RESET + RESET / 2).is_some(),
                "a new trial too early"
            );
        },
    );
}

/// Guards: the clock is read after the stamp that it is compared with
/// (`elapsed`). A reading from before would look like a clock that was set back,
/// and take the stamp back with it.
#[test]
fn a_reader_that_was_held_up_does_not_move_the_stamp_back() {
    race(
        || {
            let settings = Settings::new()
                .probes(2)
                .probe_timeout(Duration::from_nanos(RESET));
            let world = World::ready_to_probe(settings);
            world.ask().unwrap();
            world
        },
        World::ask,
        |world| {
            world.clock.set(RESET + RESET / 2);
            world.ask()
        },
        |world, one, other| {
            assert!(one.is_ok() ^ other.is_ok());
            if other.is_ok() {
                // Admitted at 1.5 x RESET: its timeout is over at 2.5 x RESET.
                let left = world.left_at(2 * RESET + RESET / 4);
                assert_eq!(left, Some(RESET / 4), "a new trial too early");
            }
        },
    );
}
