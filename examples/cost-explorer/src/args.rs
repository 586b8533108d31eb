//! What the program is told.

use std::ffi::OsStr;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: cost-explorer [--store FILE] [--demo] [--outage]
  --store FILE  keep the last good answers here
  --demo        ask the server on loopback, also where there are credentials
  --outage      the server on loopback is down from the start
  --help        this";

/// What the program is told.
#[derive(Debug, Default)]
pub(crate) struct Args {
    /// Where the last good answers are kept.
    pub(crate) store: Option<PathBuf>,
    /// The server on loopback is asked, credentials or not.
    pub(crate) demo: bool,
    /// That server is down from the start.
    pub(crate) outage: bool,
    /// Nothing is asked: it says how it is used.
    pub(crate) help: bool,
}

impl Args {
    /// Of this process.
    pub(crate) fn of_process() -> Result<Self, String> {
        let mut args = Self::default();
        let mut given = std::env::args_os().skip(1);
        while let Some(arg) = given.next() {
            match arg.to_str() {
                Some("--store") => {
                    let file = given.next().filter(|file| is_a_file(file));
                    let file = file.ok_or(format!("--store needs a file\n{USAGE}"))?;
                    args.store = Some(file.into());
                }
                Some("--demo") => args.demo = true,
                Some("--outage") => (args.demo, args.outage) = (true, true),
                Some("--help" | "-h") => args.help = true,
                _ => return Err(format!("what is `{}`?\n{USAGE}", arg.display())),
            }
        }
        Ok(args)
    }
}

/// Not the next option, where the file was forgotten. A file of such a name is `./--demo`.
fn is_a_file(given: &OsStr) -> bool {
    !given.is_empty() && !given.as_encoded_bytes().starts_with(b"--")
}
