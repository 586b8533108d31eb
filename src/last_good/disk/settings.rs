//! How many answers a file keeps, and how often it is written.

use std::time::Duration;

/// How many answers a file keeps, how often it is written, and which version of
/// the answers it holds.
///
/// ```
/// use breakerbox::last_good::{Disk, DiskSettings};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("prices.redb");
/// let settings = DiskSettings::new()
///     .max_answers(500)
///     .save_every(Duration::from_secs(10))
///     .version(2); // prices were in euros before
/// let prices = Disk::<String, u32>::open_with(&path, settings)?;
/// # drop(prices);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until a file is opened with them"]
pub struct DiskSettings {
    pub(super) max_answers: u32,
    pub(super) save_every: Duration,
    pub(super) version: u32,
    /// What stands between the database and the file, in tests.
    #[cfg(test)]
    pub(super) between: Option<super::tests::Between>,
}

impl DiskSettings {
    /// 10,000 answers, each written once a second at most, of version 0.
    pub const fn new() -> Self {
        Self {
            max_answers: 10_000,
            save_every: Duration::from_secs(1),
            version: 0,
            #[cfg(test)]
            between: None,
        }
    }

    /// How many answers are kept at most. Where one more comes, the one that was
    /// saved longest ago goes, in the same write. With 0 no file is opened.
    pub const fn max_answers(mut self, max_answers: u32) -> Self {
        self.max_answers = max_answers;
        self
    }

    /// An answer is written at most so often for each key; one that comes
    /// earlier is not kept, as the file has one that is hardly older, or one is being
    /// written; it waits for nothing. Zero: each is written.
    ///
    /// A write waits until the disk has it, which takes milliseconds: a
    /// function that succeeds a thousand times a second should not do it a
    /// thousand times. After a write that failed, saving is tried again when
    /// this time has passed; until then it gives the same error.
    pub const fn save_every(mut self, time: Duration) -> Self {
        self.save_every = time;
        self
    }

    /// Which version of the answers this program writes. Raise it when a field
    /// means something else from now on, but still has the same name and type:
    /// answers of another version are not served.
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }
}

impl Default for DiskSettings {
    fn default() -> Self {
        Self::new()
    }
}
