//! The whole play: dependencies, service, guests, faults.

use std::future::pending;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use breakerbox::observe::{self, Observer, StateChange};
use reqwest::Url;
use tokio::time::{interval, sleep};

use crate::Trouble;
use crate::args::{Logs, Play};
use crate::clients::Guard;
use crate::dependencies::Dependencies;
use crate::dependency::Fault;
use crate::process::told_to_end;
use crate::script::{ACTS, Act};
use crate::service::{Pages, Service};
use crate::traffic::{Guests, Tally};

/// Plays until it is told to end, or for as long as it was told to.
///
/// # Errors
/// Where a port is taken, or nothing can be printed.
pub async fn play(told: &Play) -> Result<(), Trouble> {
    let dependencies = Dependencies::start().await?;
    let service = Service::start(
        &told.service,
        Guard::Guarded,
        &dependencies.places(),
        Pages::watched(&told.service)?,
    )
    .await?;
    let stage = Stage {
        began: Instant::now(),
        quiet: told.service.quiet,
    };
    service.print()?;
    // What logs say is not said twice.
    let _narrated = (told.service.logs() == Logs::Off).then(|| observe::install(stage));
    let guests = Guests::come(
        Url::parse(&format!("http://{}/", service.front))?,
        told.rate,
    )?;
    let ended = tokio::select! {
        ended = told_to_end() => ended,
        () = after(told.seconds) => Ok(()),
        ended = stage.all_acts(told, &dependencies) => ended,
        ended = stage.count(guests.tally()) => ended,
    };
    drop(guests);
    service.end().await?;
    Ok(ended?)
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
}

/// Who tells what happens.
#[derive(Clone, Copy, Debug)]
struct Stage {
    began: Instant,
    quiet: bool,
}

impl Observer for Stage {
    fn state_changed(&self, event: &StateChange<'_>) {
        // Of an event nothing can be returned; the next line of the play's own says it.
        let _ = self.say(format_args!("** {event}"));
    }
}

impl Stage {
    fn say(&self, line: impl std::fmt::Display) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let at = self.began.elapsed().as_secs_f64();
        writeln!(io::stdout(), "{at:>6.1} s  {line}")
    }

    /// Ends only where nothing can be printed.
    async fn all_acts(&self, told: &Play, dependencies: &Dependencies) -> io::Result<()> {
        sleep(told.act / 4).await;
        loop {
            for act in ACTS {
                self.act(act, told.act, dependencies).await?;
            }
            if told.once {
                self.say(WHAT_TO_SEE)?;
                pending::<()>().await;
            }
        }
    }

    async fn act(&self, act: Act, lasts: Duration, all: &Dependencies) -> io::Result<()> {
        self.say(format_args!(
            "== {:?} {}: {}",
            act.which, act.fault, act.see
        ))?;
        all.play(act.which, act.fault);
        sleep(lasts / 2).await;
        all.play(act.which, Fault::None);
        self.say(format_args!("== {:?} is well again", act.which))?;
        sleep(lasts / 2).await;
        Ok(())
    }

    async fn count(&self, tally: &Tally) -> io::Result<()> {
        let mut seconds = interval(Duration::from_secs(1));
        seconds.tick().await;
        loop {
            seconds.tick().await;
            self.say(tally.take())?;
        }
    }
}

const WHAT_TO_SEE: &str = "\
the play is over; all is well, and stays so. To see:
  the status page: when each circuit opened and why, as a timeline; its settings; what was refused
  the metrics: breaker_state, breaker_calls_total, breaker_fallbacks_total
  Ctrl-C ends it";
