//! An instance of the fleet: a process that guards its calls of a service with a shared circuit, or with
//! one for each key. It is
//! told what it is by its argument, takes orders from its input, and tells what it sees on its output.

mod calls;
mod shared;
mod tell;

use std::process::ExitCode;

use test_fleet::plan::{Order, Plan, Saw};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::Builder;
use tracing_subscriber::filter::LevelFilter;

use crate::calls::Callers;
use crate::shared::Circuits;
use crate::tell::Teller;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let plan: Plan = match serde_json::from_str(&argument) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("a plan in JSON is needed: {error}");
            return ExitCode::from(2);
        }
    };
    if plan.trace {
        let lines = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(std::io::stderr);
        lines.with_max_level(LevelFilter::TRACE).init();
        breakerbox::observe::install(breakerbox::observe::TracingObserver::new()).forever();
    }
    let teller = Teller::start();
    breakerbox::observe::install(teller.clone()).forever();
    let circuits = match Circuits::new(&plan) {
        Ok(circuits) => circuits,
        Err(error) => {
            teller.tell(Saw::Refused {
                error: error.to_string(),
            });
            teller.end();
            return ExitCode::FAILURE;
        }
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(take_orders(&plan, &circuits, &teller));
    drop(circuits);
    teller.end();
    ExitCode::SUCCESS
}

async fn take_orders(plan: &Plan, circuits: &Circuits, teller: &Teller) {
    let mut callers = Callers::new(plan, circuits.breakers.clone(), teller.clone());
    teller.tell(Saw::Ready);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let (key, order) = match serde_json::from_str(&line) {
            Ok(Order::Of { key, order }) => (Some(key), *order),
            Ok(order) => (None, order),
            Err(error) => {
                eprintln!("no such order: {line}: {error}");
                continue;
            }
        };
        match order {
            Order::End => break,
            Order::Look => {
                teller.tell(circuits.look());
                if plan.trace {
                    eprintln!("{circuits:?}");
                }
            }
            Order::Operate { what } => circuits.operate(key.as_deref(), &what),
            order => callers.order(key, &order),
        }
    }
    match callers.end().await {
        Ok(calls) => teller.tell(Saw::Ended { calls }),
        Err(error) => eprintln!("the calls ended badly: {error}"),
    }
}
