//! What a call counts as.

use super::*;
use axum::http::{Request as HttpRequest, Response};
use breakerbox::{CircuitOpenError, Outcome, State, test};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn by_default_every_error_counts_and_comes_through() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    assert_eq!(now(service.call(answered(Ok(7)))), Ok(7));
    assert_eq!(
        now(service.call(answered(Err(DOWN)))),
        Err(CallError::Call(DOWN))
    );
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn classify_says_which_errors_count() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms)
        .classify(|error: &Failed| match error.0 {
            "down" => Outcome::Failure,
            "busy" => Outcome::Overloaded(Duration::from_secs(7)),
            _ => Outcome::Ignored,
        })
        .layer(Pms::default());
    assert!(now(service.call(answered(Err(NO_SUCH_ROOM)))).is_err());
    assert_eq!(pms.state(), State::Closed);
    assert!(now(service.call(answered(Err(DOWN)))).is_err());
    assert_eq!(pms.snapshot().time_left, RESET);
    scope.advance(RESET);
    assert!(now(service.call(answered(Err(Failed("busy"))))).is_err());
    assert_eq!(pms.snapshot().time_left, Duration::from_secs(7));
}

#[test]
fn classify_output_sees_responses_too() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms)
        .classify_output(|answer: &Answer| *answer == Ok(0))
        .layer(Pms::default());
    assert!(now(service.call(answered(Err(DOWN)))).is_err());
    assert_eq!(pms.state(), State::Closed);
    assert_eq!(now(service.call(answered(Ok(0)))), Ok(0));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn errors_and_responses_are_classified_in_whichever_order_it_is_written() {
    const CANT: u16 = 0;

    let answer = |request: HttpRequest<u16>| {
        let answer = Response::builder().status(*request.body());
        std::future::ready(match request.into_body() {
            CANT => Err(NO_SUCH_ROOM),
            _ => Ok(answer.header("grpc-status", "14").body(()).unwrap()),
        })
    };
    let known = |error: &Failed| *error != NO_SUCH_ROOM;

    /// Whether it opens, in either order: by an error, and by answers.
    macro_rules! opens {
        ($layer:expr) => {{
            let _scope = test::scope();
            let pms = breaker(Settings::new());
            let mut service = $layer(layer(&pms)).layer(tower::service_fn(answer));
            [CANT, 200, 404, 500].map(|status| {
                let _ = now(service.call(HttpRequest::new(status)));
                let state = pms.state();
                pms.close();
                state == State::Open
            })
        }};
    }
    type Plain = CircuitBreakerLayer<Arc<Breaker>>;

    let by_status = [false, false, false, true];
    assert_eq!(
        opens!(|layer: Plain| layer.classify(known).http()),
        by_status
    );
    assert_eq!(
        opens!(|layer: Plain| layer.http().classify(known)),
        by_status
    );
    let twice = |layer: Plain| layer.classify(|_: &Failed| true).http().classify(known);
    assert_eq!(opens!(twice), by_status, "the last one counts");
    let by_code = [false, true, true, true];
    assert_eq!(opens!(|layer: Plain| layer.classify(known).grpc()), by_code);
    assert_eq!(opens!(|layer: Plain| layer.grpc().classify(known)), by_code);
    let no_status = [false, false, false, false];
    assert_eq!(opens!(|layer: Plain| layer.classify(known)), no_status);
    assert_eq!(
        opens!(|layer: Plain| layer.http()),
        [true, false, false, true]
    );
}

#[test]
fn a_panic_of_the_call_counts_wherever_it_comes() {
    let _scope = test::scope();
    // As it is called.
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).layer(inner.clone());
    inner.becomes(PANICS);
    let unwound = catch_unwind(AssertUnwindSafe(|| drop(service.call(answered(Ok(1))))));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);

    // As it is polled.
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(tower::service_fn(|()| async {
        if std::hint::black_box(true) {
            panic!("of the call");
        }
        Ok::<_, Infallible>(())
    }));
    let mut call = Box::pin(service.call(()));
    let unwound = catch_unwind(AssertUnwindSafe(|| poll(call.as_mut())));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
    let again = catch_unwind(AssertUnwindSafe(|| poll(call.as_mut())));
    let message = *again.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.contains("after it had ended"), "{message}");

    // As it is classified: at most its own call.
    let pms = breaker(Settings::new());
    let mut service = layer(&pms)
        .classify(|_: &Failed| -> bool { panic!("of the classifier") })
        .layer(Pms::default());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        drop(now(service.call(answered(Err(DOWN)))));
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_call_that_has_ended_is_not_polled_again() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    pms.force_open();
    let mut refused = Box::pin(service.call(answered(Ok(1))));
    pms.close();
    let mut ended = Box::pin(service.call(answered(Ok(1))));
    for call in [&mut refused, &mut ended] {
        assert!(poll(call.as_mut()).is_ready());
        let again = catch_unwind(AssertUnwindSafe(|| drop(poll(call.as_mut()))));
        assert!(again.is_err());
    }
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn when_open_gives_an_answer_or_an_error_of_the_service() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut with_answer = layer(&pms).when_open(|_| Ok(0)).layer(Pms::default());
    let refused = |open: CircuitOpenError| {
        assert_eq!(open.name(), "pms");
        Err(Failed("later"))
    };
    let mut with_error = layer(&pms).when_open(refused).layer(Pms::default());
    // Errors stay as they are.
    assert_eq!(now(with_error.call(answered(Err(DOWN)))), Err(DOWN));
    for _ in 0..3 {
        assert_eq!(now(with_answer.call(answered(Ok(1)))), Ok(0));
        assert_eq!(now(with_error.call(answered(Ok(1)))), Err(Failed("later")));
    }
}

#[test]
fn errors_of_readiness_stay_as_they_are_with_when_open() {
    let _scope = test::scope();
    let (pms, inner) = (breaker(Settings::new()), Pms::default());
    let mut service = layer(&pms).when_open(|_| Ok(0)).layer(inner.clone());
    inner.becomes(DEAD);
    assert_eq!(poll_ready(&mut service), Poll::Ready(Err(DIED)));
}

#[test]
fn a_call_settles_in_the_scope_that_it_was_made_in() {
    let pms = breaker(Settings::new());
    let mut service = layer(&pms).layer(Pms::default());
    let scope = test::scope();
    let (answer, request) = oneshot::channel();
    let call = service.call(request);
    answer.send(Err(DOWN)).unwrap();
    std::thread::spawn(move || assert!(now(call).is_err()))
        .join()
        .unwrap();
    assert_eq!(pms.state(), State::Open);
    drop(scope);
    assert_eq!(pms.state(), State::Closed);
}
