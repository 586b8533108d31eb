//! Builds for targets other than this machine, and where their standard library comes from.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt;
use crate::tools::{cargo, succeeds};

/// All that anything is built for.
const TARGETS: [&str; 4] = [
    "thumbv6m-none-eabi",
    "thumbv7em-none-eabi",
    WASM,
    "wasm32v1-none",
];

/// WebAssembly beside JavaScript.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Programs without an allocator.
pub(crate) const CORE: &str = "core";

/// Programs on the standard library, or on a part of it.
pub(crate) const STD: &str = "std,panic_abort";

/// Something to build for a target.
pub(crate) struct Build<'a> {
    pub(crate) package: &'a str,
    pub(crate) target: &'static str,
    /// What of the standard library it uses: `CORE` or `STD`.
    pub(crate) library: &'static str,
    pub(crate) arguments: &'static [&'static str],
}

/// Where the standard library of a target comes from.
pub(crate) enum Source {
    /// Rustup has it.
    Rustup,
    /// It is built by this compiler, whose sources are here.
    Built(PathBuf),
}

impl Build<'_> {
    pub(crate) fn name(&self) -> String {
        format!("{} for {}", self.package, self.target)
    }

    pub(crate) fn command(&self, source: &Source) -> Command {
        self.command_as(source, "release", "")
    }

    /// As `command`, in a profile of cargo, with more flags for rustc.
    pub(crate) fn command_as(&self, source: &Source, profile: &str, flags: &str) -> Command {
        let mut command = cargo();
        command.env("RUSTFLAGS", format!("-D warnings {flags}"));
        command.args(["build", "--profile", profile, "--package", self.package]);
        command.args(["--target", self.target]).args(self.arguments);
        if let Source::Built(rustc) = source {
            command.arg(format!("-Zbuild-std={}", self.library));
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
        rustup().or_else(from_sources)
    }
}

fn rustup() -> Option<Source> {
    let mut add = Command::new("rustup");
    succeeds(add.args(["target", "add"]).args(TARGETS)).then_some(Source::Rustup)
}

/// Debian's compiler for WebAssembly comes with the sources of the library.
fn from_sources() -> Option<Source> {
    let rustc = Path::new("/usr/bin/rustc");
    if !has_sources(rustc) {
        apt::install(&["rustc-web", "rust-web-src", "lld-22"]);
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
