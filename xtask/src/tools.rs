//! The tools beside rustc that jobs need, and how they get here.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::run::Run;

/// A subcommand of cargo that comes as a component of rustup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    subcommand: &'static str,
    component: &'static str,
}

pub(crate) const FMT: Tool = Tool {
    subcommand: "fmt",
    component: "rustfmt",
};

pub(crate) const CLIPPY: Tool = Tool {
    subcommand: "clippy",
    component: "clippy",
};

impl Tool {
    /// True if the tool is here, installing it if need be; else the step `name` is reported missing.
    pub(crate) fn ready(self, run: &mut Run, name: &str) -> bool {
        let ready = self.is_here() || (self.install() && self.is_here());
        if !ready {
            let component = self.component;
            run.missing(
                name,
                &format!("{component} is missing: rustup component add {component}"),
            );
        }
        ready
    }

    fn is_here(self) -> bool {
        succeeds(cargo().args([self.subcommand, "--version"]))
    }

    fn install(self) -> bool {
        println!("installing {}", self.component);
        succeeds(Command::new("rustup").args(["component", "add", self.component]))
    }
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(crate::workspace::root());
    command
}

/// Where a program is, of those that are started by name.
pub(crate) fn found_in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|program| program.is_file())
}

pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
