//! A function that calls several operations: their errors are of several types.

use aws_sdk_costexplorer::Client;
use aws_sdk_costexplorer::error::{ErrorMetadata, ProvideErrorMetadata, SdkError};
use aws_sdk_costexplorer::operation::get_cost_and_usage::GetCostAndUsageError;
use aws_sdk_costexplorer::operation::get_tags::GetTagsError;
use breakerbox::classify::{self, Held, Holds, any};
use breakerbox::{
    CallError, CircuitOpenError, Outcome, State, TimeoutError, circuit_breaker, find,
};

use crate::client::config;
use crate::server::{Reply, Server};

#[derive(Debug)]
enum BillError {
    Costs(SdkError<GetCostAndUsageError>),
    Tags(SdkError<GetTagsError>),
    Open,
    TimedOut,
}

impl From<SdkError<GetCostAndUsageError>> for BillError {
    fn from(error: SdkError<GetCostAndUsageError>) -> Self {
        Self::Costs(error)
    }
}

impl From<SdkError<GetTagsError>> for BillError {
    fn from(error: SdkError<GetTagsError>) -> Self {
        Self::Tags(error)
    }
}

impl From<CircuitOpenError> for BillError {
    fn from(_: CircuitOpenError) -> Self {
        Self::Open
    }
}

impl From<TimeoutError> for BillError {
    fn from(_: TimeoutError) -> Self {
        Self::TimedOut
    }
}

impl BillError {
    /// What it counts as where it is no answer of the SDK's.
    fn otherwise(&self) -> Outcome {
        match self {
            Self::TimedOut => Outcome::Failure,
            _ => Outcome::Ignored,
        }
    }
}

impl Holds<SdkError<GetCostAndUsageError>> for BillError {
    fn held(&self) -> Held<'_, SdkError<GetCostAndUsageError>> {
        match self {
            Self::Costs(error) => Held::Error(error),
            other => Held::Other(other.otherwise()),
        }
    }
}

impl Holds<SdkError<GetTagsError>> for BillError {
    fn held(&self) -> Held<'_, SdkError<GetTagsError>> {
        match self {
            Self::Tags(error) => Held::Error(error),
            other => Held::Other(other.otherwise()),
        }
    }
}

#[circuit_breaker(
    name = "bill",
    threshold = 1,
    timeout = "60s",
    classify = any((
        classify::aws::<GetCostAndUsageError, _, _>,
        classify::aws::<GetTagsError, _, _>,
    )),
)]
async fn bill(client: &Client) -> Result<usize, BillError> {
    let days = client
        .get_cost_and_usage()
        .send()
        .await?
        .results_by_time()
        .len();
    Ok(days + client.get_tags().send().await?.tags().len())
}

/// What errors of all operations have in common.
fn common<E: ProvideErrorMetadata>(error: SdkError<E>) -> SdkError<ErrorMetadata> {
    error.map_service_error(|error| error.meta().clone())
}

#[circuit_breaker(name = "bill in common", threshold = 1, classify = classify::aws)]
async fn bill_in_common(client: &Client) -> Result<usize, CallError<SdkError<ErrorMetadata>>> {
    let costs = client.get_cost_and_usage().send().await.map_err(common)?;
    let tags = client.get_tags().send().await.map_err(common)?;
    Ok(costs.results_by_time().len() + tags.tags().len())
}

/// What the circuits are after a call to whose requests these replies come, which is the same.
async fn after(replies: [Reply; 2]) -> (BillError, State) {
    let server = Server::start(replies.clone().into_iter().chain(replies))
        .await
        .unwrap();
    let client = Client::from_conf(config(&server).build());
    let _scope = breakerbox::test::scope();
    let error = bill(&client).await.unwrap_err();
    if server.requests() == 1 {
        // The second reply is for nobody.
        assert!(client.get_tags().send().await.is_ok());
    }
    let common = bill_in_common(&client)
        .await
        .unwrap_err()
        .into_call()
        .unwrap();
    let code = match &error {
        BillError::Costs(error) => error.code(),
        BillError::Tags(error) => error.code(),
        other => panic!("the calls were made: {other:?}"),
    };
    assert_eq!(common.code(), code);
    let state = |circuit| find(circuit).unwrap().state();
    assert_eq!(state("bill"), state("bill in common"));
    (error, state("bill"))
}

#[tokio::test]
async fn each_operations_error_counts_as_it_does_alone() {
    let good = || {
        Reply::response(
            200,
            "",
            r#"{"ResultsByTime": [], "Tags": [], "ReturnSize": 0, "TotalSize": 0}"#,
        )
    };
    let refused = || Reply::exception(400, "ValidationException");
    let broken = || Reply::exception(500, "InternalFailure");
    for (reply, expected) in [(refused(), State::Closed), (broken(), State::Open)] {
        let (error, state) = after([reply.clone(), good()]).await;
        assert!(matches!(error, BillError::Costs(_)), "{error:?}");
        assert_eq!(state, expected);
        let (error, state) = after([good(), reply]).await;
        assert!(matches!(error, BillError::Tags(_)), "{error:?}");
        assert_eq!(state, expected);
    }
}
