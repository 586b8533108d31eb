//! `cargo xtask edge-worker`: the example at the edge, by hand and under test.

use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

use crate::npm::{self, Unready};
use crate::run::Run;
use crate::tools::cargo;
use crate::wasm::bindgen::{Glue, Module, Unbuilt};
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
}

impl Half {
    const ALL: [Self; 1] = [Self::Rust];

    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|half| half.name() == name)
    }

    /// The package that is built as a module.
    fn package(self) -> &'static str {
        match self {
            Self::Rust => "edge-worker-rust",
        }
    }

    /// Where it is built.
    fn built(self) -> PathBuf {
        let bound = workspace::target_dir().join("wasm-bindgen");
        bound.join(self.package())
    }

    fn module(self) -> Module<'static> {
        Module {
            package: self.package(),
            profile: "release",
            flags: "",
            glue: Glue::Bundler,
        }
    }
}

/// Why it doesn't start.
#[derive(Debug, Error)]
enum Unstarted {
    #[error(transparent)]
    Npm(#[from] Unready),
    #[error(transparent)]
    Module(#[from] Unbuilt),
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
    half.module().make(&half.built())?;
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
        let mut build = cargo();
        build.args(["xtask", "wasm", half.package(), "bundler"]);
        run.step(
            &format!("{} as a module", half.package()),
            build.arg(half.built()),
        );
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
