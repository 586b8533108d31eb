//! Keys from many threads at once. None of these depends on how fast anything is.

use super::{Answer, ONE_FAILURE, answer, fail, fail_one};
use breakerbox::observe::{self, KeyEvicted, Observer};
use breakerbox::{
    AnyBreaker, CallError, Config, Key, KeyedBreaker, KeyedBreakers, Settings, State,
    circuit_breaker,
};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 4;

/// Opens for longer than any test takes.
const LASTING: Config = Settings::new()
    .threshold(1)
    .reset(Duration::from_secs(3_600))
    .must();

#[test]
fn threads_that_add_one_key_get_one_breaker() {
    let hosts = KeyedBreakers::<u64>::new("one-key", Config::DEFAULT);
    let barrier = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for key in 0..500_u64 {
                    barrier.wait();
                    let one = hosts.get(&key);
                    fail_one(&one);
                }
            });
        }
    });
    assert_eq!((hosts.len(), hosts.breakers().len()), (500, 500));
    for one in hosts.breakers() {
        assert_eq!(
            u64::from(one.snapshot().consecutive),
            THREADS,
            "{}",
            one.key()
        );
    }
}

/// A type of key for each number.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfType<const N: usize>;

impl<const N: usize> Key for OfType<N> {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, _: &Self) -> bool {
        true
    }

    fn label(_: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N}")
    }
}

#[test]
fn threads_that_are_the_first_to_call_get_one_breaker_by_one_name() {
    #[circuit_breaker(name = "first-of-all", threshold = 4, reset = "1h", key = key)]
    fn call<K: Key>(key: &K) -> Answer {
        let _ = key;
        answer(false)
    }

    fn name_of<K: Key + Sync>(key: K) -> String {
        let barrier = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    call(&key)
                });
            }
        });
        // All of them were counted in one place, which the registry knows.
        let Err(CallError::Open(refused)) = call(&key) else {
            panic!("admitted")
        };
        let name = format!("{}[{}]", refused.name(), refused.key().unwrap());
        assert_eq!(breakerbox::find(&name).unwrap().state(), State::Open);
        refused.name().to_owned()
    }

    let names = [
        name_of("text"),
        name_of(OfType::<0>),
        name_of(OfType::<1>),
        name_of(OfType::<2>),
        name_of(OfType::<3>),
        name_of(OfType::<4>),
        name_of(OfType::<5>),
        name_of(7_u64),
    ];
    let different: HashSet<_> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
}

#[test]
fn a_key_that_is_added_where_all_places_are_taken_is_one() {
    let hosts = KeyedBreakers::<u64>::new("one-key-full", Config::DEFAULT).max_keys(64);
    let barrier = Barrier::new(THREADS as usize);
    // A thread that panicked would leave the others waiting.
    let (got, counted) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    for key in 0..64_u64 {
        hosts.get(&key);
    }
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for key in 100..600_u64 {
                    barrier.wait();
                    let one = hosts.get(&key);
                    fail_one(&one);
                    got.lock().unwrap().push(one);
                    if barrier.wait().is_leader() {
                        // Nobody let go of it in between, so it is one breaker.
                        let all = std::mem::take(&mut *got.lock().unwrap());
                        let count = |one: &KeyedBreaker<_>| one.snapshot().consecutive;
                        counted.lock().unwrap().extend(all.iter().map(count));
                    }
                    barrier.wait();
                }
            });
        }
    });
    let counted = counted.into_inner().unwrap();
    assert_eq!(counted, vec![THREADS as u32; 500 * THREADS as usize]);
    assert_eq!(hosts.len(), hosts.breakers().len());
    for key in 1_000..1_100_u64 {
        hosts.get(&key);
    }
    assert_eq!(
        (hosts.len(), hosts.breakers().len()),
        (64, 64),
        "no place was lost"
    );
}

/// Of breakers of this name, whose key was given up.
struct GivenUp(&'static str, Arc<Mutex<HashSet<String>>>);

impl Observer for GivenUp {
    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        if event.breaker == self.0 {
            self.1.lock().unwrap().insert(event.key.to_string());
        }
    }
}

/// A thread that has not ended, nor panicked.
struct Running<'r>(&'r AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn a_flood_from_all_sides_gives_up_nothing_that_is_open_or_in_use() {
    const NAME: &str = "flood";
    const MAX: usize = 200;
    let given_up = Arc::new(Mutex::new(HashSet::new()));
    let _installed = observe::install(GivenUp(NAME, Arc::clone(&given_up)));
    let hosts = KeyedBreakers::<u64>::new(NAME, LASTING).max_keys(MAX as u32);
    // A tenth is open, a tenth in use.
    for key in 0..20_u64 {
        fail(&hosts, &key);
    }
    let in_use: Vec<_> = (20..40_u64).map(|key| hosts.get(&key)).collect();
    let (running, too_many) = (AtomicUsize::new(THREADS as usize), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (hosts, running) = (&hosts, Running(&running));
            scope.spawn(move || {
                let _running = running;
                for number in 0..3_000_u64 {
                    let new = 1_000 + number * THREADS + thread;
                    assert!(hosts.get(&new).call_sync(|| Ok::<_, ()>(1)).is_ok());
                    // All of them ask for these.
                    assert!(hosts.get(&(number % 20)).admit().is_err());
                    assert!(hosts.get(&(50 + number % 200)).admit().is_ok());
                }
            });
        }
        while running.load(Ordering::Relaxed) > 0 {
            if hosts.len() > MAX || hosts.breakers().len() > MAX {
                too_many.fetch_add(1, Ordering::Relaxed);
            }
            thread::yield_now();
        }
    });
    assert_eq!(too_many.into_inner(), 0);
    for (key, one) in (20..40_u64).zip(&in_use) {
        one.force_open();
        assert_eq!(hosts.get(&key).state(), State::ForcedOpen, "{key}");
    }
    for key in 0..20_u64 {
        assert_eq!(hosts.get(&key).state(), State::Open, "{key}");
    }
    let given_up = std::mem::take(&mut *given_up.lock().unwrap());
    assert!(given_up.len() > 5_000, "{}", given_up.len());
    assert!((0..40).all(|key: u64| !given_up.contains(&key.to_string())));
    // No place was lost.
    for key in 100_000..101_000_u64 {
        hosts.get(&key);
    }
    assert_eq!((hosts.len(), hosts.breakers().len()), (MAX, MAX));
}

#[test]
fn handles_go_on_while_their_breakers_are_dropped() {
    for _ in 0..50 {
        let hosts = Arc::new(KeyedBreakers::<String>::new("dropped", ONE_FAILURE));
        let barrier = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (hosts, barrier) = (Arc::clone(&hosts), &barrier);
                scope.spawn(move || {
                    let one = hosts.get(&thread.to_string());
                    barrier.wait();
                    drop(hosts);
                    fail_one(&one);
                    assert_eq!(one.admit().unwrap_err().name(), "dropped");
                });
            }
            drop(hosts);
        });
    }
}

#[test]
fn the_registry_is_asked_while_shared_ones_come_and_go() {
    let running = AtomicUsize::new(1);
    thread::scope(|scope| {
        let come_and_go = Running(&running);
        scope.spawn(|| {
            let _running = come_and_go;
            for _ in 0..500 {
                let hosts = KeyedBreakers::<u64>::shared("come-and-go", ONE_FAILURE, 10).unwrap();
                hosts.get(&1_u64);
            }
        });
        while running.load(Ordering::Relaxed) > 0 {
            if let Some(found) = breakerbox::find("come-and-go[1]") {
                assert_eq!(found.name(), "come-and-go");
            }
            if let Some(found) = breakerbox::find_keyed("come-and-go") {
                assert!(found.breakers().len() <= 1);
            }
        }
    });
    assert!(breakerbox::find_keyed("come-and-go").is_none());
}
