//! A store that has to be awaited, and does as it is told.

use breakerbox::Key;
use breakerbox::last_good::{Aged, Reply, Store};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

/// What it does with what it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mood {
    #[default]
    Fine,
    /// Says so before anything is awaited.
    FailsAtOnce,
    Fails,
    PanicsAtOnce,
    Panics,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreachable(pub(crate) &'static str);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store is unreachable for {}", self.0)
    }
}

impl Error for Unreachable {}

/// Its answers have the age that they came with.
#[derive(Debug)]
pub(crate) struct Remote {
    answers: Mutex<HashMap<String, Aged<u32>>>,
    mood: Mutex<Mood>,
    /// Each request needs one of these, and gives it back.
    pub(crate) open: Arc<Semaphore>,
}

impl Default for Remote {
    fn default() -> Self {
        Self {
            answers: Mutex::default(),
            mood: Mutex::default(),
            open: Arc::new(Semaphore::new(1)),
        }
    }
}

type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Unreachable>> + Send + 'a>>;

impl Remote {
    pub(crate) fn is_in(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn has(&self, key: &str) -> Option<Aged<u32>> {
        self.answers.lock().unwrap().get(key).copied()
    }

    fn later<'a, T>(
        &'a self,
        what: &'static str,
        done: impl FnOnce(&mut HashMap<String, Aged<u32>>) -> T + Send + 'a,
    ) -> Reply<T, Unreachable, Later<'a, T>> {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::FailsAtOnce => return Reply::Now(Err(Unreachable(what))),
            Mood::PanicsAtOnce => panic!("{what} panics"),
            Mood::Fine | Mood::Fails | Mood::Panics => {}
        }
        Reply::Later(Box::pin(async move {
            let _permit = self.open.acquire().await.unwrap();
            let mood = *self.mood.lock().unwrap();
            match mood {
                Mood::Fails => Err(Unreachable(what)),
                Mood::Panics => std::panic::panic_any(format!("{what} panics later")),
                _ => Ok(done(&mut self.answers.lock().unwrap())),
            }
        }))
    }
}

impl Store<String, u32> for Remote {
    type Error = Unreachable;
    type Loading<'a> = Later<'a, Option<Aged<u32>>>;
    type Saving<'a> = Later<'a, ()>;

    fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<u32>>, Unreachable, Self::Loading<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        let key = key.to_key();
        self.later("load", move |answers| answers.get(&key).copied())
    }

    fn save<Q>(&self, key: &Q, answer: Aged<&u32>) -> Reply<(), Unreachable, Self::Saving<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        let key = key.to_key();
        let answer = Aged {
            value: *answer.value,
            age: answer.age,
        };
        self.later("save", move |answers| {
            let there = answers.get(&key).map_or(Duration::MAX, |there| there.age);
            if there >= answer.age {
                answers.insert(key, answer);
            }
        })
    }

    fn remove<Q>(&self, key: &Q) -> Reply<(), Unreachable, Self::Saving<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        let key = key.to_key();
        self.later("remove", move |answers| {
            answers.remove(&key);
        })
    }
}
