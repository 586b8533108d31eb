//! `cargo xtask bench wasm`: what the npm package adds to a bundle and to a call.

use std::fs;
use std::process::{Command, Stdio};

use super::{PACKAGE, Unmade, make, write};
use crate::npm;
use crate::workspace;

const PROGRAM: &str = "breaker-wasm/bench/main.ts";

const PAGE: &str = "BENCHMARKS.md";

/// Measures, and writes the page unless an option asks for something else.
/// `None`: there is no such option.
pub(crate) fn job(options: &[&str]) -> Option<Result<(), Unmade>> {
    match options {
        [] => Some(write_page()),
        ["--json" | "--smoke"] => Some(measure(options)),
        _ => None,
    }
}

fn measure(options: &[&str]) -> Result<(), Unmade> {
    make()?;
    super::step("the benchmark", npm::typescript(PROGRAM).args(options))
}

fn write_page() -> Result<(), Unmade> {
    make()?;
    let text = said(&mut npm::typescript(PROGRAM)).ok_or(Unmade::Step("the benchmark"))?;
    let page = workspace::root().join(PACKAGE).join(PAGE);
    write(&page, &text)?;
    super::step("prettier", npm::tool("prettier").arg("--write").arg(&page))?;
    let text = fs::read_to_string(&page).map_err(|why| Unmade::Io(page, why))?;
    print!("{text}");
    Ok(())
}

/// What a program prints, if it ends well.
fn said(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}
