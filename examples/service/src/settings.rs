//! Settings of circuits that are changed without a deploy: from the environment when it starts, and from a
//! file, which is read again at `SIGHUP`.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use breakerbox::registry::{self, Configured, Happened, News};
use tokio::task::JoinHandle;

use crate::Trouble;

/// Settings hold from here on. They wait for circuits that are not there yet, as none is before its first
/// call.
///
/// # Errors
/// Every mistake in them: it is better not to start than to run with others than were meant.
pub fn apply(file: Option<&Path>) -> Result<(), Trouble> {
    registry::configure_from_env()?;
    if let Some(file) = file {
        registry::configure_from_file(file)?;
    }
    Ok(())
}

/// Reads the file again whenever it is told to. A bad file changes nothing, and ends nothing.
#[derive(Debug)]
pub struct Reloading(JoinHandle<()>);

impl Reloading {
    /// Begins to listen.
    ///
    /// # Errors
    /// Where the system has no signals for it.
    pub fn at_hangups(file: PathBuf) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let mut hangups = signal(SignalKind::hangup())?;
            Ok(Self(tokio::spawn(async move {
                while hangups.recv().await.is_some() {
                    match registry::configure_from_file(&file) {
                        Ok(configured) => say(Read(&file, &configured)),
                        Err(error) => say(error),
                    }
                }
            })))
        }
        #[cfg(not(unix))]
        {
            drop(file);
            Ok(Self(tokio::spawn(async {})))
        }
    }
}

impl Drop for Reloading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Says what of the settings, and of states that were kept, turns out to be wrong for a circuit once it is
/// there: before its first call nobody knows what it was declared with.
#[derive(Debug)]
pub struct Problems(JoinHandle<()>);

impl Problems {
    /// Says them from here on.
    #[must_use]
    pub fn say() -> Self {
        let mut watch = registry::watch();
        Self(tokio::spawn(async move {
            let mut said = Vec::new();
            loop {
                let heard = watch.changed().await;
                let is_one = |news: &News| matches!(news.what, Happened::Problem);
                if heard.missed == 0 && !heard.news.iter().any(is_one) {
                    continue;
                }
                let problems = registry::problems();
                let new = problems.iter().filter(|problem| !said.contains(*problem));
                new.for_each(say);
                said = problems;
            }
        }))
    }
}

impl Drop for Problems {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a file said.
struct Read<'a>(&'a Path, &'a Configured);

impl Display for Read<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(file, configured) = self;
        let names = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        write!(
            f,
            "{} was read: it holds for {}; no circuit yet: {}; as declared again: {}",
            file.display(),
            names(&configured.applied),
            names(&configured.waiting),
            names(&configured.withdrawn)
        )
    }
}

fn say(line: impl Display) {
    // There is nobody to tell that it could not be written.
    let _ = writeln!(io::stderr(), "{line}");
}
