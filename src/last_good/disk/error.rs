//! What can go wrong with a file of last-good answers.

use super::super::SettingError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why an answer could not be saved or loaded, or the file not opened. None of
/// these takes an answer away that was saved before.
///
/// ```
/// use breakerbox::last_good::{Disk, DiskError};
///
/// let missing = Disk::<String, u32>::open("/nowhere/at/all/prices.redb").unwrap_err();
/// assert!(matches!(missing, DiskError::MissingDirectory { .. }));
/// assert_eq!(
///     missing.to_string(),
///     "no directory for the last-good answers in `/nowhere/at/all/prices.redb`: make it first",
/// );
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The directory that the file would be in is not there.
    #[error("no directory for the last-good answers in `{}`: make it first", path.display())]
    #[non_exhaustive]
    MissingDirectory {
        /// The file that was to be opened.
        path: PathBuf,
    },

    /// The operating system doesn't allow it.
    #[error("not allowed to use `{}` for last-good answers", path.display())]
    #[non_exhaustive]
    Permission {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: Arc<io::Error>,
    },

    /// The file is open already, here or in another process: one at a time may
    /// write to it.
    #[error(
        "the last-good answers in `{}` are open already, in this process or another: share one `Disk` by cloning it",
        path.display()
    )]
    #[non_exhaustive]
    InUse {
        /// The file.
        path: PathBuf,
    },

    /// The file, or directory, is something else. It is left as it is.
    #[error("`{}` is no file of last-good answers: name another, or move it away", path.display())]
    #[non_exhaustive]
    NotOurs {
        /// The file.
        path: PathBuf,
    },

    /// The file was written in a format that this version doesn't know.
    #[error(
        "the last-good answers in `{}` have format {found}, this version knows {}: use the version that wrote them, or another file",
        path.display(),
        super::tables::FORMAT
    )]
    #[non_exhaustive]
    Format {
        /// The file.
        path: PathBuf,
        /// The format's number.
        found: u64,
    },

    /// The file is damaged, and could not be repaired.
    #[error(
        "the last-good answers in `{}` are damaged ({detail}): `Disk::open_or_replace` moves the file aside and keeps what is undamaged",
        path.display()
    )]
    #[non_exhaustive]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: Arc<str>,
    },

    /// This one answer is damaged: its checksum doesn't fit. The next one that
    /// is saved takes its place.
    #[error("a last-good answer in `{}` is damaged: its checksum doesn't fit", path.display())]
    #[non_exhaustive]
    Damaged {
        /// The file.
        path: PathBuf,
    },

    /// There is no room on the disk, or the file may not grow.
    #[error("no room to save a last-good answer in `{}`", path.display())]
    #[non_exhaustive]
    Full {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: Arc<io::Error>,
    },

    /// The file could not be read or written for another reason.
    #[error("can't read or write the last-good answers in `{}`", path.display())]
    #[non_exhaustive]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: Arc<io::Error>,
    },

    /// Somebody moved or removed the file while it was open. What is in it can be
    /// loaded still; nothing is saved in it, as that would be lost with it.
    #[error(
        "`{}` was moved or removed while its last-good answers were in use: open it again",
        path.display()
    )]
    #[non_exhaustive]
    Gone {
        /// Where the file was.
        path: PathBuf,
    },

    /// A key or an answer can't be written so that it would be read back as
    /// it was.
    #[error("{what} can't be saved: {why}")]
    #[non_exhaustive]
    Encode {
        /// `the key` or `the answer`.
        what: &'static str,
        /// Why not.
        why: Arc<str>,
    },

    /// The answer was saved as another type, or under another
    /// [`version`](super::DiskSettings::version), or by a program whose type
    /// had other fields. The next one that is saved takes its place.
    #[error("a last-good answer in `{}` was saved by a program whose answers are other ones: {why}", path.display())]
    #[non_exhaustive]
    Decode {
        /// The file.
        path: PathBuf,
        /// Why it can't be read.
        why: Arc<str>,
    },

    /// The answer is, by this computer's clock, from a future that no small
    /// step of the clock explains, so that nobody can say how old it is. It is
    /// served again once the clock is right.
    #[error("a last-good answer in `{}` is from {by:?} in the future: is the clock right?", path.display())]
    #[non_exhaustive]
    Future {
        /// The file.
        path: PathBuf,
        /// How far in the future.
        by: Duration,
    },

    /// The database gave up on what it found in the file. This handle does
    /// nothing more; opening the file anew looks at all of it.
    #[error("the database gave up on the last-good answers in `{}` ({detail}): open it again", path.display())]
    #[non_exhaustive]
    GaveUp {
        /// The file.
        path: PathBuf,
        /// What it said.
        detail: Arc<str>,
    },

    /// With these settings no answer could ever be served.
    #[error(transparent)]
    Setting(#[from] SettingError),

    /// The async runtime was shut down before the file was read or written.
    #[error("the async runtime ended before the last-good answers in `{}` could be used", path.display())]
    #[non_exhaustive]
    RuntimeEnded {
        /// The file.
        path: PathBuf,
    },
}

impl DiskError {
    /// Of an operation on the file that failed.
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        let kind = error.kind();
        let source = Arc::new(error);
        match kind {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path, source }
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::Permission { path, source }
            }
            // The file ends where the database knows of more.
            ErrorKind::UnexpectedEof => Self::corrupt(&path, "it was cut short"),
            _ => Self::Io { path, source },
        }
    }

    pub(super) fn corrupt(path: &Path, detail: impl Into<Arc<str>>) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}
