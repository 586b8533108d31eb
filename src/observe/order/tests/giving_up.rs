//! What is waited for no longer, and what another circuit finds at the same place.

use super::*;
use crate::KeyedBreakers;
use crate::observe::KeyEvicted;
use crate::observe::order::line::Line;
use crate::registry::AnyBreaker;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn each_circuit_waits_as_long_as_there_is_patience() {
    let (ordered, records, clock) = in_order();
    let told = history(3, |_| 0);
    told[2].tell(1, 1, &ordered);
    clock.advance(SECOND / 2);
    told[2].tell(2, 2, &ordered);
    clock.advance(SECOND / 2);
    told[0].tell(3, 3, &ordered);
    assert_eq!(records.numbers(), [1, 3], "that of 2 doesn't make 1 wait");
    clock.advance(SECOND / 2 - Duration::from_millis(1));
    told[1].tell(3, 4, &ordered);
    assert_eq!(records.numbers(), [4]);
    clock.advance(Duration::from_millis(1));
    told[2].tell(3, 5, &ordered);
    assert_eq!(records.numbers(), [2, 5], "nor is 2 forgotten over 1");
}

#[test]
fn what_waits_for_the_next_one_waits_from_when_the_last_one_came() {
    let (ordered, records, clock) = in_order();
    let told = history(5, |_| 0);
    for number in [0, 2, 4] {
        told[number].tell(1, number as u64, &ordered);
    }
    clock.advance(SECOND * 9 / 10);
    told[1].tell(1, 1, &ordered);
    assert_eq!(records.numbers(), [0, 1, 2]);
    clock.advance(SECOND / 10);
    told[0].tell(2, 20, &ordered);
    assert_eq!(records.numbers(), [20]);
    clock.advance(SECOND * 9 / 10);
    told[1].tell(2, 21, &ordered);
    assert_eq!(records.numbers(), [4, 21]);
    assert_eq!(records.missed_so_far(), [(1, 0)]);
}

#[test]
fn after_a_refusal_that_waited_in_vain_any_change_is_the_next() {
    let (ordered, records, clock) = in_order();
    // A change and a refusal of each generation: that to the second one is missing.
    let told = history(3, |_| 1);
    told[0].tell(1, 0, &ordered);
    told[3].tell(1, 3, &ordered);
    clock.advance(SECOND);
    told[0].tell(2, 20, &ordered);
    assert_eq!(records.numbers(), [0, 3, 20]);
    assert_eq!(records.missed_so_far(), [(1, 0)]);
    told[4].tell(1, 4, &ordered);
    assert_eq!(records.numbers(), [4]);
}

#[test]
fn what_waits_is_delivered_before_what_another_circuit_does_at_its_place() {
    let (ordered, records, _clock) = in_order();
    let told = history(3, |_| 0);
    told[0].tell(1, 0, &ordered);
    told[2].tell(1, 2, &ordered);
    told[0].tell(1, 10, &ordered);
    assert_eq!(records.numbers(), [0, 2, 10]);
    assert_eq!(records.missed_so_far(), [(1, 0)]);
}

/// By its number alone its change could be the next one of the circuit that was there.
#[test]
fn another_circuit_is_known_by_the_state_that_it_leaves() {
    let (ordered, records, clock) = in_order();
    let (one, another) = (Circuit::new(Config::DEFAULT), Circuit::new(Config::DEFAULT));
    Told::Change(one.force_open(&clock)).tell(1, 0, &ordered);
    let first = Told::Change(another.disable(&clock));
    let second = Told::Change(another.close(&clock));
    second.tell(1, 2, &ordered);
    assert_eq!(records.numbers(), [0]);
    first.tell(1, 1, &ordered);
    assert_eq!(records.numbers(), [1, 2]);
}

#[test]
fn of_a_key_that_is_given_up_nothing_waits_and_nothing_is_kept() {
    let (ordered, records, _clock) = in_order();
    let told = history(3, |_| 0);
    told[0].tell(1, 0, &ordered);
    told[2].tell(1, 2, &ordered);
    let hosts = KeyedBreakers::<u32>::shared("hosts", Config::DEFAULT, 10).unwrap();
    ordered.key_evicted(&KeyEvicted {
        breaker: "hosts",
        key: AnyBreaker::key(&hosts.get(&7_u32)).unwrap(),
        circuit: CircuitId(1),
        sequence: 3,
    });
    assert_eq!(records.numbers(), [0, 2]);
    let shards = ordered.shards.iter();
    let lines = shards.map(|shard| shard.lock().unwrap().len());
    assert_eq!(lines.sum::<usize>(), 0);
}

type Boxed = Box<dyn FnOnce() + Send>;
type Calling = InOrder<Arc<Callback<Boxed>>, ManualClock>;

/// In order, where the first change that is delivered calls this back.
fn calling(back: impl FnOnce(&Calling) + Send + 'static) -> Arc<Calling> {
    let callback = Arc::new(Callback::<Boxed>(Mutex::new(None), Records::default()));
    let ordered = Arc::new(InOrder::with_clock(callback, ManualClock::new(0)));
    let again = Arc::downgrade(&ordered);
    *ordered.observer.0.lock().unwrap() = Some(Box::new(move || back(&again.upgrade().unwrap())));
    ordered
}

#[test]
fn who_gives_up_during_a_delivery_leaves_it_to_the_one_who_delivers() {
    let told = Arc::new(history(3, |_| 0));
    let ordered = calling({
        let told = Arc::clone(&told);
        move |ordered| {
            told[2].tell(1, 2, ordered);
            ordered.flush();
        }
    });
    told[0].tell(1, 0, &*ordered);
    assert_eq!(ordered.observer.1.numbers(), [0, 2]);
    assert_eq!(ordered.observer.1.missed_so_far(), [(1, 0)]);
}

#[test]
fn what_was_lost_is_told_also_where_another_circuit_came_to_its_place() {
    let told = Arc::new(history(2 * READY_AT_MOST + 101, |_| 0));
    let ordered = calling({
        let told = Arc::clone(&told);
        move |ordered| {
            for (number, told) in (1..).zip(&told[1..]) {
                told.tell(1, number, ordered);
            }
            told[0].tell(1, 1_000_000, ordered);
        }
    });
    told[0].tell(1, 0, &*ordered);
    let numbers = ordered.observer.1.numbers();
    assert!(numbers.iter().copied().eq(0..=2 * READY_AT_MOST as u64));
    assert_eq!(ordered.observer.1.missed_so_far(), [(101, 0)]);
}

fn refused(number: u64) -> crate::observe::Event {
    let refused = Refused {
        reason: Reason::Open,
        left: 1,
    };
    let event = Rejection {
        error: &CircuitOpenError::new(Name::Static("pms"), refused),
        circuit: CircuitId(1),
        calls: 1,
        generation: Generation::from_number(1),
        sequence: number,
    };
    AnyEvent::from(&event).to_event()
}

#[test]
fn nothing_goes_ahead_of_the_news_that_changes_were_missed() {
    let mut line = Line::default();
    line.push(refused(10).missed_beside(1, 0));
    line.push(refused(10));
    line.push(refused(5));
    let ready = line.take();
    let ready = ready.iter().map(|event| {
        let event = event.as_any();
        (event.sequence(), matches!(event, AnyEvent::Missed(_)))
    });
    let expected = [(10, true), (5, false), (10, false)];
    assert_eq!(ready.collect::<Vec<_>>(), expected);
}

/// As an observer in order is told that stands behind another one.
#[test]
fn that_changes_were_missed_is_told_at_its_turn() {
    let (ordered, records, _clock) = in_order();
    let told = history(3, |_| 0);
    told[0].tell(1, 0, &ordered);
    ordered.missed(&Missed {
        breaker: "pms",
        key: None,
        circuit: CircuitId(1),
        changes: 7,
        events: 0,
        generation: Generation::from_number(3),
        sequence: 2,
    });
    assert!(records.missed_so_far().is_empty());
    told[1].tell(1, 1, &ordered);
    assert_eq!(records.missed_so_far(), [(7, 0)]);
    assert_eq!(records.numbers(), [0, 1]);
}
