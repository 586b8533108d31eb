//! Node and the npm packages of the lock file, and programs that run with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, io};
use thiserror::Error;

use crate::run::Run;
use crate::workspace;

/// The oldest Node that gives `require()` a module: major, minor.
const OLDEST: (u32, u32) = (20, 19);

/// As `OLDEST`, for messages.
const WANTED: &str = "install Node 20.19 or newer, with npm";

const LOCK: &str = "package-lock.json";

/// A copy of the lock file that was installed last.
const INSTALLED: &str = "node_modules/.installed-lock.json";

/// So long may a test file run: one that waits for ever must not hold up a build server.
const TIMEOUT_MS: &str = "--test-timeout=300000";

/// Why no npm package can be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Unready {
    #[error("node is missing: {WANTED}")]
    NoNode,
    #[error("node is {0}, which is too old: {WANTED}")]
    OldNode(String),
    #[error("`npm ci` failed{0}")]
    Install(String),
}

/// True if the packages of the lock file are installed, installing them if need be;
/// else the step `name` is reported missing.
pub(crate) fn ready(run: &mut Run, name: &str) -> bool {
    match install() {
        Ok(()) => true,
        Err(why) => {
            run.missing(name, &why.to_string());
            false
        }
    }
}

/// Installs the packages of the lock file, unless they are. Tried once.
pub(crate) fn install() -> Result<(), Unready> {
    static TRIED: OnceLock<Result<(), Unready>> = OnceLock::new();
    TRIED.get_or_init(|| install_in(&workspace::root())).clone()
}

/// Node, started in the workspace's root.
pub(crate) fn node() -> Command {
    let mut node = Command::new("node");
    node.current_dir(workspace::root());
    node
}

/// Node on a TypeScript program, by its path in the workspace.
pub(crate) fn typescript(program: &str) -> Command {
    let mut node = node();
    node.args(["--import", "tsx", program]);
    node
}

/// A program that an npm package brings along, started in the workspace's root.
pub(crate) fn tool(name: &str) -> Command {
    let root = workspace::root();
    let mut tool = Command::new(root.join("node_modules/.bin").join(name));
    tool.current_dir(root);
    tool
}

/// Node's own runner on TypeScript tests; `Tally` reads what it says at the end.
pub(crate) fn node_tests(files: &[PathBuf]) -> Command {
    let mut node = node();
    node.args(["--import", "tsx", "--test", "--test-reporter=spec"]);
    node.arg(TIMEOUT_MS).args(files);
    node
}

/// The files `*.test.ts` under a folder of the workspace, sorted.
pub(crate) fn test_files(folder: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect_tests(&workspace::root().join(folder), &mut files)?;
    files.sort();
    Ok(files)
}

fn collect_tests(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_tests(&path, files)?;
        } else if path.to_string_lossy().ends_with(".test.ts") {
            files.push(path);
        }
    }
    Ok(())
}

fn install_in(root: &Path) -> Result<(), Unready> {
    check_node(&said(Command::new("node").arg("--version")).ok_or(Unready::NoNode)?)?;
    let lock = fs::read(root.join(LOCK)).map_err(|why| Unready::Install(format!(": {why}")))?;
    if is_installed(root, &lock) {
        return Ok(());
    }
    println!("installing npm packages");
    let mut install = Command::new("npm");
    install.current_dir(root).args(["ci", "--silent"]);
    install.stdout(Stdio::null());
    match install.status() {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(Unready::Install(String::new())),
        Err(why) => return Err(Unready::Install(format!(": {why}"))),
    }
    fs::write(root.join(INSTALLED), lock).map_err(|why| Unready::Install(format!(": {why}")))
}

/// npm empties the folder before it installs, so the copy is there only after it was done.
fn is_installed(root: &Path, lock: &[u8]) -> bool {
    fs::read(root.join(INSTALLED)).is_ok_and(|installed| installed == lock)
}

/// `version` is what `node --version` says: `v20.19.0`.
fn check_node(version: &str) -> Result<(), Unready> {
    let mut numbers = version.trim_start_matches('v').split('.');
    let mut next = || numbers.next()?.parse::<u32>().ok();
    match (next(), next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(()),
        _ => Err(Unready::OldNode(version.to_owned())),
    }
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{Unready, check_node, is_installed, test_files};
    use crate::workspace;
    use std::fs;

    #[test]
    fn old_nodes_are_refused() {
        for version in ["v20.19.0", "v20.20.2", "v22.0.0", "v100.1.1"] {
            assert_eq!(check_node(version), Ok(()), "{version}");
        }
        for version in ["v20.18.3", "v18.20.0", "", "v20", "node"] {
            let old = Err(Unready::OldNode(version.to_owned()));
            assert_eq!(check_node(version), old, "{version}");
        }
        let told = Unready::OldNode("v18.20.0".to_owned()).to_string();
        assert_eq!(
            told,
            "node is v18.20.0, which is too old: install Node 20.19 or newer, with npm"
        );
    }

    #[test]
    fn only_the_lock_file_that_was_installed_is_installed() {
        let root = std::env::temp_dir().join(format!("xtask-npm-{}", std::process::id()));
        fs::create_dir_all(root.join("node_modules")).unwrap();
        assert!(!is_installed(&root, b"a"));
        fs::write(root.join(super::INSTALLED), "a").unwrap();
        assert!(is_installed(&root, b"a"));
        assert!(!is_installed(&root, b"b"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_lock_file_names_no_host() {
        let lock = fs::read_to_string(workspace::root().join(super::LOCK)).unwrap();
        for line in lock.lines().filter(|line| line.contains("\"resolved\"")) {
            assert!(!line.contains("://"), "{line}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_tests() {
        assert!(test_files("no such folder").is_err());
    }
}
