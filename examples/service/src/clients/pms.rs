//! The hotel's property-management system (PMS): rooms that are left. While it doesn't answer, its last
//! good answers will do.

use std::time::Duration;

use breakerbox::{LastGood, Served, circuit_breaker, classify};
use serde::{Deserialize, Serialize};

use super::{Answer, Failed, LONGEST_WAIT, Upstream};

/// How long a caller waits for it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1);

/// Past this, what was left says nothing of what is.
const TOO_OLD: Duration = Duration::from_secs(15 * 60);

/// Rooms of a hotel that are left.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Rooms {
    /// Which hotel.
    pub hotel: String,
    /// How many.
    pub rooms_left: u32,
}

/// The PMS's client.
#[derive(Debug)]
pub struct Pms {
    upstream: Upstream,
    pub(super) answers: LastGood<String, Rooms>,
}

impl Pms {
    pub(super) fn new(upstream: Upstream) -> Self {
        Self {
            upstream,
            answers: LastGood::new(TOO_OLD).max_answers(1_000),
        }
    }

    // `shared`: there is one PMS, whoever asks.
    #[circuit_breaker(
        shared,
        name = "pms",
        threshold = 5,
        reset = "2s",
        backoff = 2.0,
        max_reset = "10s",
        timeout = TIMEOUT,
        classify = classify::at_most(LONGEST_WAIT, classify::reqwest),
        last_good = self.answers,
        last_good_key = hotel,
    )]
    pub(super) async fn rooms(&self, hotel: &str) -> Answer<Rooms> {
        Ok(Served::fresh(self.ask(hotel, None).await?))
    }

    pub(super) async fn ask(&self, hotel: &str, within: Option<Duration>) -> Result<Rooms, Failed> {
        self.upstream.get(["rooms", hotel], within).await
    }
}
