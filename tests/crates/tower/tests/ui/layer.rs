//! Which breaker, which requests, which responses.

use axum::body::Bytes;
use breakerbox::tower::{CircuitBreakerLayer, unavailable};
use breakerbox::{Breaker, Config, KeyedBreakers};
use http_body_util::Empty;
use std::convert::Infallible;
use std::future::{Ready, ready};
use tower::{Service, service_fn};

static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);

struct Query;

fn serves<R, S: Service<R>>(_: S) {}

fn number(_: u32) -> Ready<Result<u32, Infallible>> {
    ready(Ok(7))
}

fn page(_: Query) -> Ready<Result<axum::http::Response<Empty<Bytes>>, Infallible>> {
    ready(Ok(Default::default()))
}

fn main() {
    let _by_value = CircuitBreakerLayer::new(PMS);

    let _one_for_all = CircuitBreakerLayer::by_host(&PMS);

    let by_host = CircuitBreakerLayer::by_host(&HOSTS);
    serves::<u32, _>(by_host.layer(service_fn(number)));

    let http = CircuitBreakerLayer::new(&PMS).http();
    serves::<u32, _>(http.layer(service_fn(number)));

    let to_the_end = CircuitBreakerLayer::new(&PMS).at_end_of_body();
    serves::<Query, _>(to_the_end.layer(service_fn(page)));
    serves::<u32, _>(to_the_end.layer(service_fn(number)));

    let answers = CircuitBreakerLayer::new(&PMS).when_open(unavailable);
    serves::<u32, _>(answers.layer(service_fn(number)));
}
