//! A hotel's property-management system (PMS) fails in every way it can, and a pricing pipeline goes on
//! behind a circuit breaker: `cargo run --example pms_failover`.
//!
//! The breaker is the attribute above `inventory` in `pms.rs`. `script.rs` holds the play, `server.rs` the
//! PMS, `pipeline.rs` its callers. Exits with 0 only if the server's own log bears out that the circuit
//! opened, probed and closed again (`audit.rs`). With `--shadow` the breaker only watches, and the
//! verdict must be that it did nothing.

mod audit;
mod cost;
mod pipeline;
mod pms;
mod script;
mod server;
mod stage;
mod stats;
mod timeline;

use std::error::Error;
use std::process::ExitCode;

use audit::{Check, Evidence};
use pipeline::{Client, Pipeline};
use pms::Pms;
use script::{ACTS, Act, Fault, RESET, THRESHOLD, TIMEOUT};
use server::Server;
use stage::Stage;
use timeline::Timeline;

#[tokio::main]
async fn main() -> ExitCode {
    let shadow = std::env::args().skip(1).any(|arg| arg == "--shadow");
    match run(shadow).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the example could not be run: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(shadow: bool) -> Result<bool, Box<dyn Error>> {
    println!(
        "Set: {THRESHOLD} failures in a row open the circuit for {RESET:?}; a call may take {TIMEOUT:?}.\n\
         Calls a second by fate, latency, mean price (a stale answer costs a tenth more), requests a second.\n"
    );
    let server = Server::start().await?;
    let timeline = Timeline::start();

    let pipeline = Pipeline::new(Pms::connect(server.address(), None)?, Client::Guarded);
    pipeline.prime(script::rooms()).await?;
    if shadow {
        breakerbox::find("pms").ok_or("no breaker `pms`")?.shadow();
    }
    let mut stage = Stage::new(&server, timeline.clone(), pipeline);
    stage.sell(script::rooms());
    for act in ACTS {
        stage.play(*act, true).await;
    }
    let with = stage.close().await;
    let seen = server.log();

    timeline.announce("the same outage once more, without the breaker");
    server.play(Fault::None);
    let pipeline = Pipeline::new(
        Pms::connect(server.address(), Some(TIMEOUT))?,
        Client::Unguarded,
    );
    pipeline.prime(script::rooms()).await?;
    let mut stage = Stage::new(&server, timeline.clone(), pipeline);
    stage.sell(script::rooms());
    for outage in with.outages() {
        let lasts = outage.span.end - outage.span.start;
        stage
            .play(
                Act {
                    lasts,
                    ..outage.act
                },
                false,
            )
            .await;
    }
    let without = stage.close().await;

    cost::print(&with.bill(), &without.bill());
    let outages = with.spans();
    let evidence = Evidence::new(with.calls, seen, timeline.probes(), timeline.served());
    Ok(holds(&evidence.judge(&outages)))
}

/// Prints the checks; true if all of them hold.
fn holds(checks: &[Check]) -> bool {
    println!("\nAs counted at the server");
    for Check { claim, found } in checks {
        let (word, fact) = match found {
            Ok(fact) => ("ok", fact),
            Err(fact) => ("FAILED", fact),
        };
        println!("  {word:<7} {claim}\n          {fact}");
    }
    let well = checks.iter().filter(|check| check.found.is_ok()).count();
    println!("{well} of {} checks hold", checks.len());
    well == checks.len()
}
