//! `cargo xtask fleet-sim`: what fleets of up to 100,000 instances do to a service that comes back, and
//! the tables and plots of the guide.

use std::process::ExitCode;

use crate::tools::cargo;
use crate::workspace;

/// The chapter that shows what comes out.
const CHAPTER: &str = "src/guide/sharing.md";

pub(crate) fn job(options: &[String]) -> ExitCode {
    let mut command = cargo();
    command
        .current_dir(workspace::root())
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "fleet-sim",
            "--",
        ])
        .args(["--into", CHAPTER])
        .args(options);
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("can't run the simulation: {error}");
            ExitCode::FAILURE
        }
    }
}
