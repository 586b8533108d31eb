//! "Too many requests", in all ways in which AWS says so.

use std::time::Duration;

use aws_runtime::retries::classifiers::THROTTLING_ERRORS;
use aws_sdk_costexplorer::Client;
use breakerbox::CallError;

use crate::client::{call_answered_with, config, costs};
use crate::server::{Reply, Server};

/// When the server says it is, and 90 seconds later.
const DATES: &str =
    "date: Mon, 30 Nov 2026 12:00:00 GMT\r\nretry-after: Mon, 30 Nov 2026 12:01:30 GMT\r\n";

#[tokio::test]
async fn each_code_that_the_sdk_takes_for_throttling_is_a_failure() {
    for code in THROTTLING_ERRORS {
        call_answered_with(Reply::exception(400, code))
            .await
            .failed();
    }
}

#[tokio::test]
async fn each_opens_for_as_long_as_the_service_asks_for() {
    for code in THROTTLING_ERRORS {
        let reply = Reply::exception_with(400, code, "Retry-After: 7\r\n");
        call_answered_with(reply)
            .await
            .overloaded_for(Duration::from_secs(7));
    }
}

#[tokio::test]
async fn a_code_in_its_namespace_is_the_same_code() {
    let code = "com.amazonaws.costexplorer#LimitExceededException:http://internal.amazon.com/";
    call_answered_with(Reply::exception(400, code))
        .await
        .failed();
}

#[tokio::test]
async fn a_date_is_relative_to_the_date_of_the_response() {
    for (status, code) in [(400, "LimitExceededException"), (503, "ServiceUnavailable")] {
        let aftermath = call_answered_with(Reply::exception_with(status, code, DATES)).await;
        aftermath.overloaded_for(Duration::from_secs(90));
    }
}

#[tokio::test]
async fn the_milliseconds_of_aws_are_heeded_and_go_first() {
    for headers in [
        "x-amz-retry-after: 1500\r\n",
        "Retry-After: 60\r\nx-amz-retry-after: 1500\r\n",
    ] {
        let reply = Reply::exception_with(400, "ThrottlingException", headers);
        call_answered_with(reply)
            .await
            .overloaded_for(Duration::from_millis(1500));
    }
    let headers = "x-amz-retry-after: soon\r\nRetry-After: 60\r\n";
    let reply = Reply::exception_with(400, "ThrottlingException", headers);
    call_answered_with(reply)
        .await
        .overloaded_for(Duration::from_secs(60));
}

#[tokio::test]
async fn statuses_429_and_503_need_no_code() {
    for status in [429, 503] {
        call_answered_with(Reply::response(status, "", ""))
            .await
            .failed();
        let html = Reply::response(status, "retry-after: 120\r\n", "<html>Slow down</html>");
        call_answered_with(html)
            .await
            .overloaded_for(Duration::from_secs(120));
    }
}

#[tokio::test]
async fn waits_that_make_no_sense_are_none() {
    for wait in [
        "Retry-After: 0\r\n",
        "Retry-After: -3\r\n",
        "Retry-After: later\r\n",
        "x-amz-retry-after: 0\r\n",
        "date: Mon, 30 Nov 2026 12:00:00 GMT\r\nretry-after: Mon, 30 Nov 2026 11:00:00 GMT\r\n",
    ] {
        call_answered_with(Reply::exception_with(400, "ThrottlingException", wait))
            .await
            .failed();
    }
}

#[tokio::test]
async fn a_wait_means_nothing_where_nobody_is_overloaded() {
    let reply = Reply::exception_with(400, "ValidationException", "Retry-After: 60\r\n");
    call_answered_with(reply).await.ignored();
    let reply = Reply::exception_with(500, "InternalFailure", "Retry-After: 60\r\n");
    call_answered_with(reply).await.failed();
}

#[tokio::test]
async fn the_circuit_is_open_just_so_long_and_then_closes() {
    let overloaded = Reply::exception_with(400, "LimitExceededException", "Retry-After: 7\r\n");
    let server = Server::start([overloaded, Reply::good()]).await.unwrap();
    let client = Client::from_conf(config(&server).build());
    let scope = breakerbox::test::scope();
    assert!(matches!(costs(&client).await, Err(CallError::Call(_))));
    scope.advance(Duration::from_millis(6_999));
    assert!(matches!(costs(&client).await, Err(CallError::Open(_))));
    assert_eq!(server.requests(), 1);
    scope.advance(Duration::from_millis(1));
    assert!(matches!(costs(&client).await, Ok(0)));
    assert!(matches!(costs(&client).await, Ok(0)));
    assert_eq!(server.requests(), 3);
}
