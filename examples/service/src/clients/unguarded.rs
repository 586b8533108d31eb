//! The same calls without a breaker, as most clients are: the same timeouts, the same last good answers.
//! What the breakers cost is measured against these.

use std::hash::Hash;

use breakerbox::{Key, LastGood, Outcome, Served, classify};

use super::payments::{self, Booking, Payments};
use super::pms::{self, Pms, Rooms};
use super::rates::{self, Rate, Rates, Source};
use super::reviews::{self, Reviews, ReviewsOf};
use super::{Answer, Failed};

impl Pms {
    pub(super) async fn rooms_unguarded(&self, hotel: &str) -> Answer<Rooms> {
        let answer = self.ask(hotel, Some(pms::TIMEOUT)).await;
        or_last_good(&self.answers, hotel, answer)
    }
}

impl Rates {
    pub(super) async fn rate_unguarded(&self, source: &Source, hotel: &str) -> Answer<Rate> {
        let answer = source.ask(hotel, Some(rates::TIMEOUT)).await;
        or_last_good(&self.answers, &(&*source.name, hotel), answer)
    }
}

impl Payments {
    pub(super) async fn book_unguarded(&self, hotel: &str) -> Result<Booking, Failed> {
        self.pay(hotel, Some(payments::TIMEOUT)).await
    }
}

impl Reviews {
    pub(super) async fn of_unguarded(&self, hotel: &str) -> Result<ReviewsOf, Failed> {
        match self.ask(hotel, Some(reviews::TIMEOUT)).await {
            Err(error) if is_outage(&error) => reviews::nobody_knows(hotel),
            answer => answer,
        }
    }
}

fn is_outage(error: &Failed) -> bool {
    classify::reqwest(error) != Outcome::Ignored
}

fn or_last_good<Q, V>(
    answers: &LastGood<Q::Owned, V>,
    key: &Q,
    answer: Result<V, Failed>,
) -> Answer<V>
where
    Q: Key<Owned: Eq + Hash> + ?Sized,
    V: Clone + Send + Sync,
{
    match answer {
        Ok(value) => {
            let Ok(()) = answers.store_now(key, &value);
            Ok(Served::fresh(value))
        }
        Err(error) if is_outage(&error) => {
            let Ok(last_good) = answers.load_now(key);
            last_good.ok_or(error)
        }
        Err(error) => Err(error),
    }
}
