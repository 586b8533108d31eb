//! What `poll_ready` says, and whom it asks.

use super::*;
use breakerbox::observe::{self, Observer, Rejection};
use breakerbox::{Change, Clock, Reason, Sliding, State, Window, test};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;

#[test]
fn while_open_it_is_ready_to_refuse_and_asks_nobody() {
    let _scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    open(&pms);
    for readiness in [READY, NOT_READY, DEAD, PANICS] {
        inner.becomes(readiness);
        assert_eq!(poll_ready(&mut service), Poll::Ready(Ok(())));
        assert!(is_open(now(service.call(answered(Ok(1))))));
    }
    assert_eq!((inner.polled(), inner.called()), (0, 0));
}

#[test]
fn while_open_it_does_not_wait_for_a_real_service_that_is_not_ready() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let (mock, mut handle) = tower_test::mock::pair::<u32, u32>();
    handle.allow(0);
    let mut service = layer(&pms).layer(mock);
    assert!(poll_ready(&mut service).is_pending(), "closed: it waits");
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    let refused = now(service.call(1)).unwrap_err();
    assert!(matches!(refused, CallError::Open(_)));
    let asked = poll(pin!(handle.next_request()));
    assert!(asked.is_pending(), "nothing came");
}

#[test]
fn a_refusal_lasts_until_the_next_question() {
    let scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    scope.advance(RESET);
    // The inner service was not asked, so it can't be called.
    let Err(CallError::Open(refused)) = now(service.call(answered(Ok(1)))) else {
        panic!("called without having been asked");
    };
    assert_eq!(refused.reason(), Reason::Open);
    assert_eq!(refused.retry_after(), Some(Duration::ZERO));
    assert_eq!((inner.polled(), inner.called()), (0, 0));
    assert!(poll_ready(&mut service).is_ready());
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);

    // And one that asks again before it calls is asked anew.
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    scope.advance(RESET);
    assert!(poll_ready(&mut service).is_ready());
    assert_eq!(now(service.call(answered(Ok(2)))), Ok(2));
}

#[test]
fn a_refusal_that_was_kept_says_how_long_it_still_lasts() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    scope.advance(Duration::from_secs(10));
    let Err(CallError::Open(refused)) = now(service.call(answered(Ok(1)))) else {
        panic!("it is open");
    };
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(20)));
}

/// Its readings may go back, as those of a coarse clock do beside an exact one.
#[derive(Clone, Debug, Default)]
struct Steps(Arc<AtomicU64>);

impl Steps {
    fn to(&self, now: Duration) {
        let now = now.as_nanos().try_into().unwrap();
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Clock for Steps {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn entropy(&self) -> Option<u64> {
        Some(7)
    }
}

#[test]
fn a_refusal_that_was_kept_lasts_as_long_as_one_that_was_not_whatever_the_clock_does() {
    let clock = Steps::default();
    let settings = Settings::new().threshold(1).reset(RESET).jitter(0.0);
    let pms = Arc::new(Breaker::with_clock("pms", settings.must(), clock.clone()));
    let mut service = CircuitBreakerLayer::new(Arc::clone(&pms)).layer(Pms::default());
    for (at, left) in [(100.0, 30), (99.996, 30), (110.0, 20), (129.0, 1)] {
        pms.close();
        clock.to(Duration::from_secs(100));
        pms.admit().unwrap().failure();
        clock.to(Duration::from_secs_f64(at));
        assert!(poll_ready(&mut service).is_ready());
        for kept in ["kept", "not kept"] {
            let Err(CallError::Open(refused)) = call(&mut service) else {
                panic!("it is open");
            };
            let left = Some(Duration::from_secs(left));
            assert_eq!(refused.retry_after(), left, "{kept}, at {at}");
        }
    }

    fn call<S: Service<Request>>(service: &mut S) -> Result<S::Response, S::Error> {
        now(service.call(answered(Ok(1))))
    }
}

#[test]
fn by_the_systems_clock_a_refusal_at_once_says_how_long() {
    let settings = Settings::new().threshold(1).jitter(0.0);
    let hour = Duration::from_secs(60 * 60);
    let pms = Arc::new(Breaker::new("pms", settings.reset(hour).must()));
    let mut service = layer(&pms).layer(Pms::default());
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    let Err(CallError::Open(refused)) = now(service.call(answered(Ok(1)))) else {
        panic!("it is open");
    };
    assert!(refused.retry_after() > Some(hour / 2), "{refused}");
}

/// The circuit may have gone on since: then it is as it stands now.
#[test]
fn a_refusal_that_was_kept_is_that_of_the_circuit_as_it_is() {
    let scope = test::scope();
    let pms = breaker(Settings::new().probe_timeout(Duration::from_secs(60)));
    let mut service = layer(&pms).layer(Pms::default());
    let mut refused_after = |change: &dyn Fn()| {
        pms.close();
        open(&pms);
        assert!(poll_ready(&mut service).is_ready());
        change();
        match now(service.call(answered(Ok(1)))) {
            Err(CallError::Open(refused)) => (refused.reason(), refused.retry_after()),
            answer => panic!("{answer:?}"),
        }
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let orders: [(&dyn Fn() -> Change, _); 4] = [
        (&|| pms.close(), (Reason::Open, seconds(0))),
        (&|| pms.disable(), (Reason::Open, seconds(0))),
        (&|| pms.force_open(), (Reason::ForcedOpen, None)),
        (&|| pms.open_for(3 * RESET), (Reason::Open, seconds(90))),
    ];
    for (order, refusal) in orders {
        let given = || {
            order();
        };
        assert_eq!(refused_after(&given), refusal);
    }
    let trial = || {
        scope.advance(RESET);
        std::mem::forget(pms.admit().unwrap());
        scope.advance(Duration::from_secs(10));
    };
    assert_eq!(refused_after(&trial), (Reason::HalfOpenFull, seconds(50)));
    assert_eq!(
        refused_after(&|| scope.advance(RESET)),
        (Reason::Open, seconds(0))
    );
    assert_eq!(pms.state(), State::Open, "nobody has probed");
}

#[test]
fn each_reason_comes_through() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    let mut reason = || {
        assert!(poll_ready(&mut service).is_ready());
        match now(service.call(answered(Ok(1)))) {
            Err(CallError::Open(refused)) => Some(refused.reason()),
            _ => None,
        }
    };
    assert_eq!(reason(), None);
    open(&pms);
    assert_eq!(reason(), Some(Reason::Open));
    scope.advance(RESET);
    let probe = pms.admit().unwrap();
    assert_eq!(reason(), Some(Reason::HalfOpenFull));
    probe.success();
    pms.force_open();
    assert_eq!(reason(), Some(Reason::ForcedOpen));
    pms.disable();
    assert_eq!(reason(), None);
    pms.shadow();
    assert_eq!(reason(), None);
}

#[test]
fn observers_hear_of_a_refused_call_once_however_often_it_was_asked() {
    #[derive(Default)]
    struct Refused(AtomicU32);

    impl Observer for Refused {
        fn rejected(&self, event: &Rejection<'_>) {
            assert_eq!(event.error.name(), "pms");
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let _scope = test::scope();
    let refused = Arc::new(Refused::default());
    let _installed = observe::install(Arc::clone(&refused));
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    pms.force_open();
    for _ in 0..10 {
        assert!(poll_ready(&mut service).is_ready());
    }
    assert_eq!(refused.0.load(Ordering::Relaxed), 0, "no call was made yet");
    assert!(is_open(now(service.call(answered(Ok(1))))));
    assert_eq!(refused.0.swap(0, Ordering::Relaxed), 1);
    // Without having asked, and open by itself.
    assert!(is_open(now(service.call(answered(Ok(1))))));
    pms.close();
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    assert!(is_open(now(service.call(answered(Ok(1))))));
    assert_eq!(refused.0.load(Ordering::Relaxed), 2);
}

#[test]
fn an_error_of_readiness_is_returned_and_counts() {
    let _scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    inner.becomes(DEAD);
    assert_eq!(
        poll_ready(&mut service),
        Poll::Ready(Err(CallError::Call(DIED)))
    );
    assert_eq!(pms.state(), State::Open);
    assert_eq!(inner.polled(), 1);
    // From now on nobody asks it, and the service is not dead to its callers.
    assert_eq!(poll_ready(&mut service), Poll::Ready(Ok(())));
    assert_eq!(inner.polled(), 0);
}

#[test]
fn an_error_of_readiness_is_classified() {
    let _scope = test::scope();
    for pms in breakers() {
        let inner = Pms::default();
        let mut service = layer(&pms)
            .classify(|error: &Failed| *error != DIED)
            .layer(inner.clone());
        inner.becomes(DEAD);
        for _ in 0..3 {
            assert!(matches!(poll_ready(&mut service), Poll::Ready(Err(_))));
        }
        assert_eq!(pms.state(), State::Closed);
        assert_eq!(inner.polled(), 3);
    }
}

/// Waiting for readiness is not the call's time, also where it ends in an error, and also where the
/// breaker only looks on.
#[test]
fn an_error_of_readiness_is_not_slow() {
    #[derive(Default)]
    struct WouldTrip(AtomicU32);

    impl Observer for WouldTrip {
        fn would_trip(&self, _: &observe::WouldTrip<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let scope = test::scope();
    let would_trip = Arc::new(WouldTrip::default());
    let _installed = observe::install(Arc::clone(&would_trip));
    let settings = Settings::new()
        .failure_rate(1.0)
        .window(Window::calls(2))
        .min_calls(2)
        .slow(Duration::from_secs(2))
        .slow_rate(0.5);
    for in_shadow in [false, true] {
        let pms = Breaker::<_, Sliding<8>>::by_rate("pms", settings.must_rate()).unwrap();
        let pms = Arc::new(pms);
        if in_shadow {
            pms.shadow();
        }
        let inner = Pms::default();
        let mut service = CircuitBreakerLayer::new(Arc::clone(&pms)).layer(inner.clone());
        assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
        inner.becomes(NOT_READY);
        assert!(poll_ready(&mut service).is_pending());
        scope.advance(Duration::from_secs(10));
        inner.becomes(DEAD);
        assert!(matches!(poll_ready(&mut service), Poll::Ready(Err(_))));
        assert_ne!(pms.state(), State::Open);
        assert_eq!(would_trip.0.load(Ordering::Relaxed), 0);
        // It counted, as a failure: a second one is all of the window.
        assert!(matches!(poll_ready(&mut service), Poll::Ready(Err(_))));
        assert_eq!(pms.state() == State::Open, !in_shadow);
        assert_eq!(would_trip.0.load(Ordering::Relaxed) > 0, in_shadow);
    }
}

#[test]
fn a_panic_of_readiness_counts_and_goes_on() {
    let _scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    inner.becomes(PANICS);
    let unwound = catch_unwind(AssertUnwindSafe(|| poll_ready(&mut service)));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
    // Still of use.
    assert_eq!(poll_ready(&mut service), Poll::Ready(Ok(())));
}

#[test]
fn a_pending_service_keeps_its_place_and_asks_again() {
    let scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    open(&pms);
    scope.advance(RESET);
    inner.becomes(NOT_READY);
    for _ in 0..5 {
        assert!(poll_ready(&mut service).is_pending());
        assert_eq!(pms.admit().unwrap_err().reason(), Reason::HalfOpenFull);
    }
    assert_eq!(inner.polled(), 5);
    inner.becomes(READY);
    assert!(poll_ready(&mut service).is_ready());
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn who_waits_for_readiness_while_the_circuit_opens_is_refused_when_asked_again() {
    let _scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    inner.becomes(NOT_READY);
    assert!(poll_ready(&mut service).is_pending());
    open(&pms);
    assert!(poll_ready(&mut service).is_ready());
    assert!(is_open(now(service.call(answered(Ok(1))))));
    assert_eq!(inner.called(), 0);
}
