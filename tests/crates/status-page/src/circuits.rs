//! The circuits of the service, and what tests have them do.

use breakerbox::{Breaker, Clock, KeyedBreakers, ManualClock, Settings};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time of all circuits, which passes when a test says so.
static TIME: ManualClock = ManualClock::new(0);

/// Reads `TIME`.
#[derive(Clone, Copy, Debug)]
pub struct Time;

impl Clock for Time {
    fn now(&self) -> u64 {
        TIME.now()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// What a circuit is to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// There is a breaker of this name.
    Make(String),
    /// There are so many keys of this name: `key-0`, `key-1` and so on.
    Keys(String, u32),
    /// A call ends well.
    Succeed(Which),
    /// Calls fail.
    Fail(Which, u32),
    /// An operator elsewhere does something.
    ForceOpen(Which),
    /// An operator elsewhere sets a breaker to shadow.
    Shadow(String),
    /// The breaker, or those of all its keys, are dropped.
    Drop(String),
    /// Milliseconds pass.
    Pass(u64),
}

/// A circuit: a breaker's name, and perhaps a key.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Which {
    /// A breaker.
    Of(String),
    /// That of a key.
    Key(String, String),
}

/// So many keys are kept.
const MAX_KEYS: u32 = 20_000;

/// The circuits.
#[derive(Default)]
pub struct Circuits {
    breakers: Mutex<HashMap<String, Arc<Breaker<Time>>>>,
    keyed: Mutex<HashMap<String, Arc<KeyedBreakers<String, Time>>>>,
}

impl fmt::Debug for Circuits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Circuits").finish_non_exhaustive()
    }
}

/// Three failures open it for 30 s.
fn settings() -> breakerbox::Config {
    Settings::new()
        .threshold(3)
        .reset(Duration::from_secs(30))
        .jitter(0.0)
        .must()
}

impl Circuits {
    /// Does what it is told.
    ///
    /// # Errors
    /// What there is no circuit for.
    pub fn obey(&self, command: Command) -> Result<(), String> {
        match command {
            Command::Make(name) => {
                let made = Breaker::shared_with_clock(name.clone(), settings(), Time);
                lock(&self.breakers).insert(name, made);
            }
            Command::Keys(name, many) => {
                let keyed = self.keyed(&name)?;
                for key in 0..many {
                    keyed.get(&*format!("key-{key}"));
                }
            }
            Command::Succeed(which) => self.call(&which, true)?,
            Command::Fail(which, times) => {
                for _ in 0..times {
                    self.call(&which, false)?;
                }
            }
            Command::ForceOpen(which) => {
                let name = match which {
                    Which::Of(name) => name,
                    Which::Key(name, key) => format!("{name}[{key}]"),
                };
                let found = breakerbox::find(&name).ok_or("no such circuit")?;
                found.force_open();
            }
            Command::Shadow(name) => {
                let found = breakerbox::find(&name).ok_or("no such circuit")?;
                found.shadow();
            }
            Command::Drop(name) => {
                let dropped = lock(&self.breakers).remove(&name);
                let keyed = lock(&self.keyed).remove(&name);
                drop((dropped, keyed));
                // Whoever looks at all circuits just now holds it a little longer, and so its name.
                let limit = Instant::now() + Duration::from_secs(60);
                while breakerbox::find(&name).is_some() {
                    if Instant::now() > limit {
                        return Err(format!("`{name}` is in use"));
                    }
                    thread::yield_now();
                }
            }
            Command::Pass(milliseconds) => TIME.advance(Duration::from_millis(milliseconds)),
        }
        Ok(())
    }

    fn keyed(&self, name: &str) -> Result<Arc<KeyedBreakers<String, Time>>, String> {
        let mut keyed = lock(&self.keyed);
        if let Some(known) = keyed.get(name) {
            return Ok(Arc::clone(known));
        }
        let made = KeyedBreakers::shared_with_clock(name, settings(), Time, MAX_KEYS);
        let made = made.map_err(|error| error.to_string())?;
        keyed.insert(name.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    fn call(&self, which: &Which, well: bool) -> Result<(), String> {
        let answer = if well { Ok(()) } else { Err("no answer") };
        // Refused, or the answer: neither matters here.
        let _ = match which {
            Which::Of(name) => {
                let breaker = lock(&self.breakers).get(name).map(Arc::clone);
                breaker.ok_or("no such breaker")?.call_sync(|| answer)
            }
            Which::Key(name, key) => self.keyed(name)?.get(key.as_str()).call_sync(|| answer),
        };
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
