//! What a guarded call costs, ours and the peers', measured in one run.
//!
//! `cargo xtask bench` runs it and keeps its table in `BENCHMARKS.md`.

mod callgrind;
mod calls;
mod harness;
mod instructions;
mod keyed;
mod machine;
mod names;
mod ours;
mod peers;
mod plan;
mod report;

use harness::{Bench, Effort, Id};
use instructions::{Beside, NotCounted};
use plan::Plan;
use std::process::ExitCode;

const USAGE: &str = "usage: breakerbox-bench [--smoke] [--json]
       breakerbox-bench --instructions [WORD]
  --smoke         each call a few times, to see that it runs
  --json          JSON in place of tables
  --instructions  those of a call alone, of the calls with this word in their names";

/// What to do.
enum Job {
    Measure { effort: Effort, json: bool },
    Instructions(String),
    MakeCounted(Vec<Id>, Beside),
}

impl Job {
    fn from_arguments(arguments: &[String]) -> Option<Self> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match arguments.as_slice() {
            ["--instructions"] => Some(Self::Instructions(String::new())),
            ["--instructions", word] => Some(Self::Instructions((*word).to_owned())),
            [instructions::OPTION, ids, beside] => {
                let ids: Result<_, _> = ids.split(',').map(str::parse).collect();
                Some(Self::MakeCounted(ids.ok()?, Beside::named(beside)?))
            }
            options => {
                let (mut effort, mut json) = (Effort::FULL, false);
                for option in options {
                    match *option {
                        "--smoke" => effort = Effort::SMOKE,
                        "--json" => json = true,
                        _ => return None,
                    }
                }
                Some(Self::Measure { effort, json })
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(job) = Job::from_arguments(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
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

    let mut bench = Bench::default();
    let plan = Plan::new(&mut bench);
    match job {
        Job::Measure { effort, json } => {
            let results = plan.run(&mut bench, effort);
            if json {
                println!("{:#}", report::json(&results));
            } else {
                print!("{}", report::markdown(&results));
            }
            match results.base_instructions {
                Ok(_) | Err(NotCounted::NoValgrind) => ExitCode::SUCCESS,
                // The page says why; what was measured stands.
                Err(_) if effort.counts_all => ExitCode::SUCCESS,
                Err(why) => {
                    eprintln!("can't count instructions: {why}");
                    ExitCode::FAILURE
                }
            }
        }
        Job::Instructions(word) => match plan.count(&bench, &word) {
            Ok(counted) if counted.is_empty() => {
                eprintln!("no call on one thread has `{word}` in its name");
                ExitCode::FAILURE
            }
            Ok(counted) => {
                print!("{}", report::instructions(&counted));
                ExitCode::SUCCESS
            }
            Err(why) => {
                eprintln!("can't count instructions: {why}");
                ExitCode::FAILURE
            }
        },
        Job::MakeCounted(ids, beside) => {
            plan::install(beside);
            match bench.make_counted(&ids) {
                Some(()) => ExitCode::SUCCESS,
                None => ExitCode::from(2),
            }
        }
    }
}
