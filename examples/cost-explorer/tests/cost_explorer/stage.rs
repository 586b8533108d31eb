//! A server, and clients of several accounts.

use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use breakerbox::{AnyBreaker, Served, State};
use cost_explorer::answers;
use cost_explorer::breaker::breakers;
use cost_explorer::client;
use cost_explorer::costs::CostExplorer;
use cost_explorer::error::CostsError;
use cost_explorer::pace::Pace;
use cost_explorer::query::Dates;
use cost_explorer::report::Report;
use cost_explorer::server::{Answer, Fault, Server, credentials};
use governor::Quota;
use tempfile::TempDir;

pub(crate) type Outcome = Result<(), Box<dyn Error>>;
pub(crate) type Costs = Result<Served<Report>, CostsError>;

pub(crate) const ONE: &str = "111111111111";
pub(crate) const OTHER: &str = "222222222222";

/// Tries of a request.
pub(crate) const TRIES: usize = 3;

/// Failures in a row that open a circuit.
pub(crate) const THRESHOLD: usize = 3;

/// A pace at which nothing waits that a test doesn't ask to: circuits have the test's clock, pauses are
/// short, and a healthy server is given all the time that a slow machine takes.
pub(crate) const PACE: Pace = Pace {
    calls: Quota::per_second(NonZeroU32::new(1_000).unwrap()),
    queue: Duration::from_secs(60),
    reset: Duration::from_secs(30),
    call: Duration::from_secs(60),
    attempt: Duration::from_secs(60),
    attempts: TRIES as u32,
    first_pause: Duration::from_millis(1),
};

/// What [`Stage::costs`] asks for: seven days, on three pages.
pub(crate) fn week() -> Dates {
    Dates::new("2026-11-01", "2026-11-08")
}

/// The file's name.
const ANSWERS: &str = "answers.redb";

pub(crate) const PAGES: usize = 3;

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) server: Server,
    one: CostExplorer,
    other: CostExplorer,
    /// Requests that were counted already.
    counted: usize,
    /// Where the answers are; it goes with the stage.
    folder: TempDir,
}

impl Stage {
    pub(crate) async fn new() -> Result<Self, Box<dyn Error>> {
        Self::at(PACE).await
    }

    pub(crate) async fn at(pace: Pace) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let (answers, replaced) = answers::open(&folder.path().join(ANSWERS))?;
        assert!(replaced.is_none());
        let answers = Arc::new(answers);
        let (server, breakers) = (Server::start().await?, breakers(pace.reset)?);
        let explorer = |account| {
            let client = client::of_endpoint(&server.url(), credentials(account), &pace);
            CostExplorer::new(account, client, pace, &breakers, &answers)
        };
        let (one, other) = (explorer(ONE), explorer(OTHER));
        Ok(Self {
            server,
            one,
            other,
            counted: 0,
            folder,
        })
    }

    pub(crate) fn explorer(&self, account: &str) -> &CostExplorer {
        if account == ONE {
            &self.one
        } else {
            &self.other
        }
    }

    /// An account's costs of a week.
    pub(crate) async fn costs(&self, account: &str) -> Costs {
        self.explorer(account).by_day(week()).await
    }

    pub(crate) fn state(&self, account: &str) -> State {
        self.explorer(account).circuit().state()
    }

    /// Failures in a row.
    pub(crate) fn failures(&self, account: &str) -> u32 {
        self.explorer(account).circuit().snapshot().consecutive
    }

    /// What was said to the requests that came since this was asked last.
    pub(crate) fn said(&mut self) -> Vec<Answer> {
        let log = self.server.log();
        let new = log[self.counted..].iter().map(|seen| seen.answer).collect();
        self.counted = log.len();
        new
    }

    /// Takes the file of answers away.
    pub(crate) fn lose_answers(&self) -> std::io::Result<()> {
        std::fs::remove_file(self.folder.path().join(ANSWERS))
    }

    /// Waits until so many requests have arrived in all.
    pub(crate) async fn until_requests(&self, count: usize) {
        while self.server.log().len() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Opens an account's circuit by failures.
    pub(crate) async fn break_down(&mut self, account: &str, fault: Fault) {
        self.server.play(account, fault);
        for _ in 0..THRESHOLD {
            let _ = self.costs(account).await;
        }
        assert_eq!(self.state(account), State::Open);
        self.said();
    }
}
