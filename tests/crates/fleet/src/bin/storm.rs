//! What happens when all instances connect to a Redis that was started again. Prints a table;
//! `--into FILE`: writes it there.

use std::process::ExitCode;
use std::time::Duration;

use test_fleet::docs::show;
use test_fleet::storm::{storm, table};

fn main() -> ExitCode {
    let storms = [(100, 1), (1_000, 1), (1_000, 10)].map(|(instances, gone)| {
        eprintln!("{instances} connections, gone for {gone} s ..");
        storm(instances, Duration::from_secs(gone))
    });
    show("storm", &table(&storms))
}
