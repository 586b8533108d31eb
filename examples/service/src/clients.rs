//! The four dependencies, each behind a guarded function, and what those give.

mod payments;
mod pms;
mod rates;
mod reviews;
mod unguarded;
mod upstream;

use std::time::Duration;

use breakerbox::classify::WithRetryAfter;
use breakerbox::{CallError, Served};

pub use payments::{Booking, Payments};
pub use pms::{Pms, Rooms};
pub use rates::{Rate, Rates, Source};
pub use reviews::{Reviews, ReviewsOf};
pub use upstream::Upstream;

use crate::places::Places;

/// Why there is no answer: the call failed, took too long, or was refused.
pub type Failed = CallError<WithRetryAfter<reqwest::Error>>;

/// An answer that says whether it is fresh.
pub type Answer<T> = Result<Served<T>, Failed>;

/// For no longer than this a dependency can ask to be left alone: a `Retry-After` of a year is a
/// mistake, and would be an outage.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Whether the breakers are in the way of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The annotated functions are called.
    Guarded,
    /// Their twins without a breaker are: what `load` compares them with.
    Unguarded,
}

/// The clients of all dependencies.
#[derive(Debug)]
pub struct Clients {
    guard: Guard,
    pms: Pms,
    rates: Rates,
    payments: Payments,
    reviews: Reviews,
}

impl Clients {
    /// Clients of dependencies at these places.
    ///
    /// # Errors
    /// reqwest's, where it can't be set up.
    pub fn new(guard: Guard, places: &Places) -> reqwest::Result<Self> {
        // What it asks is never behind a proxy, whatever the environment says.
        let http = reqwest::Client::builder().no_proxy().build()?;
        let upstream = |base: &reqwest::Url| Upstream::new(http.clone(), base.clone());
        let source = |(name, base): &(String, _)| Source::new(name.clone(), upstream(base));
        Ok(Self {
            guard,
            pms: Pms::new(upstream(&places.pms)),
            rates: Rates::new(places.rates.iter().map(source).collect()),
            payments: Payments::new(upstream(&places.payments)),
            reviews: Reviews::new(upstream(&places.reviews)),
        })
    }

    /// Rooms that are left in a hotel.
    ///
    /// # Errors
    /// Where the PMS has no answer and never had one.
    pub async fn rooms(&self, hotel: &str) -> Answer<Rooms> {
        match self.guard {
            Guard::Guarded => self.pms.rooms(hotel).await,
            Guard::Unguarded => self.pms.rooms_unguarded(hotel).await,
        }
    }

    /// The source of rates of that name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.rates.source(name)
    }

    /// What a source says that a night in a hotel costs.
    ///
    /// # Errors
    /// Where the source has no answer, nor had one lately.
    pub async fn rate(&self, source: &Source, hotel: &str) -> Answer<Rate> {
        match self.guard {
            Guard::Guarded => self.rates.rate(source, hotel).await,
            Guard::Unguarded => self.rates.rate_unguarded(source, hotel).await,
        }
    }

    /// Books a room and pays for it.
    ///
    /// # Errors
    /// Where it was not paid, or nobody knows.
    pub async fn book(&self, hotel: &str) -> Result<Booking, Failed> {
        match self.guard {
            Guard::Guarded => self.payments.book(hotel).await,
            Guard::Unguarded => self.payments.book_unguarded(hotel).await,
        }
    }

    /// What guests say of a hotel; nothing, where nobody knows.
    ///
    /// # Errors
    /// Where the service of reviews says that the question is wrong.
    pub async fn reviews(&self, hotel: &str) -> Result<ReviewsOf, Failed> {
        match self.guard {
            Guard::Guarded => self.reviews.of(hotel).await,
            Guard::Unguarded => self.reviews.of_unguarded(hotel).await,
        }
    }
}
