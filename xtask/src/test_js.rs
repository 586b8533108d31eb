//! `tests/crates/js`: a Rust program beside JavaScript, its tests in Node, and what is said
//! to who forgot the feature.

use crate::chromium;
use crate::javascript::BROWSER;
use crate::npm;
use crate::run::Run;
use crate::target::{Build, STD, Source, WASM};
use crate::tools::cargo;
use crate::workspace;

/// Where the package is, with its TypeScript tests.
pub(crate) const FOLDER: &str = "tests/crates/js";

const PACKAGE: &str = "test-js";

/// Those of its tests that need a browser.
const IN_BROWSER: &str = "browser.test.ts";

/// Tells the tests where the program is.
const PROGRAM: &str = "TEST_JS";

/// What the compiler must say without the feature `js`, each at its own place.
const SAID: [&str; 4] = [
    "a generated breaker needs a clock, and here is none",
    "generated breakers by key need a clock, and here is none",
    "`timeout` needs a timer",
    "enable breakerbox's feature `js`",
];

pub(crate) fn all(run: &mut Run) {
    const TESTS: &str = "node tests: test-js";
    if !npm::ready(run, TESTS) {
        return;
    }
    let built = workspace::target_dir().join("wasm-bindgen").join(PACKAGE);
    let mut build = cargo();
    build.args(["xtask", "wasm", PACKAGE, "script"]).arg(&built);
    run.step("test-js as a module", &mut build);
    match npm::test_files(&format!("{FOLDER}/tests")) {
        Ok(files) => {
            let (in_browser, in_node): (Vec<_>, Vec<_>) = files
                .into_iter()
                .partition(|file| file.ends_with(IN_BROWSER));
            run.tests(TESTS, npm::node_tests(&in_node).env(PROGRAM, &built));
            const NAME: &str = "test-js in a browser";
            if let Some(browser) = chromium::ready(run, NAME) {
                let mut tests = npm::node_tests(&in_browser);
                run.tests(NAME, tests.env(PROGRAM, &built).env(BROWSER, browser));
            }
        }
        Err(why) => run.missing(TESTS, &format!("can't list the tests: {why}")),
    }
    without_feature(run);
}

fn without_feature(run: &mut Run) {
    const NAME: &str = "test-js without its feature says what is missing";
    let Some(source) = Source::find() else {
        return run.missing(NAME, Source::NONE);
    };
    let build = Build {
        package: PACKAGE,
        target: WASM,
        library: STD,
        arguments: &["--lib", "--no-default-features"],
    };
    let found = match build.command(&source).output() {
        Ok(output) if output.status.success() => Err("it compiles".to_owned()),
        Ok(output) => all_said(&String::from_utf8_lossy(&output.stderr)),
        Err(why) => Err(format!("can't run cargo: {why}")),
    };
    run.found(NAME, found);
}

fn all_said(stderr: &str) -> Result<(), String> {
    match SAID.iter().find(|said| !stderr.contains(*said)) {
        Some(missing) => Err(format!("not said: {missing}\n{stderr}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SAID, all_said};

    #[test]
    fn every_message_is_wanted() {
        assert_eq!(all_said(&SAID.join("\n")), Ok(()));
        for missing in SAID {
            let others = SAID.iter().filter(|said| **said != missing);
            let others: Vec<&str> = others.copied().collect();
            assert!(all_said(&others.join("\n")).unwrap_err().contains(missing));
        }
    }
}
