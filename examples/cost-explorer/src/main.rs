//! What AWS accounts cost, also while Cost Explorer does not answer. See the README beside this.

mod args;
mod credentials;
mod demo;
mod show;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::time::SystemTime;

use args::{Args, USAGE};
use aws_credential_types::Credentials;
use breakerbox::observe;
use cost_explorer::costs::CostExplorer;
use cost_explorer::pace::Pace;
use cost_explorer::query::Dates;
use cost_explorer::{answers, breaker, client};
use show::{Narrator, say, warn};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if has_seen_enough(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            warn(show::Causes(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let args = Args::of_process()?;
    if args.help {
        return Ok(say(USAGE)?);
    }
    observe::install(Narrator).forever();
    // No credentials are no mistake: there is a server on loopback. Half of them are one.
    match credentials::of_environment().await {
        Ok(Some(found)) if !args.demo => ask_aws(found, &args).await,
        Err(error) if !args.demo => Err(error.into()),
        _ => demo::play(&args).await,
    }
}

/// Whether who reads the output has closed it.
fn has_seen_enough(error: &(dyn Error + 'static)) -> bool {
    let error: Option<&io::Error> = error.downcast_ref();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Asks for the costs of the last week, once: each page is paid for.
async fn ask_aws(credentials: Credentials, args: &Args) -> Result<(), Box<dyn Error>> {
    let pace = Pace::AWS;
    let account = credentials.account_id().map(|id| id.as_str().to_owned());
    let account = account.unwrap_or_else(|| "default".to_owned());
    let store = args
        .store
        .clone()
        .unwrap_or_else(|| "cost-explorer.redb".into());
    let answers = show::opened(answers::open(&store)?);
    let breakers = breaker::breakers(pace.reset)?;
    let client = client::of_aws(credentials, &pace);
    let explorer = CostExplorer::new(account, client, pace, &breakers, &answers);
    let served = explorer
        .by_day(Dates::days_before(SystemTime::now(), 7))
        .await?;
    say(&served.value)?;
    Ok(say(show::health(&explorer, &served))?)
}
