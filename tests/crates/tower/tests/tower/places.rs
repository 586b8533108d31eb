//! Places that are reserved, and given back.

use super::*;
use breakerbox::observe::{self, CallEnded, LateOutcome, Observer};
use breakerbox::{Effect, Outcome, Sliding, State, Window, test};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Its next call is a probe, the only one.
fn half_open(scope: &test::TestScope, pms: &Breaker) {
    if pms.state() == State::Closed {
        open(pms);
    }
    scope.advance(RESET);
}

#[test]
fn a_place_is_given_back_when_the_service_is_dropped() {
    let scope = test::scope();
    for pms in breakers() {
        half_open(&scope, &pms);
        for _ in 0..1_000 {
            let mut service = layer(&pms).layer(Pms::default());
            assert!(poll_ready(&mut service).is_ready());
            assert!(pms.admit().is_err(), "it has the only place");
            drop(service);
        }
        assert_eq!(pms.state(), State::HalfOpen, "that was no failure");
        assert!(matches!(pms.admit().unwrap().success(), Effect::Closed(_)));
    }
}

#[test]
fn a_place_of_a_closed_circuit_is_given_back_as_nothing() {
    let _scope = test::scope();
    for pms in breakers() {
        let mut service = layer(&pms).layer(Pms::default());
        assert!(poll_ready(&mut service).is_ready());
        drop(service);
        assert_eq!(pms.state(), State::Closed);
        assert_eq!(pms.snapshot().consecutive, 0);
    }
}

#[test]
fn a_place_is_given_back_when_the_service_is_unwrapped_or_unwound() {
    let scope = test::scope();
    for pms in breakers() {
        half_open(&scope, &pms);
        let mut service = layer(&pms).layer(Pms::default());
        assert!(poll_ready(&mut service).is_ready());
        let _inner = service.into_inner();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut service = layer(&pms).layer(Pms::default());
            assert!(poll_ready(&mut service).is_ready());
            panic!("of the caller, who made no call");
        }));
        assert!(unwound.is_err());
        assert_eq!(pms.state(), State::HalfOpen);
        assert!(pms.admit().is_ok());
    }
}

#[test]
fn a_place_is_given_back_when_readiness_never_comes() {
    let scope = test::scope();
    for pms in breakers() {
        half_open(&scope, &pms);
        let inner = Pms::default();
        inner.becomes(NOT_READY);
        let mut service = layer(&pms).layer(inner);
        assert!(poll_ready(&mut service).is_pending());
        assert!(pms.admit().is_err());
        drop(service);
        assert!(pms.admit().is_ok());
    }
}

#[test]
fn a_clone_has_no_place() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let mut service = layer(&pms).layer(Pms::default());
    let clone = service.clone();
    let place = pms.admit().expect("nor does it take one by itself");
    place.ignore();
    drop(clone);
    assert!(poll_ready(&mut service).is_ready());
    let mut clone = service.clone();
    assert!(poll_ready(&mut clone).is_ready(), "to refuse");
    assert!(is_open(now(clone.call(answered(Ok(1))))));
    assert!(is_open(now(clone.clone().call(answered(Ok(1))))));
    drop(clone);
    assert!(pms.admit().is_err(), "no clone gave back what it hadn't");
    // As frameworks do it: the ready one is called, its clone stays.
    let stays = service.clone();
    let mut ready = std::mem::replace(&mut service, stays);
    assert_eq!(now(ready.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_place_serves_one_call() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let mut service = layer(&pms).layer(Pms::default());
    assert!(poll_ready(&mut service).is_ready());
    let (answer, request) = oneshot::channel();
    let mut probe = pin!(service.call(request));
    // Without having asked again: it asks for itself.
    assert!(is_open(now(service.call(answered(Ok(1))))));
    assert!(poll(probe.as_mut()).is_pending());
    answer.send(Ok(7)).unwrap();
    assert_eq!(now(probe), Ok(7));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_call_without_a_question_asks_for_itself() {
    let scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(
        now(service.call(answered(Err(DOWN)))),
        Err(CallError::Call(DOWN))
    );
    assert!(is_open(now(service.call(answered(Ok(1))))));
    assert_eq!(inner.called(), 2);
    scope.advance(RESET);
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_place_that_was_kept_while_the_circuit_opened_is_asked_for_anew() {
    let scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut kept = layer(&pms).layer(inner.clone());
    assert!(poll_ready(&mut kept).is_ready());
    open(&pms);
    assert!(
        is_open(now(kept.call(answered(Ok(1))))),
        "it would be let through"
    );
    assert_eq!(inner.called(), 0);

    // After the wait it is a probe like any other.
    scope.advance(RESET);
    pms.admit().unwrap().success();
    assert!(poll_ready(&mut kept).is_ready());
    open(&pms);
    scope.advance(RESET);
    assert_eq!(now(kept.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);

    // Had its outcome been thrown away as late, this would not open it.
    assert!(poll_ready(&mut kept).is_ready());
    pms.close();
    assert_eq!(
        now(kept.call(answered(Err(DOWN)))),
        Err(CallError::Call(DOWN))
    );
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_probes_place_that_is_kept_for_ever_is_taken_over() {
    let scope = test::scope();
    let pms = breaker(Settings::new().probe_timeout(Duration::from_secs(60)));
    half_open(&scope, &pms);
    let mut kept = layer(&pms).layer(Pms::default());
    assert!(poll_ready(&mut kept).is_ready());
    let mut other = kept.clone();
    scope.advance(Duration::from_secs(59));
    assert!(poll_ready(&mut other).is_ready());
    assert!(is_open(now(other.call(answered(Ok(1))))));
    scope.advance(Duration::from_secs(1));
    assert!(poll_ready(&mut other).is_ready());
    // The one that comes back late gives its place back to nobody's harm.
    drop(kept);
    assert!(pms.admit().is_err());
    assert_eq!(now(other.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_call_is_as_slow_as_from_its_start() {
    let scope = test::scope();
    let settings = Settings::new()
        .failure_rate(1.0)
        .window(Window::calls(2))
        .min_calls(2)
        .slow(Duration::from_secs(2))
        .slow_rate(1.0);
    let pms = Breaker::<_, Sliding<8>>::by_rate("pms", settings.must_rate()).unwrap();
    let pms = Arc::new(pms);
    let mut service = CircuitBreakerLayer::new(Arc::clone(&pms)).layer(Pms::default());
    for _ in 0..4 {
        assert!(poll_ready(&mut service).is_ready());
        scope.advance(Duration::from_secs(10)); // kept, not called
        assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    }
    assert_eq!(pms.state(), State::Closed);
    for _ in 0..2 {
        assert!(poll_ready(&mut service).is_ready());
        let (answer, request) = oneshot::channel();
        let call = service.call(request);
        scope.advance(Duration::from_secs(3));
        answer.send(Ok(1)).unwrap();
        assert_eq!(now(call), Ok(1));
    }
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_future_that_is_dropped_before_its_first_poll_was_a_call() {
    let scope = test::scope();
    let [by_default, counted] = breakers();
    for (pms, then) in [(by_default, State::HalfOpen), (counted, State::Open)] {
        half_open(&scope, &pms);
        let mut service = layer(&pms).layer(Pms::default());
        assert!(poll_ready(&mut service).is_ready());
        drop(service.call(answered(Ok(1))));
        assert_eq!(pms.state(), then);
        scope.advance(RESET);
        assert!(pms.admit().is_ok(), "the place is free");
    }
}

#[test]
fn a_future_that_is_dropped_in_flight_was_a_call() {
    let scope = test::scope();
    let [by_default, counted] = breakers();
    for (pms, then) in [(by_default, State::HalfOpen), (counted, State::Open)] {
        half_open(&scope, &pms);
        let mut service = layer(&pms).layer(Pms::default());
        assert!(poll_ready(&mut service).is_ready());
        let (_answer, request) = oneshot::channel();
        {
            let mut call = pin!(service.call(request));
            assert!(poll(call.as_mut()).is_pending());
            assert!(pms.admit().is_err());
        }
        assert_eq!(pms.state(), then);
        scope.advance(RESET);
        assert!(pms.admit().is_ok(), "the place is free");
    }
}

thread_local! {
    /// Whether a probe would have been let through while the call was being dropped.
    static SEEN: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn the_call_is_over_before_its_place_is_given_back() {
    struct Looks(Arc<Breaker>);

    impl Drop for Looks {
        fn drop(&mut self) {
            let free = self.0.admit().map(|permit| permit.ignore()).is_ok();
            SEEN.with_borrow_mut(|seen| seen.push(free));
        }
    }

    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let looks = Arc::clone(&pms);
    let mut service = layer(&pms).layer(tower::service_fn(move |()| {
        let looks = Looks(Arc::clone(&looks));
        async move {
            let _looks = looks;
            std::future::pending::<Answer>().await
        }
    }));
    drop(service.call(()));
    assert!(poll(pin!(service.call(()))).is_pending());
    assert_eq!(SEEN.take(), [false, false]);
    assert_eq!(
        pms.admit().unwrap().settle(Outcome::Ignored),
        Effect::Neutral
    );
}

/// Where there was no call, there is none that ended too late.
#[test]
fn of_a_place_that_comes_to_nothing_nobody_hears() {
    #[derive(Default)]
    struct Heard(std::sync::Mutex<Vec<String>>);

    impl Observer for Heard {
        fn wants_calls(&self) -> bool {
            true
        }

        fn call_ended(&self, event: &CallEnded<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }

        fn late_outcome(&self, event: &LateOutcome<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }

    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    let _installed = observe::install(Arc::clone(&heard));
    for pms in breakers() {
        let mut kept = layer(&pms).layer(Pms::default());
        assert!(poll_ready(&mut kept).is_ready());
        pms.force_open();
        // Asked again, called, and dropped: each gives back a place of another generation.
        assert!(poll_ready(&mut kept).is_ready());
        pms.close();
        assert!(poll_ready(&mut kept).is_ready());
        pms.force_open();
        assert!(is_open(now(kept.call(answered(Ok(1))))));
        pms.close();
        assert!(poll_ready(&mut kept).is_ready());
        pms.force_open();
        drop(kept);
    }
    assert_eq!(*heard.0.lock().unwrap(), [""; 0]);
}
