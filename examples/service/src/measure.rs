//! `load`: what the breakers cost, and whether memory stays flat. The same service runs three times, each in
//! a process of its own: unguarded, with its breakers alone, and with everything on. They are asked in
//! turn, for a slice of time each, so that what else the machine does hits all of them.

mod asker;
mod memory;
mod process;
mod same;
mod table;
mod watcher;

use std::io::{self, Write};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Trouble;
use crate::args::Load;
use crate::dependencies::{Dependencies, Which};
use crate::dependency::Fault;
use asker::{Askers, Slice};
use memory::Memory;
use process::{Process, Setup};
use table::Results;
use watcher::Watcher;

/// So many rounds are measured between two outages.
const ROUNDS_BETWEEN_OUTAGES: usize = 3;

/// How long each service meets one.
const OUTAGE: Duration = Duration::from_millis(200);

/// Within this its circuits close again, on the slowest machine.
const RECOVERY: Duration = Duration::from_secs(60);

/// A service that is measured.
#[derive(Debug)]
struct Measured {
    process: Process,
    askers: Askers,
    memory: Memory,
    slices: Vec<Slice>,
}

/// Measures, prints a table, and says whether memory stayed flat and the answers were the same.
///
/// # Errors
/// Where a service can't be started or asked, or nothing can be printed.
pub async fn measure(told: &Load) -> Result<bool, Trouble> {
    let dependencies = Dependencies::start().await?;
    let mut services = Vec::new();
    for setup in Setup::ALL {
        let process = Process::start(setup, &dependencies.places())?;
        services.push(Measured {
            askers: Askers::connect(process.front, told.connections).await?,
            memory: Memory::watch(process.id()),
            slices: Vec::new(),
            process,
        });
    }
    let fronts = services.iter().map(|service| service.process.front);
    let same = same::answers(&dependencies, fronts.collect()).await?;
    say(&same)?;

    let warm_up = told.slice.max(told.seconds / 30);
    for service in &mut services {
        service.slice(warm_up).await?;
        service.slices.clear();
    }
    services.iter().for_each(|service| service.memory.begin());

    let began = Instant::now();
    let (mut rounds, mut outages) = (0, 0);
    while began.elapsed() < told.seconds {
        // Another one begins each round: none of them always follows the same.
        for turn in 0..services.len() {
            let service = (rounds + turn) % services.len();
            services[service].slice(told.slice).await?;
        }
        rounds += 1;
        if rounds % ROUNDS_BETWEEN_OUTAGES == 0 {
            outage(&dependencies, &mut services).await?;
            outages += 1;
        }
    }

    let results = Results::of(&services, told, outages);
    say(&results)?;
    if let Some(file) = &told.into {
        table::write(file, &results.to_string())?;
    }
    Ok(same.holds() && results.memory_is_flat())
}

/// Everything fails for a moment and is well again, and that is not measured: memory is to be watched while
/// circuits open and close, too.
async fn outage(dependencies: &Dependencies, services: &mut [Measured]) -> Result<(), Trouble> {
    let play = |fault| Which::ALL.map(|which| dependencies.play(which, fault));
    play(Fault::Errors);
    for service in &mut *services {
        service.askers.ask(OUTAGE).await?;
    }
    play(Fault::None);
    for service in services {
        let began = Instant::now();
        while !service.askers.all_is_fresh().await? {
            if began.elapsed() > RECOVERY {
                return Err("a circuit did not close again".into());
            }
            sleep(OUTAGE / 4).await;
        }
    }
    Ok(())
}

impl Measured {
    /// Asks it for so long. Who looks at the page of one with everything on looks just then: what that
    /// costs is not to slow the others down.
    async fn slice(&mut self, lasts: Duration) -> Result<(), Trouble> {
        let watcher = match self.process.setup {
            Setup::Everything => Some(Watcher::look(self.process.operations)?),
            Setup::Unguarded | Setup::Breakers => None,
        };
        let before = self.process.cpu_time();
        let mut slice = self.askers.ask(lasts).await?;
        slice.cpu = before.and_then(|before| self.process.cpu_time()?.checked_sub(before));
        self.slices.push(slice);
        match watcher {
            Some(watcher) => watcher.end().await,
            None => Ok(()),
        }
    }
}

fn say(line: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
