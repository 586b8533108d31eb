//! One circuit for a fleet, with real processes, a real Redis, and clocks that are off by hours.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::apt;
use crate::redis;
use crate::run::Run;
use crate::tools::cargo;
use crate::workspace;

/// Debian's package of the library that gives a process another time of day.
const FAKETIME: &str = "libfaketime";

/// Tests that run at once.
const AT_ONCE: &str = "6";

/// Where the tables stand that this writes.
const DOCS: &str = "breaker-redis/README.md";

/// What can be measured beside the fleet of 20 processes: programs of `test-fleet`.
const MEASURES: [&str; 3] = ["keys", "redis-costs", "storm"];

/// `cargo xtask fleet`: what sharing is worth, measured with 20 processes, as a table in the docs; or
/// what many keys cost, what Redis takes, and what happens when all connect at once. `keys PROCESSES KEYS`
/// prints that of one case.
pub(crate) fn job(options: &[String]) -> ExitCode {
    let words: Vec<&str> = options.iter().map(String::as_str).collect();
    let (program, case) = match words[..] {
        [] => ("table", None),
        [one] if MEASURES.contains(&one) => (one, None),
        ["keys", ref case @ ..] if is_case(case) => ("keys", Some(case)),
        _ => {
            let measures = MEASURES.join(" | ");
            eprintln!("usage: cargo xtask fleet [{measures} | keys PROCESSES KEYS [counting]]");
            return ExitCode::from(2);
        }
    };
    let mut run = Run::without_tests();
    if let Some(server) = redis::ready(&mut run) {
        run.step(
            "programs",
            cargo().args(["build", "--release", "--package", "test-fleet", "--bins"]),
        );
        let mut measure = Command::new(workspace::target_dir().join("release").join(program));
        measure.env(redis::REDIS_SERVER, server);
        match case {
            Some(case) => measure.args(case),
            None => measure.arg("--into").arg(workspace::root().join(DOCS)),
        };
        run.step(program, &mut measure);
    }
    run.finish()
}

/// Two processes at least: one follows the other.
fn is_case(words: &[&str]) -> bool {
    let (numbers, together) = words.split_at(words.len().min(2));
    let is_from = |word: &str, least| word.parse::<u32>().is_ok_and(|it| it >= least);
    matches!(numbers, [processes, keys] if is_from(processes, 2) && is_from(keys, 1))
        && matches!(together, [] | ["counting"])
}

/// The tests, alone: they are many processes, and measure. `redis_server` is the one that they start;
/// without it, it was reported missing.
pub(crate) fn tests(run: &mut Run, redis_server: Option<&Path>) {
    let Some(server) = redis_server else {
        return;
    };
    if !has_faketime() && !apt::install(&[FAKETIME]) {
        run.missing(
            "clocks that are off",
            "libfaketime is missing: install it (Debian: apt-get install libfaketime)",
        );
    }
    let mut tests = cargo();
    tests.env(redis::REDIS_SERVER, server);
    // They wait for most of the time.
    tests.env("RUST_TEST_THREADS", AT_ONCE);
    tests.args(["test", "--package", "test-fleet", "--all-targets"]);
    run.tests("test-fleet, alone", &mut tests);
}

/// True if it lies where the package puts it, in a folder for each architecture.
fn has_faketime() -> bool {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    libraries.any(|library| library.is_file())
}
