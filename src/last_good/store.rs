//! Where last-good answers are kept.

use crate::keyed::Key;
use core::error::Error;
use core::future::Future;
use core::time::Duration;

/// An answer and its age: how long ago the dependency gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aged<V> {
    /// The answer.
    pub value: V,
    /// Its age now.
    pub age: Duration,
}

/// What a store says: at once, or after something that has to be awaited.
#[derive(Debug)]
#[must_use = "what has to be awaited does nothing unless it is"]
pub enum Reply<T, E, F> {
    /// This.
    Now(Result<T, E>),
    /// What this future gives.
    Later(F),
}

impl<T, E, F: Future<Output = Result<T, E>>> Reply<T, E, F> {
    /// Waits for it, where that is needed.
    ///
    /// # Errors
    /// What the store makes of it.
    pub async fn wait(self) -> Result<T, E> {
        match self {
            Self::Now(reply) => reply,
            Self::Later(future) => future.await,
        }
    }
}

/// The future of a store that never has to be awaited. There is no value of it, and
/// the compiler knows: an `async fn` with such a store keeps nothing for a wait, and
/// is `Send` where it would be without.
pub type NeverWaits<T> = crate::fallback::NoFuture<T>;

/// A place for last-good answers, of one table or file of them: [`Memory`], or one
/// of one's own.
///
/// What every store keeps to:
/// - An answer never replaces a younger one under the same key; of two that are
///   equally old, the later one stays. That holds between threads, too.
/// - An answer is younger than another if it was *given* later: `age` before the
///   moment in which [`save`](Self::save) is called. How a store keeps time is its
///   own affair.
/// - What fails is an error value, and takes away no answer that is already there.
/// - A store that is full gives up an answer, not the new one.
/// - It doesn't take for ever: callers wait for it, and no `timeout` of theirs bounds
///   that. What asks over a network gives up by itself, with an error.
///
/// The key is looked at before a future is made, which therefore doesn't hold it,
/// nor the value: a store that has to be awaited copies or writes down what it needs
/// first. A call's future is then `Send`, whatever its key is made of.
///
/// ```
/// use breakerbox::last_good::{Aged, Reply, Store};
/// use breakerbox::{Key, LastGood};
/// use std::collections::HashMap;
/// use std::convert::Infallible;
/// use std::pin::Pin;
/// use std::sync::Mutex;
/// use std::time::{Duration, Instant};
///
/// /// Of some service, say, that keeps them for a whole fleet.
/// #[derive(Default)]
/// struct Remote(Mutex<HashMap<String, (String, Instant)>>);
///
/// type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Infallible>> + Send + 'a>>;
///
/// impl Store<String, String> for Remote {
///     type Error = Infallible;
///     type Loading<'a> = Later<'a, Option<Aged<String>>>;
///     type Saving<'a> = Later<'a, ()>;
///
///     fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<String>>, Infallible, Self::Loading<'_>>
///     where
///         Q: Key<Owned = String> + ?Sized,
///     {
///         let key = key.to_key();
///         Reply::Later(Box::pin(async move {
///             let answers = self.0.lock().unwrap();
///             let answer = answers.get(&key);
///             Ok(answer.map(|(value, given)| Aged { value: value.clone(), age: given.elapsed() }))
///         }))
///     }
///
///     fn save<Q>(&self, key: &Q, answer: Aged<&String>) -> Reply<(), Infallible, Self::Saving<'_>>
///     where
///         Q: Key<Owned = String> + ?Sized,
///     {
///         let key = key.to_key();
///         let Some(given) = Instant::now().checked_sub(answer.age) else {
///             return Reply::Now(Ok(())); // older than this machine runs
///         };
///         let value = answer.value.clone();
///         Reply::Later(Box::pin(async move {
///             let mut answers = self.0.lock().unwrap();
///             if answers.get(&key).is_none_or(|(_, there)| *there <= given) {
///                 answers.insert(key, (value, given));
///             }
///             Ok(())
///         }))
///     }
///
///     fn remove<Q>(&self, key: &Q) -> Reply<(), Infallible, Self::Saving<'_>>
///     where
///         Q: Key<Owned = String> + ?Sized,
///     {
///         let key = key.to_key();
///         Reply::Later(Box::pin(async move {
///             self.0.lock().unwrap().remove(&key);
///             Ok(())
///         }))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let rates = LastGood::in_store(Remote::default(), Duration::from_secs(3600));
/// rates.store("h1", &"120".to_owned()).await?;
/// assert_eq!(rates.load("h1").await?.unwrap().value, "120");
/// # Ok::<(), Infallible>(())
/// # }).unwrap();
/// ```
///
/// [`Memory`]: super::Memory
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no store of last-good answers `{V}` under keys `{K}`",
    label = "expected a store, such as `last_good::Memory`",
    note = "`last_good::Memory` keeps what is `Clone`, `Send` and `Sync`",
    note = "for a store of your own write `impl breakerbox::last_good::Store<{K}, {V}> for {Self}`"
)]
pub trait Store<K, V>: Send + Sync {
    /// What may go wrong. [`Infallible`](core::convert::Infallible): nothing.
    type Error: Error + Send + Sync + 'static;

    /// What is awaited for an answer. [`NeverWaits`], if nothing ever is.
    type Loading<'a>: Future<Output = Result<Option<Aged<V>>, Self::Error>> + Send
    where
        Self: 'a;

    /// What is awaited until an answer is kept, or removed.
    type Saving<'a>: Future<Output = Result<(), Self::Error>> + Send
    where
        Self: 'a;

    /// The answer that is kept, however old.
    ///
    /// # Errors
    /// What the store makes of it.
    fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<V>>, Self::Error, Self::Loading<'_>>
    where
        Q: Key<Owned = K> + ?Sized;

    /// Keeps an answer, unless there is a younger one.
    ///
    /// # Errors
    /// The answer is not kept; the one that was there still is.
    fn save<Q>(&self, key: &Q, answer: Aged<&V>) -> Reply<(), Self::Error, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized;

    /// Gives up the answer, if there is one.
    ///
    /// # Errors
    /// What the store makes of it.
    fn remove<Q>(&self, key: &Q) -> Reply<(), Self::Error, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized;
}

/// A [`Store`] that also answers where nothing can be awaited: in plain functions.
#[diagnostic::on_unimplemented(
    message = "the store `{Self}` has to be awaited, which a plain function can't do",
    label = "this store is no `BlockingStore`",
    note = "make the function `async`",
    note = "or keep the answers in `last_good::Memory`, or another store that is a `BlockingStore`"
)]
pub trait BlockingStore<K, V>: Store<K, V> {
    /// [`Store::load`], on this thread.
    ///
    /// # Errors
    /// What the store makes of it.
    fn load_now<Q>(&self, key: &Q) -> Result<Option<Aged<V>>, Self::Error>
    where
        Q: Key<Owned = K> + ?Sized;

    /// [`Store::save`], on this thread.
    ///
    /// # Errors
    /// The answer is not kept; the one that was there still is.
    fn save_now<Q>(&self, key: &Q, answer: Aged<&V>) -> Result<(), Self::Error>
    where
        Q: Key<Owned = K> + ?Sized;

    /// [`Store::remove`], on this thread.
    ///
    /// # Errors
    /// What the store makes of it.
    fn remove_now<Q>(&self, key: &Q) -> Result<(), Self::Error>
    where
        Q: Key<Owned = K> + ?Sized;
}
