//! An instance of the fleet: a process that guards its calls of a service with a shared circuit. It is
//! told what it is by its argument, takes orders from its input, and tells what it sees on its output.

mod calls;
mod shared;
mod tell;

use std::process::ExitCode;
use std::sync::Arc;

use breakerbox::AnyBreaker;
use test_fleet::plan::{Order, Plan, Saw};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tracing_subscriber::filter::LevelFilter;

use crate::calls::Caller;
use crate::shared::Circuit;
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
    let circuit = match Circuit::new(&plan) {
        Ok(circuit) => circuit,
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
    runtime.block_on(take_orders(&plan, &circuit, &teller));
    drop(circuit);
    teller.end();
    ExitCode::SUCCESS
}

async fn take_orders(plan: &Plan, circuit: &Circuit, teller: &Teller) {
    let (to_caller, orders) = mpsc::unbounded_channel();
    let caller = Caller::new(plan, Arc::clone(&circuit.breaker), teller.clone());
    let calls = tokio::spawn(caller.run(orders));
    teller.tell(Saw::Ready);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(Order::End) => break,
            Ok(Order::Look) => {
                teller.tell(circuit.look());
                if plan.trace {
                    eprintln!("{circuit:?}");
                }
            }
            Ok(Order::Operate { what }) => operate(&**circuit.breaker, &what),
            Ok(order) => drop(to_caller.send(order)),
            Err(error) => eprintln!("no such order: {line}: {error}"),
        }
    }
    drop(to_caller);
    match calls.await {
        Ok(calls) => teller.tell(Saw::Ended { calls }),
        Err(error) => eprintln!("the calls ended badly: {error}"),
    }
}

fn operate(breaker: &dyn AnyBreaker, what: &str) {
    let operate = match what {
        "close" => AnyBreaker::close,
        "force_open" => AnyBreaker::force_open,
        "disable" => AnyBreaker::disable,
        "shadow" => AnyBreaker::shadow,
        "clear" => AnyBreaker::clear,
        _ => return eprintln!("no such thing for an operator to do: {what}"),
    };
    operate(breaker);
}
