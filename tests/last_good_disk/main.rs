//! Last-good answers in a file: what they withstand, and what they cost nobody.
//! All on real files.
#![cfg(feature = "last-good-disk")]

mod attribute;
mod damage;
mod full;
mod keeping;
mod killed;
mod opening;
mod runtime;
mod salvage;
mod schema;
mod threads;

use breakerbox::last_good::{Aged, BlockingStore, Disk, DiskError, DiskSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

impl Somewhere {
    /// Names of all that is there.
    fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.directory.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = files.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

type Answers = Disk<String, String>;

/// Each answer is written.
const EACH: DiskSettings = DiskSettings::new().save_every(Duration::ZERO);

fn open<V>(path: &Path) -> Disk<String, V> {
    Disk::open_with(path, EACH).unwrap()
}

fn save<V>(disk: &Disk<String, V>, key: &str, value: &V) -> Result<(), DiskError>
where
    V: Serialize + DeserializeOwned + Send,
{
    save_aged(disk, key, value, Duration::ZERO)
}

fn save_aged<V>(
    disk: &Disk<String, V>,
    key: &str,
    value: &V,
    age: Duration,
) -> Result<(), DiskError>
where
    V: Serialize + DeserializeOwned + Send,
{
    disk.save_now(key, Aged { value, age })
}

fn load<V>(disk: &Disk<String, V>, key: &str) -> Result<Option<V>, DiskError>
where
    V: Serialize + DeserializeOwned + Send,
{
    Ok(disk.load_now(key)?.map(|answer| answer.value))
}

fn text(disk: &Answers, key: &str) -> Option<String> {
    load(disk, key).unwrap()
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
