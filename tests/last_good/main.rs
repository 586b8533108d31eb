//! Last-good answers: `LastGood`, its store in memory, and `last_good` in the
//! attribute.

mod age;
mod attribute;
mod costs;
mod functions;
mod futures;
mod memory;
mod remote;
mod stores;
mod threads;
mod user_code;

use breakerbox::{Key, LastGood, Served};

/// What there is under a key.
fn load<K, V, Q>(answers: &LastGood<K, V>, key: &Q) -> Option<Served<V>>
where
    K: Send + Sync,
    V: Clone + Send + Sync,
    Q: Key<Owned = K> + ?Sized,
{
    let Ok(served) = answers.load_now(key);
    served
}

fn store<K, V, Q>(answers: &LastGood<K, V>, key: &Q, value: V)
where
    K: Send + Sync,
    V: Clone + Send + Sync,
    Q: Key<Owned = K> + ?Sized,
{
    let Ok(()) = answers.store_now(key, &value);
}
