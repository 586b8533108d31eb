//! A breaker with a link: what it is asked and told, and what is followed.
//!
//! Nothing is shared in a test scope, so these breakers have clocks of their own, and observers are the
//! process': each test has breakers of its own names.

mod follow;
mod keyed;
mod link;
mod operators;
mod panics;
mod probing;
mod scopes;
mod sharing;
mod told;

use breakerbox::{Breaker, Clock, ManualClock, Policy, Settings};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const RESET: Duration = Duration::from_secs(30);

type HandClock = &'static ManualClock;

fn by_hand() -> HandClock {
    Box::leak(Box::new(ManualClock::new(0)))
}

/// It gives up after three failures in a row, for 30 s.
fn breaker(name: &'static str) -> (Breaker<HandClock>, HandClock) {
    let clock = by_hand();
    let settings = Settings::new().threshold(3).reset(RESET).jitter(0.0);
    (Breaker::with_clock(name, settings.must(), clock), clock)
}

fn fail<C, P>(breaker: &Breaker<C, P>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    let _ = breaker.call_sync(|| Err::<(), _>("no answer"));
}

fn succeed<C, P>(breaker: &Breaker<C, P>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    breaker.call_sync(|| Ok::<_, ()>(())).unwrap();
}

/// Opens it, and its wait is over.
fn ready_to_probe(breaker: &Breaker<HandClock>, clock: HandClock) {
    (0..3).for_each(|_| fail(breaker));
    clock.advance(RESET);
}
