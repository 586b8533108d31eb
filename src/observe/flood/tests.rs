//! Rejections and changes that arrive in another order than they happened.

use super::FirstThenCounts;
use crate::KeyedBreakers;
use crate::error::{CircuitOpenError, Refused};
use crate::name::Name;
use crate::observe::{CircuitId, KeyEvicted, Observer, Rejection, StateChange};
use crate::registry::AnyBreaker;
use breaker_core::{Circuit, Config, Generation, ManualClock, Reason};
use std::sync::{Arc, Mutex};

/// Of a key that was given up.
const EVICTED: (u32, u64) = (u32::MAX, 0);

/// Generation and calls of each rejection; of a change its generation, with no calls.
#[derive(Default)]
struct Heard(Mutex<Vec<(u32, u64)>>);

impl Heard {
    fn take(&self) -> Vec<(u32, u64)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Heard {
    fn state_changed(&self, event: &StateChange<'_>) {
        let generation = event.change.generation.get();
        self.0.lock().unwrap().push((generation, 0));
    }

    fn rejected(&self, event: &Rejection<'_>) {
        let heard = (event.generation.get(), event.calls);
        self.0.lock().unwrap().push(heard);
    }

    fn key_evicted(&self, _: &KeyEvicted<'_>) {
        self.0.lock().unwrap().push(EVICTED);
    }
}

type Counts = FirstThenCounts<Arc<Heard>, ManualClock>;

fn counts() -> (Counts, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let counts = FirstThenCounts::with_clock(Arc::clone(&heard), ManualClock::new(0));
    (counts, heard)
}

fn refuse(counts: &Counts, circuit: u64, generation: u32, times: u64) {
    refuse_of(counts, "pms", circuit, generation, times);
}

fn refuse_of(counts: &Counts, name: &'static str, circuit: u64, generation: u32, times: u64) {
    let refused = Refused {
        reason: Reason::Open,
        left: 1,
    };
    for sequence in 0..times {
        counts.rejected(&Rejection {
            error: &CircuitOpenError::new(Name::Static(name), refused),
            circuit: CircuitId(circuit),
            calls: 1,
            generation: Generation::from_number(generation),
            sequence,
        });
    }
}

fn change(counts: &Counts, circuit: u64, generation: u32) {
    change_of(counts, "pms", circuit, generation);
}

fn change_of(counts: &Counts, breaker: &str, circuit: u64, generation: u32) {
    let mut change = Circuit::new(Config::DEFAULT).force_open(&ManualClock::new(0));
    change.generation = Generation::from_number(generation);
    counts.state_changed(&StateChange {
        breaker,
        key: None,
        circuit: CircuitId(circuit),
        change: &change,
        sequence: 0,
    });
}

#[test]
fn a_change_that_comes_after_its_first_rejection_begins_no_other_count() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 5, 1);
    change(&counts, 1, 5);
    refuse(&counts, 1, 5, 3);
    assert_eq!(heard.take(), [(5, 1), (5, 0)]);
    change(&counts, 1, 6);
    assert_eq!(heard.take(), [(5, 3), (6, 0)]);
}

#[test]
fn a_rejection_of_the_next_opening_tells_what_was_counted_of_the_last() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 5, 4);
    refuse(&counts, 1, 7, 2);
    assert_eq!(heard.take(), [(5, 1), (5, 3), (7, 1)]);
    counts.flush();
    assert_eq!(heard.take(), [(7, 1)]);
}

#[test]
fn a_late_rejection_of_an_opening_that_is_over_is_told_at_once() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 7, 2);
    refuse(&counts, 1, 5, 2);
    refuse(&counts, 1, 7, 1);
    change(&counts, 1, 8);
    assert_eq!(heard.take(), [(7, 1), (5, 1), (5, 1), (7, 2), (8, 0)]);
}

/// Two threads that were held up between a refusal and its telling.
#[test]
fn late_rejections_of_an_opening_after_its_change_are_told_at_once() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 5, 2);
    change(&counts, 1, 6);
    refuse(&counts, 1, 5, 3);
    assert_eq!(
        heard.take(),
        [(5, 1), (5, 1), (6, 0), (5, 1), (5, 1), (5, 1)]
    );
    refuse(&counts, 1, 6, 2);
    change(&counts, 1, 7);
    assert_eq!(heard.take(), [(6, 1), (6, 1), (7, 0)]);
}

/// Nobody is told when a breaker is dropped that is not listed.
#[test]
fn another_circuit_at_the_same_place_is_no_flood() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 7, 2);
    change(&counts, 1, 8);
    heard.take();
    change(&counts, 1, 1);
    refuse(&counts, 1, 1, 1_000);
    change(&counts, 1, 2);
    let told = heard.take();
    assert!(told.len() < 100, "{} were told", told.len());
    assert_eq!(told.iter().map(|(_, calls)| calls).sum::<u64>(), 1_000);
    refuse(&counts, 1, 2, 1_000);
    change(&counts, 1, 3);
    assert_eq!(heard.take(), [(2, 1), (2, 999), (3, 0)]);
}

#[test]
fn another_breaker_at_the_same_place_is_told_at_once_whatever_its_generation() {
    for generation in [5, 7, 9] {
        let (counts, heard) = counts();
        refuse(&counts, 1, 7, 3);
        refuse_of(&counts, "rates", 1, generation, 4);
        assert_eq!(heard.take(), [(7, 1), (7, 2), (generation, 1)]);
        counts.flush();
        assert_eq!(heard.take(), [(generation, 3)]);
    }
}

#[test]
fn what_was_counted_is_told_before_another_breaker_changes_at_the_same_place() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 7, 3);
    change_of(&counts, "rates", 1, 1);
    assert_eq!(heard.take(), [(7, 1), (7, 2), (1, 0)]);
    counts.flush();
    assert_eq!(heard.take(), []);
}

/// One whose closing is told late: by another thread.
#[test]
fn what_was_counted_for_a_key_is_told_before_it_is_given_up() {
    let (counts, heard) = counts();
    refuse(&counts, 1, 7, 3);
    let hosts = KeyedBreakers::<u32>::shared("hosts", Config::DEFAULT, 10).unwrap();
    counts.key_evicted(&KeyEvicted {
        breaker: "hosts",
        key: AnyBreaker::key(&hosts.get(&7_u32)).unwrap(),
        circuit: CircuitId(1),
        sequence: 3,
    });
    assert_eq!(heard.take(), [(7, 1), (7, 2), EVICTED]);
    counts.flush();
    assert_eq!(heard.take(), []);
}

/// Where there is no room for another one, what refuses nothing makes some first.
#[test]
fn a_count_goes_on_while_others_that_count_nothing_can_be_forgotten() {
    let (counts, heard) = counts();
    // All in one shard.
    let circuit = |number: usize| (number * super::SHARDS) as u64;
    refuse(&counts, circuit(0), 1, 3);
    for number in 1..super::COUNTS_AT_MOST {
        refuse(&counts, circuit(number), 1, 1);
        change(&counts, circuit(number), 2);
    }
    heard.take();
    refuse(&counts, circuit(super::COUNTS_AT_MOST), 5, 1);
    refuse(&counts, circuit(0), 1, 2);
    assert_eq!(heard.take(), [(5, 1)]);
    counts.flush();
    assert_eq!(heard.take(), [(1, 4)]);
}

#[test]
fn generations_that_begin_anew_are_later_ones() {
    let (counts, heard) = counts();
    let last = (1 << 26) - 1;
    refuse(&counts, 1, last, 3);
    refuse(&counts, 1, 1, 3);
    change(&counts, 1, 2);
    assert_eq!(heard.take(), [(last, 1), (last, 2), (1, 1), (1, 2), (2, 0)]);
}

#[test]
fn circuits_are_counted_for_themselves_and_more_than_may_be_told_earlier() {
    let (counts, heard) = counts();
    let circuits = 3 * (super::SHARDS * super::COUNTS_AT_MOST) as u64;
    for circuit in 0..circuits {
        refuse(&counts, circuit, 1, 3);
    }
    let kept: usize = counts
        .shards
        .iter()
        .map(|shard| shard.lock().unwrap().len())
        .sum();
    assert!(kept <= super::SHARDS * super::COUNTS_AT_MOST);
    drop(counts);
    let told: u64 = heard.take().iter().map(|(_, calls)| calls).sum();
    assert_eq!(told, 3 * circuits);
}
