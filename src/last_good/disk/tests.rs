//! What can only be seen from inside: what becomes of a file whose writes are cut
//! off, or fail, where a test wants them to. All on real files.

mod failing;
mod gave_up;
mod inside;
mod joined;
mod opening;
mod torn;

use super::{Disk, DiskError, DiskSettings};
use crate::last_good::{Aged, BlockingStore};
use core::fmt;
use core::time::Duration;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

type Answers = Disk<u32, String>;

/// What stands between the database and the file.
#[derive(Clone)]
pub(super) struct Between(Arc<Mutex<dyn Watch>>);

/// What hears of all that is done with the file, and may forbid it.
trait Watch: Send {
    fn asked(&mut self, what: &Asked<'_>) -> Then;
}

/// What the database asks of the file.
enum Asked<'a> {
    Read,
    Write(u64, &'a [u8]),
    SetLength(u64),
    Sync,
}

/// What comes of it.
enum Then {
    Do,
    Fail(io::Error),
    /// Of a write: so many bytes of it get there.
    FailAfter(usize, io::Error),
}

impl Between {
    fn new<W: Watch + 'static>(watch: W) -> (Self, Arc<Mutex<W>>) {
        let watch = Arc::new(Mutex::new(watch));
        (Self(watch.clone()), watch)
    }

    pub(super) fn wrap(&self, file: FileBackend) -> Box<dyn StorageBackend> {
        Box::new(Watched {
            file,
            between: self.clone(),
        })
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Between")
    }
}

#[derive(Debug)]
struct Watched {
    file: FileBackend,
    between: Between,
}

impl Watched {
    fn ask(&self, what: &Asked<'_>) -> io::Result<()> {
        let mut watch = self
            .between
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match watch.asked(what) {
            Then::Do => Ok(()),
            Then::Fail(error) => Err(error),
            Then::FailAfter(bytes, error) => {
                if let Asked::Write(offset, data) = what {
                    self.file.write(*offset, &data[..bytes.min(data.len())])?;
                }
                Err(error)
            }
        }
    }
}

impl StorageBackend for Watched {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.ask(&Asked::Read)?;
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.ask(&Asked::SetLength(length))?;
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.ask(&Asked::Sync)?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.ask(&Asked::Write(offset, data))?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

/// A file in a directory that is removed at the end.
struct Somewhere {
    directory: tempfile::TempDir,
    path: PathBuf,
}

fn somewhere() -> Somewhere {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("answers.redb");
    Somewhere { directory, path }
}

/// Each answer is written.
fn each() -> DiskSettings {
    DiskSettings::new().save_every(Duration::ZERO)
}

fn watched(between: &Between) -> DiskSettings {
    let mut settings = each();
    settings.between = Some(between.clone());
    settings
}

fn open(path: &Path) -> Answers {
    Disk::open_with(path, each()).unwrap()
}

fn save(disk: &Answers, key: u32, value: &str) -> Result<(), DiskError> {
    let value = &value.to_owned();
    let age = Duration::ZERO;
    disk.save_now(&key, Aged { value, age })
}

fn load(disk: &Answers, key: u32) -> Result<Option<String>, DiskError> {
    Ok(disk.load_now(&key)?.map(|answer| answer.value))
}

/// Numbers as by chance: the same ones in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        (bits % bound.max(1) as u64) as usize
    }
}
