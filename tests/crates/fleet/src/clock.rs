//! A host whose clock is wrong: Debian's `libfaketime` between a process and the time of day.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::NamedTempFile;

/// The time of day of some processes.
#[derive(Debug)]
pub struct Clock {
    library: PathBuf,
    offset: NamedTempFile,
}

impl Clock {
    /// Off by so much, as `libfaketime` writes it: `+5h`, `-90m`. `None` where it isn't installed.
    ///
    /// # Panics
    /// If no file can be written.
    #[must_use]
    pub fn off_by(offset: &str) -> Option<Self> {
        // In a folder for each architecture.
        let folders = fs::read_dir("/usr/lib").ok()?.flatten();
        let library = folders
            .map(|folder| folder.path().join("faketime/libfaketime.so.1"))
            .find(|library| library.is_file())?;
        let file = NamedTempFile::with_prefix("clock-").expect("a file");
        let clock = Self {
            library,
            offset: file,
        };
        clock.jumps_to(offset);
        Some(clock)
    }

    /// From now on off by so much.
    ///
    /// # Panics
    /// If its file can't be written.
    pub fn jumps_to(&self, offset: &str) {
        fs::write(self.offset.path(), offset).expect("the clock's file");
    }

    /// For this process.
    pub fn set(&self, command: &mut Command) {
        // jemalloc asks for the time before the library is ready: the C library's own memory instead.
        let preload = format!("{} libc.so.6", self.library.display());
        command.env("LD_PRELOAD", preload);
        command.env("FAKETIME_TIMESTAMP_FILE", self.offset.path());
        command.env("FAKETIME_NO_CACHE", "1");
        // Monotonic time goes on as it does: what is off is the time of day.
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("DONT_FAKE_MONOTONIC", "1");
    }
}
