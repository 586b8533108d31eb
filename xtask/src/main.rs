//! `cargo xtask JOB`: the project's jobs of more than one step.

mod bare;
mod check;
mod run;
mod tally;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

/// A job: its name on the command line, what it does, the function that does it.
type Job = (&'static str, &'static str, fn() -> ExitCode);

const JOBS: &[Job] = &[
    (
        "check",
        "quick loop: fmt, clippy, tests without doc and ui tests",
        check::job,
    ),
    (
        "test",
        "everything: fmt, clippy, docs, all tests, conformance, examples",
        test::job,
    ),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let job = match args.as_slice() {
        [name] => JOBS.iter().find(|job| job.0 == name),
        _ => None,
    };
    match job {
        Some((_, _, run)) => run(),
        None => usage(&args),
    }
}

fn usage(args: &[String]) -> ExitCode {
    if !args.is_empty() {
        eprintln!("no such job: `{}`", args.join(" "));
    }
    eprintln!("usage: cargo xtask JOB");
    for (name, what, _) in JOBS {
        eprintln!("  {name:<6} {what}");
    }
    ExitCode::from(2)
}
