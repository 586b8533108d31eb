//! What Redis takes for what a fleet asks of it, as the simulation reckons. Prints tables; `--into FILE`:
//! writes them there.

use std::process::ExitCode;

use test_fleet::costs::{commands, tables, told};
use test_fleet::docs::show;

fn main() -> ExitCode {
    eprintln!("commands ..");
    let commands = commands(60);
    let told = [100, 1_000, 5_000].map(|subscribers| {
        eprintln!("{subscribers} subscribers ..");
        told(subscribers, 100)
    });
    show("redis-costs", &tables(&commands, &told))
}
