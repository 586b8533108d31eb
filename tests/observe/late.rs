//! Ends in every state, ends that come too late, and probes that never end.

use crate::record::{PATIENT, SECOND, listen};
use crate::support::{block_on, poll};
use breakerbox::observe::{self, CallEnded, CallOutcome, Observer};
use breakerbox::{Breaker, Effect, OnCancel, Settings, test};
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};

#[test]
fn in_every_state_that_admits_calls_their_ends_are_told() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1).reset(SECOND);
    let pms = Breaker::new("pms", settings.on_cancel(OnCancel::Failure).must());
    let fail = || {
        let _ = pms.call_sync(|| Err::<(), _>("down"));
    };
    fail();
    scope.advance(SECOND);
    drop(pms.admit().unwrap());
    scope.advance(SECOND);
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    pms.disable();
    fail();
    pms.shadow();
    fail();
    fail();
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` opened after 1 failure, for 1s",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` reopened after 1 failure while probing, for 1s",
            "circuit `pms`: a call ended after 0ns: dropped",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` closed: its probes succeeded",
            "circuit `pms`: a call ended after 0ns: success",
            "circuit `pms` was set by an operator: disabled",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms` was set by an operator: shadow",
            "circuit `pms` would have opened after 1 failure, for 1s",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms`: a call ended after 0ns: failure",
        ]
    );
}

#[test]
fn a_late_end_is_told_as_both() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let pms = Breaker::new("pms", Settings::new().threshold(1).timeout(SECOND).must());
    let permit = pms.admit().unwrap();
    let dropped = pms.admit().unwrap();
    block_on(async {
        let mut timed_out = pin!(pms.call(pending::<Result<(), ()>>()).timeout(SECOND));
        assert!(poll(timed_out.as_mut()).is_pending());
        pms.close();
        scope.advance(SECOND);
        assert!(timed_out.await.is_err());
    });
    let _ = permit.success();
    drop(dropped);
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was set by an operator: closed",
            "circuit `pms`: a call ended too late to count: timeout",
            "circuit `pms`: a call ended after 1s: timeout",
            "circuit `pms`: a call ended too late to count: success",
            "circuit `pms`: a call ended after 1s: success",
            "circuit `pms`: a call ended too late to count: dropped",
            "circuit `pms`: a call ended after 1s: dropped",
        ]
    );
}

#[test]
fn a_late_outcome_has_both_generations_and_is_told_also_where_nobody_wants_calls() {
    #[derive(Default)]
    struct Late(Mutex<Vec<(CallOutcome, u32, u32)>>);
    impl Observer for Late {
        fn call_ended(&self, _: &CallEnded<'_>) {
            panic!("it does not want them");
        }

        fn late_outcome(&self, event: &observe::LateOutcome<'_>) {
            let (of, current) = (event.generation.get(), event.current.get());
            self.0.lock().unwrap().push((event.outcome, of, current));
        }
    }
    let _scope = test::scope();
    let late = Arc::new(Late::default());
    let _installed = observe::install(Arc::clone(&late));
    let pms = Breaker::new("pms", PATIENT);
    let permit = pms.admit().unwrap();
    let of = permit.generation().get();
    pms.close();
    pms.close();
    assert_eq!(permit.failure(), Effect::Late);
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    assert_eq!(
        *late.0.lock().unwrap(),
        [(CallOutcome::Failure, of, of + 2)]
    );
}

#[test]
fn probes_that_never_end_are_told_beside_the_new_trial() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1).reset(SECOND);
    let pms = Breaker::new("pms", settings.probe_timeout(2 * SECOND).must());
    pms.open_for(SECOND);
    scope.advance(SECOND);
    let stuck = pms.admit().unwrap();
    scope.advance(2 * SECOND);
    let _ = pms.admit().unwrap().success();
    drop(stuck);
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was opened by an operator, for 1s",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` probes again: its probes never ended",
            "circuit `pms` gave up its probes: they never ended",
            "circuit `pms` closed: its probes succeeded",
            "circuit `pms`: a call ended after 0ns: success",
            "circuit `pms`: a call ended too late to count: dropped",
            "circuit `pms`: a call ended after 2s: dropped",
        ]
    );
}
