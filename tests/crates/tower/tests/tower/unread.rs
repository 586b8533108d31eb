//! Bodies that nobody asks for their end: since their length is known, or since a server throws
//! them away.

use super::bodies::{Asked, Echo, Step, frame, script, to_the_end};
use super::clients::serve;
use super::*;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request as HttpRequest, Response, StatusCode};
use axum::routing::any;
use breakerbox::tower::{AsksForBody, unavailable};
use breakerbox::{State, test};
use http_body::{Frame, SizeHint};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A file, say: it finds its end only when it is asked for more.
struct Pages {
    left: usize,
    hint: SizeHint,
}

impl http_body::Body for Pages {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"rooms")))))
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

/// Two pages, of which the head may say how long they are, or the body.
fn pages(status: StatusCode, by_head: bool, by_itself: bool) -> Response<Body> {
    let hint = if by_itself {
        SizeHint::with_exact(10)
    } else {
        SizeHint::default()
    };
    let mut answer = Response::new(Body::new(Pages { left: 2, hint }));
    *answer.status_mut() = status;
    if by_head {
        answer.headers_mut().insert("content-length", 10.into());
    }
    answer
}

fn site() -> Router {
    let ok = StatusCode::OK;
    let answer = |status, by_head, by_itself| any(async move || pages(status, by_head, by_itself));
    Router::new()
        .route("/by-head", answer(ok, true, false))
        .route("/by-itself", answer(ok, false, true))
        .route("/chunked", answer(ok, false, false))
        .route("/missing", answer(StatusCode::NOT_FOUND, true, false))
        .route("/none", answer(StatusCode::NO_CONTENT, false, false))
        .route("/known", answer(StatusCode::NOT_MODIFIED, true, false))
        .route("/whole", any("rooms"))
}

/// What a server says to a request, byte for byte.
async fn ask(host: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("{request} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn in_a_server_every_answer_that_is_sent_settles_by_its_head() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        let guard = to_the_end(&pms).when_open(unavailable);
        let host = serve(site().layer(guard)).await;
        for method in ["GET", "POST", "HEAD"] {
            for (path, then) in [
                ("/by-head", State::Closed),
                ("/by-itself", State::Closed),
                ("/chunked", State::Closed),
                ("/missing", State::HalfOpen),
                ("/none", State::Closed),
                ("/known", State::Closed),
                ("/whole", State::Closed),
            ] {
                pms.open_for(RESET);
                scope.advance(RESET);
                let answer = ask(&host, &format!("{method} {path}")).await;
                let body = answer.split_once("\r\n\r\n").unwrap().1;
                let is_sent = method != "HEAD" && !["/none", "/known"].contains(&path);
                assert_eq!(body.contains("rooms"), is_sent, "{method} {path}: {answer}");
                assert_eq!(pms.state(), then, "{method} {path}");
                pms.close();
            }
        }
    });
}

#[test]
fn a_length_is_counted_to_its_end_and_no_further() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    let read = |steps: &[Step], bytes: &str| {
        pms.open_for(RESET);
        scope.advance(RESET);
        let bytes = bytes.to_owned();
        let inner = tower::service_fn(move |request: HttpRequest<_>| {
            let answer = Response::builder().header("content-length", &bytes);
            std::future::ready(answer.body(request.into_body()))
        });
        let request = HttpRequest::new(script(steps.iter().copied()));
        let mut body = now(to_the_end(&pms).layer(inner).call(request))
            .unwrap()
            .into_body();
        let mut after = vec![pms.state()];
        for _ in steps {
            drop(frame(&mut body));
            after.push(pms.state());
        }
        after
    };
    use State::{Closed, HalfOpen, Open};
    use Step::{Data, Fails, Waits};

    assert_eq!(
        read(&[Data, Waits, Data, Data], "10"),
        [HalfOpen, HalfOpen, HalfOpen, Closed, Closed]
    );
    assert_eq!(read(&[Data], "3"), [HalfOpen, Closed], "more than it said");
    assert_eq!(read(&[Data, Fails("")], "6"), [HalfOpen, HalfOpen, Open]);
    assert_eq!(read(&[Data, Fails("")], "5"), [HalfOpen, Closed, Closed]);
    assert_eq!(read(&[Data], "0"), [Closed, Closed]);
    for nonsense in ["", "-1", "5, 5", "five", "99999999999999999999"] {
        assert_eq!(read(&[Data], nonsense), [HalfOpen, HalfOpen], "{nonsense}");
    }
}

#[test]
fn trailers_of_grpc_are_waited_for_also_where_the_length_is_known() {
    let scope = test::scope();
    let pms = breaker(Settings::new());
    pms.open_for(RESET);
    scope.advance(RESET);
    let mut page = script([Step::Data, Step::Trailers("14")]);
    page.says_its_length = true;
    let mut service = layer(&pms).grpc().at_end_of_body().layer(Echo);
    let mut body = now(service.call(Asked(200, page))).unwrap().into_body();
    drop(frame(&mut body));
    assert_eq!(pms.state(), State::HalfOpen);
    drop(frame(&mut body));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn of_http_only_head_and_connect_ask_for_no_body() {
    let asks = |method| {
        let request = HttpRequest::builder().method(method).body(()).unwrap();
        request.asks_for_body()
    };
    for method in [Method::GET, Method::POST, Method::OPTIONS, Method::DELETE] {
        assert!(asks(method));
    }
    assert!(!asks(Method::HEAD));
    assert!(!asks(Method::CONNECT));
    assert!(Asked(200, ()).asks_for_body(), "unless it says otherwise");
}

#[test]
fn some_statuses_have_no_body_whatever_is_in_it() {
    let scope = test::scope();
    let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
    for (status, is_read) in [
        (100, false),
        (101, false),
        (200, true),
        (204, false),
        (206, true),
        (304, false),
    ] {
        pms.open_for(RESET);
        scope.advance(RESET);
        let mut service = to_the_end(&pms).layer(Echo);
        let answer = now(service.call(Asked(status, script([Step::Data]))));
        let then = if is_read {
            State::HalfOpen
        } else {
            State::Closed
        };
        assert_eq!(pms.state(), then, "{status}");
        drop(answer);
        let then = if is_read { State::Open } else { State::Closed };
        assert_eq!(pms.state(), then, "{status}");
        pms.close();
    }
}

/// It panics where it is asked whether that was all, the so many-th time.
struct NoEnd(Arc<AtomicU32>);

impl http_body::Body for NoEnd {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"rooms")))))
    }

    fn is_end_stream(&self) -> bool {
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(left, 0, "no end");
        false
    }
}

#[test]
fn a_panic_of_a_body_that_is_asked_for_its_end_counts() {
    let _scope = test::scope();
    for questions in 0..3 {
        let pms = breaker(Settings::new());
        let left = Arc::new(AtomicU32::new(questions));
        let mut service = to_the_end(&pms).layer(Echo);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut body = now(service.call(Asked(200, NoEnd(left))))
                .unwrap()
                .into_body();
            assert!(questions > 0, "at the head");
            for _ in 0..questions {
                drop(frame(&mut body));
            }
        }));
        let message = unwound.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("no end"), "{message}");
        assert_eq!(pms.state(), State::Open, "after {questions}");
    }
}
