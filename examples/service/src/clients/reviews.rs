//! What guests say. A page without it is still a page.

use std::time::Duration;

use breakerbox::{circuit_breaker, classify};
use serde::{Deserialize, Serialize};

use super::{Failed, LONGEST_WAIT, Upstream};

/// How long a caller waits for it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1);

/// What guests say of a hotel.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct ReviewsOf {
    /// Which hotel.
    pub hotel: String,
    /// How many of ten points; `None`: for now nobody knows.
    pub points: Option<u32>,
}

/// The client of the reviews.
#[derive(Debug)]
pub struct Reviews {
    upstream: Upstream,
}

impl Reviews {
    pub(super) fn new(upstream: Upstream) -> Self {
        Self { upstream }
    }

    #[circuit_breaker(
        shared,
        name = "reviews",
        threshold = 3,
        reset = "2s",
        timeout = TIMEOUT,
        classify = classify::at_most(LONGEST_WAIT, classify::reqwest),
        fallback = nobody_knows(hotel),
    )]
    pub(super) async fn of(&self, hotel: &str) -> Result<ReviewsOf, Failed> {
        self.ask(hotel, None).await
    }

    pub(super) async fn ask(
        &self,
        hotel: &str,
        within: Option<Duration>,
    ) -> Result<ReviewsOf, Failed> {
        self.upstream.get(["reviews", hotel], within).await
    }
}

/// In place of reviews.
pub(super) fn nobody_knows(hotel: &str) -> Result<ReviewsOf, Failed> {
    Ok(ReviewsOf {
        hotel: hotel.to_owned(),
        points: None,
    })
}
