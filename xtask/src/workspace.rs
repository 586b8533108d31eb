//! What the workspace holds, read from its files, so that nothing new is left out.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folder of the root manifest: as cargo says when it runs this, since a folder of what was built
/// may have been moved here from another clone.
pub(crate) fn root() -> PathBuf {
    let built_in = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(built_in, PathBuf::from);
    root.pop();
    root
}

/// The folder that cargo builds in.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The features that a package's manifest declares, without `default`.
pub(crate) fn features(package: &Path) -> io::Result<Vec<String>> {
    Ok(declared_features(&fs::read_to_string(
        package.join("Cargo.toml"),
    )?))
}

fn declared_features(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()))
        .filter(|name| name != "default")
        .collect()
}

/// Packages of tests with real clients. They are run with all others: what these turn on in
/// `breakerbox` changes nothing for them, and a heavy client is built once.
const WITH_CLIENTS: [&str; 3] = [
    "examples/cost-explorer",
    "examples/service",
    "tests/crates/aws",
];

/// The names of all integration tests of the workspace's packages, sorted; of those in folders within
/// folders, only [`WITH_CLIENTS`].
pub(crate) fn integration_tests(root: &Path) -> io::Result<Vec<String>> {
    let mut names = tests_of(root)?;
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        if folder.join("Cargo.toml").is_file() {
            names.extend(tests_of(&folder)?);
        }
    }
    for package in WITH_CLIENTS {
        names.extend(tests_of(&root.join(package))?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn tests_of(package: &Path) -> io::Result<Vec<String>> {
    let folder = package.join("tests");
    let mut names = Vec::new();
    if !folder.is_dir() {
        return Ok(names);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_test = path.extension().is_some_and(|extension| extension == "rs")
            || path.join("main.rs").is_file();
        if let (true, Some(name)) = (is_test, path.file_stem()) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::{WITH_CLIENTS, declared_features, features, integration_tests, root, tests_of};

    #[test]
    fn features_end_with_their_section() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"std\"]\n# why\nstd = []\nlog = [\"dep:log\"]\n\n[dependencies]\nlog = \"1\"\n";
        assert_eq!(declared_features(manifest), ["std", "log"]);
        assert!(declared_features("[package]\nname = \"a\"").is_empty());
    }

    #[test]
    fn finds_this_workspace() {
        assert!(features(&root()).unwrap().contains(&"tokio".to_owned()));
        assert!(
            integration_tests(&root())
                .unwrap()
                .contains(&"conformance".to_owned())
        );
    }

    #[test]
    fn finds_the_tests_with_clients() {
        for package in WITH_CLIENTS {
            let tests = tests_of(&root().join(package)).unwrap();
            assert!(!tests.is_empty(), "{package} has no tests");
        }
    }
}
