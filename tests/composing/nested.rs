//! A guarded function inside a guarded function: two circuits, each with its own count, name and
//! events; and one breaker around itself.

use super::{Answer, DOWN, Pms, PmsError, RESET, is_refused_beside_a_probe, stands};
use breakerbox::observe::{self, FallbackServed, Observer, Rejection, StateChange};
use breakerbox::{Breaker, CallError, Settings, State, circuit_breaker, test};
use std::sync::{Arc, Mutex};

/// What observers heard.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn hear(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.hear(event.to_string());
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.hear(event.to_string());
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        self.hear(event.to_string());
    }
}

/// In the body of a guarded function it can only be an inner circuit's.
fn not_refused_inside(error: &CallError<PmsError>) -> bool {
    !matches!(error, CallError::Open(_))
}

/// The circuit that refused.
fn refused_by(answer: &Answer) -> &str {
    match answer {
        Err(CallError::Open(refused)) => refused.name(),
        other => panic!("not refused: {other:?}"),
    }
}

#[circuit_breaker(name = "pms", threshold = 2)]
async fn pms_rooms(pms: &Pms, up: bool) -> Answer {
    pms.request(up).await.map_err(CallError::Call)
}

#[circuit_breaker(name = "hotel", threshold = 3, classify = not_refused_inside)]
async fn hotel_rooms(pms: &Pms, up: bool) -> Answer {
    pms_rooms(pms, up).await
}

#[circuit_breaker(name = "hotel-counting", threshold = 3)]
async fn hotel_rooms_counting(pms: &Pms, up: bool) -> Answer {
    pms_rooms(pms, up).await
}

#[circuit_breaker(name = "pms-plain", threshold = 2)]
fn pms_rooms_plainly(pms: &Pms, up: bool) -> Answer {
    pms.request_plainly(up).map_err(CallError::Call)
}

#[circuit_breaker(name = "hotel-plain", threshold = 3, classify = not_refused_inside)]
fn hotel_rooms_plainly(pms: &Pms, up: bool) -> Answer {
    pms_rooms_plainly(pms, up)
}

/// A failure of the dependency is one of each; a refusal by the inner circuit is none of the outer.
#[tokio::test]
async fn the_inner_circuit_opens_and_the_outer_stays_closed() {
    let scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(hotel_rooms(&pms, false).await, DOWN);
    }
    assert_eq!(stands("pms").0, State::Open);
    assert_eq!(stands("hotel"), (State::Closed, 2));
    for _ in 0..10 {
        assert_eq!(refused_by(&hotel_rooms(&pms, true).await), "pms");
    }
    assert_eq!(stands("hotel"), (State::Closed, 2));
    assert_eq!(pms.requests(), 2);

    scope.advance(RESET);
    assert_eq!(hotel_rooms(&pms, true).await, Ok(7));
    assert_eq!(stands("pms"), (State::Closed, 0));
    assert_eq!(stands("hotel"), (State::Closed, 0));
    let mut expected = vec!["circuit `pms` opened after 2 failures, for 30s"];
    expected.extend(["call refused: circuit `pms` is open: retry in 30s"; 10]);
    expected.push("circuit `pms` probes: its wait is over");
    expected.push("circuit `pms` closed: its probes succeeded");
    assert_eq!(lines.heard(), expected);
}

#[test]
fn plainly_too() {
    let scope = test::scope();
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(hotel_rooms_plainly(&pms, false), DOWN);
    }
    for _ in 0..10 {
        let refused = hotel_rooms_plainly(&pms, true);
        assert_eq!(refused_by(&refused), "pms-plain");
    }
    assert_eq!(stands("pms-plain").0, State::Open);
    assert_eq!(stands("hotel-plain"), (State::Closed, 2));
    scope.advance(RESET);
    assert_eq!(hotel_rooms_plainly(&pms, true), Ok(7));
    assert_eq!(stands("hotel-plain"), (State::Closed, 0));
    assert_eq!(pms.requests(), 3);
}

/// Where nobody says otherwise every `Err` counts, an inner circuit's refusal too: the outer opens
/// after the inner, and then refuses in its own name.
#[tokio::test]
async fn where_refusals_inside_count_the_outer_circuit_opens_as_well() {
    let scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(hotel_rooms_counting(&pms, false).await, DOWN);
    }
    let refused = hotel_rooms_counting(&pms, true).await;
    assert_eq!(refused_by(&refused), "pms");
    let refused = hotel_rooms_counting(&pms, true).await;
    assert_eq!(refused_by(&refused), "hotel-counting");
    let expected = [
        "circuit `pms` opened after 2 failures, for 30s",
        "call refused: circuit `pms` is open: retry in 30s",
        "circuit `hotel-counting` opened after 3 failures, for 30s",
        "call refused: circuit `hotel-counting` is open: retry in 30s",
    ];
    assert_eq!(lines.heard(), expected);

    // One call probes both.
    scope.advance(RESET);
    assert_eq!(hotel_rooms_counting(&pms, true).await, Ok(7));
    assert_eq!(pms.requests(), 3);
    let expected = [
        "circuit `hotel-counting` probes: its wait is over",
        "circuit `pms` probes: its wait is over",
        "circuit `pms` closed: its probes succeeded",
        "circuit `hotel-counting` closed: its probes succeeded",
    ];
    assert_eq!(lines.heard(), expected);
}

/// As a probe of the outer circuit, a refusal inside decides nothing where it is not counted.
#[tokio::test]
async fn an_outer_probe_that_is_refused_inside_gives_its_place_back() {
    let scope = test::scope();
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(hotel_rooms(&pms, false).await, DOWN);
    }
    breakerbox::find("hotel").unwrap().open_for(RESET);
    breakerbox::find("pms").unwrap().open_for(2 * RESET);
    scope.advance(RESET);
    for _ in 0..10 {
        assert_eq!(refused_by(&hotel_rooms(&pms, true).await), "pms");
        assert_eq!(stands("hotel").0, State::HalfOpen);
    }
    scope.advance(RESET);
    assert_eq!(hotel_rooms(&pms, true).await, Ok(7));
    assert_eq!(
        (stands("hotel").0, stands("pms").0),
        (State::Closed, State::Closed)
    );
}

/// What a fallback inside has served is a success outside; one outside is not asked for what does
/// not count there.
#[tokio::test]
async fn a_fallback_inside_is_an_answer_outside() {
    #[circuit_breaker(name = "pms-cached", threshold = 2, fallback = |_| Ok(1))]
    async fn cached_inside(pms: &Pms, up: bool) -> Answer {
        pms.request(up).await.map_err(CallError::Call)
    }

    #[circuit_breaker(name = "hotel-cached", threshold = 1, fallback = |_| Ok(2))]
    async fn both_cached(pms: &Pms, up: bool) -> Answer {
        cached_inside(pms, up).await
    }

    #[circuit_breaker(name = "hotel-uncounted", classify = not_refused_inside, fallback = |_| Ok(2))]
    async fn uncounted(pms: &Pms, up: bool) -> Answer {
        pms_rooms(pms, up).await
    }

    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let pms = Pms::default();
    for _ in 0..3 {
        assert_eq!(both_cached(&pms, false).await, Ok(1));
    }
    assert_eq!(stands("pms-cached").0, State::Open);
    assert_eq!(stands("hotel-cached"), (State::Closed, 0));
    let expected = [
        "circuit `pms-cached` served a fallback in place of a failed call",
        "circuit `pms-cached` opened after 2 failures, for 30s",
        "circuit `pms-cached` served a fallback in place of a failed call",
        "call refused: circuit `pms-cached` is open: retry in 30s",
        "circuit `pms-cached` served a fallback in place of a refused call",
    ];
    assert_eq!(lines.heard(), expected);

    for _ in 0..2 {
        assert_eq!(uncounted(&pms, false).await, Ok(2));
    }
    assert_eq!(refused_by(&uncounted(&pms, true).await), "pms");
}

#[tokio::test]
async fn breakers_by_hand_are_kept_apart_as_well() {
    let scope = test::scope();
    let inner = Breaker::new("inner", Settings::new().threshold(1).must());
    let outer = Breaker::new("outer", Settings::new().threshold(2).must());
    let pms = Pms::default();
    let flat = |error| match error {
        CallError::Call(inside) => inside,
        other => panic!("the outer circuit: {other:?}"),
    };
    let ask = async |up| {
        let call = outer.call(inner.call(pms.request(up)));
        call.classify(not_refused_inside).await.map_err(flat)
    };
    let ask_plainly = |up| {
        let guarded = outer.classify(not_refused_inside);
        let call = guarded.call_sync(|| inner.call_sync(|| pms.request_plainly(up)));
        call.map_err(flat)
    };
    assert_eq!(ask(false).await, DOWN);
    for _ in 0..10 {
        assert_eq!(refused_by(&ask(true).await), "inner");
        assert_eq!(refused_by(&ask_plainly(true)), "inner");
    }
    assert_eq!((inner.state(), outer.state()), (State::Open, State::Closed));
    assert_eq!(outer.snapshot().consecutive, 1);
    scope.advance(RESET);
    assert_eq!(ask_plainly(false), DOWN);
    assert_eq!((inner.state(), outer.state()), (State::Open, State::Open));
    assert_eq!(pms.requests(), 2);
}

/// One breaker around itself. Each is a call of its own: nothing waits for anything, a success is
/// none too many, and a failure counts twice. The inner needs a place of its own to probe.
mod around_itself {
    use super::*;

    #[circuit_breaker(breaker = breaker)]
    async fn inner(breaker: &Breaker, pms: &Pms, up: bool) -> Answer {
        pms.request(up).await.map_err(CallError::Call)
    }

    #[circuit_breaker(breaker = breaker)]
    async fn outer(breaker: &Breaker, pms: &Pms, up: bool) -> Answer {
        inner(breaker, pms, up).await
    }

    #[circuit_breaker(breaker = breaker)]
    fn outer_plainly(breaker: &Breaker, pms: &Pms, up: bool) -> Answer {
        breaker.call_sync(|| pms.request_plainly(up))
    }

    fn breaker(probes: u32) -> Breaker {
        Breaker::new("pms", Settings::new().threshold(4).probes(probes).must())
    }

    #[tokio::test]
    async fn a_failure_counts_as_often_as_it_passes_through() {
        let _scope = test::scope();
        let pms = Pms::default();
        let breaker = breaker(1);
        assert_eq!(outer(&breaker, &pms, false).await, DOWN);
        assert_eq!(breaker.snapshot().consecutive, 2);
        assert_eq!(outer_plainly(&breaker, &pms, true), Ok(7));
        assert_eq!(breaker.snapshot().consecutive, 0);
        assert_eq!(outer_plainly(&breaker, &pms, false), DOWN);
        assert_eq!(outer(&breaker, &pms, false).await, DOWN);
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(pms.requests(), 4);
    }

    /// The inner call's failure opens it; the outer's comes too late to count.
    #[tokio::test]
    async fn opened_inside_it_is_not_opened_once_more() {
        let scope = test::scope();
        let lines = Lines::default();
        let _installed = observe::install(lines.clone());
        let pms = Pms::default();
        let breaker = Breaker::new("pms", Settings::new().threshold(1).must());
        assert_eq!(outer(&breaker, &pms, false).await, DOWN);
        assert_eq!(breaker.generation().get(), 1);
        scope.advance(RESET);
        let opened = "circuit `pms` opened after 1 failure, for 30s";
        assert_eq!(lines.heard(), [opened]);
    }

    /// With a single place the probe is refused inside itself, and so can't close the circuit:
    /// guard a call once.
    #[tokio::test]
    async fn it_takes_two_places_to_probe() {
        for probes in [1, 2] {
            let scope = test::scope();
            let pms = Pms::default();
            let breaker = breaker(probes);
            for _ in 0..2 {
                assert_eq!(outer(&breaker, &pms, false).await, DOWN);
            }
            pms.requests();
            for _ in 0..3 {
                assert_eq!(breaker.state(), State::Open);
                scope.advance(RESET);
                match probes {
                    1 => {
                        let answer = outer(&breaker, &pms, true).await;
                        assert!(is_refused_beside_a_probe(&answer));
                        assert_eq!(pms.requests(), 0);
                    }
                    _ => {
                        assert_eq!(outer_plainly(&breaker, &pms, true), Ok(7));
                        assert_eq!(breaker.state(), State::Closed);
                        breaker.open_for(RESET);
                    }
                }
            }
        }
    }
}
