//! `cargo xtask check`: the quick loop while working.

use std::process::ExitCode;

use crate::javascript;
use crate::run::Run;
use crate::tools::{CLIPPY, FMT, cargo};
use crate::workspace;

/// The test that compiles a program for each of its cases.
const SLOW: &str = "ui";

pub(crate) fn job() -> ExitCode {
    let mut run = Run::new();
    format(&mut run);
    if CLIPPY.ready(&mut run, "clippy") {
        run.step(
            "clippy",
            cargo().args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]),
        );
    }
    quick_tests(&mut run);
    javascript::quick(&mut run);
    run.finish()
}

/// Formatting, as both jobs check it.
pub(crate) fn format(run: &mut Run) {
    if FMT.ready(run, "fmt") {
        run.step("fmt", cargo().args(["fmt", "--all", "--check"]));
    }
}

/// Unit, integration and conformance tests: all but those that compile programs.
pub(crate) fn quick_tests(run: &mut Run) {
    const NAME: &str = "unit and integration tests";
    let mut command = cargo();
    command.args([
        "test",
        "--workspace",
        "--all-features",
        "--no-fail-fast",
        "--lib",
        "--bins",
        "--examples",
    ]);
    match workspace::integration_tests(&workspace::root()) {
        Ok(names) => {
            for name in names.iter().filter(|name| *name != SLOW) {
                command.args(["--test", name]);
            }
            run.tests(NAME, &mut command);
        }
        Err(error) => run.missing(NAME, &format!("can't list the tests: {error}")),
    }
}
