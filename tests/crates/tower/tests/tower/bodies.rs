//! Outcomes that are settled at the end of a response's body.

use super::*;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use breakerbox::tower::{AsCallError, AsksForBody, AtEndOfBody, GuardedBody, Http, unavailable};
use breakerbox::{Outcome, State, test};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Empty, Full};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a body does when it is polled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Data,
    Trailers(&'static str),
    Fails(&'static str),
    Waits,
    Panics,
}
use Step::{Data, Fails, Panics, Trailers, Waits};

#[derive(Debug, Default)]
pub(super) struct Script {
    steps: VecDeque<Step>,
    /// It knows its end when it comes to it, and not only when it is asked again.
    pub(super) knows_its_end: bool,
    /// It says how long it is.
    pub(super) says_its_length: bool,
    seen_by: Option<Arc<Breaker>>,
}

pub(super) fn script(steps: impl IntoIterator<Item = Step>) -> Script {
    Script {
        steps: steps.into_iter().collect(),
        knows_its_end: false,
        says_its_length: false,
        seen_by: None,
    }
}

thread_local! {
    /// Whether a probe would have been let through while a body was being dropped.
    static SEEN: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

impl Drop for Script {
    fn drop(&mut self) {
        if let Some(pms) = &self.seen_by {
            let free = pms.admit().map(|permit| permit.ignore()).is_ok();
            SEEN.with_borrow_mut(|seen| seen.push(free));
        }
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let frame = match self.steps.pop_front() {
            None => return Poll::Ready(None),
            Some(Waits) => return Poll::Pending,
            Some(Panics) => panic!("of the body"),
            Some(Fails(error)) => return Poll::Ready(Some(Err(error))),
            Some(Data) => Frame::data(Bytes::from_static(b"rooms")),
            Some(Trailers(status)) => {
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", HeaderValue::from_static(status));
                Frame::trailers(trailers)
            }
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.knows_its_end && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if !self.says_its_length {
            return SizeHint::default();
        }
        let is_data = |step: &&Step| matches!(step, Data);
        SizeHint::with_exact(5 * self.steps.iter().filter(is_data).count() as u64)
    }
}

/// A request for a status and a body.
#[derive(Debug)]
pub(super) struct Asked<B>(pub(super) u16, pub(super) B);

impl<B> AsksForBody for Asked<B> {}

/// Answers each request with what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo;

impl<B> Service<Asked<B>> for Echo {
    type Response = Response<B>;
    type Error = Failed;
    type Future = std::future::Ready<Result<Response<B>, Failed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, Asked(status, body): Asked<B>) -> Self::Future {
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response.headers_mut().insert("retry-after", 7.into());
        std::future::ready(if status == 599 {
            Err(DOWN)
        } else {
            Ok(response)
        })
    }
}

/// A layer by status and body.
pub(super) type Layer = CircuitBreakerLayer<Arc<Breaker>, Http, AsCallError, AtEndOfBody>;

pub(super) fn to_the_end(pms: &Arc<Breaker>) -> Layer {
    layer(pms).http().at_end_of_body()
}

pub(super) type Guarded<B> = GuardedBody<B, Arc<Breaker>, Http>;

fn body<B: Body>(pms: &Arc<Breaker>, status: u16, body: B) -> Guarded<B> {
    let response = now(to_the_end(pms).layer(Echo).call(Asked(status, body)));
    response.unwrap().into_body()
}

fn scripted<const N: usize>(pms: &Arc<Breaker>, status: u16, steps: [Step; N]) -> Guarded<Script> {
    body(pms, status, script(steps))
}

/// Its next call is a probe, the only one.
fn half_open(scope: &test::TestScope, pms: &Breaker) {
    pms.close();
    open(pms);
    scope.advance(RESET);
}

pub(super) type Polled<B> = Poll<Option<Result<Frame<<B as Body>::Data>, <B as Body>::Error>>>;

pub(super) fn frame<B: Body + Unpin>(body: &mut B) -> Polled<B> {
    Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))
}

fn is_data<D, E>(frame: Poll<Option<Result<Frame<D>, E>>>) -> bool {
    matches!(frame, Poll::Ready(Some(Ok(frame))) if frame.is_data())
}

#[test]
fn without_being_asked_for_a_body_counts_as_nothing() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let page = script([Fails("cut short")]);
    let mut service = layer(&pms).http().layer(Echo);
    let response: Response<Script> = now(service.call(Asked(200, page))).unwrap();
    assert_eq!(pms.state(), State::Closed, "at the head");
    assert!(now(response.into_body().collect()).is_err());
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_body_that_is_read_to_its_end_settles_by_the_head() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let mut body = scripted(&pms, 200, [Data, Waits, Data, Trailers("14")]);
    assert!(is_data(frame(&mut body)));
    assert!(frame(&mut body).is_pending());
    assert!(is_data(frame(&mut body)));
    assert_eq!(pms.state(), State::HalfOpen);
    assert!(pms.admit().is_err(), "it is being read");
    // Trailers are the end; these are of gRPC, which this is not.
    assert!(matches!(frame(&mut body), Poll::Ready(Some(Ok(frame))) if frame.is_trailers()));
    assert_eq!(pms.state(), State::Closed);
    assert!(matches!(frame(&mut body), Poll::Ready(None)));

    half_open(&scope, &pms);
    let mut body = scripted(&pms, 200, [Data]);
    assert!(is_data(frame(&mut body)));
    assert_eq!(pms.state(), State::HalfOpen);
    assert!(matches!(frame(&mut body), Poll::Ready(None)));
    assert_eq!(pms.state(), State::Closed);
    open(&pms);
    drop(body);
    assert_eq!(pms.state(), State::Open, "settled once");
}

#[test]
fn an_answer_that_is_ignored_is_ignored_at_its_end() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let body = scripted(&pms, 404, [Data]);
    assert!(pms.admit().is_err(), "it is being read");
    assert!(now(body.collect()).is_ok());
    assert_eq!(pms.state(), State::HalfOpen);
    assert!(pms.admit().is_ok());
}

#[test]
fn a_body_that_knows_its_end_settles_with_its_last_frame() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let mut body = body(&pms, 200, Full::new(Bytes::from_static(b"rooms")));
    assert_eq!(pms.state(), State::HalfOpen);
    assert!(is_data(frame(&mut body)));
    assert_eq!(pms.state(), State::Closed, "nobody has to ask again");
    assert!(body.is_end_stream());
}

#[test]
fn a_body_that_is_empty_settles_at_the_head() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let body = body(&pms, 204, Empty::<Bytes>::new());
    assert_eq!(pms.state(), State::Closed);
    open(&pms);
    drop(body);
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_head_that_fails_settles_at_once() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let failed = scripted(&pms, 500, [Data]);
    assert_eq!(pms.snapshot().time_left, RESET);
    pms.close();
    let overloaded = scripted(&pms, 503, [Data]);
    assert_eq!(pms.snapshot().time_left, Duration::from_secs(7));
    pms.close();
    for body in [failed, overloaded] {
        assert!(now(body.collect()).is_ok(), "it passes through");
    }
    assert_eq!(pms.state(), State::Closed, "settled once");
    let mut service = to_the_end(&pms).layer(Echo);
    let down = now(service.call(Asked(599, Script::default())));
    assert_eq!(down.unwrap_err(), CallError::Call(DOWN));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn an_error_of_the_body_counts() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    for status in [200, 404] {
        let mut body = scripted(&pms, status, [Data, Fails("cut short"), Data]);
        assert!(is_data(frame(&mut body)));
        assert!(matches!(
            frame(&mut body),
            Poll::Ready(Some(Err("cut short")))
        ));
        assert_eq!(pms.state(), State::Open);
        pms.close();
        assert!(is_data(frame(&mut body)), "it passes through still");
        drop(body);
        assert_eq!(pms.state(), State::Closed);
    }
}

#[test]
fn errors_of_the_body_are_classified() {
    let _scope = test::scope();
    for pms in breakers() {
        let mut service = to_the_end(&pms)
            .classify_body(|error: &&str| match *error {
                "too large for us" => Outcome::Ignored,
                "busy" => Outcome::Overloaded(Duration::from_secs(9)),
                _ => Outcome::Failure,
            })
            .layer(Echo);
        let mut fail = |error| {
            let page = script([Fails(error)]);
            let response = now(service.call(Asked(200, page))).unwrap();
            assert!(now(response.into_body().collect()).is_err());
            let snapshot = pms.snapshot();
            pms.close();
            (snapshot.state, snapshot.time_left)
        };
        assert_eq!(fail("too large for us").0, State::Closed);
        assert_eq!(fail("cut short"), (State::Open, RESET));
        assert_eq!(fail("busy"), (State::Open, Duration::from_secs(9)));
    }
}

#[test]
fn a_body_that_is_dropped_before_its_end_was_given_up() {
    let scope = test::scope();
    let [by_default, counted] = breakers();
    for (pms, then) in [(by_default, State::HalfOpen), (counted, State::Open)] {
        for frames in 0..3 {
            half_open(&scope, &pms);
            let mut body = scripted(&pms, 200, [Data, Data, Data]);
            for _ in 0..frames {
                assert!(is_data(frame(&mut body)));
            }
            assert!(pms.admit().is_err());
            drop(body);
            assert_eq!(pms.state(), then, "after {frames} frames");
            scope.advance(RESET);
            assert!(pms.admit().is_ok());
        }
    }
}

#[test]
fn a_body_that_is_dropped_at_its_end_was_read() {
    let scope = test::scope();
    let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
    half_open(&scope, &pms);
    let mut script = script([Waits]);
    script.knows_its_end = true;
    let mut body = body(&pms, 200, script);
    assert!(frame(&mut body).is_pending());
    assert!(body.is_end_stream(), "it has come to know of it");
    drop(body);
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn the_body_is_over_before_its_place_is_given_back() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    half_open(&scope, &pms);
    let mut seen = script([]);
    seen.seen_by = Some(Arc::clone(&pms));
    drop(body(&pms, 200, seen));
    assert_eq!(SEEN.take(), [false]);
    assert!(pms.admit().is_ok());
}

#[test]
fn a_panic_of_the_body_counts_and_goes_on() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut body = scripted(&pms, 200, [Panics]);
    let unwound = catch_unwind(AssertUnwindSafe(|| drop(frame(&mut body))));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_probe_whose_body_nobody_reads_does_not_block_for_ever() {
    let scope = test::scope();
    let pms = breaker(Settings::new().probe_timeout(Duration::from_secs(60)));
    half_open(&scope, &pms);
    let forgotten = scripted(&pms, 200, [Data]);
    assert!(pms.admit().is_err());
    scope.advance(Duration::from_secs(60));
    let probe = pms.admit().unwrap();
    probe.success();
    assert_eq!(pms.state(), State::Closed);
    assert!(now(forgotten.collect()).is_ok(), "late, to nobody's harm");
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn trailers_decide_where_it_is_grpc() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    let read = |steps: &[Step]| {
        half_open(&scope, &pms);
        let page = script(steps.iter().copied());
        let mut service = layer(&pms).grpc().at_end_of_body().layer(Echo);
        let response = now(service.call(Asked(200, page))).unwrap();
        assert_eq!(pms.state(), State::HalfOpen);
        assert!(now(response.into_body().collect()).is_ok());
        pms.state()
    };
    assert_eq!(read(&[Data, Trailers("0")]), State::Closed);
    assert_eq!(read(&[Data, Trailers("5")]), State::HalfOpen, "not found");
    assert_eq!(read(&[Data, Trailers("14")]), State::Open);
    assert_eq!(read(&[Trailers("2")]), State::Open);
    assert_eq!(read(&[Trailers("garbage")]), State::Open);
    assert_eq!(read(&[Data]), State::Closed, "the head stands");
}

#[test]
fn everything_of_the_body_passes_through() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut page = script([Data, Data, Trailers("0")]);
    page.says_its_length = true;
    let body = body(&pms, 200, page);
    assert_eq!(body.size_hint().exact(), Some(10));
    assert!(!body.is_end_stream());
    let read = now(body.collect()).unwrap();
    assert_eq!(read.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(read.to_bytes(), "roomsrooms");
}

#[test]
fn what_stands_in_for_a_refused_call_passes_through() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let mut service = to_the_end(&pms).when_open(unavailable).layer(Echo);
    open(&pms);
    let answer: Response<GuardedBody<Full<Bytes>, _, _>> =
        now(service.call(Asked(200, Full::new(Bytes::from_static(b"rooms"))))).unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "30");
    assert!(
        now(answer.into_body().collect())
            .unwrap()
            .to_bytes()
            .is_empty()
    );
    pms.force_open();
    let answer = now(service.call(Asked(200, Full::default()))).unwrap();
    assert_eq!(answer.status(), 503);
    assert!(!answer.headers().contains_key("retry-after"));
}
