//! `cargo xtask check`: the quick loop while working.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::javascript;
use crate::redis;
use crate::run::Run;
use crate::tools::{CLIPPY, FMT, cargo};
use crate::workspace;

/// The test that compiles a program for each of its cases.
const SLOW: &str = "ui";

/// Tests of a program that run at once.
const AT_ONCE: &str = "8";

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
    quick_tests(&mut run, redis::found());
    javascript::quick(&mut run);
    run.finish()
}

/// Formatting, as both jobs check it.
pub(crate) fn format(run: &mut Run) {
    if FMT.ready(run, "fmt") {
        run.step("fmt", cargo().args(["fmt", "--all", "--check"]));
    }
}

/// Unit, integration and conformance tests: all but those that compile programs. `redis_server` is the
/// one that they start; without it they look for one themselves.
pub(crate) fn quick_tests(run: &mut Run, redis_server: Option<PathBuf>) {
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
    if let Some(server) = redis_server {
        command.env(redis::REDIS_SERVER, server);
    }
    // Those that talk to servers wait for most of the time.
    command.env("RUST_TEST_THREADS", AT_ONCE);
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
