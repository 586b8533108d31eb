//! One breaker per key: `KeyedBreakers`, and `key` in the attribute.

mod attribute;
mod eviction;
mod keys;
mod memory;
mod model;
mod names;
mod scopes;
mod threads;
mod user_code;

use breakerbox::observe::{KeyEvicted, KeysFull, Observer, StateChange};
use breakerbox::{CallError, Clock, Config, Key, KeyedBreaker, KeyedBreakers, Policy, Settings};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

type Answer = Result<u32, CallError<&'static str>>;

const ONE_FAILURE: Config = Settings::new().threshold(1).must();

fn answer(up: bool) -> Answer {
    up.then_some(7).ok_or(CallError::Call("no answer"))
}

/// A call that fails.
fn fail_one<O, C, P>(breaker: &KeyedBreaker<O, C, P>)
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    let failed = breaker.call_sync(|| Err::<(), _>("no answer"));
    assert_eq!(failed, Err(CallError::Call("no answer")));
}

fn fail<O, C, P>(breakers: &KeyedBreakers<O, C, P>, key: &(impl Key<Owned = O> + ?Sized))
where
    O: Send + Sync,
    C: Clock + Clone + Send + Sync,
    P: Policy + Send + Sync,
{
    fail_one(&breakers.get(key));
}

/// Keys that all have one hash.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Alike(u32);

impl Hash for Alike {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Key for Alike {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(_: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("alike")
    }
}

/// What observers were told, as lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, event: &impl ToString) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.add(event);
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        self.add(event);
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        self.add(event);
    }
}
