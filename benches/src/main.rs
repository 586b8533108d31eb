//! What a guarded call costs, ours and the peers', measured in one run.
//!
//! `cargo xtask bench` runs it and keeps its table in `BENCHMARKS.md`.

mod calls;
mod harness;
mod machine;
mod ours;
mod peers;
mod plan;
mod report;

use harness::{Bench, Effort};
use plan::Plan;
use std::process::ExitCode;

const USAGE: &str = "usage: breakerbox-bench [--smoke] [--json]
  --smoke  each call a few times, to see that it runs
  --json   JSON in place of tables";

fn main() -> ExitCode {
    let (mut smoke, mut json) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--smoke" => smoke = true,
            "--json" => json = true,
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    // Some peers' clocks and timers want one around them.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no tokio runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let _entered = runtime.enter();

    let effort = if smoke { Effort::SMOKE } else { Effort::FULL };
    let mut bench = Bench::default();
    let plan = Plan::new(&mut bench);
    let results = plan.run(&mut bench, effort);
    if json {
        println!("{:#}", report::json(&results));
    } else {
        print!("{}", report::markdown(&results));
    }
    ExitCode::SUCCESS
}
