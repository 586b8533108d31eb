//! Windows while threads count into them, they turn, and the breaker closes.

use crate::race::{race, race_within};
use breaker_core::{Circuit, Effect, Generation, ManualClock, Outcome, Settings, Sliding, Window};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

struct World {
    circuit: Circuit<Sliding<2>>,
    clock: ManualClock,
    size: u32,
    /// A call admitted before the race.
    held: Option<Generation>,
}

impl World {
    /// Trips when the whole window is failures.
    fn new(window: Window, size: u32) -> Self {
        let settings = Settings::new()
            .failure_rate(1.0)
            .window(window)
            .min_calls(size);
        let circuit = Circuit::by_rate(settings.must_rate()).unwrap();
        Self {
            circuit,
            clock: ManualClock::new(0),
            size,
            held: None,
        }
    }

    fn of_calls(size: u32) -> Self {
        Self::new(Window::calls(size), size)
    }

    /// Full, and its newest call is its only failure.
    fn of_calls_the_last_failed(size: u32) -> Self {
        let world = Self::of_calls(size);
        for _ in 1..size {
            world.succeed();
        }
        world.fail();
        world
    }

    /// Two buckets of a second.
    fn of_time(min_calls: u32) -> Self {
        Self::new(Window::time(Duration::from_secs(2)).buckets(2), min_calls)
    }

    fn count(&self, outcome: Outcome) -> Effect {
        let admitted = self.circuit.try_admit(&self.clock).expect("closed");
        self.circuit
            .settle(admitted.generation, outcome, &self.clock)
    }

    fn fail(&self) -> Effect {
        self.count(Outcome::Failure)
    }

    fn succeed(&self) -> Effect {
        self.count(Outcome::Success)
    }

    /// Of a window of calls without a failure: it trips at the last of `size`.
    fn assert_holds_no_failure(&self) {
        for _ in 1..self.size {
            assert_eq!(self.fail(), Effect::Counted);
        }
        assert!(
            matches!(self.fail(), Effect::Tripped(_)),
            "a place held a failure"
        );
    }

    /// A window of calls that adds up trips at the last of `size` failures after
    /// as many successes, neither before nor after.
    fn assert_adds_up(&self) {
        for _ in 0..self.size {
            assert_eq!(self.succeed(), Effect::Counted);
        }
        self.assert_holds_no_failure();
    }
}

/// Guards: the head is swapped as a whole (`swap` in `count`).
#[test]
fn two_calls_counted_at_once_are_both_in_the_window() {
    race(
        || World::of_calls(3),
        World::fail,
        World::succeed,
        |world, one, other| {
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
            // Two of three: one failure more is no window full of them.
            assert_eq!(world.fail(), Effect::Counted, "the success was lost");
            world.assert_adds_up();
        },
    );
}

/// Guards: who counts a call sees to the place of the one before (`put` in
/// `count`). Else the next turn would displace something else than was counted.
#[test]
fn a_window_that_turns_while_calls_are_counted_adds_up() {
    race(
        || {
            let world = World::of_calls(2);
            world.fail();
            world.succeed();
            world
        },
        |world| [world.fail(), world.succeed()],
        World::succeed,
        |world, one, other| {
            // A success stands between the two failures, in any order.
            assert_eq!((one, other), ([Effect::Counted; 2], Effect::Counted));
            world.assert_adds_up();
        },
    );
}

/// Guards: each rate is taken of the window as it stood when that call was
/// counted (the counts are of the head that was swapped).
#[test]
fn of_a_window_of_one_call_only_a_failure_trips() {
    race(
        || World::of_calls(1),
        World::fail,
        |world| {
            let admitted = world.circuit.try_admit(&world.clock).ok()?;
            let effect = world
                .circuit
                .settle(admitted.generation, Outcome::Success, &world.clock);
            Some(effect)
        },
        |_, failed, succeeded| {
            assert!(matches!(failed, Effect::Tripped(_)));
            assert!(matches!(
                succeeded,
                None | Some(Effect::Counted | Effect::Late)
            ));
        },
    );
}

/// Guards: who was overtaken changes no place (the head is read again in `put`,
/// and the slot swapped as a whole).
#[test]
fn a_thread_that_was_held_up_changes_no_place_of_a_later_turn() {
    race_within(
        Some(2),
        || World::of_calls_the_last_failed(3),
        World::succeed,
        |world| [(); 4].map(|()| world.succeed()),
        |world, _, _| world.assert_holds_no_failure(),
    );
}

/// Guards: as above, where the breaker closes meanwhile (the generation in a
/// slot: what an earlier one wrote is as if empty).
#[test]
fn a_thread_that_was_held_up_changes_no_place_of_a_later_generation() {
    race_within(
        Some(2),
        || {
            let mut world = World::of_calls_the_last_failed(3);
            world.held = world.circuit.admit_if_closed();
            world
        },
        |world| {
            let held = world.held.expect("admitted before");
            world.circuit.settle(held, Outcome::Success, &world.clock)
        },
        |world| {
            world.circuit.close(&world.clock);
            [(); 4].map(|()| world.succeed())
        },
        |world, _, _| world.assert_holds_no_failure(),
    );
}

/// Guards: what another generation wrote is as if empty, and a thread whose
/// generation is over counts nothing (`is_current` in `count` and `move_on`).
#[test]
fn a_call_from_before_the_breaker_closed_is_not_in_the_next_window() {
    for window in [
        Window::calls(2),
        Window::time(Duration::from_secs(2)).buckets(2),
    ] {
        race(
            move || {
                let mut world = World::new(window, 2);
                world.held = world.circuit.admit_if_closed();
                world
            },
            |world| {
                let held = world.held.expect("admitted before");
                world.circuit.settle(held, Outcome::Failure, &world.clock)
            },
            |world| {
                world.circuit.close(&world.clock);
                world.fail()
            },
            |world, held, new| {
                assert!(matches!(held, Effect::Counted | Effect::Late));
                assert_eq!(new, Effect::Counted, "the call from before is in it");
                assert!(
                    matches!(world.fail(), Effect::Tripped(_)),
                    "the new call is not"
                );
            },
        );
    }
}

/// Guards: a call counted while the window moves on is in it once (`swap` of the
/// bucket in `put`; `swap_head` before it).
#[test]
fn a_call_counted_while_the_window_moves_on_is_in_it_once() {
    race(
        || World::of_time(3),
        World::fail,
        |world| {
            world.clock.set(SECOND);
            world.fail()
        },
        |world, one, other| {
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
            assert!(matches!(world.fail(), Effect::Tripped(_)), "lost");
        },
    );
}

/// Guards: a bucket that the window has left is as if empty (`is_of`), and who
/// was held up does not bring it back (the head is read again in `put`).
#[test]
fn a_call_that_fell_out_while_another_was_counted_is_out() {
    race(
        || {
            let world = World::of_time(3);
            world.fail();
            world
        },
        World::fail,
        |world| {
            world.clock.set(2 * SECOND);
            world.fail()
        },
        |world, one, other| {
            // The first is out for whoever reads the clock after it moved on.
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
            world.clock.set(4 * SECOND);
            assert_eq!(world.fail(), Effect::Counted, "all others are out");
            assert_eq!(world.fail(), Effect::Counted);
            assert!(matches!(world.fail(), Effect::Tripped(_)));
        },
    );
}

/// Guards: who was held up until its bucket is out does not put it over a newer
/// one (the head is read again in `put`).
#[test]
fn a_thread_that_was_held_up_does_not_empty_a_newer_bucket() {
    race_within(
        Some(2),
        || World::of_time(3),
        World::fail,
        |world| {
            world.clock.set(2 * SECOND);
            let first = world.fail();
            let admitted = world.circuit.try_admit(&world.clock).ok();
            let second = admitted.map(|admitted| {
                world
                    .circuit
                    .settle(admitted.generation, Outcome::Failure, &world.clock)
            });
            [Some(first), second]
        },
        |world, one, other| {
            let tripped = |effect| matches!(effect, Some(Effect::Tripped(_)));
            if ![Some(one), other[0], other[1]].into_iter().any(tripped) {
                assert!(
                    matches!(world.fail(), Effect::Tripped(_)),
                    "two calls were lost"
                );
            }
        },
    );
}

/// Guards: an offset is swapped, so that an old one doesn't come back.
#[test]
fn a_thread_that_was_held_up_does_not_bring_an_old_offset_back() {
    race_within(
        Some(2),
        || {
            let world = World::of_time(3);
            world.clock.set(100 * SECOND);
            world.succeed();
            world.clock.set(0);
            world
        },
        World::fail,
        |world| {
            world.succeed();
            world.clock.set(1_000 * SECOND);
            world.fail()
        },
        |world, _, _| {
            world.clock.set(1_001 * SECOND);
            // The other thread's failure is in the window or not; this one's is.
            if world.fail() == Effect::Counted {
                assert!(
                    matches!(world.fail(), Effect::Tripped(_)),
                    "a call was lost"
                );
            }
        },
    );
}

/// Guards: a clock that is set back is taken up once (`swap` of the offset).
#[test]
fn a_clock_set_back_while_calls_are_counted_expires_nothing() {
    race(
        || {
            let world = World::of_time(3);
            world.clock.set(100 * SECOND);
            world.fail();
            world.clock.set(0);
            world
        },
        World::fail,
        World::fail,
        |_, one, other| {
            let trips = [one, other]
                .iter()
                .filter(|e| matches!(e, Effect::Tripped(_)))
                .count();
            assert_eq!(trips, 1, "the first call expired, or counted twice");
        },
    );
}
