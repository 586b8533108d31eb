//! The same pipeline before a server on loopback, which fails by a script.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use breakerbox::AnyBreaker;
use cost_explorer::costs::CostExplorer;
use cost_explorer::pace::Pace;
use cost_explorer::query::Dates;
use cost_explorer::server::{Answer, Fault, Server, credentials};
use cost_explorer::{answers, breaker, client};
use tempfile::TempDir;

use crate::args::Args;
use crate::show::{self, say};

/// Two accounts of one company.
const ACCOUNTS: [&str; 2] = ["111111111111", "222222222222"];

/// More than a circuit needs to open.
const CALLS: usize = 5;

/// As many trials as a server that is well may need on a machine that is busy.
const TRIALS: usize = 5;

/// A circuit's clock may be a few milliseconds behind: it is coarse, and cheap to read.
const RESOLUTION: Duration = Duration::from_millis(10);

/// Plays the script: all is well, each fault, an outage, and all is well again.
pub(crate) async fn play(args: &Args) -> Result<(), Box<dyn Error>> {
    let scratch = TempDir::new()?;
    let store = args
        .store
        .clone()
        .unwrap_or_else(|| scratch.path().join("answers.redb"));
    let demo = Demo::start(&store).await?;
    say(format_args!(
        "A server on loopback is asked at {}.",
        demo.server.url()
    ))?;
    if args.outage {
        demo.play(Fault::Error);
    }
    // Who asks at start-up has something to serve when the first outage comes.
    demo.act("start-up", Demo::prime).await?;
    if !args.outage {
        demo.act("one account is throttled", Demo::throttled)
            .await?;
        demo.act("questions without an answer", Demo::questions)
            .await?;
        demo.act("late answers, and one that never comes", Demo::late)
            .await?;
        demo.act("all is well again", Demo::recovery).await?;
    }
    demo.act("an outage", Demo::outage).await?;
    demo.act("the outage is over", Demo::recovery).await?;
    Ok(())
}

/// The script's stage.
#[derive(Debug)]
struct Demo {
    server: Server,
    explorers: [CostExplorer; 2],
}

impl Demo {
    async fn start(store: &Path) -> Result<Self, Box<dyn Error>> {
        let answers = show::opened(answers::open(store)?);
        let server = Server::start().await?;
        let breakers = breaker::breakers(Pace::DEMO.reset)?;
        let explorers = ACCOUNTS.map(|account| {
            let client = client::of_endpoint(&server.url(), credentials(account), &Pace::DEMO);
            CostExplorer::new(account, client, Pace::DEMO, &breakers, &answers)
        });
        Ok(Self { server, explorers })
    }

    /// Plays an act, and prints what reached the server in it.
    async fn act(
        &self,
        title: &str,
        act: impl AsyncFnOnce(&Self) -> io::Result<()>,
    ) -> io::Result<()> {
        say(format_args!("\n== {title}"))?;
        let before = self.server.log().len();
        act(self).await?;
        let mut requests: BTreeMap<(String, Answer), usize> = BTreeMap::new();
        for seen in &self.server.log()[before..] {
            *requests
                .entry((seen.account.clone(), seen.answer))
                .or_default() += 1;
        }
        if requests.is_empty() {
            say("at the server: nothing")?;
        }
        for ((account, answer), count) in requests {
            say(format_args!("at the server: {account}: {count} {answer}"))?;
        }
        Ok(())
    }

    /// All accounts meet a fault.
    fn play(&self, fault: Fault) {
        for account in ACCOUNTS {
            self.server.play(account, fault);
        }
    }

    async fn prime(&self) -> io::Result<()> {
        for explorer in &self.explorers {
            ask(explorer, week()).await?;
        }
        Ok(())
    }

    async fn throttled(&self) -> io::Result<()> {
        let [throttled, other] = &self.explorers;
        self.server
            .play(throttled.account(), Fault::Throttled { retry_after: None });
        for _ in 0..CALLS {
            ask(throttled, week()).await?;
        }
        ask(other, week()).await?;
        Ok(())
    }

    async fn questions(&self) -> io::Result<()> {
        let [_, other] = &self.explorers;
        for _ in 0..CALLS {
            ask(other, Dates::new("2026-11-08", "2026-11-01")).await?;
        }
        self.server.play(other.account(), Fault::DataUnavailable);
        ask(other, week()).await?;
        self.server.play(other.account(), Fault::None);
        ask(other, week()).await?;
        Ok(())
    }

    async fn late(&self) -> io::Result<()> {
        let [_, other] = &self.explorers;
        self.server
            .play(other.account(), Fault::Slow(Duration::from_millis(100)));
        ask(other, week()).await?;
        self.server.play(other.account(), Fault::Hang);
        ask(other, week()).await?;
        Ok(())
    }

    async fn outage(&self) -> io::Result<()> {
        self.play(Fault::Error);
        for explorer in &self.explorers {
            for _ in 0..CALLS {
                ask(explorer, week()).await?;
            }
        }
        Ok(())
    }

    async fn recovery(&self) -> io::Result<()> {
        self.play(Fault::None);
        for explorer in &self.explorers {
            for _ in 0..TRIALS {
                let wait = explorer.circuit().snapshot().time_left;
                tokio::time::sleep(wait + RESOLUTION).await;
                if ask(explorer, week()).await? {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn week() -> Dates {
    Dates::new("2026-11-01", "2026-11-08")
}

/// Asks, and prints what comes of it: whether it is fresh.
async fn ask(explorer: &CostExplorer, dates: Dates) -> io::Result<bool> {
    let question = format!("{}, {dates}", explorer.account());
    match explorer.by_day(dates).await {
        Ok(served) => {
            let days = served.value.periods.len();
            let age = served.age.as_secs();
            say(format_args!("{question}: {days} days, {age} s old"))?;
            say(show::health(explorer, &served))?;
            Ok(!served.stale)
        }
        Err(error) => {
            say(format_args!("{question}: no costs"))?;
            say(show::failure(explorer, &error))?;
            Ok(false)
        }
    }
}
