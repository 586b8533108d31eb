//! Events that arrive in any order, from one thread: what is made of them.

mod giving_up;

use super::InOrder;
use super::line::{EARLY_AT_MOST, READY_AT_MOST};
use crate::error::{CircuitOpenError, Refused};
use crate::name::Name;
use crate::observe::{AnyEvent, CallEnded, CircuitId, Missed, Observer, Rejection, StateChange};
use breaker_core::{
    Change, Circuit, Config, Generation, ManualClock, Outcome, Reason, Snapshot, State,
};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GENERATIONS: u32 = 1 << 26;

/// What is told, and with which number.
#[derive(Clone, Debug)]
enum Told {
    Change(Change),
    Refused(Generation),
}

impl Told {
    fn tell(&self, circuit: u64, sequence: u64, observer: &impl Observer) {
        let circuit = CircuitId(circuit);
        match self {
            Self::Change(change) => observer.state_changed(&StateChange {
                breaker: "pms",
                key: None,
                circuit,
                change,
                sequence,
            }),
            Self::Refused(generation) => {
                let refused = Refused {
                    reason: Reason::Open,
                    left: 1,
                };
                observer.rejected(&Rejection {
                    error: &CircuitOpenError::new(Name::Static("pms"), refused),
                    circuit,
                    calls: 1,
                    generation: *generation,
                    sequence,
                });
            }
        }
    }

    fn generation(&self) -> u32 {
        match self {
            Self::Change(change) => change.generation.get(),
            Self::Refused(generation) => generation.get(),
        }
    }
}

/// What the observer behind hears: circuit, number, generation, and of a change the states.
type Heard = (u64, u64, u32, Option<(State, State)>);

#[derive(Default)]
struct Records {
    heard: Mutex<Vec<Heard>>,
    missed: Mutex<Vec<(u64, u64)>>,
}

impl Observer for Records {
    fn state_changed(&self, event: &StateChange<'_>) {
        let change = event.change;
        self.heard.lock().unwrap().push((
            event.circuit.0,
            event.sequence,
            change.generation.get(),
            Some((change.from, change.to)),
        ));
    }

    fn rejected(&self, event: &Rejection<'_>) {
        let heard = (
            event.circuit.0,
            event.sequence,
            event.generation.get(),
            None,
        );
        self.heard.lock().unwrap().push(heard);
    }

    fn missed(&self, event: &Missed<'_>) {
        let missed = (event.changes, event.events);
        self.missed.lock().unwrap().push(missed);
    }
}

impl Records {
    fn numbers(&self) -> Vec<u64> {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        heard.into_iter().map(|heard| heard.1).collect()
    }

    fn missed_so_far(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut *self.missed.lock().unwrap())
    }
}

type Ordered = InOrder<Arc<Records>, &'static ManualClock>;

/// In order, what comes of it, and the clock.
fn in_order() -> (Ordered, Arc<Records>, &'static ManualClock) {
    let records = Arc::new(Records::default());
    let clock: &ManualClock = Box::leak(Box::new(ManualClock::new(5)));
    let ordered = InOrder::with_clock(Arc::clone(&records), clock);
    (ordered, records, clock)
}

/// A circuit that is turned by operators and refuses between: real changes, of real generations.
fn history(changes: usize, refusals: impl Fn(usize) -> usize) -> Vec<Told> {
    let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    let mut told = Vec::new();
    for n in 0..changes {
        let change = match n % 3 {
            0 => circuit.force_open(&clock),
            1 => circuit.shadow(&clock),
            _ => circuit.close(&clock),
        };
        told.push(Told::Change(change));
        for _ in 0..refusals(n) {
            told.push(Told::Refused(change.generation));
        }
    }
    told
}

/// Numbers in no order that anybody sees, the same ones each time.
struct Dice(RefCell<u64>);

impl Dice {
    fn below(&self, sides: usize) -> usize {
        let mut state = self.0.borrow_mut();
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % sides
    }

    fn shuffle<T>(&self, those: &mut [T]) {
        for last in (1..those.len()).rev() {
            those.swap(last, self.below(last + 1));
        }
    }
}

/// Each change begins where the one before has led to, from the first one on, and what is of a
/// generation comes after the change to it.
fn assert_in_order(heard: &[Heard], start: u32) {
    let (mut last, mut state) = (start, None);
    for (_, number, generation, change) in heard {
        match change {
            Some((from, to)) => {
                assert_eq!(*generation, (last + 1) % GENERATIONS, "number {number}");
                assert!(state.is_none_or(|state| state == *from), "number {number}");
                (last, state) = (*generation, Some(*to));
            }
            None => {
                let behind = last.wrapping_sub(*generation) % GENERATIONS;
                assert!(behind < GENERATIONS / 2, "number {number} came early");
            }
        }
    }
}

#[test]
fn however_they_are_shuffled_all_come_and_in_order() {
    for seed in 0..3_000 {
        let dice = Dice(RefCell::new(seed));
        let (ordered, records, _clock) = in_order();
        let circuits = 1 + dice.below(3);
        let mut told: Vec<(u64, u64, Told)> = Vec::new();
        for circuit in 0..circuits as u64 {
            let history = history(1 + dice.below(40), |_| dice.below(4));
            told.extend(history.into_iter().map(|told| (circuit, 0, told)));
        }
        for (number, told) in told.iter_mut().enumerate() {
            told.1 = number as u64;
        }
        dice.shuffle(&mut told);
        for (circuit, number, told) in &told {
            told.tell(*circuit, *number, &ordered);
        }
        let heard = std::mem::take(&mut *records.heard.lock().unwrap());
        assert_eq!(heard.len(), told.len(), "seed {seed}");
        for circuit in 0..circuits as u64 {
            let of_it: Vec<_> = heard
                .iter()
                .filter(|heard| heard.0 == circuit)
                .copied()
                .collect();
            assert_in_order(&of_it, 0);
        }
        assert!(records.missed_so_far().is_empty(), "seed {seed}");
        let mut numbers: Vec<_> = heard.iter().map(|heard| heard.1).collect();
        numbers.sort_unstable();
        assert!(
            numbers.iter().copied().eq(0..told.len() as u64),
            "each once"
        );
    }
}

#[test]
fn generations_that_begin_anew_are_in_order() {
    let all_moved = |told: Told| match told {
        Told::Change(mut change) => {
            change.generation = moved(change.generation);
            Told::Change(change)
        }
        Told::Refused(generation) => Told::Refused(moved(generation)),
    };
    fn moved(generation: Generation) -> Generation {
        let number = (generation.get() + GENERATIONS - 10) % GENERATIONS;
        Generation::from_number(number)
    }
    for seed in 0..500 {
        let dice = Dice(RefCell::new(seed));
        let (ordered, records, _clock) = in_order();
        let mut told: Vec<_> = history(30, |_| 1).into_iter().map(all_moved).collect();
        // It must have begun, so that it is known where.
        told[0].tell(1, 0, &ordered);
        dice.shuffle(&mut told[2..]);
        for (number, told) in (1..).zip(&told[1..]) {
            told.tell(1, number, &ordered);
        }
        let heard = std::mem::take(&mut *records.heard.lock().unwrap());
        assert_eq!(heard.len(), told.len());
        assert_in_order(&heard, told[0].generation() - 1);
    }
}

#[test]
fn what_never_comes_is_waited_for_as_long_as_there_is_patience() {
    let (ordered, records, clock) = in_order();
    let told = history(6, |_| 1);
    for number in [0, 1, 4, 5, 6, 7] {
        told[number].tell(1, number as u64, &ordered);
    }
    assert_eq!(records.numbers(), [0, 1], "the change to 2 is missing");
    clock.advance(Duration::from_millis(999));
    told[8].tell(1, 8, &ordered);
    assert!(records.numbers().is_empty());
    clock.advance(Duration::from_millis(1));
    // Of whatever circuit.
    told[0].tell(2, 20, &ordered);
    assert_eq!(records.numbers(), [4, 5, 6, 7, 8, 20]);
    assert_eq!(records.missed_so_far(), [(1, 0)]);
    // It was counted as missed, and the line goes on.
    told[2].tell(1, 2, &ordered);
    told[10].tell(1, 10, &ordered);
    assert_eq!(records.numbers(), [10]);
    assert!(records.missed_so_far().is_empty());
}

#[test]
fn what_was_before_is_waited_for_too_and_not_called_missed() {
    let (ordered, records, clock) = in_order();
    let told = history(9, |_| 0);
    told[7].tell(1, 7, &ordered);
    told[6].tell(1, 6, &ordered);
    assert!(
        records.numbers().is_empty(),
        "who knows whether 1 to 6 come"
    );
    clock.advance(Duration::from_secs(1));
    told[8].tell(1, 8, &ordered);
    assert_eq!(records.numbers(), [6, 7, 8]);
    assert!(records.missed_so_far().is_empty());

    // Likewise where only a refusal shows that it had begun.
    let refused = history(5, |_| 1);
    refused[9].tell(2, 9, &ordered);
    assert!(records.numbers().is_empty());
    clock.advance(Duration::from_secs(1));
    refused[9].tell(2, 10, &ordered);
    assert_eq!(records.numbers(), [9, 10]);
}

#[test]
fn more_than_may_wait_waits_no_longer() {
    let (ordered, records, _clock) = in_order();
    let told = history(EARLY_AT_MOST + 20, |_| 0);
    told[0].tell(1, 0, &ordered);
    assert_eq!(records.numbers(), [0]);
    for (number, told) in (2..).zip(&told[2..EARLY_AT_MOST + 2]) {
        told.tell(1, number, &ordered);
    }
    assert!(records.numbers().is_empty());
    told[EARLY_AT_MOST + 2].tell(1, EARLY_AT_MOST as u64 + 2, &ordered);
    assert_eq!(records.numbers().len(), EARLY_AT_MOST + 1);
    assert_eq!(records.missed_so_far(), [(1, 0)]);
}

#[test]
fn a_flush_and_the_end_deliver_what_waits() {
    let (ordered, records, _clock) = in_order();
    let told = history(9, |_| 0);
    told[0].tell(1, 0, &ordered);
    told[3].tell(1, 3, &ordered);
    told[7].tell(1, 7, &ordered);
    ordered.flush();
    assert_eq!(records.numbers(), [0, 3, 7]);
    assert_eq!(records.missed_so_far(), [(2, 0), (3, 0)]);
    told[2].tell(2, 10, &ordered);
    assert!(records.numbers().is_empty());
    drop(ordered);
    assert_eq!(records.numbers(), [10]);
}

#[test]
fn another_circuit_at_the_same_place_begins_anew() {
    let (ordered, records, _clock) = in_order();
    let told = history(5, |_| 1);
    for life in 0..3 {
        for (number, told) in told.iter().enumerate() {
            told.tell(1, life * 100 + number as u64, &ordered);
        }
    }
    let heard = std::mem::take(&mut *records.heard.lock().unwrap());
    assert_eq!(heard.len(), 30);
    for life in heard.chunks(10) {
        assert_in_order(life, 0);
    }
    assert!(records.missed_so_far().is_empty());
}

/// Arrives in the middle of a delivery: a callback, or another thread.
struct Callback<F>(Mutex<Option<F>>, Records);

impl<F: FnOnce() + Send> Observer for Callback<F> {
    fn state_changed(&self, event: &StateChange<'_>) {
        let callback = self.0.lock().unwrap().take();
        if let Some(callback) = callback {
            callback();
        }
        self.1.state_changed(event);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.1.rejected(event);
    }

    fn missed(&self, event: &Missed<'_>) {
        self.1.missed(event);
    }
}

#[test]
fn what_arrives_during_a_delivery_comes_after_it_up_to_a_bound() {
    type Boxed = Box<dyn FnOnce() + Send>;
    let told = Arc::new(history(2 * READY_AT_MOST + 200, |_| 0));
    let callback = Arc::new(Callback::<Boxed>(Mutex::new(None), Records::default()));
    let clock = ManualClock::new(0);
    let ordered = Arc::new(InOrder::with_clock(Arc::clone(&callback), clock));
    *callback.0.lock().unwrap() = Some({
        let (told, ordered) = (Arc::clone(&told), Arc::clone(&ordered));
        Box::new(move || {
            for number in 1..=2 * READY_AT_MOST + 100 {
                told[number].tell(1, number as u64, &*ordered);
            }
        })
    });
    told[0].tell(1, 0, &*ordered);
    let numbers = callback.1.numbers();
    assert!(numbers.iter().copied().eq(0..=2 * READY_AT_MOST as u64));
    assert_eq!(callback.1.missed_so_far(), [(100, 0)]);
    told[2 * READY_AT_MOST + 101].tell(1, 9_999, &*ordered);
    assert_eq!(callback.1.numbers(), [9_999]);
}

#[test]
fn between_two_changes_what_waits_is_put_in_order_of_its_numbers() {
    type Boxed = Box<dyn FnOnce() + Send>;
    let told = Arc::new(history(2, |_| 3));
    let callback = Arc::new(Callback::<Boxed>(Mutex::new(None), Records::default()));
    let clock = ManualClock::new(0);
    let ordered = Arc::new(InOrder::with_clock(Arc::clone(&callback), clock));
    *callback.0.lock().unwrap() = Some({
        let (told, ordered) = (Arc::clone(&told), Arc::clone(&ordered));
        Box::new(move || {
            for number in [3, 1, 7, 2, 6, 4, 5] {
                told[number].tell(1, number as u64, &*ordered);
            }
        })
    });
    told[0].tell(1, 0, &*ordered);
    assert_eq!(callback.1.numbers(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_circuit_without_changes_leaves_nothing_behind() {
    let (ordered, _records, _clock) = in_order();
    for circuit in 0..1_000 {
        ordered.call_ended(&CallEnded {
            breaker: "pms",
            key: None,
            circuit: CircuitId(circuit),
            outcome: crate::end::End::Of(Outcome::Success).into(),
            took: Duration::ZERO,
            generation: Generation::from_number(0),
            sequence: circuit,
        });
    }
    let lines = ordered
        .shards
        .iter()
        .map(|shard| shard.lock().unwrap().len());
    assert_eq!(lines.sum::<usize>(), 0);
}

#[test]
fn circuits_that_rest_are_forgotten_when_there_are_too_many() {
    let (ordered, records, _clock) = in_order();
    let told = history(1, |_| 0);
    let circuits = 3 * (super::SHARDS * super::LINES_AT_MOST) as u64;
    for circuit in 0..circuits {
        told[0].tell(circuit, circuit, &ordered);
    }
    assert_eq!(records.numbers().len() as u64, circuits);
    let lines = ordered
        .shards
        .iter()
        .map(|shard| shard.lock().unwrap().len());
    assert!(lines.sum::<usize>() <= super::SHARDS * super::LINES_AT_MOST);
}

#[test]
fn a_kept_event_is_as_it_was_told() {
    let circuit = Circuit::new(Config::DEFAULT);
    let clock = ManualClock::new(0);
    let change = circuit.open_for(Duration::from_secs(3), &clock);
    let Snapshot { state, .. } = circuit.snapshot(&clock);
    assert_eq!(state, State::Open);
    let event = StateChange {
        breaker: "pms",
        key: None,
        circuit: CircuitId(3),
        change: &change,
        sequence: 8,
    };
    let kept = AnyEvent::from(&event).to_event();
    assert_eq!(kept.to_string(), event.to_string());
    assert_eq!(
        format!("{:?}", kept.as_any()),
        format!("{:?}", AnyEvent::from(&event))
    );
}
