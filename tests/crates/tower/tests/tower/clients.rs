//! Around hyper's client, on loopback.

use super::*;
use axum::Router;
use axum::body::Bytes;
use axum::http::{Request as HttpRequest, Response, StatusCode, Uri};
use axum::routing::get as route;
use breakerbox::{KeyedBreakers, State, test};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

pub(super) type HyperClient = Client<HttpConnector, Empty<Bytes>>;

pub(super) fn client() -> HyperClient {
    Client::builder(TokioExecutor::new()).build_http()
}

/// Serves on loopback, and says where.
pub(super) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    host
}

fn request(host: &str, path: &str) -> HttpRequest<Empty<Bytes>> {
    let uri: Uri = format!("http://{host}{path}").parse().unwrap();
    HttpRequest::get(uri).body(Empty::new()).unwrap()
}

/// A whole answer, of an unguarded client.
pub(super) async fn get(client: &HyperClient, host: &str, path: &str) -> Response<String> {
    let response = client.request(request(host, path)).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Response::from_parts(parts, String::from_utf8(body.into()).unwrap())
}

/// Answers each connection's first request with these bytes, and closes it, or keeps it open.
async fn serve_bytes(answer: &'static str, then: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].ends_with(b"\r\n\r\n"), "all of it");
            stream.write_all(answer.as_bytes()).await.unwrap();
            then(stream);
        }
    });
    host
}

/// A host where nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

fn statuses() -> Router {
    let status = |status: StatusCode| route(move || async move { status });
    Router::new()
        .route("/ok", route(|| async { "rooms" }))
        .route("/missing", status(StatusCode::NOT_FOUND))
        .route("/broken", status(StatusCode::INTERNAL_SERVER_ERROR))
        .route(
            "/busy",
            route(|| async { (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "7")], "") }),
        )
}

#[test]
fn responses_count_by_their_status() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let host = serve(statuses()).await;
        let mut service = layer(&pms).http().layer(client());
        let mut status = async |path| {
            let response = service.ready().await.unwrap().call(request(&host, path));
            match response.await {
                Ok(response) => response.status().as_u16(),
                Err(CallError::Open(_)) => 0,
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(status("/ok").await, 200);
        for _ in 0..3 {
            assert_eq!(status("/missing").await, 404);
        }
        assert_eq!(status("/broken").await, 500);
        assert_eq!(status("/ok").await, 0);
        assert_eq!(pms.snapshot().time_left, RESET);
        scope.advance(RESET);
        assert_eq!(status("/busy").await, 503);
        assert_eq!(pms.snapshot().time_left, Duration::from_secs(7));
        scope.advance(Duration::from_secs(7));
        assert_eq!(status("/ok").await, 200);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn a_host_where_nobody_listens_opens_its_own_circuit() {
    let _scope = test::scope();
    block_on(async {
        let settings = Settings::new().threshold(2).must();
        let hosts = Arc::new(KeyedBreakers::<String>::new("hosts", settings));
        let (up, down) = (serve(statuses()).await, nobody().await);
        let mut service = CircuitBreakerLayer::by_host(hosts).http().layer(client());
        for _ in 0..2 {
            let failed = service.ready().await.unwrap().call(request(&down, "/ok"));
            let CallError::Call(failed) = failed.await.unwrap_err() else {
                panic!("too early");
            };
            assert!(failed.is_connect());
        }
        let refused = service.ready().await.unwrap().call(request(&down, "/ok"));
        let refused = refused.await.unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("circuit `hosts[{down}]` is open")),
            "{refused}"
        );
        let answer = service.ready().await.unwrap().call(request(&up, "/ok"));
        assert_eq!(answer.await.unwrap().status(), 200);
    });
}

const CUT_SHORT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nrooms";

#[test]
fn a_body_that_is_cut_short_counts_if_it_is_waited_for() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let host = serve_bytes(CUT_SHORT, drop).await;
        let mut at_head = layer(&pms).http().layer(client());
        let response = at_head.ready().await.unwrap().call(request(&host, "/"));
        let response = response.await.unwrap();
        assert!(response.into_body().collect().await.is_err());
        assert_eq!(pms.state(), State::Closed);

        let mut to_the_end = layer(&pms).http().at_end_of_body().layer(client());
        let response = to_the_end.ready().await.unwrap().call(request(&host, "/"));
        let response = response.await.unwrap();
        assert_eq!(pms.state(), State::Closed);
        assert!(response.into_body().collect().await.is_err());
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn a_real_body_settles_when_all_of_it_is_read_or_when_it_is_dropped() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        let host = serve(statuses()).await;
        let mut service = layer(&pms).http().at_end_of_body().layer(client());
        let mut ok = async || {
            let response = service.ready().await.unwrap().call(request(&host, "/ok"));
            response.await.unwrap().into_body()
        };
        open(&pms);
        scope.advance(RESET);
        let mut body = ok().await;
        assert_eq!(pms.state(), State::HalfOpen);
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "rooms");
        assert_eq!(pms.state(), State::Closed, "its length is known");
        drop(body);
        assert_eq!(pms.state(), State::Closed);

        drop(ok().await);
        assert_eq!(pms.state(), State::Open, "given up");
    });
}

#[test]
fn a_call_that_hangs_and_is_given_up_settles_as_dropped() {
    thread_local! {
        static HELD: std::cell::RefCell<Vec<TcpStream>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    let scope = test::scope();
    block_on(async {
        let [by_default, counted] = breakers();
        // It takes the request and never answers.
        let host = serve_bytes("", |stream| HELD.with_borrow_mut(|held| held.push(stream))).await;
        for (pms, then) in [(by_default, State::HalfOpen), (counted, State::Open)] {
            open(&pms);
            scope.advance(RESET);
            let mut service = layer(&pms).http().layer(client());
            let call = service.ready().await.unwrap().call(request(&host, "/"));
            let asked = HELD.with_borrow(Vec::len) + 1;
            let has_come = async {
                while HELD.with_borrow(Vec::len) < asked {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                answer = call => panic!("{answer:?}"),
                () = has_come => {}
            }
            assert_eq!(pms.state(), then);
        }
    });
}
