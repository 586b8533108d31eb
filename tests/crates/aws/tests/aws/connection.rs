//! A service that is not reached, or whose answer does not arrive; and requests that never left.

use std::error::Error;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::future::ProvideCredentials as Future;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_sdk_costexplorer::Client;
use aws_sdk_costexplorer::config::timeout::TimeoutConfig;
use aws_sdk_costexplorer::error::SdkError;
use aws_sdk_costexplorer::types::DateInterval;
use breakerbox::{State, circuit_breaker, classify, find};

use crate::client::{Aftermath, CostsError, call, call_answered_with, config};
use crate::server::{Reply, Server};

/// Long enough to be a wait, and nothing that could answer is waited for.
const A_MOMENT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_port_that_nobody_listens_on_counts() {
    let server = Server::start([Reply::good()]).await.unwrap();
    let client = Client::from_conf(config(&server).build());
    server.stop().await;
    let aftermath = call(&client).await;
    assert!(matches!(aftermath.sdk_error(), SdkError::DispatchFailure(failure) if failure.is_io()));
    aftermath.failed();
}

#[tokio::test]
async fn a_connection_that_is_closed_before_the_answer_counts() {
    let aftermath = call_answered_with(Reply::Closed).await;
    assert!(matches!(
        aftermath.sdk_error(),
        SdkError::DispatchFailure(_)
    ));
    aftermath.failed();
}

#[tokio::test]
async fn an_answer_that_is_cut_short_counts() {
    for status in ["200 OK", "400 Bad Request"] {
        let part = format!("HTTP/1.1 {status}\r\ncontent-length: 500\r\n\r\n{{\"ResultsByTime\"");
        let aftermath = call_answered_with(Reply::Bytes(part)).await;
        assert!(matches!(aftermath.sdk_error(), SdkError::ResponseError(_)));
        aftermath.failed();
    }
}

#[tokio::test]
async fn one_that_says_how_long_to_wait_before_it_is_cut_short_is_believed() {
    let part = "HTTP/1.1 503 .\r\nretry-after: 9\r\ncontent-length: 500\r\n\r\n{";
    let aftermath = call_answered_with(Reply::Bytes(part.to_owned())).await;
    assert!(matches!(aftermath.sdk_error(), SdkError::ResponseError(_)));
    aftermath.overloaded_for(Duration::from_secs(9));
}

#[tokio::test]
async fn what_is_not_http_counts() {
    for bytes in ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 banana\r\n\r\n", "\r\n"] {
        call_answered_with(Reply::Bytes(bytes.to_owned()))
            .await
            .failed();
    }
}

#[tokio::test]
async fn a_call_that_the_sdk_gives_up_counts() {
    let limits = TimeoutConfig::builder;
    for limits in [
        limits().operation_timeout(A_MOMENT),
        limits().operation_attempt_timeout(A_MOMENT),
        limits().read_timeout(A_MOMENT),
    ] {
        let server = Server::start([Reply::Silence]).await.unwrap();
        let client = config(&server).timeout_config(limits.build()).build();
        let aftermath = call(&Client::from_conf(client)).await;
        match aftermath.sdk_error() {
            SdkError::TimeoutError(_) => {}
            SdkError::DispatchFailure(failure) => assert!(failure.is_timeout()),
            other => panic!("{other:?}"),
        }
        aftermath.failed();
    }
}

/// Where credentials come from, if they came.
#[derive(Debug)]
struct NoCredentials(fn() -> CredentialsError);

impl ProvideCredentials for NoCredentials {
    fn provide_credentials<'a>(&'a self) -> Future<'a>
    where
        Self: 'a,
    {
        Future::ready(Err((self.0)()))
    }
}

/// A call of a client that gets no credentials, and so asks the service nothing.
async fn call_without_credentials(why: fn() -> CredentialsError) -> Aftermath {
    let server = Server::start([Reply::good()]).await.unwrap();
    let provider = SharedCredentialsProvider::new(NoCredentials(why));
    let client = config(&server).credentials_provider(provider).build();
    let aftermath = call(&Client::from_conf(client)).await;
    assert_eq!(server.requests(), 0);
    let failure: &dyn Error = aftermath.sdk_error();
    assert!(
        matches!(aftermath.sdk_error(), SdkError::DispatchFailure(_)),
        "{failure:?}"
    );
    aftermath
}

#[tokio::test]
async fn credentials_that_were_not_set_up_are_the_callers_to_mend() {
    call_without_credentials(|| CredentialsError::not_loaded("nobody is logged in"))
        .await
        .ignored();
    call_without_credentials(|| CredentialsError::invalid_configuration("no such profile"))
        .await
        .ignored();
}

#[tokio::test]
async fn credentials_that_do_not_come_count() {
    call_without_credentials(|| CredentialsError::provider_timed_out(A_MOMENT))
        .await
        .failed();
    call_without_credentials(|| CredentialsError::provider_error("503 from STS"))
        .await
        .failed();
    call_without_credentials(|| CredentialsError::unhandled("no UTF-8"))
        .await
        .failed();
}

#[tokio::test]
async fn a_request_that_could_not_be_made_is_ignored() {
    // What a builder of the SDK's refuses is a `?` too.
    #[circuit_breaker(name = "unbuilt", threshold = 1, classify = classify::aws)]
    async fn interval(start: Option<&str>) -> Result<DateInterval, CostsError> {
        let interval = DateInterval::builder().set_start(start.map(str::to_owned));
        Ok(interval.end("2026-11-08").build()?)
    }
    let _scope = breakerbox::test::scope();
    let error = interval(None).await.unwrap_err().into_call();
    assert!(
        matches!(error, Some(SdkError::ConstructionFailure(_))),
        "{error:?}"
    );
    assert_eq!(find("unbuilt").unwrap().state(), State::Closed);
    assert!(interval(Some("2026-11-01")).await.is_ok());
}
