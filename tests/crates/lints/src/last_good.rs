//! Answers that are kept.

use core::time::Duration;

use breakerbox::{LastGood, Served};

use crate::{Error, pause};

#[cfg(code = "guarded")]
use breakerbox::circuit_breaker;

/// The lengths of names.
pub static LENGTHS: LastGood<String, usize> = LastGood::new(Duration::from_secs(60));

/// How many there are of all.
pub static COUNT: LastGood<(), usize> = LastGood::new(Duration::from_secs(60)).max_answers(1);

/// By a key of its own.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(last_good = LENGTHS, last_good_key = format!("{hotel}/{nights}")))]
pub async fn length(hotel: &str, nights: u32) -> Result<Served<usize>, Error> {
    pause().await;
    Ok(Served::fresh(hotel.len()))
}

/// By the breaker's key, and more.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(
    key = hotel,
    last_good = LENGTHS,
    fallback_on = open,
    timeout = "1s",
    classify_output = Result::is_err
))]
pub async fn length_by_key(hotel: String) -> Result<Served<usize>, Error> {
    pause().await;
    Ok(Served::fresh(hotel.len()))
}

/// Without a key.
///
/// # Errors
/// When down.
#[cfg_attr(code = "guarded", circuit_breaker(last_good = COUNT))]
pub fn count() -> Result<Served<usize>, Error> {
    Ok(Served::fresh(7))
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// Its answers.
    pub lengths: LastGood<String, usize>,
    calls: usize,
}

impl Client {
    /// By a key that the body takes away.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared, last_good = self.lengths, last_good_key = hotel))]
    pub async fn length(&mut self, hotel: String) -> Result<Served<usize>, Error> {
        self.calls += 1;
        pause().await;
        Ok(Served::fresh(hotel.into_bytes().len()))
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared, last_good = self.lengths, last_good_key = hotel))]
    pub fn length_now(&self, hotel: &str) -> Result<Served<usize>, Error> {
        Ok(Served::fresh(hotel.len()))
    }
}
