//! The classifier in company: composed with others, and over errors of one's own.

use std::time::Duration;

use aws_sdk_costexplorer::error::SdkError;
use aws_sdk_costexplorer::operation::get_cost_and_usage::GetCostAndUsageError;
use aws_sdk_costexplorer::{Client, Config};
use breakerbox::classify::{self, Held, Holds, all, any, at_most, not, only};
use breakerbox::{
    Breaker, CircuitOpenError, ManualClock, Outcome, Settings, State, Verdict, circuit_breaker,
    find,
};

use crate::client::{CostsError, config, costs};
use crate::server::{Reply, Server};

async fn client(reply: Reply) -> (Server, Config) {
    let server = Server::start([reply]).await.unwrap();
    let config = config(&server).build();
    (server, config)
}

type Error = SdkError<GetCostAndUsageError>;

/// What a circuit is after one call that meets this reply, and for how long.
async fn after_one_call<V: Verdict>(
    reply: Reply,
    classify: impl FnOnce(&Error) -> V,
) -> (State, Duration) {
    let (_server, config) = client(reply).await;
    let client = Client::from_conf(config);
    let settings = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(30))
        .jitter(0.0);
    let breaker = Breaker::with_clock("chosen", settings.must(), ManualClock::new(0));
    let call = client.get_cost_and_usage().send();
    assert!(breaker.classify(classify).call(call).await.is_err());
    (breaker.state(), breaker.snapshot().time_left)
}

const OPEN: (State, Duration) = (State::Open, Duration::from_secs(30));
const CLOSED: (State, Duration) = (State::Closed, Duration::ZERO);

#[tokio::test]
async fn only_these_codes() {
    let throttled = || Reply::exception(400, "LimitExceededException");
    let broken = || Reply::exception(500, "InternalFailure");
    let unavailable = || Reply::exception(400, "DataUnavailableException");
    let these = || only(["LimitExceededException", "SlowDown"]);
    assert_eq!(after_one_call(throttled(), these()).await, OPEN);
    assert_eq!(after_one_call(broken(), these()).await, CLOSED);
    assert_eq!(after_one_call(Reply::Closed, these()).await, CLOSED); // who says nothing has no code

    let but_these = || all((classify::aws, not(these())));
    assert_eq!(after_one_call(throttled(), but_these()).await, CLOSED);
    assert_eq!(after_one_call(broken(), but_these()).await, OPEN);

    let also_this = any((classify::aws, only(["DataUnavailableException"])));
    assert_eq!(after_one_call(unavailable(), classify::aws).await, CLOSED);
    assert_eq!(after_one_call(unavailable(), also_this).await, OPEN);
}

#[tokio::test]
async fn a_wait_may_be_capped() {
    let reply = Reply::exception_with(400, "ThrottlingException", "Retry-After: 86400\r\n");
    let minute = Duration::from_secs(60);
    let at_most_a_minute = at_most(minute, classify::aws);
    assert_eq!(
        after_one_call(reply, at_most_a_minute).await,
        (State::Open, minute)
    );
}

#[tokio::test]
async fn a_circuit_inside_that_refuses_is_none_of_this_ones_business() {
    #[circuit_breaker(name = "outer", threshold = 1, classify = classify::aws)]
    async fn outer(client: &Client) -> Result<usize, CostsError> {
        costs(client).await
    }
    let (server, config) = client(Reply::good()).await;
    let client = Client::from_conf(config);
    let _scope = breakerbox::test::scope();
    costs(&client).await.unwrap();
    find("costs").unwrap().force_open();
    for _ in 0..3 {
        let refused = outer(&client).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "circuit `costs` is held open by an operator"
        );
    }
    assert_eq!(find("outer").unwrap().state(), State::Closed);
    assert_eq!(server.requests(), 1);
}

/// An error of one's own, with the SDK's in it.
#[derive(Debug)]
enum BillError {
    Aws(Box<Error>),
    Empty,
    Open,
}

impl From<Error> for BillError {
    fn from(error: Error) -> Self {
        Self::Aws(Box::new(error))
    }
}

impl From<CircuitOpenError> for BillError {
    fn from(_: CircuitOpenError) -> Self {
        Self::Open
    }
}

impl Holds<Error> for BillError {
    fn held(&self) -> Held<'_, Error> {
        match self {
            Self::Aws(error) => Held::Error(error),
            Self::Empty | Self::Open => Held::Other(Outcome::Ignored),
        }
    }
}

#[circuit_breaker(name = "bill", threshold = 1, classify = classify::aws)]
async fn bill(client: &Client) -> Result<usize, BillError> {
    match client
        .get_cost_and_usage()
        .send()
        .await?
        .results_by_time()
        .len()
    {
        0 => Err(BillError::Empty),
        days => Ok(days),
    }
}

#[tokio::test]
async fn an_error_of_ones_own_says_where_the_sdks_is() {
    let (_server, config) = client(Reply::good()).await;
    let _scope = breakerbox::test::scope();
    let good = Client::from_conf(config);
    for _ in 0..3 {
        assert!(matches!(bill(&good).await, Err(BillError::Empty)));
    }
    let (_server, config) = client(Reply::exception(503, "ServiceUnavailable")).await;
    let Err(BillError::Aws(error)) = bill(&Client::from_conf(config)).await else {
        panic!()
    };
    assert_eq!(classify::aws(&*error), Outcome::Failure);
    assert!(matches!(bill(&good).await, Err(BillError::Open)));
}
