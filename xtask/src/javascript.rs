//! The npm side of `cargo xtask check` and `cargo xtask test`.

use crate::chromium;
use crate::edge;
use crate::npm;
use crate::playground;
use crate::run::Run;
use crate::target::{Source, WASM};
use crate::test_js;
use crate::tools::{CLIPPY, cargo};
use crate::wasm;
use crate::workspace;

/// The folders with a `tsconfig.json`.
const PROJECTS: [&str; 2] = [wasm::PACKAGE, playground::FOLDER];

/// Those of Rust programs, whose TypeScript is their tests.
const PROGRAMS: [&str; 2] = [edge::FOLDER, test_js::FOLDER];

/// What prettier looks at beside them.
const FILES: [&str; 2] = ["package.json", "tsconfig.base.json"];

/// Names the browser to the tests that start one.
pub(crate) const BROWSER: &str = "CHROMIUM";

/// Formatting and types. True if the package is there to be tested.
pub(crate) fn quick(run: &mut Run) -> bool {
    if !npm::ready(run, "npm packages") {
        return false;
    }
    let mut prettier = npm::tool("prettier");
    prettier.arg("--check").args(FILES);
    run.step("prettier", prettier.args(PROJECTS).args(PROGRAMS));
    PROGRAMS.iter().for_each(|program| types(run, program));
    // Until the crate is there.
    if !workspace::root()
        .join(wasm::PACKAGE)
        .join("Cargo.toml")
        .exists()
    {
        return false;
    }
    // First: the sources are typed by what the module exports.
    run.step("npm package", cargo().args(["xtask", "wasm"]));
    PROJECTS.iter().for_each(|project| types(run, project));
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
