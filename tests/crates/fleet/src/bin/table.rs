//! What sharing is worth: 20 processes against one service that fails and comes back. Prints the table;
//! `--into FILE` also writes it there, between the lines `<!-- fleet -->` and `<!-- /fleet -->`.

use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use test_fleet::measure::{Outage, Way, measure, table};
use test_fleet::plan::Circuit;

const BEGIN: &str = "<!-- fleet -->\n";
const END: &str = "<!-- /fleet -->";

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
    let table = table(&outage, &figures);
    print!("{table}");
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => ExitCode::SUCCESS,
        (Some("--into"), Some(file)) => match write(&file, &table) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{file}: {error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("usage: table [--into FILE]");
            ExitCode::from(2)
        }
    }
}

fn write(file: &str, table: &str) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("no lines <!-- fleet --> and <!-- /fleet -->")?;
    let text = format!("{before}{BEGIN}{table}{END}{after}");
    fs::write(file, text).map_err(|error| error.to_string())
}
