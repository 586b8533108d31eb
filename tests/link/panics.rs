//! A link that panics costs nobody anything.

use super::{RESET, SECOND, breaker, fail, ready_to_probe, succeed};
use breakerbox::link::{Link, Linked};
use breakerbox::{Change, Effect, Generation, KeyedBreakers, Outcome, Settings, State};
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A payload that panics as well.
struct PanicsToo;

impl Drop for PanicsToo {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[derive(Default)]
struct Panics(AtomicU32);

impl Panics {
    fn panic(&self) -> ! {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic_any(PanicsToo)
    }

    fn times(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Link for Panics {
    fn changed(&self, _: &Linked<'_>, _: &Change) {
        self.panic()
    }

    fn settled(&self, _: &Linked<'_>, _: Generation, _: &Outcome, _: &Effect) {
        self.panic()
    }

    fn may_probe(&self, _: &Linked<'_>) -> Result<(), Duration> {
        self.panic()
    }

    fn key_added(&self, _: &Linked<'_>) {
        self.panic()
    }

    fn key_given_up(&self, _: &Linked<'_>) {
        self.panic()
    }
}

#[test]
fn the_breaker_goes_on_by_itself() {
    let ((pms, clock), link) = (breaker("panicking-link"), Arc::new(Panics::default()));
    pms.link(link.clone()).unwrap();
    ready_to_probe(&pms, clock);
    assert_eq!(link.times(), 4, "three outcomes, one change");
    succeed(&pms);
    assert_eq!(pms.state(), State::Closed);
    assert_eq!(link.times(), 4, "one question, two changes, one outcome");
    ready_to_probe(&pms, clock);
    let probe = pms.admit().unwrap();
    let refused = pms.admit().unwrap_err();
    assert_eq!(refused.retry_after(), Some(2 * RESET), "no slot is lost");
    drop(probe);
    fail(&pms);
    assert_eq!(pms.state(), State::Open);
    pms.close();
}

#[test]
fn while_something_else_unwinds_it_ends_nothing() {
    let ((pms, _), link) = (breaker("unwinding-link"), Arc::new(Panics::default()));
    pms.link(link.clone()).unwrap();
    let panicked = std::panic::catch_unwind(|| {
        let _settled_while_unwinding = pms.admit().unwrap();
        panic!("the call's own");
    });
    assert!(panicked.is_err());
    assert_eq!(link.times(), 1);
}

#[test]
fn keys_come_and_go() {
    let hosts = KeyedBreakers::<u64>::new("panicking-keys", Settings::new().threshold(1).must());
    let hosts = hosts.max_keys(2);
    let link = Arc::new(Panics::default());
    hosts.get(&0_u64).admit().unwrap().success();
    hosts.link(link.clone()).unwrap();
    for key in 1..10_u64 {
        hosts.get(&key).admit().unwrap().success();
    }
    assert_eq!(link.times(), 10 + 8);
    let _ = hosts.get(&9_u64).call_sync(|| Err::<(), _>(SECOND));
    assert_eq!(hosts.get(&9_u64).state(), State::Open);
}
