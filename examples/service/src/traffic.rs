//! Guests: so many requests a second, however they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::{Client, Method, Url};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::dependency::HOTELS;

/// Requests under way at once, at most: a guest who finds more leaves again.
const AT_ONCE: usize = 512;

/// What the guests ask for, one after another.
#[derive(Clone, Debug)]
pub struct Question {
    /// `GET`, or `POST` for a booking.
    pub method: Method,
    /// Below the front's address.
    pub path: String,
}

/// All questions, each in one request and answered by one dependency.
#[must_use]
pub fn questions() -> Vec<Question> {
    let get = |path: String| Question {
        method: Method::GET,
        path,
    };
    let of = |hotel: &&str| {
        [
            get(format!("/hotels/{hotel}/rooms")),
            get(format!("/hotels/{hotel}/rates/north")),
            get(format!("/hotels/{hotel}/reviews")),
            get(format!("/hotels/{hotel}/rates/south")),
            Question {
                method: Method::POST,
                path: format!("/hotels/{hotel}/bookings"),
            },
        ]
    };
    HOTELS.iter().flat_map(of).collect()
}

/// How guests were answered.
#[derive(Debug, Default)]
pub struct Tally {
    fresh: AtomicU64,
    stale: AtomicU64,
    placeholder: AtomicU64,
    /// 503.
    refused: AtomicU64,
    /// Any other error.
    failed: AtomicU64,
}

/// How many were answered in each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// With an answer of now.
    pub fresh: u64,
    /// With the last good one.
    pub stale: u64,
    /// Without what is not known for now.
    pub placeholder: u64,
    /// By a circuit that was open.
    pub refused: u64,
    /// By an error.
    pub failed: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            fresh,
            stale,
            placeholder,
            refused,
            failed,
        } = self;
        write!(
            f,
            "{fresh} fresh, {stale} stale, {placeholder} placeholders, {refused} refused, {failed} failed"
        )
    }
}

impl Tally {
    /// What was counted since this was asked last.
    pub fn take(&self) -> Counts {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Counts {
            fresh: take(&self.fresh),
            stale: take(&self.stale),
            placeholder: take(&self.placeholder),
            refused: take(&self.refused),
            failed: take(&self.failed),
        }
    }

    fn count(&self, answer: &reqwest::Result<reqwest::Response>) {
        let counter = match answer {
            Ok(response) if response.status().is_success() => {
                let how = response.headers().get("x-answer");
                match how.map(|how| how.as_bytes()) {
                    Some(b"stale") => &self.stale,
                    Some(b"placeholder") => &self.placeholder,
                    _ => &self.fresh,
                }
            }
            Ok(response) if response.status() == reqwest::StatusCode::SERVICE_UNAVAILABLE => {
                &self.refused
            }
            _ => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Guests who ask until this is dropped.
#[derive(Debug)]
pub struct Guests {
    tally: Arc<Tally>,
    task: JoinHandle<()>,
}

impl Guests {
    /// So many requests a second at the front of this address.
    ///
    /// # Errors
    /// reqwest's, where it can't be set up.
    pub fn come(front: Url, rate: u32) -> reqwest::Result<Self> {
        let http = Client::builder().no_proxy().build()?;
        let tally = Arc::new(Tally::default());
        let task = tokio::spawn(ask(http, front, rate, Arc::clone(&tally)));
        Ok(Self { tally, task })
    }

    /// How they were answered.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn ask(http: Client, front: Url, rate: u32, tally: Arc<Tally>) {
    let mut ticks = interval(Duration::from_secs(1) / rate.max(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    for question in questions().iter().cycle() {
        ticks.tick().await;
        let (Ok(place), Ok(url)) = (
            Arc::clone(&room).try_acquire_owned(),
            front.join(&question.path),
        ) else {
            continue;
        };
        let request = http.request(question.method.clone(), url);
        let tally = Arc::clone(&tally);
        tokio::spawn(async move {
            tally.count(&request.send().await);
            drop(place);
        });
    }
}
