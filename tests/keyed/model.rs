//! Random calls beside a plain model of what is kept.

use super::fail_one;
use breakerbox::observe::{self, KeyEvicted, KeysFull, Observer};
use breakerbox::{AnyBreaker, Config, KeyedBreaker, KeyedBreakers, Settings, State, test};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const THRESHOLD: u32 = 3;
const CONFIG: Config = Settings::new().threshold(THRESHOLD).must();

/// xorshift64*
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Evicted(u64),
    Full(u64),
}

#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<Told>>>);

impl Observer for Events {
    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        let key = event.key.to_string().parse().unwrap();
        self.0.lock().unwrap().push(Told::Evicted(key));
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        let key = event.key.to_string().parse().unwrap();
        self.0.lock().unwrap().push(Told::Full(key));
    }
}

/// What is known of a key that is kept.
#[derive(Clone, Debug, Default)]
struct Known {
    failures: u32,
    open: bool,
    in_use: usize,
    /// Found again, ever; and since the last time that a key was looked for to give up.
    used: bool,
    used_since: bool,
}

impl Known {
    fn may_go(&self) -> bool {
        !self.open && self.in_use == 0
    }
}

struct Model {
    max: usize,
    kept: HashMap<u64, Known>,
    events: Events,
    keys: KeyedBreakers<u64>,
    held: Vec<(u64, KeyedBreaker<u64>)>,
}

impl Model {
    fn new(max: u32, events: Events) -> Self {
        Self {
            max: max as usize,
            kept: HashMap::new(),
            events,
            keys: KeyedBreakers::new("model", CONFIG).max_keys(max),
            held: Vec::new(),
        }
    }

    fn get(&mut self, key: u64) -> KeyedBreaker<u64> {
        let one = self.keys.get(&key);
        let told = std::mem::take(&mut *self.events.0.lock().unwrap());
        if let Some(known) = self.kept.get_mut(&key) {
            assert_eq!(told, [], "of a known key nothing is told");
            (known.used, known.used_since) = (true, true);
        } else if self.kept.len() < self.max {
            assert_eq!(told, [], "there is a place");
            self.kept.insert(key, Known::default());
        } else {
            match *told {
                [Told::Full(new)] => {
                    assert_eq!(new, key);
                    assert!(!self.kept.values().any(Known::may_go), "{key}: one may go");
                    self.looked_at();
                }
                [Told::Evicted(old)] => self.evicted(old, key),
                _ => panic!("{key}: {told:?}"),
            }
        }
        let failures = self.kept.get(&key).map_or(0, |known| known.failures);
        assert_eq!(one.snapshot().consecutive, failures, "{key}");
        one
    }

    fn evicted(&mut self, old: u64, new: u64) {
        let gone = self.kept.remove(&old);
        let gone = gone.unwrap_or_else(|| panic!("{old} was not kept"));
        assert!(gone.may_go(), "{old}: {gone:?}");
        let better = |others: &HashMap<u64, Known>, is: fn(&Known) -> bool| {
            others
                .values()
                .any(|known| known.may_go() && !known.used && is(known))
        };
        // All of these few are looked at.
        if gone.used_since {
            assert!(
                !better(&self.kept, |_| true),
                "{old} was used, and others weren't"
            );
        }
        if gone.failures > 0 {
            let idle = |known: &Known| known.failures == 0;
            assert!(
                !better(&self.kept, idle),
                "{old} had failures, and others hadn't"
            );
        }
        self.looked_at();
        self.kept.insert(new, Known::default());
    }

    fn looked_at(&mut self) {
        for known in self.kept.values_mut() {
            known.used_since = false;
        }
    }

    /// Settles by the model what was just done to a key.
    fn after(&mut self, key: u64, change: impl FnOnce(&mut Known)) {
        if let Some(known) = self.kept.get_mut(&key) {
            change(known);
        }
    }

    fn step(&mut self, random: &mut Random, keys: u64) {
        let key = random.below(keys);
        match random.below(16) {
            0..=3 => {
                let one = self.get(key);
                if one.state() == State::Open {
                    assert!(one.admit().is_err());
                    assert!(self.kept[&key].open);
                    return;
                }
                fail_one(&one);
                self.after(key, |known| {
                    known.failures += 1;
                    if known.failures == THRESHOLD {
                        (known.failures, known.open) = (0, true);
                    }
                });
            }
            4 => {
                self.get(key).close();
                self.after(key, |known| (known.failures, known.open) = (0, false));
            }
            5 => {
                // Only of those that are kept something can be held.
                let one = self.get(key);
                if self.kept.contains_key(&key) {
                    self.after(key, |known| known.in_use += 1);
                    self.held.push((key, one));
                }
            }
            6..=7 if !self.held.is_empty() => {
                let place = random.below(self.held.len() as u64) as usize;
                let (key, one) = self.held.swap_remove(place);
                drop(one);
                self.after(key, |known| known.in_use -= 1);
            }
            _ => drop(self.get(key)),
        }
        assert_eq!(self.keys.len(), self.kept.len());
    }

    /// What is kept is what the model says, in each particular.
    fn check(&self) {
        let breakers = self.keys.breakers();
        assert_eq!(breakers.len(), self.kept.len());
        assert!(self.kept.len() <= self.max);
        for one in breakers {
            let known = &self.kept[one.key()];
            assert_eq!(one.state() == State::Open, known.open, "{}", one.key());
        }
        for (key, one) in &self.held {
            assert_eq!(one.key(), key);
            assert!(self.kept.contains_key(key), "{key} is in use");
        }
    }
}

fn run(seeds: std::ops::Range<u64>, max: u32, keys: u64, steps: u32) {
    for seed in seeds {
        let _scope = test::scope();
        let events = Events::default();
        let _installed = observe::install(events.clone());
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut model = Model::new(max, events);
        println!("seed {seed}, {max} of {keys} keys");
        for _ in 0..steps {
            model.step(&mut random, keys);
        }
        model.check();
    }
}

#[test]
fn what_is_kept_is_as_the_model_says() {
    run(0..40, 1, 3, 300);
    run(0..40, 2, 8, 500);
    run(0..40, 7, 20, 1_000);
    // The most that is one shard.
    run(0..15, 63, 150, 3_000);
}
