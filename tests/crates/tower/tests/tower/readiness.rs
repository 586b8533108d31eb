//! What `poll_ready` says, and whom it asks.

use super::*;
use breakerbox::observe::{self, Observer, Rejection};
use breakerbox::{Reason, State, test};
use std::panic::{AssertUnwindSafe, catch_unwind};

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
