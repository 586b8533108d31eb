//! `cargo xtask JOB`: the project's jobs of more than one step.

mod apt;
mod bare;
mod bench;
mod check;
mod chromium;
mod compile;
mod edge;
mod fleet;
mod fleet_sim;
mod javascript;
mod monitoring;
mod npm;
mod playground;
mod redis;
mod run;
mod size;
mod status_page;
mod tally;
mod target;
mod test;
mod test_js;
mod tools;
mod wasm;
mod workspace;

use std::process::ExitCode;

/// A job: its name on the command line, what it does, how it is done.
type Job = (&'static str, &'static str, Way);

/// The function that does a job.
enum Way {
    Plain(fn() -> ExitCode),
    WithOptions(fn(&[String]) -> ExitCode),
}

const JOBS: &[Job] = &[
    (
        "check",
        "quick loop: fmt, clippy, tests without doc and ui tests",
        Way::Plain(check::job),
    ),
    (
        "test",
        "everything: fmt, clippy, docs, all tests, conformance, examples",
        Way::Plain(test::job),
    ),
    (
        "bench",
        "what a call costs, beside the peers: writes BENCHMARKS.md [--json | --smoke | instructions | compile | wasm]",
        Way::WithOptions(bench::job),
    ),
    (
        "wasm",
        "the npm package, in breaker-wasm/dist [PACKAGE GLUE FOLDER: another package as a module]",
        Way::WithOptions(wasm::job),
    ),
    (
        "edge-worker",
        "the example at the edge in Cloudflare's own runtime, on loopback [rust | typescript]",
        Way::WithOptions(edge::job),
    ),
    (
        "playground",
        "the page to try a breaker on, served on loopback [PORT]",
        Way::WithOptions(playground::job),
    ),
    (
        "monitoring",
        "alert rules and dashboard: by Prometheus' own tool, and beside a real page",
        Way::Plain(monitoring::job),
    ),
    (
        "fleet",
        "what sharing a circuit is worth, with 20 processes, or what it costs [keys | redis-costs | storm]: writes tables in breaker-redis/README.md",
        Way::WithOptions(fleet::job),
    ),
    (
        "fleet-sim",
        "what a fleet does to a service that comes back, and the guide's tables and plots [--seed N | --quick]",
        Way::WithOptions(fleet_sim::job),
    ),
    (
        "size",
        "what a breaker adds to a program without an operating system",
        Way::Plain(size::job),
    ),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, options)) = args.split_first() else {
        return usage(&args);
    };
    match JOBS.iter().find(|job| job.0 == name) {
        Some((_, _, Way::WithOptions(run))) => run(options),
        Some((_, _, Way::Plain(run))) if options.is_empty() => run(),
        _ => usage(&args),
    }
}

fn usage(args: &[String]) -> ExitCode {
    if !args.is_empty() {
        eprintln!("no such job: `{}`", args.join(" "));
    }
    eprintln!("usage: cargo xtask JOB");
    for (name, what, _) in JOBS {
        eprintln!("  {name:<11} {what}");
    }
    ExitCode::from(2)
}
