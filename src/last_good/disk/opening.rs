//! Opening a file, making one, and moving a damaged one aside.

use super::backing::Backing;
use super::error::DiskError;
use super::salvage;
use super::settings::DiskSettings;
use super::tables::{Change, Fault, MARK, Open};
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file, and how it is used.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) settings: DiskSettings,
}

/// A damaged file was moved aside, and a new one begun.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replaced {
    /// Where the damaged file is now: beside its old place, with a name that says
    /// when.
    pub moved_to: PathBuf,
    /// What was wrong with it.
    pub why: DiskError,
    /// How many answers in it were undamaged: the new file has them.
    pub kept: u64,
}

/// A file in which one is made.
struct Beside {
    path: PathBuf,
    file: Backing,
}

impl Place {
    /// Opens the file. It is made if it isn't there.
    pub(super) fn open(&self) -> Result<Open, DiskError> {
        loop {
            match self.open_file(true) {
                Ok(file) if length(&file) == Some(0) => {}
                Ok(file) => return self.existing(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(self.error(Fault::Io(error))),
            }
            if let Some(open) = self.create()? {
                return Ok(open);
            }
        }
    }

    /// Opens the file, which is there, as it was once before.
    pub(super) fn open_again(&self) -> Result<Open, DiskError> {
        let file = self.open_file(true);
        self.existing(file.map_err(|error| self.error(Fault::Io(error)))?)
    }

    /// Whether the file is where it was when it was opened: what is written to one
    /// that has no name any more is lost.
    pub(super) fn check(&self, file: Identity) -> Result<(), Fault> {
        match fs::metadata(&self.path) {
            Ok(there) if identity(&there) != file => Err(Fault::Gone),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Fault::Gone),
            // What else is wrong the write will find.
            _ => Ok(()),
        }
    }

    /// Opens the file without writing to it.
    pub(super) fn view(&self) -> Result<Open, DiskError> {
        let file = self.open_file(false).map_err(Fault::Io);
        let backing = file.and_then(|file| Ok(self.lock(file)?.into_view()?));
        let open = backing.and_then(Open::existing);
        open.map_err(|fault| self.while_opening(fault))
    }

    fn existing(&self, file: File) -> Result<Open, DiskError> {
        let there = file.metadata().map_err(Fault::Io);
        let there = there.map_err(|fault| self.error(fault))?;
        // A directory, a pipe, a device.
        if !there.is_file() {
            return Err(self.error(Fault::NotOurs));
        }
        let open = self.lock(file).and_then(|file| {
            if !is_ours(&file)? {
                return Err(Fault::NotOurs);
            }
            let mut open = Open::existing(file)?;
            open.identity = identity(&there);
            Ok(open)
        });
        open.map_err(|fault| self.while_opening(fault))
    }

    /// Makes the file beside its place, and moves it there when it is complete:
    /// so it is there whole or not at all. None if it is there meanwhile.
    pub(super) fn create(&self) -> Result<Option<Open>, DiskError> {
        // Who holds the lock makes the file, or finds that it was made.
        let beside = self.beside()?;
        if fs::metadata(&self.path).is_ok_and(|there| there.len() > 0) {
            let _ = fs::remove_file(&beside.path);
            return Ok(None);
        }
        self.make(beside, |_| Ok(())).map(Some)
    }

    /// Moves a damaged file aside, and makes one with the answers that are undamaged.
    pub(super) fn replace(&self, why: DiskError) -> Result<(Open, Replaced), DiskError> {
        let fault = |fault| self.error(fault);
        let file = self.open_file(false).map_err(Fault::Io).map_err(fault)?;
        // Nobody else uses it.
        let damaged = self.lock(file).map_err(fault)?;
        let mut kept = 0;
        let mut moved_to = self.path.clone();
        let open = self.make(self.beside()?, |open| {
            kept = self.carry_over(&damaged, open)?;
            moved_to = self.link_aside()?;
            Ok(())
        });
        let replaced = Replaced {
            moved_to,
            why,
            kept,
        };
        Ok((open?, replaced))
    }

    /// Saves what is found in a damaged file.
    fn carry_over(&self, damaged: &dyn StorageBackend, open: &Open) -> Result<u64, Fault> {
        // Together they may be long: some at a time.
        const TOGETHER: usize = 64;
        let max = self.settings.max_answers.into();
        let found = salvage::find(damaged)?;
        let newest = found
            .len()
            .saturating_sub(self.settings.max_answers as usize);
        for found in found[newest..].chunks(TOGETHER) {
            let records = found.iter().filter_map(|found| found.read(damaged).ok());
            let changes: Vec<_> = records
                .filter_map(|record| Change::from_record(&record).ok())
                .collect();
            open.write(changes.iter(), max)?;
        }
        open.count()
    }

    /// Gives the file, which is about to be replaced, another name that says when.
    fn link_aside(&self) -> io::Result<PathBuf> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        for again in 0_u32.. {
            let aside = with_ending(
                &self.path,
                &match again {
                    0 => format!(".damaged-{seconds}"),
                    again => format!(".damaged-{seconds}-{again}"),
                },
            );
            match fs::hard_link(&self.path, &aside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                // Some file systems have one name for each file.
                Err(_) if !aside.exists() => {
                    fs::rename(&self.path, &aside)?;
                    return Ok(aside);
                }
                linked => return linked.map(|()| aside),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The file beside, in which one is made: locked.
    fn beside(&self) -> Result<Beside, DiskError> {
        let fault = |fault| self.error(fault);
        let path = with_ending(&self.path, ".breakerbox-new");
        // What it leads to would be emptied.
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(DiskError::NotOurs { path });
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let path = self.path.clone();
                Err(DiskError::MissingDirectory { path })
            }
            file => {
                let file = file.map_err(Fault::Io).map_err(fault)?;
                let file = self.lock(file).map_err(fault)?;
                Ok(Beside { path, file })
            }
        }
    }

    /// Makes a file beside, and moves it to its place.
    fn make(
        &self,
        Beside { path, file }: Beside,
        fill: impl FnOnce(&Open) -> Result<(), Fault>,
    ) -> Result<Open, DiskError> {
        let made = file.set_len(0).map_err(Fault::Io).and_then(|()| {
            let mut open = Open::create(file)?;
            open.identity = identity(&fs::metadata(&path)?);
            fill(&open)?;
            fs::rename(&path, &self.path)?;
            sync_directory(&self.path)?;
            Ok(open)
        });
        if made.is_err() {
            let _ = fs::remove_file(&path);
        }
        made.map_err(|fault| self.error(fault))
    }

    fn open_file(&self, write: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(write).open(&self.path)
    }

    /// The file, which nobody else uses now.
    fn lock(&self, file: File) -> Result<Backing, Fault> {
        let file = FileBackend::new(file)?;
        #[cfg(test)]
        if let Some(between) = &self.settings.between {
            return Ok(Backing::new(between.wrap(file)));
        }
        Ok(Backing::new(Box::new(file)))
    }

    /// A file that the database can't cope with while it opens it is damaged:
    /// it has nothing in memory yet that could be.
    fn while_opening(&self, fault: Fault) -> DiskError {
        match fault {
            Fault::GaveUp(what) => self.error(Fault::Corrupt(what)),
            Fault::Io(error) if error.kind() == ErrorKind::InvalidData => {
                self.error(Fault::Corrupt("it doesn't begin as it should".into()))
            }
            fault => self.error(fault),
        }
    }

    pub(super) fn error(&self, fault: Fault) -> DiskError {
        let path = self.path.clone();
        match fault {
            Fault::Io(error) if error.kind() == ErrorKind::IsADirectory => {
                DiskError::NotOurs { path }
            }
            Fault::Io(error) => DiskError::io(&path, error),
            Fault::InUse => DiskError::InUse { path },
            Fault::Gone => DiskError::Gone { path },
            Fault::NotOurs => DiskError::NotOurs { path },
            Fault::Format(found) => DiskError::Format { path, found },
            Fault::Corrupt(what) => DiskError::corrupt(&path, what),
            Fault::GaveUp(what) => DiskError::GaveUp {
                path,
                detail: what.into(),
            },
        }
    }
}

/// Whether a file, which may be damaged, is one of last-good answers: it has the
/// names of their tables somewhere. Nothing is written to one that has not, even
/// if it is a database. What is all zeros was lost, whatever it was.
pub(super) fn is_ours(file: &dyn StorageBackend) -> io::Result<bool> {
    const STEP: usize = 64 << 10;
    /// No database begins otherwise, and such a file may be long.
    const LOOKED_AT: u64 = 64 << 20;
    let mark = MARK.as_bytes();
    let mut length = file.len()?;
    let mut start = [0; 4];
    if length >= 4 {
        file.read(0, &mut start)?;
    }
    if &start != b"redb" {
        length = length.min(LOOKED_AT);
    }
    let mut zeros = true;
    let mut bytes = Vec::new();
    let mut offset = 0;
    while offset < length {
        // The end of the step before is looked at again, with what follows.
        let kept = bytes.len().min(mark.len());
        bytes.drain(..bytes.len() - kept);
        let step = usize::try_from(length - offset).map_or(STEP, |left| left.min(STEP));
        bytes.resize(kept + step, 0);
        file.read(offset, &mut bytes[kept..])?;
        offset += step as u64;
        zeros = zeros && bytes.iter().all(|byte| *byte == 0);
        if contains(&bytes, mark) {
            return Ok(true);
        }
    }
    Ok(zeros)
}

fn contains(bytes: &[u8], mark: &[u8]) -> bool {
    let Some((first, rest)) = mark.split_first() else {
        return true;
    };
    let mut left = bytes;
    while let Some(at) = left.iter().position(|byte| byte == first) {
        left = &left[at + 1..];
        if left.starts_with(rest) {
            return true;
        }
    }
    false
}

/// What tells a file from every other, under whatever name.
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
fn identity(file: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

/// A file that is open keeps its name.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Identity {
    Identity::default()
}

/// Bytes of a file; `None` of what is none.
fn length(file: &File) -> Option<u64> {
    let there = file.metadata().ok()?;
    there.is_file().then_some(there.len())
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// A name that was given is lost in a power cut until its directory is written.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let synced =
        File::open(parent.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
    match synced {
        // Some file systems can't, or needn't.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// A directory can't be opened as a file, and needn't.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
