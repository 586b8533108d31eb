//! `cargo xtask bench`: what a guarded call costs, beside the peers.

use std::process::{Command, ExitCode, Stdio};
use std::{fs, io};

use crate::compile;
use crate::npm;
use crate::run::Run;
use crate::size;
use crate::tools::cargo;
use crate::wasm;
use crate::workspace;

const PAGE: &str = "BENCHMARKS.md";

const HEAD: &str = include_str!("bench.md");

pub(crate) fn job(options: &[String]) -> ExitCode {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let done = match options.as_slice() {
        ["--smoke"] => run(&mut smoke_command()),
        ["--json"] => run(measuring().arg("--json")),
        ["instructions"] => run(measuring().arg("--instructions")),
        ["instructions", word] if !word.starts_with('-') => {
            run(measuring().args(["--instructions", word]))
        }
        ["compile", options @ ..] => match compile::job(options) {
            Some(text) => text.map(|text| {
                print!("{text}");
                true
            }),
            None => return usage(),
        },
        ["wasm", options @ ..] => match wasm::bench::job(options) {
            Some(done) => done.map(|()| true).map_err(io::Error::other),
            None => return usage(),
        },
        [] => write_page(),
        _ => return usage(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("can't measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: cargo xtask bench [--json | --smoke | instructions [WORD] | compile [--json | --smoke] | wasm [--json | --smoke]]"
    );
    ExitCode::from(2)
}

/// Shows that the benchmarks run; asserts nothing about time.
pub(crate) fn smoke(run: &mut Run) {
    run.step("benchmarks run", &mut smoke_command());
    let mut compile = cargo();
    compile.args(["xtask", "bench", "compile", "--smoke"]);
    run.step("the benchmark of compile time runs", &mut compile);
    const WASM: &str = "the benchmark of the npm package runs";
    if npm::ready(run, WASM) {
        let mut wasm = cargo();
        run.step(WASM, wasm.args(["xtask", "bench", "wasm", "--smoke"]));
    }
}

/// Without optimisation, and so without building every peer a second time.
fn smoke_command() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "breakerbox-bench", "--"]);
    command.arg("--smoke");
    command
}

fn measuring() -> Command {
    let mut command = cargo();
    // As `release`, with names of what was inlined.
    command.args(["run", "--quiet", "--profile", "bench"]);
    command.args(["--package", "breakerbox-bench", "--"]);
    command
}

fn run(command: &mut Command) -> io::Result<bool> {
    Ok(command.status()?.success())
}

fn write_page() -> io::Result<bool> {
    let output = measuring().stderr(Stdio::inherit()).output()?;
    let tables = String::from_utf8_lossy(&output.stdout);
    print!("{tables}");
    if !output.status.success() {
        return Ok(false);
    }
    let compile =
        compile::section().unwrap_or_else(|why| format!("Compile time is missing: {why}.\n"));
    print!("\n{compile}");
    let sizes = size::section().unwrap_or_else(|why| format!("Code size is missing: {why}.\n"));
    print!("\n{sizes}");
    fs::write(
        workspace::root().join(PAGE),
        format!("{HEAD}\n{tables}\n{compile}\n{sizes}"),
    )?;
    Ok(true)
}
