//! Builds for targets without an operating system, to prove that nothing needs one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Run;
use crate::size;
use crate::tools::{cargo, succeeds};

/// What must build, and what it proves.
const BUILDS: [Build; 5] = [
    Build {
        package: "breaker-core",
        // 32-bit atomics.
        target: "thumbv7em-none-eabi",
        std: false,
        arguments: &["--lib"],
    },
    Build {
        package: "breaker-core",
        // No atomic swap at all.
        target: "thumbv6m-none-eabi",
        std: false,
        arguments: &["--lib", "--features", "critical-section"],
    },
    Build {
        package: "breaker-core",
        target: "wasm32v1-none",
        std: false,
        arguments: &["--lib"],
    },
    Build {
        package: "breakerbox",
        target: "wasm32v1-none",
        std: false,
        arguments: &["--lib", "--no-default-features"],
    },
    Build {
        package: "breakerbox",
        // With std, but without a clock of its own.
        target: "wasm32-unknown-unknown",
        std: true,
        arguments: &["--lib"],
    },
];

/// Something to build for a target.
pub(crate) struct Build {
    pub(crate) package: &'static str,
    pub(crate) target: &'static str,
    pub(crate) std: bool,
    pub(crate) arguments: &'static [&'static str],
}

/// Where the standard library of a target comes from.
pub(crate) enum Source {
    /// Rustup has it.
    Rustup,
    /// It is built by this compiler, whose sources are here.
    Built(PathBuf),
}

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

impl Build {
    fn name(&self) -> String {
        format!("{} for {}", self.package, self.target)
    }

    pub(crate) fn command(&self, source: &Source) -> Command {
        let mut command = cargo();
        command.env("RUSTFLAGS", "-D warnings");
        command.args(["build", "--release", "--package", self.package]);
        command.args(["--target", self.target]).args(self.arguments);
        if let Source::Built(rustc) = source {
            let library = if self.std { "std,panic_abort" } else { "core" };
            command.arg(format!("-Zbuild-std={library}"));
            command.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
        }
        command
    }
}

impl Source {
    /// Why there is none.
    pub(crate) const NONE: &str =
        "neither rustup nor a compiler with its sources can build the standard library";

    /// The compiler, and whose library it links.
    pub(crate) fn describe(&self) -> Option<String> {
        let (rustc, library) = match self {
            Self::Rustup => (Path::new("rustc"), "rustup's library"),
            Self::Built(rustc) => (rustc.as_path(), "a library built with the program"),
        };
        let output = Command::new(rustc).arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = said.split_whitespace().nth(1)?;
        Some(format!("rustc {version}, {library}"))
    }

    pub(crate) fn find() -> Option<Self> {
        rustup(BUILDS.iter().map(|build| build.target)).or_else(from_sources)
    }
}

fn rustup<'a>(targets: impl Iterator<Item = &'a str>) -> Option<Source> {
    let mut add = Command::new("rustup");
    succeeds(add.args(["target", "add"]).args(targets)).then_some(Source::Rustup)
}

/// Debian's compiler for WebAssembly comes with the sources of the library.
fn from_sources() -> Option<Source> {
    let rustc = Path::new("/usr/bin/rustc");
    if !has_sources(rustc) {
        println!("installing rustc-web and rust-web-src");
        let mut update = Command::new("apt-get");
        let mut install = Command::new("apt-get");
        install.env("DEBIAN_FRONTEND", "noninteractive");
        let packages = ["rustc-web", "rust-web-src", "lld-22"];
        let installed = succeeds(update.args(["update", "--quiet"]))
            && succeeds(install.args(["install", "--yes", "--quiet"]).args(packages));
        if !installed {
            return None;
        }
    }
    has_sources(rustc).then(|| Source::Built(rustc.to_owned()))
}

fn has_sources(rustc: &Path) -> bool {
    let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output() else {
        return false;
    };
    let sysroot = String::from_utf8_lossy(&output.stdout);
    let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
    output.status.success() && library.join("core").is_dir()
}
