//! What an operator changes of a breaker's configuration at run time.

use breakerbox::{Breaker, Config, Overrides, State, test};

fn fail(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("no answer"));
}

#[test]
fn a_lowered_threshold_trips_at_the_next_failure_and_not_before() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Config::DEFAULT);
    for _ in 0..3 {
        fail(&pms);
    }
    let changed = pms.reconfigure(&Overrides::new().threshold(2)).unwrap();
    assert_eq!((changed.from.threshold(), changed.to.threshold()), (5, 2));
    assert_eq!(pms.state(), State::Closed);
    fail(&pms);
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn clear_gives_back_what_was_declared_and_close_does_not() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Config::DEFAULT);
    let patient = Overrides::new().threshold(20);
    pms.reconfigure(&patient).unwrap();
    pms.close();
    assert_eq!(pms.overrides(), patient);
    pms.clear();
    assert!(pms.overrides().is_empty());
    assert_eq!(pms.config(), Config::DEFAULT);
}
