//! What circuits of many keys cost: starts a Redis, and processes of its own kind. Prints a table;
//! `PROCESSES KEYS [counting]`: of this case alone; `--into FILE`: writes it there.

mod process;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use test_fleet::docs::show;
use test_fleet::keys::{Case, measure, table};

const CASES: [(u32, u32, bool); 5] = [
    (2, 1, false),
    (2, 100, false),
    (2, 10_000, false),
    (2, 100_000, false),
    (20, 10_000, false),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [plan] = &arguments[..]
        && let Ok(plan) = serde_json::from_str(plan)
    {
        return match process::run(&plan) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let number = |at: usize| arguments.get(at).and_then(|it| it.parse::<u32>().ok());
    let counting = arguments.get(2).is_some_and(|word| word == "counting");
    let cases = match (number(0), number(1)) {
        (Some(processes), Some(keys)) => vec![(processes, keys, counting)],
        _ => CASES.to_vec(),
    };
    let program = env::current_exe().expect("this program");
    let measured: Vec<_> = cases
        .into_iter()
        .map(|(processes, keys, counting)| {
            eprintln!("{processes} processes, {keys} keys ..");
            let case = Case {
                processes,
                keys,
                counting,
            };
            (case, measure(&program, case, Duration::from_secs(10)))
        })
        .collect();
    show("keys", &table(&measured))
}
