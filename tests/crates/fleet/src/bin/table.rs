//! What sharing is worth: 20 processes against one service that fails and comes back. Prints the table;
//! `--into FILE` also writes it there, between the lines `<!-- fleet -->` and `<!-- /fleet -->`.

use std::process::ExitCode;
use std::time::Duration;

use test_fleet::docs::show;
use test_fleet::measure::{Outage, Way, measure, table};
use test_fleet::plan::Circuit;

fn main() -> ExitCode {
    let outage = Outage {
        instances: 20,
        circuit: Circuit {
            threshold: 5,
            reset: 2_000,
            jitter: 0.1,
            ..Circuit::default()
        },
        pause: Duration::from_millis(100),
        dead: Duration::from_secs(10),
    };
    let figures = Way::ALL.map(|way| {
        eprintln!("{way} ..");
        (way, measure(way, &outage))
    });
    show("fleet", &table(&outage, &figures))
}
