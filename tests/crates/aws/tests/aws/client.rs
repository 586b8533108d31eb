//! A real client, and the guarded function that all tests call.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_costexplorer::config::retry::RetryConfig;
use aws_sdk_costexplorer::config::{BehaviorVersion, Builder, Region};
use aws_sdk_costexplorer::error::SdkError;
use aws_sdk_costexplorer::operation::get_cost_and_usage::GetCostAndUsageError;
use aws_sdk_costexplorer::types::DateInterval;
use aws_sdk_costexplorer::{Client, Config};
use breakerbox::{CallError, State, circuit_breaker, classify, find};

use crate::server::{Reply, Server};

/// How long the circuit stays open after a failure; of a threshold of one.
pub(crate) const RESET: Duration = Duration::from_secs(30);

pub(crate) type CostsError = CallError<SdkError<GetCostAndUsageError>>;

/// A client without retries, so that each call is one request.
pub(crate) fn config(server: &Server) -> Builder {
    let credentials = Credentials::builder()
        .access_key_id("AKIDEXAMPLE")
        .secret_access_key("not a secret")
        .provider_name("test")
        .build();
    Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(format!("http://{}", server.address))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .retry_config(RetryConfig::disabled())
}

// `?` makes the error of a call from the SDK's own.
#[circuit_breaker(name = "costs", threshold = 1, reset = "30s", classify = classify::aws)]
pub(crate) async fn costs(client: &Client) -> Result<usize, CostsError> {
    let interval = DateInterval::builder()
        .start("2026-11-01")
        .end("2026-11-08")
        .build()?;
    let output = client
        .get_cost_and_usage()
        .time_period(interval)
        .send()
        .await?;
    Ok(output.results_by_time().len())
}

/// What a call left behind.
#[derive(Debug)]
pub(crate) struct Aftermath {
    pub(crate) error: CostsError,
    pub(crate) state: State,
    /// How long the next call is refused, if it is.
    pub(crate) retry_after: Option<Duration>,
}

impl Aftermath {
    /// The SDK's error; a refusal is none.
    pub(crate) fn sdk_error(&self) -> &SdkError<GetCostAndUsageError> {
        match &self.error {
            CallError::Call(error) => error,
            refused => panic!("the call was not made: {refused}"),
        }
    }

    /// The circuit counted the call as one failure.
    #[track_caller]
    pub(crate) fn failed(&self) {
        assert_eq!(
            (self.state, self.retry_after),
            (State::Open, Some(RESET)),
            "{:?}",
            self.error
        );
    }

    /// The circuit opened for as long as the service said.
    #[track_caller]
    pub(crate) fn overloaded_for(&self, wait: Duration) {
        assert_eq!(
            (self.state, self.retry_after),
            (State::Open, Some(wait)),
            "{:?}",
            self.error
        );
    }

    /// The circuit took the call for an answer.
    #[track_caller]
    pub(crate) fn ignored(&self) {
        assert_eq!(
            (self.state, self.retry_after),
            (State::Closed, None),
            "{:?}",
            self.error
        );
    }
}

/// Makes one call that fails, with a circuit that is new, and says what became of the circuit.
pub(crate) async fn call(client: &Client) -> Aftermath {
    let _scope = breakerbox::test::scope();
    let error = costs(client).await.expect_err("the server fails");
    let state = find("costs").expect("it was called").state();
    let retry_after = match state {
        State::Closed => None,
        _ => match costs(client).await {
            Err(CallError::Open(refused)) => refused.retry_after(),
            called => panic!("through a circuit that is {state}: {called:?}"),
        },
    };
    Aftermath {
        error,
        state,
        retry_after,
    }
}

/// The same for a server that gives one reply.
pub(crate) async fn call_answered_with(reply: Reply) -> Aftermath {
    let server = Server::start([reply])
        .await
        .expect("loopback has a free port");
    let aftermath = call(&Client::from_conf(config(&server).build())).await;
    assert_eq!(server.requests(), 1);
    aftermath
}
