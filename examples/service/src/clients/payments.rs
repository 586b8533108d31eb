//! Payments. Nothing can stand in for one: while the circuit is open, callers are told when to come again.

use std::time::Duration;

use breakerbox::{circuit_breaker, classify};
use serde::{Deserialize, Serialize};

use super::{Failed, LONGEST_WAIT, Upstream};

/// How long a caller waits for one.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);

/// A room that was booked and paid.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Booking {
    /// In which hotel.
    pub hotel: String,
    /// In cents.
    pub paid_cents: u32,
}

/// The client of the payments.
#[derive(Debug)]
pub struct Payments {
    upstream: Upstream,
}

impl Payments {
    pub(super) fn new(upstream: Upstream) -> Self {
        Self { upstream }
    }

    // A card that was declined (402) is an answer, and closes nothing.
    #[circuit_breaker(
        shared,
        name = "payments",
        threshold = 3,
        reset = "3s",
        timeout = TIMEOUT,
        classify = classify::at_most(LONGEST_WAIT, classify::reqwest),
    )]
    pub(super) async fn book(&self, hotel: &str) -> Result<Booking, Failed> {
        self.pay(hotel, None).await
    }

    pub(super) async fn pay(
        &self,
        hotel: &str,
        within: Option<Duration>,
    ) -> Result<Booking, Failed> {
        self.upstream.post(["payments", hotel], within).await
    }
}
