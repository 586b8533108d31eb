//! An observer that uninstalls itself while it is told, and panics in its
//! destructor.

use breakerbox::observe::{self, Observer, StateChange};
use breakerbox::{Breaker, Effect, Settings, State, test};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Empty once the observer has left.
type Left = Arc<Mutex<Option<observe::Installed>>>;

/// Uninstalls itself when a breaker of that name enters a state, and panics in
/// its destructor.
struct LeavesWithABang {
    breaker: &'static str,
    at: State,
    installed: Left,
}

impl Observer for LeavesWithABang {
    fn state_changed(&self, event: &StateChange<'_>) {
        if (event.breaker, event.change.to) == (self.breaker, self.at) {
            drop(self.installed.lock().unwrap().take());
        }
    }
}

impl Drop for LeavesWithABang {
    fn drop(&mut self) {
        panic!("in the observer's destructor");
    }
}

fn install_one_that_leaves(breaker: &'static str, at: State) -> Left {
    let installed = Left::default();
    let observer = LeavesWithABang {
        breaker,
        at,
        installed: Arc::clone(&installed),
    };
    *installed.lock().unwrap() = Some(observe::install(observer));
    installed
}

fn has_left(left: &Left) -> bool {
    left.lock().unwrap().is_none()
}

/// Trips at once, for a second.
fn quick(name: &'static str) -> Breaker {
    let settings = Settings::new().threshold(1).reset(Duration::from_secs(1));
    Breaker::new(name, settings.jitter(0.0).must())
}

const SECOND: u64 = 1_000_000_000;

fn a_probe_keeps_its_slot(name: &'static str) {
    let pms = quick(name);
    let _ = pms.admit_at(0).unwrap().failure();
    let left = install_one_that_leaves(name, State::HalfOpen);
    let probe = catch_unwind(AssertUnwindSafe(|| pms.admit_at(SECOND)));
    let probe = probe.expect("the panic is the observer's own").unwrap();
    assert!(has_left(&left));
    assert!(pms.admit_at(SECOND).is_err(), "one probe at a time");
    assert!(matches!(probe.success(), Effect::Closed(_)));
}

fn an_unwinding_goes_on(name: &'static str) {
    let pms = quick(name);
    let left = install_one_that_leaves(name, State::Open);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = pms.admit().unwrap();
        panic!("the call");
    }));
    let payload = unwound.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"the call"));
    assert!(has_left(&left));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn it_costs_no_slot() {
    let _scope = test::scope();
    a_probe_keeps_its_slot("pms");
}

#[test]
fn while_unwinding_it_does_not_end_the_process() {
    let _scope = test::scope();
    an_unwinding_goes_on("pms");
}

// One test: who installs another observer at that moment may be the one who
// drops it.
#[test]
fn outside_a_scope_it_does_neither() {
    a_probe_keeps_its_slot("probed");
    an_unwinding_goes_on("unwound");
}
