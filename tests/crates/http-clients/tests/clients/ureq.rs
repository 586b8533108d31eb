//! `classify::response`, above functions that return what ureq gives.

use std::time::Duration;

use breakerbox::{CallError, circuit_breaker, classify};
use http::Response;
use ureq::{Agent, Body, Error};

use crate::server::{Reply, Server};
use crate::verdict::{Counted, PMS, WAITS, counted, headers, of_status, prepare};

#[circuit_breaker(breaker = PMS, classify_output = classify::response)]
fn get(agent: &Agent, url: &str) -> Result<Response<Body>, CallError<Error>> {
    agent.get(url).call().map_err(CallError::Call)
}

/// To which each response is an `Ok`, or which makes an `Err` of each 4xx and 5xx, as it does by default.
fn agent(status_as_error: bool) -> Agent {
    Agent::config_builder()
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(60)))
        .http_status_as_error(status_as_error)
        .build()
        .into()
}

#[test]
fn by_status_and_how_long_it_says() {
    let _scope = breakerbox::test::scope();
    let server = Server::by_path(|path| Reply::new(&format!("{path} Whatever"), "3"));
    for status in [200, 304, 400, 404, 408, 422, 429, 500, 501, 503, 599] {
        prepare();
        let answer = get(&agent(false), &server.url(&status.to_string()));
        assert_eq!(answer.unwrap().status(), status);
        assert_eq!(counted(), of_status(status), "{status}");
    }
    for &(wait, date, expected) in WAITS {
        let head = format!("503 Busy\r\n{}", headers(wait, date));
        let server = Server::new(Reply::new(&head, "3"));
        prepare();
        assert_eq!(get(&agent(false), &server.url("")).unwrap().status(), 503);
        assert_eq!(counted(), expected, "{head}");
    }
}

/// So the guide says to leave that.
#[test]
fn what_it_makes_an_error_of_is_taken_for_an_outage() {
    let _scope = breakerbox::test::scope();
    let server = Server::new(Reply::new("404 No", ""));
    prepare();
    let answer = get(&agent(true), &server.url(""));
    assert!(matches!(
        answer,
        Err(CallError::Call(Error::StatusCode(404)))
    ));
    assert_eq!(counted(), Counted::Failure);
}

#[test]
fn without_an_answer_it_is_a_failure() {
    let _scope = breakerbox::test::scope();
    prepare();
    assert!(matches!(
        get(&agent(false), &Server::gone()),
        Err(CallError::Call(_))
    ));
    assert_eq!(counted(), Counted::Failure);
    for reply in [Reply::Reset, Reply::raw(""), Reply::raw("gopher\r\n")] {
        let server = Server::new(reply);
        prepare();
        assert!(matches!(
            get(&agent(false), &server.url("")),
            Err(CallError::Call(_))
        ));
        assert_eq!(counted(), Counted::Failure);
    }
}
