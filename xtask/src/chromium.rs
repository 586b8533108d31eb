//! A browser for the tests that need one.

use std::env;
use std::path::PathBuf;

use crate::apt;
use crate::run::Run;

/// What it is called on the systems that have it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Where Debian's package puts it.
const FOLDER: &str = "/usr/bin";

/// The browser, installed if need be; else the step `name` is reported missing.
pub(crate) fn ready(run: &mut Run, name: &str) -> Option<PathBuf> {
    let found = find().or_else(|| apt::install(&["chromium"]).then(find).flatten());
    if found.is_none() {
        run.missing(
            name,
            "chromium is missing: install it (Debian: apt-get install chromium)",
        );
    }
    found
}

fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain([PathBuf::from(FOLDER)])
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|program| program.is_file())
}
