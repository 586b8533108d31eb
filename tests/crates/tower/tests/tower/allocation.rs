//! The layer allocates nothing.

use super::*;
use allocation_counter::measure;
use axum::body::Bytes;
use axum::http::{Request as HttpRequest, Response};
use breakerbox::{Config, KeyedBreakers, State};
use http_body::Body;
use http_body_util::Full;
use std::convert::Infallible;
use std::future::{Ready, ready};

/// A service that allocates nothing.
#[derive(Clone, Copy)]
struct Numbers;

impl Service<Answer> for Numbers {
    type Response = u32;
    type Error = Failed;
    type Future = Ready<Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, answer: Answer) -> Ready<Answer> {
        ready(answer)
    }
}

fn allocations(call: impl FnOnce()) -> u64 {
    measure(call).count_total
}

#[test]
fn no_way_that_a_call_can_end_allocates() {
    let pms = breaker(Settings::new());
    let mut service = layer(&pms)
        .classify(|error: &Failed| *error != NO_SUCH_ROOM)
        .layer(Numbers);
    let allocated = allocations(|| {
        for answer in [Ok(1), Err(NO_SUCH_ROOM), Err(DOWN), Ok(1)] {
            let mut clone = service.clone();
            let _ = poll_ready(&mut clone);
            let _ = poll_ready(&mut service);
            let _ = now(service.call(answer));
            drop(clone.call(answer));
        }
        assert_eq!(pms.state(), State::Open);
        for _ in 0..100 {
            assert!(poll_ready(&mut service).is_ready());
            assert!(is_open(now(service.call(Ok(1)))));
        }
    });
    assert_eq!(allocated, 0);
}

#[test]
fn a_known_key_is_found_without_allocating() {
    type Pair = (u8, u32);
    let hosts = Arc::new(KeyedBreakers::<String>::new("hosts", Config::DEFAULT));
    let pairs = Arc::new(KeyedBreakers::<Pair>::new("pairs", Config::DEFAULT));
    let inner = |_: HttpRequest<()>| ready(Ok::<_, Infallible>(Response::new(())));
    let mut by_host =
        CircuitBreakerLayer::by_host(Arc::clone(&hosts)).layer(tower::service_fn(inner));
    let mut by_owned_key = CircuitBreakerLayer::by_owned_key(pairs, |answer: &Answer| {
        (1_u8, u32::from(answer.is_ok()))
    })
    .layer(Numbers);
    let request = || {
        HttpRequest::get("http://pms.example:80/rooms")
            .body(())
            .unwrap()
    };
    let mut call = || {
        let (first, second) = (request(), request());
        allocations(|| {
            assert!(now(by_host.call(first)).is_ok());
            assert!(now(by_host.call(second)).is_ok());
            assert!(now(by_owned_key.call(Ok(1))).is_ok());
        })
    };
    assert_ne!(call(), 0, "new keys are kept");
    assert_eq!(call(), 0);
    assert_eq!(hosts.len(), 1);
}

#[test]
fn a_body_is_guarded_without_allocating() {
    let pms = breaker(Settings::new());
    let inner = |request: HttpRequest<Full<Bytes>>| {
        ready(Ok::<_, Infallible>(Response::new(request.into_body())))
    };
    let mut service = layer(&pms)
        .http()
        .at_end_of_body()
        .layer(tower::service_fn(inner));
    let request = HttpRequest::new(Full::new(Bytes::from_static(b"rooms")));
    let allocated = allocations(|| {
        let mut body = pin!(now(service.call(request)).unwrap().into_body());
        for _ in 0..2 {
            let polled = body
                .as_mut()
                .poll_frame(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_ready());
        }
    });
    assert_eq!(allocated, 0);
}
