//! A rate limit waits for its turn in `poll_ready`, so it may stand inside without its waiting being
//! the dependency's slowness; and only there a refusal takes none of its turns.

use super::*;
use breakerbox::{State, test};
use tower::ServiceExt;
use tower::limit::RateLimit;
use tower::limit::rate::Rate;

/// Turns for an hour, which no test sees the end of.
fn turns(number: u64) -> Rate {
    Rate::new(number, Duration::from_secs(60 * 60))
}

#[test]
fn an_inner_rate_limit_has_its_turns_for_what_is_called() {
    let scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let limited = RateLimit::new(inner.clone(), turns(2));
        let mut service = layer(&pms).layer(limited);
        let mut call = async |answer| service.ready().await?.call(answered(answer)).await;
        assert_eq!(call(Err(DOWN)).await, Err(CallError::Call(DOWN)));
        for _ in 0..20 {
            assert!(is_open(now(call(Ok(1)))));
        }
        scope.advance(RESET);
        assert_eq!(now(call(Ok(7))), Ok(7)); // the probe has the other turn
        assert_eq!((inner.called(), pms.state()), (2, State::Closed));

        // Who waits for the next is no failure, and is refused if the circuit has opened meanwhile.
        assert!(poll_ready(&mut service).is_pending());
        assert_eq!(pms.snapshot().consecutive, 0);
        open(&pms);
        assert!(is_open(now(async {
            service.ready().await?.call(answered(Ok(1))).await
        })));

        // A probe keeps its place while it waits, and gives it back if it is given up.
        scope.advance(RESET);
        assert!(poll_ready(&mut service).is_pending());
        assert!(pms.admit().is_err());
        drop(service);
        assert!(pms.admit().is_ok());
        assert_eq!(inner.called(), 0);
    });
}

#[test]
fn an_outer_rate_limit_loses_its_turns_to_refusals() {
    let scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let mut service = RateLimit::new(layer(&pms).layer(inner.clone()), turns(3));
        let mut call = async |answer| service.ready().await?.call(answered(answer)).await;
        assert_eq!(call(Err(DOWN)).await, Err(CallError::Call(DOWN)));
        for _ in 0..2 {
            assert!(is_open(now(call(Ok(1)))));
        }
        scope.advance(RESET);
        assert!(poll_ready(&mut service).is_pending());
        assert_eq!((inner.called(), pms.state()), (1, State::Open));
    });
}
