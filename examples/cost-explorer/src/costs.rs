//! The guarded call.

use std::sync::Arc;

use aws_sdk_costexplorer::Client;
use breakerbox::{AnyBreaker, KeyedBreaker, Served, State, circuit_breaker, classify};
use governor::{DefaultDirectRateLimiter, RateLimiter};
use tokio::time::timeout;

use crate::answers::Answers;
use crate::breaker::{API, ApiKey, Breakers, REGION};
use crate::error::CostsError;
use crate::pace::Pace;
use crate::pages;
use crate::query::{Dates, Granularity, Query};
use crate::report::Report;

/// An account's costs.
#[derive(Debug)]
pub struct CostExplorer {
    account: String,
    client: Client,
    pace: Pace,
    limit: DefaultDirectRateLimiter,
    breakers: Arc<Breakers>,
    answers: Arc<Answers>,
}

impl CostExplorer {
    /// Of an account, with a client that has its credentials. All accounts share the circuits and the
    /// last good answers: both are kept by account.
    #[must_use]
    pub fn new(
        account: impl Into<String>,
        client: Client,
        pace: Pace,
        breakers: &Arc<Breakers>,
        answers: &Arc<Answers>,
    ) -> Self {
        Self {
            account: account.into(),
            client,
            pace,
            limit: RateLimiter::direct(pace.calls),
            breakers: Arc::clone(breakers),
            answers: Arc::clone(answers),
        }
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }

    /// The account's circuit.
    #[must_use]
    pub fn circuit(&self) -> KeyedBreaker<ApiKey> {
        self.breakers.get(&(&*self.account, REGION, API))
    }

    /// Costs by service, of each day: fresh, or the last good answer to the same question.
    ///
    /// # Errors
    /// [`CostsError`] where the service says that the question is wrong, where it doesn't answer and never
    /// did, and where too many calls wait for their turn.
    pub async fn by_day(&self, dates: Dates) -> Result<Served<Report>, CostsError> {
        self.turn().await?;
        let query = Query {
            account: self.account.clone(),
            dates,
            granularity: Granularity::Daily,
        };
        self.ask(&query).await
    }

    /// Waits for a turn to ask. What waits stands outside of the breaker: our own queue is not the
    /// service's slowness. A call that will be refused asks nothing, and needs no turn.
    async fn turn(&self) -> Result<(), CostsError> {
        if self.is_refusing() {
            return Ok(());
        }
        let turn = timeout(self.pace.queue, self.limit.until_ready()).await;
        turn.map_err(|_| CostsError::Queue)
    }

    /// Whether the circuit would refuse a call now. Once its wait is over, the next one is a probe,
    /// which asks, and so needs a turn.
    fn is_refusing(&self) -> bool {
        let circuit = self.circuit().snapshot();
        circuit.state == State::ForcedOpen || !circuit.time_left.is_zero()
    }

    // The fresh answer is kept by the whole question, and served as stale to the same one. The
    // circuit is one for all questions of the account: they fail together.
    #[circuit_breaker(
        breaker = self.breakers,
        key = (&*query.account, REGION, API),
        classify = classify::aws,
        timeout = self.pace.call,
        last_good = self.answers,
        last_good_key = query,
    )]
    async fn ask(&self, query: &Query) -> Result<Served<Report>, CostsError> {
        Ok(Served::fresh(pages::all(&self.client, query).await?))
    }
}
