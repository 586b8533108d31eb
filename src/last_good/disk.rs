//! Last-good answers in a file.

mod age;
mod backing;
mod codec;
mod error;
mod file;
mod lossless;
mod opening;
mod pace;
mod record;
mod salvage;
mod settings;
mod store;
mod tables;
mod task;
#[cfg(test)]
mod tests;

pub use error::DiskError;
pub use opening::Replaced;
pub use settings::DiskSettings;
pub use task::DiskTask;

use super::moment::{Given, Moment};
use super::{Aged, LastGood, SettingError};
use crate::Key;
use codec::Unfit;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use file::File;
use opening::Place;
use pace::{Pace, Written};
use record::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use tables::{Answer, Change, Open};

/// The longest answer, encoded: 1 GiB.
const LONGEST: usize = 1 << 30;

/// Last-good answers in a file, which outlive the process.
///
/// ```
/// use breakerbox::LastGood;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), breakerbox::last_good::DiskError> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("rates.redb");
/// const DAY: Duration = Duration::from_secs(24 * 3600);
///
/// let rates = LastGood::<String, u32, _>::on_disk(&path, DAY)?;
/// rates.store_now("h1", &120)?;
/// drop(rates); // the program ends, and is started again
///
/// let rates = LastGood::<String, u32, _>::on_disk(&path, DAY)?;
/// assert_eq!(rates.load_now("h1")?.unwrap().value, 120);
/// # Ok(())
/// # }
/// ```
///
/// A handle: what is cloned is the same open file. One process at a time may have
/// it open. A file is for answers of one type under keys of one type; they are
/// serde's [`Serialize`] and [`Deserialize`](serde::Deserialize), answers own what
/// they consist of.
///
/// For a `static`, in a `LazyLock`:
///
/// ```
/// use breakerbox::LastGood;
/// use breakerbox::last_good::{Disk, DiskError};
/// use std::sync::LazyLock;
/// use std::time::Duration;
///
/// type Rates = LastGood<String, u32, Disk<String, u32>>;
///
/// static RATES: LazyLock<Result<Rates, DiskError>> = LazyLock::new(|| {
///     let directory = std::env::var_os("STATE_DIRECTORY").unwrap_or("/nowhere".into());
///     Rates::on_disk(std::path::Path::new(&directory).join("rates.redb"), Duration::from_secs(3600))
/// });
///
/// assert!(RATES.is_err());
/// ```
///
/// # What it withstands
/// - A save that returned `Ok` is on the disk: a killed process and a power cut
///   leave it there, as far as the disk keeps what it said it wrote. One that was
///   cut off happened whole or not at all. (The file is [redb](https://docs.rs/redb)'s,
///   which writes beside what is there, and waits for the disk.) One that comes
///   within [`save_every`](DiskSettings::save_every) of another under its key is not
///   written: its `Ok` says that one that is hardly older is on the disk, or is on
///   its way there.
/// - A save that failed (a full disk, say) leaves the older answer to be loaded.
///   Saving is tried again with the next answer, at most once in
///   [`save_every`](DiskSettings::save_every).
/// - A damaged file is found when it is opened: the checksum of every page is
///   looked at. What is damaged later is found by the checksum of each answer. Both
///   are error values, never another answer. [`open_or_replace`](Self::open_or_replace)
///   begins anew with the answers that are undamaged.
/// - An answer that this program can't read, as its type has changed, is an error
///   value until the next one is saved. Fields are found by their names, so what
///   `serde` can read of an older type (a field with `serde(default)`) is served.
/// - Where the database gives up on what it finds in the file (a panic of its own)
///   the handle gives errors from then on, and writes no more. That needs a program
///   that unwinds: with `panic = "abort"` it ends.
///
/// # Age
/// By the wall clock, so that the time between two runs of a program counts. A
/// clock that was set back by a day or less gives age 0; an answer from a later
/// future is an error value, as nobody can say how old it is.
///
/// # What it costs
/// A save waits for the disk, which takes milliseconds: therefore
/// [`save_every`](DiskSettings::save_every). Answers of several keys that are saved
/// at the same time are written together, and wait once. Within a tokio runtime
/// (feature `tokio`) the file is read and written by its blocking threads; without
/// one, where it is called. Opening reads the whole file. What that comes to on a
/// disk of yours the example `last_good_disk` measures.
///
/// A key or an answer that would be read back as another one is refused: a key of
/// which `serde` leaves out a part, an answer that has a `Some(None)` or `Some(())`
/// in it, which look like `None` in MessagePack.
pub struct Disk<K, V>
where
    K: 'static,
    V: 'static,
{
    shared: Arc<Shared>,
    answers: PhantomData<fn(K) -> V>,
}

#[derive(Debug)]
struct Shared {
    file: File,
    pace: Pace,
    /// Which type and version the answers are of.
    types: u32,
}

impl<K, V> Disk<K, V> {
    /// Opens a file, or makes it: of 10,000 answers, each of which is written once a
    /// second at most.
    ///
    /// # Errors
    /// [`DiskError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DiskError> {
        Self::open_with(path, DiskSettings::new())
    }

    /// [`open`](Self::open), with other settings.
    ///
    /// # Errors
    /// [`DiskError`].
    pub fn open_with(path: impl AsRef<Path>, settings: DiskSettings) -> Result<Self, DiskError> {
        if settings.max_answers == 0 {
            return Err(SettingError::ZeroMaxAnswers.into());
        }
        let place = Place {
            path: path.as_ref().to_owned(),
            settings,
        };
        let open = place.open()?;
        Ok(Self::new(place, open))
    }

    fn new(place: Place, open: Open) -> Self {
        let types = codec::types::<V>(place.settings.version);
        Self {
            shared: Arc::new(Shared {
                file: File::new(place, open),
                pace: Pace::default(),
                types,
            }),
            answers: PhantomData,
        }
    }

    /// [`open_with`](Self::open_with); a file that is [damaged](DiskError::Corrupt)
    /// is moved aside, and a new one begun with the answers in it that are not. Says
    /// where the old one is now, what was wrong with it, and how many answers were
    /// found. A file that is something else is left where it is.
    ///
    /// ```
    /// use breakerbox::last_good::{Disk, DiskSettings};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("rates.redb");
    /// std::fs::write(&path, [0; 4096])?; // as some file systems leave it after a power cut
    ///
    /// let (rates, replaced) = Disk::<String, u32>::open_or_replace(&path, DiskSettings::new())?;
    /// let replaced = replaced.unwrap();
    /// eprintln!("{}; it is {} now", replaced.why, replaced.moved_to.display());
    /// assert_eq!(replaced.kept, 0);
    /// assert_eq!(std::fs::read(replaced.moved_to)?, [0; 4096]);
    /// # drop(rates);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DiskError`].
    pub fn open_or_replace(
        path: impl AsRef<Path>,
        settings: DiskSettings,
    ) -> Result<(Self, Option<Replaced>), DiskError> {
        match Self::open_with(&path, settings.clone()) {
            Err(why @ DiskError::Corrupt { .. }) => {
                let path = path.as_ref().to_owned();
                let place = Place { path, settings };
                let (open, replaced) = place.replace(why)?;
                Ok((Self::new(place, open), Some(replaced)))
            }
            opened => Ok((opened?, None)),
        }
    }

    /// How many answers there are, also those that are too old to be served.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn count(&self) -> Result<u64, DiskError> {
        self.shared.file.count()
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.file.place.path
    }
}

impl<K, V> LastGood<K, V, Disk<K, V>> {
    /// In a file: answers that are served up to this age. See [`Disk`].
    ///
    /// # Errors
    /// [`DiskError`], also where `ttl` is 0.
    pub fn on_disk(path: impl AsRef<Path>, ttl: Duration) -> Result<Self, DiskError> {
        Self::on_disk_with(path, ttl, DiskSettings::new())
    }

    /// [`on_disk`](Self::on_disk), with other settings.
    ///
    /// # Errors
    /// [`DiskError`], also where `ttl` is 0.
    pub fn on_disk_with(
        path: impl AsRef<Path>,
        ttl: Duration,
        settings: DiskSettings,
    ) -> Result<Self, DiskError> {
        // First: a file that nothing is served from is not made.
        if ttl.is_zero() {
            return Err(SettingError::ZeroTtl.into());
        }
        Ok(Self::try_in_store(Disk::open_with(path, settings)?, ttl)?)
    }
}

impl<K, V> Clone for Disk<K, V> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            answers: PhantomData,
        }
    }
}

impl<K, V> fmt::Debug for Disk<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

/// What is to be saved, ready to be written on another thread.
struct Save {
    change: Change,
    written: Written,
}

impl Shared {
    fn key<Q>(&self, key: &Q) -> Result<Vec<u8>, DiskError>
    where
        Q: Key + ?Sized,
        Q::Owned: Serialize + DeserializeOwned,
    {
        codec::key_to_bytes(key).map_err(|unfit| unfit.writing("the key"))
    }

    /// None: there is one that is hardly older.
    fn prepare<V>(&self, key: Vec<u8>, answer: Aged<&V>) -> Result<Option<Save>, DiskError>
    where
        V: Serialize + DeserializeOwned,
    {
        let at = Moment::now();
        let time = age::time_of(at, answer.age);
        let given = Given::new(at, answer.age);
        let written = Written { at, time, given };
        if self
            .pace
            .has(&key, &written, self.file.place.settings.save_every)
        {
            return Ok(None);
        }
        let bytes = codec::answer_to_bytes(answer.value);
        let bytes = bytes.map_err(|unfit| unfit.writing("the answer"))?;
        if bytes.len() > LONGEST {
            return Err(Unfit("it is longer than 1 GiB".into()).writing("the answer"));
        }
        let now = age::time_of(at, Duration::ZERO);
        let types = self.types;
        let answer = Some(Answer {
            types,
            time,
            now,
            bytes,
            instead_of_any: false,
        });
        let change = Change { key, answer };
        Ok(Some(Save { change, written }))
    }

    fn save<V: DeserializeOwned>(&self, save: Save) -> Result<(), DiskError> {
        let Save {
            mut change,
            written,
        } = save;
        let key = change.key.clone();
        // Here, and not in the transaction: no code of an answer runs in that.
        if let Some(answer) = &mut change.answer
            && answer.time < answer.now
        {
            let there = self.load::<V>(&key, written.at);
            answer.instead_of_any = matches!(there, Err(DiskError::Decode { .. }));
        }
        self.pace.set(&key, written);
        let saved = self.change(change, written.at);
        if saved.is_err() {
            self.pace.take_back(&key, &written);
        }
        saved
    }

    fn remove(&self, key: Vec<u8>, now: Moment) -> Result<(), DiskError> {
        self.pace.forget(&key);
        let change = Change {
            key: key.clone(),
            answer: None,
        };
        let removed = self.change(change, now);
        // Of an answer that was written in between.
        self.pace.forget(&key);
        removed
    }

    fn change(&self, change: Change, now: Moment) -> Result<(), DiskError> {
        self.file.change(change, now.monotonic(), |made_room| {
            for key in made_room {
                self.pace.forget(&key);
            }
        })
    }

    fn load<V: DeserializeOwned>(
        &self,
        key: &[u8],
        now: Moment,
    ) -> Result<Option<Aged<V>>, DiskError> {
        let path = || self.file.place.path.clone();
        let Some(bytes) = self.file.load(key)? else {
            return Ok(None);
        };
        let record = Record::of_key(key, &bytes);
        let record = record.map_err(|_| DiskError::Damaged { path: path() })?;
        let other = |why| DiskError::Decode { path: path(), why };
        if record.types != self.types {
            return Err(other("of another type or version".into()));
        }
        let value = codec::read(&record.answer()).map_err(|unfit| other(unfit.0))?;
        let today = age::time_of(now, Duration::ZERO);
        let given = age::given(record.time, today);
        let given = given.map_err(|by| DiskError::Future { path: path(), by })?;
        let age = age::since(given, today);
        let age = age.max(self.pace.age(key, record.time, now).unwrap_or_default());
        Ok(Some(Aged { value, age }))
    }
}

impl Unfit {
    fn writing(self, what: &'static str) -> DiskError {
        DiskError::Encode { what, why: self.0 }
    }
}
