//! Windows while threads count into them, they turn, and the breaker closes.

use crate::race::{race, race_within};
use breaker_core::{
    Circuit, Clock, Effect, Generation, ManualClock, Outcome, Settings, Sliding, Window,
};
use std::cell::Cell;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

struct World {
    circuit: Circuit<Sliding<3>>,
    clock: ManualClock,
    size: u32,
    /// A call admitted before the race.
    held: Option<Generation>,
}

impl World {
    /// Trips when the whole window is failures.
    fn new(window: Window, size: u32) -> Self {
        Self::by(window, 1.0, size)
    }

    /// Trips when such a share of the window is failures.
    fn by(window: Window, rate: f64, min_calls: u32) -> Self {
        let settings = Settings::new()
            .failure_rate(rate)
            .window(window)
            .min_calls(min_calls);
        let circuit = Circuit::by_rate(settings.must_rate()).unwrap();
        Self {
            circuit,
            clock: ManualClock::new(0),
            size: min_calls,
            held: None,
        }
    }

    /// Holds so many successes, and trips when half of a call or more failed. A
    /// further success is counted at once.
    fn with_successes(window: Window, successes: u32) -> Self {
        let world = Self::by(window, 0.5, 1);
        for _ in 0..successes {
            world.succeed();
        }
        world
    }

    /// Full, of calls, all successes, and in a later turn than the first.
    fn of_calls_all_succeeded(size: u32, rate: f64) -> Self {
        let world = Self::by(Window::calls(size), rate, size);
        for _ in 0..=size {
            world.succeed();
        }
        world
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

    fn hold(mut self) -> Self {
        self.held = self.circuit.admit_if_closed();
        self
    }

    fn settle_held(&self, outcome: Outcome) -> Effect {
        let held = self.held.expect("admitted before");
        self.circuit.settle(held, outcome, &self.clock)
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

    /// So many successes and failures are in the window, which is not full and
    /// trips when half of it failed: as many failures more as are missing trip.
    fn assert_holds(&self, successes: u32, failures: u32) {
        for missing in (1..successes - failures).rev() {
            assert_eq!(self.fail(), Effect::Counted, "{missing} too early");
        }
        assert!(matches!(self.fail(), Effect::Tripped(_)), "too late");
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
        || World::of_calls_the_last_failed(3).hold(),
        |world| world.settle_held(Outcome::Success),
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
            move || World::new(window, 2).hold(),
            |world| world.settle_held(Outcome::Failure),
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

/// Two buckets of a second, or calls of which the first turn doesn't end.
const NOT_FULL: [Window; 2] = [
    Window::calls(14),
    Window::time(Duration::from_secs(2)).buckets(2),
];

/// Guards: a success at once swaps the word that it looked at, and is not
/// counted where it could not (`try_swap` and `swap` in `count_at_once`).
#[test]
fn of_two_successes_at_once_both_are_in_the_window() {
    for window in NOT_FULL {
        race(
            move || World::with_successes(window, 2),
            World::succeed,
            World::succeed,
            |world, one, other| {
                assert_eq!((one, other), (Effect::Counted, Effect::Counted));
                world.assert_holds(4, 0);
            },
        );
    }
}

/// Guards: as above.
#[test]
fn of_a_success_at_once_and_a_failure_both_are_in_the_window() {
    for window in NOT_FULL {
        race(
            move || World::with_successes(window, 3),
            World::succeed,
            World::fail,
            |world, one, other| {
                assert_eq!((one, other), (Effect::Counted, Effect::Counted));
                world.assert_holds(4, 1);
            },
        );
    }
}

/// Guards: as above, in a window whose places are taken again.
#[test]
fn a_failure_counted_beside_successes_at_once_is_in_its_place() {
    race_within(
        Some(4),
        || World::of_calls_all_succeeded(4, 0.5),
        |world| [(); 2].map(|()| world.succeed()),
        World::fail,
        |world, one, other| {
            assert_eq!((one, other), ([Effect::Counted; 2], Effect::Counted));
            // The other half of the two that trip.
            assert!(matches!(world.fail(), Effect::Tripped(_)), "lost");
        },
    );
    race_within(
        Some(4),
        || World::of_calls_all_succeeded(3, 1.0),
        |world| [(); 4].map(|()| world.succeed()),
        World::fail,
        |world, one, other| {
            assert_eq!((one, other), ([Effect::Counted; 4], Effect::Counted));
            world.assert_adds_up();
        },
    );
}

/// Guards: a success at once looks whose the head is (`tag_of` and `belongs_to`
/// in `count_at_once`). Here the head is a later generation's.
#[test]
fn a_success_from_before_the_breaker_closed_is_not_in_the_next_window() {
    for window in NOT_FULL {
        race(
            move || World::with_successes(window, 1).hold(),
            |world| world.settle_held(Outcome::Success),
            |world| {
                world.circuit.close(&world.clock);
                [world.succeed(), world.succeed()]
            },
            |world, held, new| {
                assert!(matches!(held, Effect::Counted | Effect::Late));
                assert_eq!(new, [Effect::Counted; 2]);
                world.assert_holds(2, 0);
            },
        );
    }
}

/// Guards: as above, where the head is still the generation's before.
#[test]
fn a_success_from_after_the_breaker_closed_is_in_the_next_window() {
    for window in NOT_FULL {
        race(
            move || World::with_successes(window, 1),
            |world| {
                let admitted = world.circuit.try_admit(&world.clock).expect("closed");
                let of = admitted.generation;
                let effect = world.circuit.settle(of, Outcome::Success, &world.clock);
                (of.get(), effect)
            },
            |world| world.circuit.close(&world.clock),
            |world, (admitted_in, effect), change| {
                assert_eq!(change.generation.get(), 1);
                if admitted_in == 1 {
                    assert_eq!(effect, Effect::Counted);
                }
                world.succeed();
                world.assert_holds(1 + admitted_in, 0);
            },
        );
    }
}

/// Remembers what it read last.
struct Remembers<'a> {
    clock: &'a ManualClock,
    last: Cell<u64>,
}

impl Clock for Remembers<'_> {
    fn now(&self) -> u64 {
        let now = self.clock.now();
        self.last.set(now);
        now
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// Guards: a success at once whose bucket was taken again is not in the newer
/// one (`swap` in `count_at_once`).
#[test]
fn a_success_at_once_is_in_no_bucket_that_took_the_place_of_its_own() {
    race_within(
        Some(4),
        || {
            let window = Window::time(Duration::from_secs(2)).buckets(2);
            World::with_successes(window, 1).hold()
        },
        |world| {
            let clock = Remembers {
                clock: &world.clock,
                last: Cell::new(0),
            };
            let held = world.held.expect("admitted before");
            let effect = world.circuit.settle(held, Outcome::Success, &clock);
            assert_eq!(effect, Effect::Counted);
            clock.last.get()
        },
        |world| {
            world.clock.set(2 * SECOND);
            for _ in 0..3 {
                assert_eq!(world.succeed(), Effect::Counted);
            }
            assert_eq!(world.fail(), Effect::Counted);
        },
        |world, read, ()| world.assert_holds(3 + u32::from(read > 0), 1),
    );
}

/// Guards: a success at once is in no bucket that the head has reached and that
/// still is the turn's before (`is_of` in `count_at_once`).
#[test]
fn a_success_at_once_is_in_no_bucket_that_is_still_to_be_emptied() {
    race_within(
        Some(4),
        || {
            let window = Window::time(Duration::from_secs(2)).buckets(2);
            let world = World::with_successes(window, 1);
            world.clock.set(SECOND);
            world.succeed();
            world.clock.set(2 * SECOND);
            world.succeed();
            world.succeed();
            world
        },
        |world| {
            world.clock.set(3 * SECOND);
            world.succeed()
        },
        // The first looks at the whole window; so the other is counted at once.
        |world| [world.fail(), world.succeed()],
        |world, one, other| {
            assert_eq!((one, other), (Effect::Counted, [Effect::Counted; 2]));
            world.assert_holds(4, 1);
        },
    );
}

/// Guards: it is the bucket that was the newest while the window was added up
/// that was judged (the head that `sum` gives).
#[test]
fn a_thread_that_was_held_up_says_of_no_newer_bucket_that_it_was_judged() {
    race(
        || {
            let world = World::by(Window::time(Duration::from_secs(2)).buckets(2), 0.5, 3);
            world.succeed();
            world.succeed();
            world
        },
        World::succeed,
        |world| {
            world.clock.set(2 * SECOND);
            world.fail()
        },
        |world, one, other| {
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
            // The first success is in the window or out; the second is the third
            // of three calls, and two failed.
            if world.fail() == Effect::Counted {
                let third = world.succeed();
                assert!(matches!(third, Effect::Tripped(_)), "it was not judged");
            }
        },
    );
}

/// Guards: a bucket that the window has left, and nobody has emptied yet, is as
/// if empty (`is_of` in `sum`).
#[test]
fn a_bucket_that_is_still_to_be_emptied_is_not_added_up() {
    race(
        || {
            let world = World::of_time(3);
            world.fail();
            world.fail();
            world.clock.set(SECOND);
            world.succeed();
            world.clock.set(3 * SECOND);
            world
        },
        World::fail,
        World::fail,
        |world, one, other| {
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
            assert!(matches!(world.fail(), Effect::Tripped(_)), "lost");
        },
    );
}

/// Guards: what is added up is the window as it stood at some moment (the second
/// load of the head in `sum`). Else the oldest bucket could be in and the one
/// after it out.
#[test]
fn a_window_that_moves_on_while_it_is_added_up_has_no_gap() {
    race_within(
        Some(4),
        || {
            let window = Window::time(Duration::from_secs(3)).buckets(3);
            let world = World::new(window, 2);
            world.fail();
            world.clock.set(SECOND);
            world.succeed();
            world.clock.set(2 * SECOND);
            world
        },
        World::fail,
        |world| {
            world.clock.set(4 * SECOND);
            world.succeed()
        },
        |_, one, other| {
            // A success lies between the two failures.
            assert_eq!((one, other), (Effect::Counted, Effect::Counted));
        },
    );
}
