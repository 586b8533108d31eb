//! What the program is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::clients::Guard;
use crate::operations::Token;
use crate::places::Places;

/// A hotel's booking front with four guarded clients, dependencies that fail by a script, and guests.
///
/// Without a command: everything on loopback, until it is stopped. Open the status page that it names.
#[derive(Debug, Parser)]
#[command(name = "service", args_conflicts_with_subcommands = true)]
pub struct Told {
    /// Instead of the whole play.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The play's.
    #[command(flatten)]
    pub play: Play,
}

/// What else the program does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The booking front alone, for dependencies that are somewhere.
    Serve(Box<Serve>),
    /// Measures what the breakers cost, against the same service unguarded, and whether memory stays flat.
    Load(Load),
}

/// The play.
#[derive(Debug, Args)]
pub struct Play {
    /// Requests of guests in a second.
    #[arg(long, default_value_t = 40, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=2_000))]
    pub rate: u32,
    /// How long an act lasts: half of it one dependency fails, half of it it is well again.
    #[arg(long, default_value = "10", allow_negative_numbers = true, value_name = "SECONDS", value_parser = seconds)]
    pub act: Duration,
    /// Plays the script once, says what there is to see, and goes on without faults.
    #[arg(long)]
    pub once: bool,
    /// Ends by itself after so long.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// The service's.
    #[command(flatten)]
    pub service: Service,
}

/// The service alone.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where the dependencies are.
    #[command(flatten)]
    pub places: Places,
    /// Calls the clients without their breakers.
    #[arg(long)]
    pub unguarded: bool,
    /// Keeps the states of circuits in this file, from one run to the next.
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
    /// Without logs, metrics and status page: what breakers do is told to nobody.
    #[arg(long)]
    pub bare: bool,
    /// The service's.
    #[command(flatten)]
    pub service: Service,
}

impl Serve {
    /// Whether breakers are in the way.
    #[must_use]
    pub fn guard(&self) -> Guard {
        match self.unguarded {
            true => Guard::Unguarded,
            false => Guard::Guarded,
        }
    }
}

/// How the service runs.
#[derive(Clone, Debug, Args)]
pub struct Service {
    /// The port for guests, on loopback; 0: a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// The port for operators, on loopback: status page and metrics; 0: a free one.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub operations_port: u16,
    /// How logs are written, to standard error.
    #[arg(long, value_enum, default_value_t = Logs::Pretty)]
    pub log: Logs,
    /// What operators have to know to operate circuits; none: a new one, which is printed.
    #[arg(
        long,
        env = "OPERATOR_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        value_parser = Token::new
    )]
    pub operator_token: Option<Token>,
    /// Settings of circuits, by name; read again at SIGHUP.
    ///
    /// Such as `[breakers.pms]` and below it `threshold = 3`. The environment is read, too:
    /// `BREAKERBOX__PMS__THRESHOLD=3`.
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Prints nothing but errors, and the addresses.
    #[arg(long)]
    pub quiet: bool,
}

impl Service {
    /// How logs are written.
    #[must_use]
    pub fn logs(&self) -> Logs {
        match self.quiet {
            true => Logs::Off,
            false => self.log,
        }
    }
}

/// How logs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Logs {
    /// For people.
    Pretty,
    /// A JSON object in each line.
    Json,
    /// Not at all.
    Off,
}

/// The measurement.
#[derive(Debug, Args)]
pub struct Load {
    /// How long, without setting up and warming up.
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Duration,
    /// How long one service is asked before it is the next one's turn.
    #[arg(long, default_value = "1", value_name = "SECONDS", value_parser = seconds)]
    pub slice: Duration,
    /// Requests under way at once, each on a connection of its own.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub connections: u32,
    /// How much more memory a service may hold at the end, in KiB.
    #[arg(long, default_value_t = 2048, value_name = "KIB")]
    pub growth: u64,
    /// Writes the table into this file, between the lines `<!-- load -->` and `<!-- /load -->`.
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
}

/// A day is the longest that makes sense.
fn seconds(given: &str) -> Result<Duration, String> {
    let seconds: f64 = given
        .parse()
        .map_err(|_| "it is a number of seconds, such as 10 or 0.5".to_owned())?;
    if (0.05..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("it is from 0.05 to 86400 seconds".to_owned())
    }
}
