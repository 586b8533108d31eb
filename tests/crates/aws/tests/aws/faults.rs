//! A service that is reached, and fails.

use std::time::Duration;

use aws_runtime::retries::classifiers::TRANSIENT_ERRORS;
use aws_sdk_costexplorer::Client;
use aws_sdk_costexplorer::config::retry::RetryConfig;
use aws_sdk_costexplorer::error::SdkError;
use breakerbox::{CallError, State, find};

use crate::client::{call_answered_with, config, costs};
use crate::server::{Reply, Server};

#[tokio::test]
async fn every_status_of_a_fault_counts_whatever_the_body() {
    for status in [500, 502, 503, 504, 599] {
        for body in [
            "",
            "<html>Bad gateway</html>",
            r#"{"__type": "InternalFailure"}"#,
            "{",
        ] {
            call_answered_with(Reply::response(status, "", body))
                .await
                .failed();
        }
    }
}

#[tokio::test]
async fn codes_of_a_fault_count_whatever_the_status() {
    let of_services = [
        "InternalError",
        "InternalFailure",
        "InternalFailureException",
        "InternalServerError",
        "InternalServerException",
        "InternalServiceException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    ];
    for code in of_services.iter().chain(TRANSIENT_ERRORS) {
        call_answered_with(Reply::exception(400, code))
            .await
            .failed();
    }
}

#[tokio::test]
async fn success_that_is_not_of_the_protocol_counts() {
    for body in [
        "<html>Welcome to our hotel</html>",
        r#"{"ResultsByTime": 7}"#,
        "{",
    ] {
        let aftermath = call_answered_with(Reply::response(200, "", body)).await;
        assert!(matches!(aftermath.sdk_error(), SdkError::ServiceError(_)));
        aftermath.failed();
    }
}

#[tokio::test]
async fn retries_of_the_sdk_are_one_call() {
    let fault = || Reply::exception(500, "InternalFailure");
    let replies = [fault(), fault(), Reply::good(), fault()];
    let server = Server::start(replies).await.unwrap();
    let retries = RetryConfig::standard()
        .with_max_attempts(3)
        .with_initial_backoff(Duration::from_millis(1));
    let client = Client::from_conf(config(&server).retry_config(retries).build());
    let _scope = breakerbox::test::scope();

    assert!(matches!(costs(&client).await, Ok(0)));
    assert_eq!(server.requests(), 3);
    let breaker = find("costs").unwrap();
    assert_eq!(
        (breaker.state(), breaker.snapshot().consecutive),
        (State::Closed, 0)
    );

    assert!(matches!(costs(&client).await, Err(CallError::Call(_))));
    assert_eq!((server.requests(), breaker.state()), (6, State::Open));

    // Nobody retries against an open circuit.
    assert!(matches!(costs(&client).await, Err(CallError::Open(_))));
    assert_eq!(server.requests(), 6);
}
