//! The file as a store, for async functions and plain ones.

use super::error::DiskError;
use super::task::{self, DiskTask};
use super::{Disk, Save};
use crate::Key;
use crate::last_good::moment::Moment;
use crate::last_good::{Aged, BlockingStore, Reply, Store};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

impl<K, V> Store<K, V> for Disk<K, V>
where
    K: Serialize + DeserializeOwned,
    V: Serialize + DeserializeOwned + Send,
{
    type Error = DiskError;
    type Loading<'a> = DiskTask<Option<Aged<V>>>;
    type Saving<'a> = DiskTask<()>;

    fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<V>>, DiskError, Self::Loading<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        // Here: a test scope is this thread's.
        let now = Moment::now();
        let key = match self.shared.key(key) {
            Ok(key) => key,
            Err(error) => return Reply::Now(Err(error)),
        };
        let shared = Arc::clone(&self.shared);
        task::run(self.path(), move || shared.load(&key, now))
    }

    fn save<Q>(&self, key: &Q, answer: Aged<&V>) -> Reply<(), DiskError, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        match self.prepare(key, answer) {
            Ok(Some(save)) => {
                let shared = Arc::clone(&self.shared);
                task::run(self.path(), move || shared.save::<V>(save))
            }
            Ok(None) => Reply::Now(Ok(())),
            Err(error) => Reply::Now(Err(error)),
        }
    }

    fn remove<Q>(&self, key: &Q) -> Reply<(), DiskError, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        let now = Moment::now();
        let key = match self.shared.key(key) {
            Ok(key) => key,
            Err(error) => return Reply::Now(Err(error)),
        };
        let shared = Arc::clone(&self.shared);
        task::run(self.path(), move || shared.remove(key, now))
    }
}

impl<K, V> BlockingStore<K, V> for Disk<K, V>
where
    K: Serialize + DeserializeOwned,
    V: Serialize + DeserializeOwned + Send,
{
    fn load_now<Q>(&self, key: &Q) -> Result<Option<Aged<V>>, DiskError>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.shared.load(&self.shared.key(key)?, Moment::now())
    }

    fn save_now<Q>(&self, key: &Q, answer: Aged<&V>) -> Result<(), DiskError>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        match self.prepare(key, answer)? {
            Some(save) => self.shared.save::<V>(save),
            None => Ok(()),
        }
    }

    fn remove_now<Q>(&self, key: &Q) -> Result<(), DiskError>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.shared.remove(self.shared.key(key)?, Moment::now())
    }
}

impl<K, V> Disk<K, V>
where
    K: Serialize + DeserializeOwned,
    V: Serialize + DeserializeOwned,
{
    fn prepare<Q>(&self, key: &Q, answer: Aged<&V>) -> Result<Option<Save>, DiskError>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.shared.prepare(self.shared.key(key)?, answer)
    }
}
