//! `cargo xtask test`: everything, as the build server runs it.

use std::process::{Command, ExitCode};

use crate::bare;
use crate::bench;
use crate::check::{format, quick_tests};
use crate::fleet;
use crate::javascript;
use crate::monitoring;
use crate::redis;
use crate::run::Run;
use crate::tools::{CLIPPY, cargo};
use crate::workspace;

pub(crate) fn job() -> ExitCode {
    let mut run = Run::new();
    format(&mut run);
    lint(&mut run);
    run.step(
        "docs",
        cargo().env("RUSTDOCFLAGS", "-D warnings").args([
            "doc",
            "--workspace",
            "--all-features",
            "--no-deps",
        ]),
    );
    let redis_server = redis::ready(&mut run);
    quick_tests(&mut run, redis_server.clone());
    run.tests(
        "doc tests",
        cargo().args([
            "test",
            "--workspace",
            "--all-features",
            "--doc",
            "--no-fail-fast",
        ]),
    );
    // Without `--all-features`: the compiler words its messages by what all crates name.
    run.tests("ui tests", cargo().args(["test", "--test", "ui"]));
    run.tests(
        "ui tests of breaker-redis",
        cargo().args(["test", "--package", "breaker-redis", "--test", "ui"]),
    );
    // Alone, so that no other package turns features on for them.
    for package in [
        "test-bare",
        "test-defaults",
        "test-http-clients",
        "test-lints",
        "test-no-std",
        "test-renamed",
        "test-reqwest-middleware",
        "test-status-page",
        "test-tonic",
        "test-tower",
    ] {
        run.tests(
            &format!("{package}, alone"),
            cargo().args(["test", "--package", package, "--all-targets"]),
        );
    }
    fleet::tests(&mut run, redis_server.as_deref());
    monitoring::all(&mut run);
    bare::build_all(&mut run);
    run.tests("interleavings, by loom", &mut under_loom("test"));
    for example in ["quickstart", "pms_failover"] {
        run.step(
            &format!("example {example}"),
            cargo().args(["run", "--quiet", "--example", example]),
        );
    }
    run.step(
        "example layers",
        cargo().args(["run", "--quiet", "--package", "layers"]),
    );
    javascript::all(&mut run);
    bench::smoke(&mut run);
    run.finish()
}

/// Clippy over all targets, then over each feature set that a user may build the libraries with.
fn lint(run: &mut Run) {
    if !CLIPPY.ready(run, "clippy") {
        return;
    }
    clippy(
        run,
        "all targets",
        &["--workspace", "--all-targets", "--all-features"],
    );
    clippy(run, "default features", &["--workspace", "--all-targets"]);
    run.step(
        "clippy: under loom",
        under_loom("clippy").args(["--", "-D", "warnings"]),
    );
    let root = workspace::root();
    for (package, folder) in [
        ("breaker-core", root.join("breaker-core")),
        ("breaker-redis", root.join("breaker-redis")),
        ("breakerbox", root),
    ] {
        // Without `--all-targets`: dev-dependencies would turn features back on.
        let bare = ["--package", package, "--lib", "--no-default-features"];
        clippy(run, &format!("{package}, no features"), &bare);
        match workspace::features(&folder) {
            Ok(features) => {
                for feature in &features {
                    let args = [&bare[..], &["--features", feature]].concat();
                    clippy(run, &format!("{package}, only {feature}"), &args);
                }
            }
            Err(error) => run.missing(
                &format!("clippy: {package}"),
                &format!("can't read its features: {error}"),
            ),
        }
    }
}

/// A command on the core's loom tests, with loom's atomics in place of the real ones.
fn under_loom(subcommand: &str) -> Command {
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut command = cargo();
    command
        .env("RUSTFLAGS", format!("{given} --cfg loom"))
        // Optimised: every interleaving of each model is played.
        .args([
            subcommand,
            "--package",
            "breaker-core",
            "--test",
            "loom",
            "--release",
        ]);
    command
}

fn clippy(run: &mut Run, what: &str, args: &[&str]) {
    run.step(
        &format!("clippy: {what}"),
        cargo()
            .arg("clippy")
            .args(args)
            .args(["--", "-D", "warnings"]),
    );
}
