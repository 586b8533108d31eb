//! What errors and calls say of themselves.

use breakerbox::{
    AnyBreaker, Breaker, CallError, CircuitOpenError, Config, KeyedBreakers, Reason, Settings,
    TimeoutError, test,
};
use std::error::Error;
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

fn tripping_at_once() -> Breaker {
    Breaker::new("pms", Settings::new().threshold(1).reset(RESET).must())
}

fn assert_says(refused: &CircuitOpenError, reason: Reason, left: Option<Duration>, text: &str) {
    assert_eq!(refused.name(), "pms");
    assert_eq!(refused.reason(), reason);
    assert_eq!(refused.retry_after(), left);
    assert_eq!(refused.to_string(), text);
    let wrapped = CallError::<std::fmt::Error>::from(refused.clone());
    assert_eq!(wrapped.to_string(), text);
    assert!(wrapped.source().is_none());
}

#[test]
fn a_refusal_says_which_circuit_and_why_and_how_long() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    scope.advance(Duration::from_nanos(500));
    assert_says(
        &pms.admit().unwrap_err(),
        Reason::Open,
        Some(RESET - Duration::from_nanos(500)),
        "circuit `pms` is open: retry in 30s",
    );
    scope.advance(RESET);
    let _probe = pms.admit().unwrap();
    assert_says(
        &pms.admit().unwrap_err(),
        Reason::HalfOpenFull,
        Some(Duration::from_secs(60)),
        "circuit `pms` is half-open and its probes are in flight: retry in 60s at the latest",
    );
    pms.force_open();
    assert_says(
        &pms.admit().unwrap_err(),
        Reason::ForcedOpen,
        None,
        "circuit `pms` is held open by an operator",
    );
}

#[test]
fn a_timeout_says_which_circuit_and_how_long() {
    let scope = test::scope();
    for (limit, text) in [
        (Duration::from_secs(2), "2s"),
        (Duration::from_millis(250), "250ms"),
    ] {
        let pms = tripping_at_once();
        let call = pms.call(pending::<Result<(), std::fmt::Error>>());
        let mut call = pin!(call.timeout(limit));
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        scope.advance(limit);
        let Poll::Ready(Err(error)) = call.poll(&mut context) else {
            panic!("not timed out");
        };
        let text = format!("call through circuit `pms` timed out after {text}");
        assert_eq!(error.to_string(), text);
        assert!(error.source().is_none());
        let CallError::TimedOut(timed_out) = error else {
            panic!("{error:?}");
        };
        assert_eq!(timed_out.to_string(), text);
        let again: CallError<()> = TimeoutError::clone(&timed_out).into();
        assert_eq!(again, CallError::TimedOut(timed_out));
    }
}

#[test]
fn a_calls_own_error_speaks_for_itself() {
    let own = "x".parse::<u8>().unwrap_err();
    let wrapped = CallError::Call(own.clone());
    assert_eq!(wrapped.to_string(), own.to_string());
    assert_eq!(wrapped.into_call(), Some(own));
    let pms = tripping_at_once();
    pms.force_open();
    let refused = pms.call_sync(|| Ok::<_, &str>(())).unwrap_err();
    assert_eq!(refused.into_call(), None);
}

#[test]
fn what_holds_a_breaker_says_which() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    let call = pms.call(ready(Ok::<_, &str>(())));
    let text = r#"Call(Guarded { breaker: "pms", .. })"#;
    assert_eq!(format!("{call:?}"), text);
    let call = call.timeout(Duration::from_secs(1));
    assert_eq!(format!("{call:?}"), text);
    let permit = pms.admit().unwrap();
    let text = format!("{permit:?}");
    assert!(text.starts_with(r#"Permit { breaker: "pms", generation: "#));
    let classified = pms.classify(|_: &&str| true);
    let text = format!("{classified:?}");
    assert!(text.starts_with(r#"Classified { breaker: "pms", "#));
}

/// What they display may be the same: `hosts[a]` may be a name, or a name and a key.
#[test]
fn errors_are_the_same_where_name_and_key_are() {
    let of_key = |name: &'static str, key: &str| {
        let breakers = KeyedBreakers::<String>::new(name, Config::DEFAULT);
        let breaker = breakers.get(key);
        breaker.force_open();
        breaker.admit().unwrap_err()
    };
    let plain = |name: &'static str| {
        let breaker = Breaker::new(name, Config::DEFAULT);
        breaker.force_open();
        breaker.admit().unwrap_err()
    };
    let errors = [
        plain("hosts"),
        plain("hosts[a]"),
        of_key("hosts", "a"),
        of_key("hosts", "b"),
        of_key("others", "a"),
        of_key("hosts", "a][b"),
        of_key("hosts[a]", "b"),
        plain("hosts[a][b]"),
    ];
    let parts = |error: &CircuitOpenError| {
        let key = error.key().map(|key| key.to_string());
        (error.name().to_owned(), key)
    };
    for one in &errors {
        for other in &errors {
            let said = format!("{:?}, {:?}", parts(one), parts(other));
            assert_eq!(one == other, parts(one) == parts(other), "{said}");
        }
    }
    assert_eq!(of_key("hosts", "a"), of_key("hosts", "a"));
    assert_eq!(plain("hosts"), plain("hosts"));
}
