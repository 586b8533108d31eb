//! A Redis server for the tests that start one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::apt;
use crate::run::Run;
use crate::tools::found_in_path;
use crate::workspace;

/// Names the server to the tests.
pub(crate) const REDIS_SERVER: &str = "REDIS_SERVER";

const SERVER: &str = "redis-server";

/// Debian's package of what people use with a server. Its `redis-check-rdb` is the server, which looks at
/// the name it is called by. The package of the server itself would start one.
const PACKAGE: &str = "redis-tools";

/// What the server is called in the package.
const IN_PACKAGE: &str = "redis-check-rdb";

/// The server, where it is installed or was fetched before.
pub(crate) fn found() -> Option<PathBuf> {
    let fetched = fetched();
    found_in_path(SERVER).or_else(|| fetched.is_file().then_some(fetched))
}

/// The server, fetched if need be; else the step is reported missing.
pub(crate) fn ready(run: &mut Run) -> Option<PathBuf> {
    let server = found().or_else(|| fetch(&fetched()));
    if server.is_none() {
        run.missing(
            "tests with a Redis server",
            "redis-server is missing: install it (Debian: apt-get install redis-server)",
        );
    }
    server
}

fn fetched() -> PathBuf {
    workspace::target_dir().join("redis").join(SERVER)
}

fn fetch(to: &Path) -> Option<PathBuf> {
    let in_package = || found_in_path(IN_PACKAGE);
    let program = in_package().or_else(|| apt::install(&[PACKAGE]).then(in_package).flatten())?;
    fs::create_dir_all(to.parent()?).ok()?;
    // Under its own name it is another program.
    fs::copy(program, to).ok()?;
    Some(to.to_owned())
}
