//! Where rates come from: several sources, each with a circuit of its own, for each fails for itself. They
//! are rather slow than down, so it is the share of failed and of slow calls that opens.

use std::time::Duration;

use breakerbox::{LastGood, Served, circuit_breaker, classify};
use serde::{Deserialize, Serialize};

use super::{Answer, Failed, LONGEST_WAIT, Upstream};

/// How long a caller waits for one.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);

/// An older price may be wrong.
const TOO_OLD: Duration = Duration::from_secs(30);

/// What a night costs.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Rate {
    /// In which hotel.
    pub hotel: String,
    /// In cents.
    pub cents: u32,
}

/// A source of rates.
#[derive(Debug)]
pub struct Source {
    pub(super) name: String,
    upstream: Upstream,
}

impl Source {
    pub(super) fn new(name: String, upstream: Upstream) -> Self {
        Self { name, upstream }
    }

    pub(super) async fn ask(&self, hotel: &str, within: Option<Duration>) -> Result<Rate, Failed> {
        self.upstream.get(["rates", hotel], within).await
    }
}

/// The clients of all sources.
#[derive(Debug)]
pub struct Rates {
    sources: Vec<Source>,
    pub(super) answers: LastGood<(String, String), Rate>,
}

impl Rates {
    pub(super) fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            answers: LastGood::new(TOO_OLD).max_answers(1_000),
        }
    }

    pub(super) fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }

    // The key is a source's name, of which there are as many as were set: never what a request says.
    #[circuit_breaker(
        name = "rates",
        key = &*source.name,
        max_keys = 100,
        failure_rate = 0.5,
        slow = "250ms",
        slow_rate = 0.5,
        window = 20,
        min_calls = 10,
        reset = "2s",
        timeout = TIMEOUT,
        classify = classify::at_most(LONGEST_WAIT, classify::reqwest),
        last_good = self.answers,
        last_good_key = (&*source.name, hotel),
    )]
    pub(super) async fn rate(&self, source: &Source, hotel: &str) -> Answer<Rate> {
        Ok(Served::fresh(source.ask(hotel, None).await?))
    }
}
