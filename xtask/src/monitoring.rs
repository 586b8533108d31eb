//! What people watch services by: alert rules, the dashboard, and a page with the numbers that they
//! name.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::apt;
use crate::run::Run;
use crate::tools::{cargo, found_in_path};
use crate::workspace;

/// Debian's package of Prometheus, which has `promtool`. It is unpacked and not installed: that
/// would start a server.
const PACKAGE: &str = "prometheus";

/// The folder of the rules and the dashboard.
const FOLDER: &str = "monitoring";

/// Names `promtool` to the tests that start it.
const PROMTOOL: &str = "PROMTOOL";

pub(crate) fn job() -> ExitCode {
    let mut run = Run::new();
    all(&mut run);
    run.finish()
}

/// The rules by Prometheus' own tool; then the tests that compare rules and dashboard with a real
/// page. Alone, so that no other package turns features on for them.
pub(crate) fn all(run: &mut Run) {
    let mut tests = cargo();
    tests.args(["test", "--package", "test-telemetry", "--all-targets"]);
    if let Some(promtool) = promtool(run, "alert rules") {
        rules(run, &promtool);
        tests.env(PROMTOOL, promtool);
    }
    run.tests("test-telemetry, alone", &mut tests);
}

fn rules(run: &mut Run, promtool: &Path) {
    let folder = workspace::root().join(FOLDER);
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(promtool);
        command.current_dir(&folder).args(arguments);
        command
    };
    run.step(
        "alert rules",
        &mut ask(&["check", "rules", "--lint=all", "--lint-fatal", "alerts.yml"]),
    );
    run.step(
        "alert rules: when they fire",
        &mut ask(&["test", "rules", "alerts_test.yml"]),
    );
}

/// The tool, fetched if need be; else the step `name` is reported missing.
fn promtool(run: &mut Run, name: &str) -> Option<PathBuf> {
    let unpacked = workspace::target_dir().join(PACKAGE);
    let program = unpacked.join("usr/bin/promtool");
    let is_here = || program.is_file().then(|| program.clone());
    let found = found_in_path("promtool")
        .or_else(is_here)
        .or_else(|| apt::unpack(PACKAGE, &unpacked).then(is_here).flatten());
    if found.is_none() {
        run.missing(
            name,
            "promtool is missing: install it (Debian: apt-get install prometheus)",
        );
    }
    found
}
