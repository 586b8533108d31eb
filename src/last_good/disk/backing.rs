//! What stands between the database and its file.

use redb::StorageBackend;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of which the database can be let go without a write, and which can be
/// looked at where nothing can be written.
#[derive(Debug)]
pub(super) struct Backing {
    file: Box<dyn StorageBackend>,
    seal: Seal,
    view: Option<Mutex<View>>,
}

/// Nothing more is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Seal(Arc<AtomicBool>);

impl Seal {
    pub(super) fn close(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) {
            return Err(io::Error::other("the file was let go"));
        }
        Ok(())
    }
}

/// What the database would have written: it repairs what it opens, which on a
/// full disk it may not be able to.
#[derive(Debug)]
struct View {
    length: u64,
    writes: Vec<(u64, Box<[u8]>)>,
}

impl Backing {
    pub(super) fn new(file: Box<dyn StorageBackend>) -> Self {
        Self {
            file,
            seal: Seal::default(),
            view: None,
        }
    }

    /// With which the file is let go.
    pub(super) fn seal(&self) -> Seal {
        self.seal.clone()
    }

    /// Nothing of the file changes from now on, whatever the database does.
    pub(super) fn into_view(mut self) -> io::Result<Self> {
        let view = View {
            length: self.file.len()?,
            writes: Vec::new(),
        };
        self.view = Some(Mutex::new(view));
        Ok(self)
    }

    fn as_view(&self) -> Option<MutexGuard<'_, View>> {
        let view = self.view.as_ref()?;
        Some(view.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Backing {
    /// Gives the lock back, also where the database did not: a process that is being
    /// started beside has the file open for a moment, and the lock with it.
    fn drop(&mut self) {
        let _ = self.file.close();
    }
}

impl StorageBackend for Backing {
    fn len(&self) -> io::Result<u64> {
        match self.as_view() {
            Some(view) => Ok(view.length),
            None => self.file.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let Some(view) = self.as_view() else {
            return self.file.read(offset, out);
        };
        let there = self.file.len()?.saturating_sub(offset);
        let there = usize::try_from(there).map_or(out.len(), |there| there.min(out.len()));
        self.file.read(offset, &mut out[..there])?;
        out[there..].fill(0);
        for (start, bytes) in &view.writes {
            lay_over(out, offset, bytes, *start);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.seal.check()?;
        match self.as_view() {
            Some(mut view) => view.length = len,
            None => self.file.set_len(len)?,
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.seal.check()?;
        match self.as_view() {
            Some(_) => Ok(()),
            None => self.file.sync_data(),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.seal.check()?;
        match self.as_view() {
            Some(mut view) => {
                let same = |(start, bytes): &(u64, Box<[u8]>)| {
                    (*start, bytes.len()) != (offset, data.len())
                };
                view.writes.retain(same);
                view.writes.push((offset, data.into()));
                Ok(())
            }
            None => self.file.write(offset, data),
        }
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

/// Puts what was written at `start` over what was read at `offset`.
fn lay_over(out: &mut [u8], offset: u64, bytes: &[u8], start: u64) {
    let from = start.max(offset);
    let to = (start + bytes.len() as u64).min(offset + out.len() as u64);
    if from < to {
        let within = |begin: u64| (from - begin) as usize..(to - begin) as usize;
        out[within(offset)].copy_from_slice(&bytes[within(start)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::InMemoryBackend;

    fn file() -> Box<dyn StorageBackend> {
        let file = InMemoryBackend::new();
        file.set_len(8).unwrap();
        file.write(0, b"abcdefgh").unwrap();
        Box::new(file)
    }

    fn read(backing: &Backing, offset: u64, length: usize) -> String {
        let mut bytes = vec![b'?'; length];
        backing.read(offset, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_view_shows_what_was_written_over_the_file() {
        let view = Backing::new(file()).into_view().unwrap();
        view.write(2, b"CD").unwrap();
        view.write(3, b"xyz").unwrap();
        assert_eq!(read(&view, 0, 8), "abCxyzgh");
        assert_eq!(read(&view, 2, 2), "Cx");
        assert_eq!(read(&view, 4, 1), "y");
        assert_eq!(read(&view, 6, 2), "gh");
        view.write(2, b"--").unwrap();
        assert_eq!(read(&view, 0, 8), "ab--yzgh");
        view.set_len(12).unwrap();
        view.write(10, b"!!").unwrap();
        assert_eq!(view.len().unwrap(), 12);
        assert_eq!(read(&view, 7, 5), "h\0\0!!");
        view.sync_data().unwrap();

        let mut bytes = [0; 8];
        view.file.read(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"abcdefgh");
        assert_eq!(view.file.len().unwrap(), 8);
    }

    #[test]
    fn what_is_sealed_is_only_read() {
        let backing = Backing::new(file());
        backing.write(0, b"A").unwrap();
        backing.seal().close();
        assert!(backing.write(0, b"B").is_err());
        assert!(backing.set_len(0).is_err());
        assert!(backing.sync_data().is_err());
        assert_eq!(read(&backing, 0, 8), "Abcdefgh");
    }

    #[test]
    fn the_lock_is_given_back_whoever_else_has_the_file_open() {
        use redb::backends::FileBackend;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        // As a process has it that was started meanwhile, until it is another program.
        let inherited = file.try_clone().unwrap();
        let backing = Backing::new(Box::new(FileBackend::new(file).unwrap()));
        let again = || FileBackend::new(std::fs::File::open(&path).unwrap());
        assert!(again().is_err());
        drop(backing);
        assert!(again().is_ok());
        drop(inherited);
    }
}
