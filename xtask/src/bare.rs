//! Builds for targets without an operating system, to prove that nothing needs one.

use crate::run::Run;
use crate::size;
use crate::target::{Build, CORE, STD, Source};

/// What must build, and what it proves.
const BUILDS: [Build<'static>; 6] = [
    Build {
        package: "breaker-core",
        // 32-bit atomics.
        target: "thumbv7em-none-eabi",
        library: CORE,
        arguments: &["--lib"],
    },
    Build {
        package: "breaker-core",
        // No atomic swap at all.
        target: "thumbv6m-none-eabi",
        library: CORE,
        arguments: &["--lib", "--features", "critical-section"],
    },
    Build {
        package: "breaker-core",
        target: "wasm32v1-none",
        library: CORE,
        arguments: &["--lib"],
    },
    Build {
        package: "breakerbox",
        target: "wasm32v1-none",
        library: CORE,
        arguments: &["--lib", "--no-default-features"],
    },
    Build {
        package: "breakerbox",
        // With std, but without a clock of its own.
        target: "wasm32-unknown-unknown",
        library: STD,
        arguments: &["--lib"],
    },
    Build {
        package: "breakerbox",
        // The clients that there are in a browser.
        target: "wasm32-unknown-unknown",
        library: STD,
        arguments: &["--lib", "--features", "js,reqwest"],
    },
];

pub(crate) fn build_all(run: &mut Run) {
    let Some(source) = Source::find() else {
        return run.missing("bare targets", Source::NONE);
    };
    for build in &BUILDS {
        run.step(&build.name(), &mut build.command(&source));
    }
    // Linked, which the libraries alone aren't.
    for build in &size::BUILDS {
        let mut command = build.command(&source);
        size::optimise(&mut command, "z");
        run.step(&build.name(), &mut command);
        let name = format!("{} can't panic", build.name());
        run.found(&name, size::cannot_panic(build));
    }
}
