//! The status page in a browser: a server of `tests/crates/status-page`, and what is looked at there.

use crate::chromium;
use crate::javascript::BROWSER;
use crate::npm;
use crate::run::Run;
use crate::tools::cargo;
use crate::workspace;

/// Where the package is, with its TypeScript tests; its types are those of the page's script too.
pub(crate) const FOLDER: &str = "tests/crates/status-page";

/// What the page itself is made of: files that are served as they are.
pub(crate) const PAGE: &str = "src/status_page/page";

const PACKAGE: &str = "test-status-page";

/// Its program, for the tests to start.
const SERVER: &str = "serve";

/// Tells the tests where the program is.
const PROGRAM: &str = "STATUS_PAGE";

pub(crate) fn all(run: &mut Run) {
    const NAME: &str = "status page in a browser";
    if !npm::ready(run, NAME) {
        return;
    }
    let mut build = cargo();
    build.args(["build", "--package", PACKAGE, "--bin", SERVER]);
    run.step("status page's server", &mut build);
    let server = workspace::target_dir().join("debug").join(SERVER);
    match npm::test_files(&format!("{FOLDER}/tests")) {
        Ok(files) => {
            if let Some(browser) = chromium::ready(run, NAME) {
                let mut tests = npm::node_tests(&files);
                run.tests(NAME, tests.env(PROGRAM, server).env(BROWSER, browser));
            }
        }
        Err(why) => run.missing(NAME, &format!("can't list the tests: {why}")),
    }
}
