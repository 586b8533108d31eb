//! `cargo xtask edge-worker`: the example at the edge, by hand and under test.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use thiserror::Error;

use crate::npm::{self, Unready};
use crate::run::Run;
use crate::tools::cargo;
use crate::wasm;
use crate::workspace;

/// Where the example is, with the tests of both halves.
pub(crate) const FOLDER: &str = "examples/edge-worker";

/// Tell the tests which half, and where what it needs was built.
const HALF: &str = "EDGE_WORKER";
const BUILT: &str = "EDGE_WORKER_BUILT";

/// The same worker in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Rust,
    TypeScript,
}

impl Half {
    const ALL: [Self; 2] = [Self::Rust, Self::TypeScript];

    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::TypeScript => "typescript",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|half| half.name() == name)
    }

    /// The package that is built for it.
    fn package(self) -> &'static str {
        match self {
            Self::Rust => "edge-worker-rust",
            Self::TypeScript => wasm::PACKAGE,
        }
    }

    /// Where it is built.
    fn built(self) -> PathBuf {
        match self {
            Self::Rust => {
                let bound = workspace::target_dir().join("wasm-bindgen");
                bound.join(self.package())
            }
            Self::TypeScript => workspace::root().join(wasm::PACKAGE).join("dist"),
        }
    }

    /// The job of xtask that builds it.
    fn build(self) -> Command {
        let mut build = cargo();
        build.args(["xtask", "wasm"]);
        if self == Self::Rust {
            build.args([self.package(), "bundler"]).arg(self.built());
        }
        build
    }
}

/// Why it doesn't start.
#[derive(Debug, Error)]
enum Unstarted {
    #[error(transparent)]
    Npm(#[from] Unready),
    #[error("{0} can't be built")]
    Unbuilt(&'static str),
    #[error("{FOLDER}/run.ts ended badly")]
    Ended,
}

pub(crate) fn job(options: &[String]) -> ExitCode {
    let half = match options {
        [] => Some(Half::Rust),
        [name] => Half::named(name),
        _ => None,
    };
    let Some(half) = half else {
        let names = Half::ALL.map(Half::name).join(" | ");
        eprintln!("usage: cargo xtask edge-worker [{names}]");
        return ExitCode::from(2);
    };
    match start(half) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("can't start it: {why}");
            ExitCode::FAILURE
        }
    }
}

fn start(half: Half) -> Result<(), Unstarted> {
    npm::install()?;
    let built = half.build().status().is_ok_and(|status| status.success());
    if !built {
        return Err(Unstarted::Unbuilt(half.package()));
    }
    let mut run = npm::typescript(&format!("{FOLDER}/run.ts"));
    run.arg(half.name()).arg(half.built());
    let ended = run.status().is_ok_and(|status| status.success());
    ended.then_some(()).ok_or(Unstarted::Ended)
}

/// Each half in workerd, against a PMS that fails.
pub(crate) fn all(run: &mut Run) {
    for half in Half::ALL {
        let name = format!("edge-worker in workerd: {}", half.name());
        if !npm::ready(run, &name) {
            return;
        }
        // The npm package was built before.
        if half == Half::Rust {
            let name = format!("{} as a module", half.package());
            run.step(&name, &mut half.build());
        }
        match npm::test_files(&format!("{FOLDER}/tests")) {
            Ok(files) => {
                let mut tests = npm::node_tests(&files);
                tests.env(HALF, half.name()).env(BUILT, half.built());
                run.tests(&name, &mut tests);
            }
            Err(why) => run.missing(&name, &format!("can't list the tests: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Half;

    #[test]
    fn halves_are_known_by_their_names() {
        for half in Half::ALL {
            assert_eq!(Half::named(half.name()), Some(half));
        }
        for name in ["", "Rust", "go"] {
            assert_eq!(Half::named(name), None);
        }
    }
}
