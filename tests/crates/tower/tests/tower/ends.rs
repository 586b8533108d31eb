//! What observers hear of the end of a call through the layer: each one once.

use super::bodies::{Asked, Echo, Step, script, to_the_end};
use super::*;
use breakerbox::observe::{self, CallEnded, CallOutcome, Observer};
use breakerbox::test;
use http_body_util::BodyExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

const SECOND: Duration = Duration::from_secs(1);

/// How each call ended, and how long it took.
#[derive(Default)]
struct Ends(Mutex<Vec<(CallOutcome, Duration)>>);

impl Ends {
    fn take(&self) -> Vec<(CallOutcome, Duration)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Ends {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        self.0.lock().unwrap().push((event.outcome, event.took));
    }
}

fn ends() -> (Arc<Ends>, observe::Installed) {
    let ends = Arc::new(Ends::default());
    let installed = observe::install(Arc::clone(&ends));
    (ends, installed)
}

fn patient() -> Arc<Breaker> {
    Arc::new(Breaker::new("pms", Settings::new().threshold(1_000).must()))
}

#[test]
fn each_call_ends_once_and_takes_its_own_time() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let mut service = layer(&patient())
        .classify(|error: &Failed| *error != NO_SUCH_ROOM)
        .layer(Pms::default());
    for (answer, told) in [
        (Ok(1), CallOutcome::Success),
        (Err(DOWN), CallOutcome::Failure),
        (Err(NO_SUCH_ROOM), CallOutcome::Ignored),
    ] {
        assert!(poll_ready(&mut service).is_ready());
        // What lies between readiness and the call is none of its time.
        scope.advance(10 * SECOND);
        let (sender, request) = oneshot::channel();
        let mut call = Box::pin(service.call(request));
        assert!(poll(call.as_mut()).is_pending());
        scope.advance(SECOND);
        sender.send(answer).unwrap();
        assert!(poll(call.as_mut()).is_ready());
        assert_eq!(ends.take(), [(told, SECOND)]);
    }
    let (_sender, request) = oneshot::channel();
    drop(service.call(request));
    assert_eq!(ends.take(), [(CallOutcome::Dropped, Duration::ZERO)]);
}

#[test]
fn a_place_without_a_call_has_no_end() {
    let _scope = test::scope();
    let (ends, _installed) = ends();
    let pms = patient();
    let mut service = layer(&pms).layer(Pms::default());
    assert!(poll_ready(&mut service).is_ready());
    drop(service.clone());
    drop(service);
    let mut service = layer(&pms).layer(Pms::default());
    assert!(poll_ready(&mut service).is_ready());
    pms.close();
    // Its place is of another generation: it asks for another.
    assert!(poll_ready(&mut service).is_ready());
    assert!(ends.take().is_empty());
    pms.disable();
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(ends.take(), [(CallOutcome::Success, Duration::ZERO)]);
}

#[test]
fn readiness_that_fails_or_panics_is_the_end_of_a_call() {
    let _scope = test::scope();
    let (ends, _installed) = ends();
    let inner = Pms::default();
    let mut service = layer(&patient()).layer(inner.clone());
    inner.becomes(DEAD);
    assert!(matches!(poll_ready(&mut service), Poll::Ready(Err(_))));
    assert_eq!(ends.take(), [(CallOutcome::Failure, Duration::ZERO)]);
    inner.becomes(PANICS);
    assert!(catch_unwind(AssertUnwindSafe(|| poll_ready(&mut service))).is_err());
    assert_eq!(ends.take(), [(CallOutcome::Panicked, Duration::ZERO)]);
}

#[test]
fn at_the_end_of_a_body_the_time_goes_on_until_then() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let layer = to_the_end(&patient());
    let respond = |steps: Vec<Step>| {
        let response = now(layer.layer(Echo).call(Asked(200, script(steps))));
        response.unwrap().into_body()
    };
    let read = respond(vec![Step::Data, Step::Data]);
    scope.advance(SECOND);
    assert!(ends.take().is_empty());
    assert!(block_on(read.collect()).is_ok());
    assert_eq!(ends.take(), [(CallOutcome::Success, SECOND)]);

    let fails = respond(vec![Step::Data, Step::Fails("cut off")]);
    assert!(block_on(fails.collect()).is_err());
    assert_eq!(ends.take(), [(CallOutcome::Failure, Duration::ZERO)]);

    drop(respond(vec![Step::Data]));
    assert_eq!(ends.take(), [(CallOutcome::Dropped, Duration::ZERO)]);
}

#[test]
fn an_observer_that_comes_between_readiness_and_call_hears_of_it() {
    let scope = test::scope();
    let mut service = layer(&patient()).layer(Pms::default());
    assert!(poll_ready(&mut service).is_ready());
    let (ends, _installed) = ends();
    scope.advance(SECOND);
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(ends.take(), [(CallOutcome::Success, Duration::ZERO)]);
}
