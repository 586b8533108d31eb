//! What the service says of the request: it was reached, and it works.

use aws_sdk_costexplorer::Client;
use aws_sdk_costexplorer::error::ProvideErrorMetadata;
use aws_sdk_costexplorer::operation::get_cost_and_usage::GetCostAndUsageError;
use breakerbox::{CallError, State, find};

use crate::client::{call_answered_with, config, costs};
use crate::server::{Reply, Server};

#[tokio::test]
async fn exceptions_about_the_request_are_ignored() {
    for (status, code) in [
        (400, "ValidationException"),
        (400, "DataUnavailableException"),
        (400, "BillExpirationException"),
        (400, "BillingViewHealthStatusException"),
        (400, "InvalidNextTokenException"),
        (400, "RequestChangedException"),
        (400, "ResourceNotFoundException"),
        (402, "ServiceQuotaExceededException"),
        (409, "ConflictException"),
        (412, "ConditionalCheckFailedException"),
    ] {
        let aftermath = call_answered_with(Reply::exception(status, code)).await;
        assert_eq!(aftermath.sdk_error().code(), Some(code));
        aftermath.ignored();
    }
}

#[tokio::test]
async fn a_caller_who_is_not_let_in_is_ignored() {
    for (status, code) in [
        (400, "AccessDeniedException"),
        (403, "AccessDenied"),
        (400, "UnrecognizedClientException"),
        (403, "InvalidSignatureException"),
        (403, "ExpiredTokenException"),
        (403, "RequestTimeTooSkewed"),
        (400, "OptInRequired"),
    ] {
        call_answered_with(Reply::exception(status, code))
            .await
            .ignored();
    }
}

#[tokio::test]
async fn a_code_that_nobody_knows_is_taken_by_its_status() {
    call_answered_with(Reply::exception(400, "InventedException"))
        .await
        .ignored();
    call_answered_with(Reply::exception(500, "InventedException"))
        .await
        .failed();
}

#[tokio::test]
async fn answers_without_a_code_are_taken_by_their_status() {
    for status in [301, 304, 400, 401, 403, 404, 410, 413] {
        let aftermath = call_answered_with(Reply::response(status, "", "")).await;
        assert_eq!(aftermath.sdk_error().code(), None);
        aftermath.ignored();
    }
}

#[tokio::test]
async fn modelled_exceptions_keep_their_type() {
    let reply = Reply::exception(400, "DataUnavailableException");
    let error = call_answered_with(reply).await.error.into_call();
    let error = error.expect("the call was made").into_service_error();
    assert!(matches!(
        error,
        GetCostAndUsageError::DataUnavailableException(_)
    ));
}

#[tokio::test]
async fn any_number_of_bad_requests_opens_nothing_and_forgets_no_failure() {
    let server = Server::start([Reply::exception(400, "ValidationException")])
        .await
        .unwrap();
    let client = Client::from_conf(config(&server).build());
    let _scope = breakerbox::test::scope();
    for _ in 0..20 {
        assert!(matches!(costs(&client).await, Err(CallError::Call(_))));
    }
    let breaker = find("costs").unwrap();
    assert_eq!(
        (breaker.state(), breaker.snapshot().consecutive),
        (State::Closed, 0)
    );
    assert_eq!(server.requests(), 20);
}
