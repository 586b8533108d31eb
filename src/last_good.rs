//! Last-good answers: what a dependency said last, for the time in which it
//! says nothing.
//!
//! ```
//! use breakerbox::LastGood;
//! use std::time::Duration;
//!
//! static RATES: LastGood<String, u32> = LastGood::new(Duration::from_secs(6 * 3600)).max_answers(500);
//!
//! let scope = breakerbox::test::scope();
//! let Ok(()) = RATES.store_now("h1", &120);
//! scope.advance(Duration::from_secs(90));
//!
//! let Ok(served) = RATES.load_now("h1");
//! let served = served.unwrap();
//! assert!(served.stale);
//! assert_eq!((served.value, served.age.as_secs()), (120, 90));
//!
//! scope.advance(Duration::from_secs(6 * 3600));
//! let Ok(nothing) = RATES.load_now("h1");
//! assert_eq!(nothing, None);
//! ```
//!
//! # Age
//! An answer is as old as it was when it was handed over, and what has passed
//! since: by the monotonic clock or by the wall clock, whichever says more. So the
//! time in which a machine was suspended counts, and a wall clock that is set back
//! makes no answer younger. One that is set forward makes answers older: rather
//! one too few is served than one that is too old.
//!
//! An answer that is exactly as old as its time to live is served; one that is a
//! nanosecond older is not.
//!
//! An older answer never replaces a younger one, whichever comes later: of two
//! calls in flight the one that was *answered* last has the younger answer, however
//! long ago it was asked. Of two that are equally old, the later one stays.
//!
//! # In tests
//! Inside a test scope (`breakerbox::test::scope`) answers in [`Memory`] are the
//! scope's own, none at first, and age by its clock. A file is what it is, also
//! there: give each test one of its own. What it has ages by the scope's clock.

mod answers;
#[cfg(all(
    feature = "last-good-disk",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod disk;
mod memory;
mod moment;
mod store;

pub use answers::Answers;
#[cfg(all(
    feature = "last-good-disk",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use disk::{Disk, DiskError, DiskSettings, DiskTask, Replaced};
pub use memory::{DEFAULT_MAX_ANSWERS, Memory};
pub use store::{Aged, BlockingStore, NeverWaits, Reply, Store};

use crate::keyed::Key;
use crate::served::Served;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

/// The last good answers to several questions, each under its key: stored on
/// success, served while the dependency doesn't answer.
///
/// `K` is the key as it is kept: [`Key::Owned`]. All text is kept as [`String`].
/// `S` is where the answers are: in [`Memory`], if nothing is said.
///
/// What is [`load`](Self::load)ed comes as [`Served`], stale and with its age, so
/// that nobody takes it for a fresh one by accident.
pub struct LastGood<K, V, S = Memory<K, V>>
where
    K: 'static,
    V: 'static,
{
    store: S,
    ttl: Duration,
    answers: PhantomData<fn() -> (K, V)>,
}

/// A setting with which no answer could ever be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// A time to live of 0.
    #[error("{}", self.message())]
    ZeroTtl,
    /// Room for 0 answers.
    #[error("{}", self.message())]
    ZeroMaxAnswers,
}

impl SettingError {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::ZeroTtl => {
                "a time to live of 0 serves nothing: set how old an answer may be that is still of use"
            }
            Self::ZeroMaxAnswers => {
                "room for 0 answers keeps nothing: set how many are kept, at least 1"
            }
        }
    }
}

impl<K, V> LastGood<K, V> {
    /// In memory: answers that are served up to this age, also for a `static`.
    /// [`DEFAULT_MAX_ANSWERS`] are kept, unless [`max_answers`](Self::max_answers)
    /// says otherwise.
    ///
    /// # Panics
    /// If `ttl` is 0. In a `const` or `static` that is an error of the compiler.
    #[must_use]
    pub const fn new(ttl: Duration) -> Self {
        Self::in_store(Memory::new(DEFAULT_MAX_ANSWERS), ttl)
    }

    /// How many answers are kept at most. Where there is no room for a new one, one
    /// that was not asked for or renewed lately is given up.
    ///
    /// # Panics
    /// If it is 0. In a `const` or `static` that is an error of the compiler.
    #[must_use]
    pub const fn max_answers(mut self, max_answers: u32) -> Self {
        self.store.make_room_for(max_answers);
        self
    }

    /// In memory, by settings that are known at run time only.
    ///
    /// ```
    /// use breakerbox::LastGood;
    /// use breakerbox::last_good::SettingError;
    /// use std::time::Duration;
    ///
    /// let rates = LastGood::<String, u32>::try_new(Duration::from_secs(3600), 500)?;
    /// # drop(rates);
    /// let useless = LastGood::<String, u32>::try_new(Duration::ZERO, 500);
    /// assert_eq!(useless.unwrap_err(), SettingError::ZeroTtl);
    /// # Ok::<(), SettingError>(())
    /// ```
    ///
    /// # Errors
    /// [`SettingError`] where `ttl` or `max_answers` is 0.
    pub const fn try_new(ttl: Duration, max_answers: u32) -> Result<Self, SettingError> {
        if ttl.is_zero() {
            return Err(SettingError::ZeroTtl);
        }
        if max_answers == 0 {
            return Err(SettingError::ZeroMaxAnswers);
        }
        Ok(Self::in_store(Memory::new(max_answers), ttl))
    }
}

impl<K, V, S> LastGood<K, V, S> {
    /// In a store of one's own: answers that are served up to this age.
    ///
    /// # Panics
    /// If `ttl` is 0. In a `const` or `static` that is an error of the compiler.
    #[must_use]
    pub const fn in_store(store: S, ttl: Duration) -> Self {
        assert!(!ttl.is_zero(), "{}", SettingError::ZeroTtl.message());
        Self {
            store,
            ttl,
            answers: PhantomData,
        }
    }

    /// [`in_store`](Self::in_store), by a time to live that is known at run time
    /// only.
    ///
    /// # Errors
    /// [`SettingError::ZeroTtl`].
    pub fn try_in_store(store: S, ttl: Duration) -> Result<Self, SettingError> {
        if ttl.is_zero() {
            return Err(SettingError::ZeroTtl);
        }
        Ok(Self::in_store(store, ttl))
    }

    /// How old an answer may be that is served.
    #[must_use]
    pub const fn ttl(&self) -> Duration {
        self.ttl
    }

    /// The store itself.
    #[must_use]
    pub const fn backend(&self) -> &S {
        &self.store
    }

    fn served(&self, answer: Option<Aged<V>>) -> Option<Served<V>> {
        served(answer, self.ttl)
    }
}

impl<K, V, S: Store<K, V>> LastGood<K, V, S> {
    /// Keeps an answer that the dependency has just given.
    ///
    /// # Errors
    /// Those of the store: the answer is not kept.
    pub async fn store<Q>(&self, key: &Q, value: &V) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.save(key, value, Duration::ZERO).wait().await
    }

    /// The last good answer, if there is one and it is not too old.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use breakerbox::LastGood;
    /// use std::time::Duration;
    ///
    /// let rates = LastGood::<String, u32>::new(Duration::from_secs(3600));
    /// assert_eq!(rates.load("h1").await?, None);
    /// rates.store("h1", &120).await?;
    /// assert_eq!(rates.load("h1").await?.unwrap().value, 120);
    /// # Ok::<(), core::convert::Infallible>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of the store.
    pub async fn load<Q>(&self, key: &Q) -> Result<Option<Served<V>>, S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Ok(self.served(self.store.load(key).wait().await?))
    }

    /// Keeps an answer that was given so long ago: at start-up, say, from a file
    /// that came with the program. It never replaces a younger one, and one that is
    /// older than the time to live is not taken.
    ///
    /// # Errors
    /// Those of the store: the answer is not kept.
    pub async fn prime<Q>(&self, key: &Q, value: &V, age: Duration) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.save(key, value, age).wait().await
    }

    /// [`prime`](Self::prime) with many answers: key, value, age.
    ///
    /// # Errors
    /// The first of the store's: the answers after it are not kept.
    pub async fn prime_all<Q>(
        &self,
        answers: impl IntoIterator<Item = (Q, V, Duration)>,
    ) -> Result<(), S::Error>
    where
        Q: Key<Owned = K>,
    {
        for (key, value, age) in answers {
            self.prime(&key, &value, age).await?;
        }
        Ok(())
    }

    /// Gives up the answer, if there is one: it is known to be wrong.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn forget<Q>(&self, key: &Q) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.store.remove(key).wait().await
    }

    /// An answer that is too old already is not taken.
    pub(crate) fn save<Q>(
        &self,
        key: &Q,
        value: &V,
        age: Duration,
    ) -> Reply<(), S::Error, S::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        if age > self.ttl {
            return Reply::Now(Ok(()));
        }
        self.store.save(key, Aged { value, age })
    }
}

impl<K, V, S: BlockingStore<K, V>> LastGood<K, V, S> {
    /// [`store`](Self::store), where nothing can be awaited.
    ///
    /// # Errors
    /// Those of the store: the answer is not kept.
    pub fn store_now<Q>(&self, key: &Q, value: &V) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.prime_now(key, value, Duration::ZERO)
    }

    /// [`load`](Self::load), where nothing can be awaited.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load_now<Q>(&self, key: &Q) -> Result<Option<Served<V>>, S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Ok(self.served(self.store.load_now(key)?))
    }

    /// [`prime`](Self::prime), where nothing can be awaited.
    ///
    /// # Errors
    /// Those of the store: the answer is not kept.
    pub fn prime_now<Q>(&self, key: &Q, value: &V, age: Duration) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        if age > self.ttl {
            return Ok(());
        }
        self.store.save_now(key, Aged { value, age })
    }

    /// [`prime_all`](Self::prime_all), where nothing can be awaited.
    ///
    /// ```
    /// use breakerbox::LastGood;
    /// use std::time::Duration;
    ///
    /// static ROOMS: LastGood<String, u32> = LastGood::new(Duration::from_secs(3600));
    ///
    /// let shipped = [("h1", 12, Duration::from_secs(60)), ("h2", 7, Duration::from_secs(7200))];
    /// let Ok(()) = ROOMS.prime_all_now(shipped);
    /// let Ok(h1) = ROOMS.load_now("h1");
    /// assert_eq!(h1.unwrap().value, 12);
    /// let Ok(h2) = ROOMS.load_now("h2");
    /// assert_eq!(h2, None); // older than an hour
    /// ```
    ///
    /// # Errors
    /// The first of the store's: the answers after it are not kept.
    pub fn prime_all_now<Q>(
        &self,
        answers: impl IntoIterator<Item = (Q, V, Duration)>,
    ) -> Result<(), S::Error>
    where
        Q: Key<Owned = K>,
    {
        answers
            .into_iter()
            .try_for_each(|(key, value, age)| self.prime_now(&key, &value, age))
    }

    /// [`forget`](Self::forget), where nothing can be awaited.
    ///
    /// # Errors
    /// Those of the store.
    pub fn forget_now<Q>(&self, key: &Q) -> Result<(), S::Error>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.store.remove_now(key)
    }
}

impl<K, V, S: fmt::Debug> fmt::Debug for LastGood<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastGood")
            .field("ttl", &self.ttl)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// What may still be served.
pub(crate) fn served<V>(answer: Option<Aged<V>>, ttl: Duration) -> Option<Served<V>> {
    let Aged { value, age } = answer?;
    (age <= ttl).then(|| Served::stale(value, age))
}
