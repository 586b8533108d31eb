//! The database's tables, and what is done with them in one transaction.
//!
//! | table | from | to |
//! | --- | --- | --- |
//! | answers | key | [record](super::record) |
//! | order | number of the save | key |
//! | forgotten | number of the save that gave an answer up | [record](super::record) |
//! | format | `format` | number of this layout |
//!
//! Nothing of the database's panics gets out of here.

use super::age;
use super::backing::{Backing, Seal};
use super::opening::Identity;
use super::record::{Damaged, Parts, Record};
use redb::{
    Builder, Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableError,
};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The number of this layout.
pub(super) const FORMAT: u64 = 1;

/// Part of each table's name: bytes by which a file of ours is known.
pub(super) const MARK: &str = "breakerbox.last_good.";

const ANSWERS: TableDefinition<'_, &[u8], &[u8]> =
    TableDefinition::new("breakerbox.last_good.answers");
const ORDER: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("breakerbox.last_good.order");
/// What [`salvage`](super::salvage) has to know.
const FORGOTTEN: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("breakerbox.last_good.forgotten");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("breakerbox.last_good.format");

/// Bytes of the file that are kept in memory. What is read in an outage is read
/// by few; most is for the transaction that is being written.
const CACHE: usize = 4 << 20;

/// Why the database could not do it.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file could not be read or written. The database does nothing more
    /// until it is opened anew.
    Io(io::Error),
    InUse,
    /// Another file, or none, is where this one was.
    Gone,
    /// It is not a database, or somebody else's.
    NotOurs,
    Format(u64),
    Corrupt(String),
    /// It panicked: what it has in memory is not to be trusted.
    GaveUp(String),
}

impl<E: Into<redb::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        match error.into() {
            redb::Error::Io(error) => Self::Io(error),
            redb::Error::DatabaseAlreadyOpen => Self::InUse,
            error @ redb::Error::UpgradeRequired(_) => Self::Corrupt(error.to_string()),
            redb::Error::Corrupted(what) => Self::Corrupt(what),
            error @ redb::Error::LockPoisoned(_) => Self::GaveUp(error.to_string()),
            error @ (redb::Error::TableTypeMismatch { .. }
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TableDoesNotExist(_)) => Self::Corrupt(error.to_string()),
            error => Self::Io(io::Error::other(error.to_string())),
        }
    }
}

/// A panic of the database as an error.
fn caught<T>(run: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Fault::GaveUp(text.unwrap_or("it panicked").into()))
    })
}

/// An open file.
///
/// Letting it go writes nothing, as if the process had been killed: so a file is
/// always opened the way it is after a crash, on which the database looks at the
/// checksum of each page before it relies on any.
#[derive(Debug)]
pub(super) struct Open {
    database: Option<Database>,
    seal: Seal,
    /// Which file it is.
    pub(super) identity: Identity,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.seal.close();
        let database = self.database.take();
        let _ = caught(|| {
            drop(database);
            Ok(())
        });
    }
}

/// What a write changes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: Vec<u8>,
    /// None: the answer is forgotten.
    pub(super) answer: Option<Answer>,
}

impl Change {
    /// What a record of a damaged file says, as it was saved.
    pub(super) fn from_record(bytes: &[u8]) -> Result<Self, Damaged> {
        let record = Record::from_bytes(bytes)?;
        let answer = Answer {
            types: record.types,
            time: record.time,
            now: record.time,
            bytes: record.answer(),
            instead_of_any: true,
        };
        Ok(Self {
            key: record.key(),
            answer: Some(answer),
        })
    }

    fn to_record(&self, number: u64) -> Vec<u8> {
        let answer = self.answer.as_ref();
        let parts = Parts {
            types: answer.map_or(0, |answer| answer.types),
            number,
            time: answer.map_or(0, |answer| answer.time),
            key: &self.key,
            answer: answer.map(|answer| answer.bytes.as_slice()),
        };
        parts.to_bytes()
    }
}

/// An answer that is to be written.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) types: u32,
    /// When it was given, by the wall clock.
    pub(super) time: i64,
    /// When it was saved.
    pub(super) now: i64,
    pub(super) bytes: Vec<u8>,
    /// Whether the one that is there is of no use, however young.
    pub(super) instead_of_any: bool,
}

impl Answer {
    /// Whether there is a younger one already. One from a future that the clock
    /// doesn't explain doesn't count: it would be there for ever.
    fn is_late(&self, there: Record<'_>) -> bool {
        !self.instead_of_any
            && age::given(there.time, self.now).is_ok_and(|given| given > self.time)
    }
}

impl Open {
    /// Makes the tables in an empty file.
    pub(super) fn create(backing: Backing) -> Result<Self, Fault> {
        let open = Self::with(backing)?;
        open.run(|database| {
            let transaction = database.begin_write()?;
            transaction.open_table(ANSWERS)?;
            transaction.open_table(ORDER)?;
            transaction.open_table(FORGOTTEN)?;
            transaction.open_table(META)?.insert("format", FORMAT)?;
            Ok(transaction.commit()?)
        })?;
        Ok(open)
    }

    /// Opens a file that has them.
    pub(super) fn existing(backing: Backing) -> Result<Self, Fault> {
        let open = Self::with(backing)?;
        open.run(|database| {
            let transaction = database.begin_read()?;
            let format = match transaction.open_table(META) {
                Err(TableError::TableDoesNotExist(_)) => return Err(Fault::NotOurs),
                table => table?.get("format")?.map(|found| found.value()),
            };
            match format {
                Some(FORMAT) => {}
                Some(found) => return Err(Fault::Format(found)),
                None => return Err(Fault::Corrupt("it doesn't say its format".into())),
            }
            transaction.open_table(ANSWERS)?;
            transaction.open_table(ORDER)?;
            transaction.open_table(FORGOTTEN)?;
            Ok(())
        })?;
        Ok(open)
    }

    fn with(backing: Backing) -> Result<Self, Fault> {
        let seal = backing.seal();
        // What goes wrong in here drops the database as well.
        let database = caught(|| {
            let mut builder = Builder::new();
            Ok(builder.set_cache_size(CACHE).create_with_backend(backing)?)
        })?;
        Ok(Self {
            database: Some(database),
            seal,
            identity: Identity::default(),
        })
    }

    fn run<T>(&self, run: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, Fault> {
        match &self.database {
            Some(database) => caught(|| run(database)),
            None => Err(Fault::GaveUp("it was let go".into())),
        }
    }

    /// A record's bytes.
    pub(super) fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.run(|database| {
            let answers = database.begin_read()?.open_table(ANSWERS)?;
            Ok(answers.get(key)?.map(|record| record.value().to_vec()))
        })
    }

    /// How many answers there are.
    pub(super) fn count(&self) -> Result<u64, Fault> {
        self.run(|database| Ok(database.begin_read()?.open_table(ANSWERS)?.len()?))
    }

    /// Writes all changes or, with an error, none. Gives the keys whose answers
    /// made room: at most `max` are kept.
    pub(super) fn write<'a>(
        &self,
        changes: impl Iterator<Item = &'a Change>,
        max: u64,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        self.run(|database| {
            let transaction = database.begin_write()?;
            let mut gone = Vec::new();
            {
                let mut answers = transaction.open_table(ANSWERS)?;
                let mut order = transaction.open_table(ORDER)?;
                let mut forgotten = transaction.open_table(FORGOTTEN)?;
                let last = order.last()?.map_or(0, |(number, _)| number.value());
                let last_forgotten = forgotten.last()?.map_or(0, |(number, _)| number.value());
                let mut number = last.max(last_forgotten);
                for change in changes {
                    let key = change.key.as_slice();
                    let there = answers.get(key)?;
                    let is_there = there.is_some();
                    let known = there
                        .as_ref()
                        .map(|there| Record::of_key(key, there.value()));
                    let known = known.and_then(Result::ok);
                    let is_late = match &change.answer {
                        Some(answer) => known.is_some_and(|known| answer.is_late(known)),
                        None => !is_there,
                    };
                    let before = known.map(|known| known.number);
                    drop(there);
                    if is_late {
                        continue;
                    }
                    if let Some(before) = before {
                        order.remove(before)?;
                    }
                    number = number.checked_add(1).ok_or_else(no_numbers_left)?;
                    let record = change.to_record(number);
                    if change.answer.is_some() {
                        order.insert(number, key)?;
                        answers.insert(key, record.as_slice())?;
                    } else {
                        answers.remove(key)?;
                        forgotten.insert(number, record.as_slice())?;
                    }
                }
                while forgotten.len()? > max {
                    forgotten.pop_first()?;
                }
                while answers.len()? > max {
                    let Some((number, key)) = order.pop_first()? else {
                        break;
                    };
                    let (number, key) = (number.value(), key.value().to_vec());
                    // A number that a damaged record left behind is nobody's.
                    let theirs = answers.get(key.as_slice())?.is_some_and(|record| {
                        number_of(&key, record.value()).is_none_or(|own| own == number)
                    });
                    if theirs {
                        answers.remove(key.as_slice())?;
                        gone.push(key);
                    }
                }
            }
            transaction.commit()?;
            Ok(gone)
        })
    }
}

/// The number of a record that is as it was written.
fn number_of(key: &[u8], bytes: &[u8]) -> Option<u64> {
    Record::of_key(key, bytes).ok().map(|record| record.number)
}

fn no_numbers_left() -> Fault {
    Fault::Corrupt("its last number is the largest there is".into())
}
