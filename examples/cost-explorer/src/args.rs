//! What the program is told.

use std::path::PathBuf;

const USAGE: &str = "usage: cost-explorer [--store FILE] [--demo] [--outage]
  --store FILE  keep the last good answers here
  --demo        ask the server on loopback, also where there are credentials
  --outage      the server on loopback is down from the start";

/// What the program is told.
#[derive(Debug, Default)]
pub(crate) struct Args {
    /// Where the last good answers are kept.
    pub(crate) store: Option<PathBuf>,
    /// The server on loopback is asked, credentials or not.
    pub(crate) demo: bool,
    /// That server is down from the start.
    pub(crate) outage: bool,
}

impl Args {
    /// Of this process.
    pub(crate) fn of_process() -> Result<Self, String> {
        let mut args = Self::default();
        let mut given = std::env::args_os().skip(1);
        while let Some(arg) = given.next() {
            match arg.to_str() {
                Some("--store") => {
                    let file = given
                        .next()
                        .ok_or(format!("--store needs a file\n{USAGE}"))?;
                    args.store = Some(file.into());
                }
                Some("--demo") => args.demo = true,
                Some("--outage") => (args.demo, args.outage) = (true, true),
                _ => return Err(format!("what is {}?\n{USAGE}", arg.display())),
            }
        }
        Ok(args)
    }
}
