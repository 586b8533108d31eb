//! The npm side of `cargo xtask check` and `cargo xtask test`.

use crate::chromium;
use crate::edge;
use crate::npm;
use crate::playground;
use crate::run::Run;
use crate::status_page;
use crate::target::{Source, WASM};
use crate::test_js;
use crate::tools::{CLIPPY, cargo};
use crate::wasm;

/// The folders with a `tsconfig.json`.
const PROJECTS: [&str; 2] = [wasm::PACKAGE, playground::FOLDER];

/// Those of Rust programs, whose TypeScript is their tests.
const PROGRAMS: [&str; 3] = [edge::FOLDER, test_js::FOLDER, status_page::FOLDER];

/// What prettier looks at beside them.
const FILES: [&str; 3] = ["package.json", "tsconfig.base.json", status_page::PAGE];

/// Names the browser to the tests that start one.
pub(crate) const BROWSER: &str = "CHROMIUM";

/// Formatting and types. True if there is a package to be tested.
pub(crate) fn quick(run: &mut Run) -> bool {
    if !npm::ready(run, "npm packages") {
        return false;
    }
    let mut prettier = npm::tool("prettier");
    prettier.arg("--check").args(FILES);
    run.step("prettier", prettier.args(PROJECTS).args(PROGRAMS));
    // First: the sources are typed by what the module exports, the programs by the package.
    run.step("npm package", cargo().args(["xtask", "wasm"]));
    for project in PROJECTS.iter().chain(&PROGRAMS) {
        types(run, project);
    }
    true
}

fn types(run: &mut Run, project: &str) {
    let mut tsc = npm::tool("tsc");
    run.step(&format!("tsc: {project}"), tsc.args(["-p", project]));
}

/// All of it, on the package as users get it.
pub(crate) fn all(run: &mut Run) {
    let package = quick(run);
    test_js::all(run);
    edge::all(run);
    status_page::all(run);
    if !package {
        return;
    }
    lint(run);
    for project in PROJECTS {
        node_tests(run, project);
    }
}

/// The crate has another allocator and panic handler on its own target than on a host.
fn lint(run: &mut Run) {
    const NAME: &str = "clippy: breaker-wasm for wasm";
    if !CLIPPY.ready(run, NAME) {
        return;
    }
    match Source::find() {
        Some(Source::Rustup) => {
            let mut clippy = cargo();
            clippy.env("RUSTFLAGS", wasm::MODULE.flags);
            clippy.args(["clippy", "--package", wasm::PACKAGE, "--target", WASM]);
            run.step(NAME, clippy.args(["--", "-D", "warnings"]));
        }
        // Clippy is of the other compiler; rustc's own warnings are errors in the build.
        Some(Source::Built(_)) => println!("{NAME}: there is no library for it"),
        None => run.missing(NAME, Source::NONE),
    }
}

/// Node's runner on `tests/**/*.test.ts` of a project.
fn node_tests(run: &mut Run, project: &str) {
    let name = format!("node tests: {project}");
    let files = match npm::test_files(&format!("{project}/tests")) {
        Ok(files) => files,
        Err(why) => return run.missing(&name, &format!("can't list the tests: {why}")),
    };
    if let Some(browser) = chromium::ready(run, &name) {
        let mut tests = npm::node_tests(&files);
        run.tests(&name, tests.env(BROWSER, browser));
    }
}
