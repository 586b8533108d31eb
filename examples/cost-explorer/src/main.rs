//! What AWS accounts cost, also while Cost Explorer does not answer. See the README beside this.

mod args;
mod demo;
mod show;

use std::error::Error;
use std::process::ExitCode;
use std::time::SystemTime;

use args::Args;
use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_credential_types::provider::ProvideCredentials;
use breakerbox::observe;
use cost_explorer::costs::CostExplorer;
use cost_explorer::pace::Pace;
use cost_explorer::query::Dates;
use cost_explorer::{answers, breaker, client};
use show::Narrator;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", show::Causes(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let args = Args::of_process()?;
    observe::install(Narrator).forever();
    let credentials = EnvironmentVariableCredentialsProvider::new();
    match credentials.provide_credentials().await {
        Ok(found) if !args.demo => {
            let account = found.account_id().map_or("default", |id| id.as_str());
            ask_aws(account, credentials, &args).await
        }
        // No credentials are no mistake: there is a server on loopback.
        _ => demo::play(&args).await,
    }
}

/// Asks for the costs of the last week, once: each page is paid for.
async fn ask_aws(
    account: &str,
    credentials: impl ProvideCredentials + 'static,
    args: &Args,
) -> Result<(), Box<dyn Error>> {
    let pace = Pace::AWS;
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
    print!("{}", served.value);
    println!("{}", show::health(&explorer, &served));
    Ok(())
}
