//! A service in a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::Trouble;
use crate::places::Places;

/// How a service is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setup {
    /// Without breakers.
    Unguarded,
    /// With them, and nothing else.
    Breakers,
    /// With logs, a span for each call, metrics, and the status page open.
    Everything,
}

impl Setup {
    pub(super) const ALL: [Self; 3] = [Self::Unguarded, Self::Breakers, Self::Everything];

    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Unguarded => &["--unguarded", "--bare"],
            Self::Breakers => &["--bare"],
            // Standard error is thrown away: logs are made and written all the same.
            Self::Everything => &["--log", "json"],
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unguarded => "unguarded",
            Self::Breakers => "breakers alone",
            Self::Everything => "everything on",
        }
    }
}

/// Waits of a tenth of a second.
const SOON: [(&str, &str); 5] = [
    ("BREAKERBOX__PMS__RESET", "100ms"),
    ("BREAKERBOX__PMS__MAX_RESET", "100ms"),
    ("BREAKERBOX__RATES__RESET", "100ms"),
    ("BREAKERBOX__PAYMENTS__RESET", "100ms"),
    ("BREAKERBOX__REVIEWS__RESET", "100ms"),
];

/// A running service; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) setup: Setup,
    pub(super) front: SocketAddr,
    pub(super) operations: SocketAddr,
    child: Child,
    /// Never read again, and never closed before the service ends: what it prints has to go somewhere.
    _output: Output,
}

type Output = Lines<BufReader<ChildStdout>>;

impl Process {
    pub(super) fn start(setup: Setup, places: &Places) -> Result<Self, Trouble> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve").args(setup.args()).args(places.args());
        let mut child = command
            // After an outage circuits close soon.
            .envs(SOON)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (front, operations, output) = match addresses(&mut child) {
            Ok(addresses) => addresses,
            Err(error) => {
                end(&mut child);
                return Err(error);
            }
        };
        Ok(Self {
            setup,
            front,
            operations,
            child,
            _output: output,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The time that its threads have run so far. `None` where the system doesn't say (Linux does).
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        ran(format!("/proc/{}/task", self.id()).as_ref())
    }
}

/// The time that these threads have run. One may end between the list and the look at it.
fn ran(threads: &Path) -> Option<Duration> {
    let mut time = None;
    for thread in fs::read_dir(threads).ok()?.flatten() {
        let Ok(stat) = fs::read_to_string(thread.path().join("schedstat")) else {
            continue;
        };
        let nanos = stat.split_whitespace().next()?.parse().ok()?;
        time = Some(time.unwrap_or_default() + Duration::from_nanos(nanos));
    }
    time
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// Where it says that it is: in its first lines.
fn addresses(child: &mut Child) -> Result<(SocketAddr, SocketAddr, Output), Trouble> {
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut address = |of: &str| -> Result<SocketAddr, Trouble> {
        let line = lines.next().ok_or("the service did not start")??;
        let url = line.strip_prefix(of).ok_or("an address was expected")?;
        let url = url.trim().strip_prefix("http://").ok_or("no address")?;
        Ok(url.split('/').next().unwrap_or_default().parse()?)
    };
    let (front, operations) = (address("guests")?, address("status page")?);
    Ok((front, operations, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_meanwhile_takes_no_others_time_away() -> Result<(), Trouble> {
        let threads = tempfile::tempdir()?;
        assert_eq!(ran(threads.path()), None);
        fs::create_dir(threads.path().join("1"))?;
        assert_eq!(ran(threads.path()), None, "the system doesn't say");
        for (thread, stat) in [("2", "500 3 1\n"), ("3", "70 0 1\n")] {
            fs::create_dir(threads.path().join(thread))?;
            fs::write(threads.path().join(thread).join("schedstat"), stat)?;
        }
        assert_eq!(ran(threads.path()), Some(Duration::from_nanos(570)));
        Ok(())
    }
}
