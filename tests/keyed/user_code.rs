//! Code of the user's that panics, or calls back, in the middle of it all.

use super::{Lines, ONE_FAILURE, fail};
use breakerbox::observe::{self, KeyEvicted, KeysFull, Observer};
use breakerbox::{AnyBreaker, CallError, Clock, Config, Key, KeyedBreakers, State, test};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// Where in its own code a key does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Hash,
    Compare,
    Copy,
    Drop,
}

type Action = Box<dyn Fn(Moment)>;

thread_local! {
    static ACTION: RefCell<Option<Action>> = const { RefCell::new(None) };
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// What keys of this thread do from now on. What they do then may use keys again, which
/// then do nothing.
fn keys_do(action: impl Fn(Moment) + 'static) {
    ACTION.set(Some(Box::new(action)));
}

fn keys_do_nothing() {
    ACTION.take();
}

fn at(moment: Moment) {
    if WITHIN.replace(true) {
        return;
    }
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            WITHIN.set(false);
        }
    }
    let _done = Done;
    ACTION.with_borrow(|action| {
        if let Some(action) = action {
            action(moment);
        }
    });
}

/// A key that does something, and has one hash with all others.
struct Acts(u32);

impl Hash for Acts {
    fn hash<H: Hasher>(&self, _: &mut H) {
        at(Moment::Hash);
    }
}

impl Drop for Acts {
    fn drop(&mut self) {
        at(Moment::Drop);
    }
}

impl Key for Acts {
    type Owned = Self;

    fn to_key(&self) -> Self {
        at(Moment::Copy);
        Self(self.0)
    }

    fn is(&self, owned: &Self) -> bool {
        at(Moment::Compare);
        self.0 == owned.0
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", owned.0)
    }
}

#[test]
fn a_key_that_panics_costs_its_own_call_alone() {
    let _scope = test::scope();
    for moment in [Moment::Hash, Moment::Compare, Moment::Copy] {
        let keys = KeyedBreakers::<Acts>::new("acts", ONE_FAILURE).max_keys(3);
        keys.get(&Acts(0));
        fail(&keys, &Acts(1));
        keys_do(move |now| assert_ne!(now, moment, "on purpose"));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let new = std::mem::ManuallyDrop::new(Acts(2));
            keys.get(&*new);
        }));
        keys_do_nothing();
        assert!(panicked.is_err(), "{moment:?}");
        assert_eq!(keys.len(), 2, "{moment:?}");
        assert_eq!(keys.get(&Acts(1)).state(), State::Open);
        // All places are still there.
        for key in 2..10 {
            keys.get(&Acts(key));
        }
        assert_eq!((keys.len(), keys.breakers().len()), (3, 3), "{moment:?}");
    }
}

#[test]
fn a_key_may_use_the_breakers_that_it_is_a_key_of() {
    let _scope = test::scope();
    let keys = Arc::new(KeyedBreakers::<Acts>::new("acts", ONE_FAILURE).max_keys(3));
    let (weak, seen) = (Arc::downgrade(&keys), Rc::new(Cell::new(0)));
    let count = Rc::clone(&seen);
    keys_do(move |moment| {
        let Some(keys) = Weak::upgrade(&weak) else {
            return;
        };
        count.set(count.get() | 1 << moment as u32);
        // A known key, a new one, and all.
        keys.get(&Acts(0));
        keys.get(&Acts(count.get() + 100));
        assert!(keys.len() <= 3 && keys.breakers().len() <= 3);
    });
    for key in [0, 1, 2, 0, 3, 4, 1] {
        keys.get(&Acts(key));
    }
    keys_do_nothing();
    assert_eq!(seen.get(), 0b1111, "at each moment");
    assert_eq!((keys.len(), keys.breakers().len()), (3, 3));
}

/// Asks for a key when another is given up: just then a place is kept for a new one.
struct Asks<O: 'static> {
    keys: Weak<KeyedBreakers<O>>,
    ask: fn(&KeyedBreakers<O>),
    times: AtomicU32,
}

impl<O: Send + Sync> Observer for Asks<O> {
    fn key_evicted(&self, _: &KeyEvicted<'_>) {
        let left = self.times.load(Ordering::Relaxed);
        if left > 0
            && let Some(keys) = self.keys.upgrade()
        {
            self.times.store(left - 1, Ordering::Relaxed);
            (self.ask)(&keys);
        }
    }
}

impl<O: Send + Sync> Asks<O> {
    fn install(
        keys: &Arc<KeyedBreakers<O>>,
        times: u32,
        ask: fn(&KeyedBreakers<O>),
    ) -> observe::Installed {
        observe::install(Self {
            keys: Arc::downgrade(keys),
            ask,
            times: AtomicU32::new(times),
        })
    }
}

#[test]
fn a_key_that_is_added_twice_at_once_is_one() {
    let _scope = test::scope();
    let keys = Arc::new(KeyedBreakers::<u64>::new("keys", Config::DEFAULT).max_keys(3));
    for key in 0..3_u64 {
        keys.get(&key);
    }
    // While one place is being made for key 7, it is made and taken by another.
    let _asks = Asks::install(&keys, 1, |keys| fail(keys, &7_u64));
    let seven = keys.get(&7_u64);
    assert_eq!(
        seven.snapshot().consecutive,
        1,
        "the one that was added first"
    );
    assert_eq!(keys.breakers().len(), 2, "two were given up");
    assert_eq!(keys.len(), 2, "and one place was given back");
    keys.get(&8_u64);
    assert_eq!((keys.len(), keys.breakers().len()), (3, 3));
}

#[test]
fn a_key_that_panics_when_another_was_quicker_gives_its_place_back() {
    let _scope = test::scope();
    let keys = Arc::new(KeyedBreakers::<Acts>::new("acts", Config::DEFAULT).max_keys(3));
    for key in 0..3 {
        keys.get(&Acts(key));
    }
    let _asks = Asks::install(&keys, 1, |keys| {
        keys.get(&Acts(8));
        keys_do(|moment| assert_ne!(moment, Moment::Compare, "on purpose"));
    });
    // It has the same hash as the one that was added meanwhile, so they are compared.
    let panicked = catch_unwind(AssertUnwindSafe(|| keys.get(&Acts(7))));
    keys_do_nothing();
    assert!(panicked.is_err());
    assert_eq!((keys.len(), keys.breakers().len()), (2, 2));
    assert_eq!(keys.get(&Acts(7)).key().0, 7);
    assert_eq!((keys.len(), keys.breakers().len()), (3, 3));
}

#[test]
fn an_observer_may_ask_for_keys() {
    let _scope = test::scope();
    let keys = Arc::new(KeyedBreakers::<u64>::new("keys", Config::DEFAULT).max_keys(3));
    let lines = Lines::default();
    let _lines = observe::install(lines.clone());
    let _asks = Asks::install(&keys, 5, |keys| {
        // One that is not known, for which another is given up.
        keys.get(&(keys.get(&1_000_u64).key() + u64::from(rand())));
        assert!(keys.len() <= 3 && keys.breakers().len() <= 3);
    });
    for key in 0..4_u64 {
        keys.get(&key);
    }
    let told = lines.take();
    let (given_up, full): (Vec<_>, Vec<_>) =
        told.iter().partition(|line| line.contains("given up"));
    assert_eq!(given_up.len(), 3, "all, and then there was none: {told:?}");
    assert_eq!(full.len(), 2 + 1, "{told:?}");
    for key in 10..20_u64 {
        keys.get(&key);
    }
    assert_eq!((keys.len(), keys.breakers().len()), (3, 3));
}

fn rand() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(1);
    LAST.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn an_observer_that_hears_of_no_place_may_make_one() {
    struct Closes(Weak<KeyedBreakers<u64>>);

    impl Observer for Closes {
        fn keys_full(&self, event: &KeysFull<'_>) {
            assert_eq!((event.breaker, event.key.to_string()), ("keys", "3".into()));
            for breaker in self.0.upgrade().unwrap().breakers() {
                breaker.close();
            }
        }
    }

    let _scope = test::scope();
    let keys = Arc::new(KeyedBreakers::<u64>::new("keys", ONE_FAILURE).max_keys(3));
    for key in 0..3_u64 {
        fail(&keys, &key);
    }
    let _closes = observe::install(Closes(Arc::downgrade(&keys)));
    keys.get(&3_u64);
    fail(&keys, &3_u64);
    assert_eq!(keys.get(&3_u64).state(), State::Open);
}

#[test]
fn an_observer_that_panics_costs_nothing() {
    struct Panics;

    impl Observer for Panics {
        fn key_evicted(&self, _: &KeyEvicted<'_>) {
            panic!("on purpose");
        }

        fn keys_full(&self, _: &KeysFull<'_>) {
            panic!("on purpose");
        }
    }

    let _scope = test::scope();
    let _panics = observe::install(Panics);
    let keys = KeyedBreakers::<u64>::new("keys", ONE_FAILURE).max_keys(2);
    for key in 0..10_u64 {
        keys.get(&key);
    }
    assert_eq!((keys.len(), keys.breakers().len()), (2, 2));
    let held = keys.breakers();
    keys.get(&10_u64);
    drop(held);
    keys.get(&10_u64);
    assert!(keys.breakers().iter().any(|one| *one.key() == 10));
}

#[test]
fn a_clock_that_panics_costs_its_own_call_alone() {
    thread_local! {
        static BROKEN: Cell<bool> = const { Cell::new(false) };
    }

    #[derive(Clone, Copy)]
    struct Breaks;

    impl Clock for Breaks {
        fn now(&self) -> u64 {
            assert!(!BROKEN.get(), "on purpose");
            0
        }

        fn entropy(&self) -> Option<u64> {
            None
        }
    }

    let keys = KeyedBreakers::<u64, Breaks>::with_clock("keys", ONE_FAILURE, Breaks).max_keys(1);
    BROKEN.set(true);
    let panicked = catch_unwind(AssertUnwindSafe(|| fail(&keys, &0_u64)));
    assert!(panicked.is_err());
    BROKEN.set(false);
    // It was not in use any more, so it goes if it is closed.
    let state = keys.get(&0_u64).state();
    keys.get(&1_u64);
    let first = *keys.breakers()[0].key();
    assert_eq!(first, u64::from(state == State::Closed));
    let refused = keys.get(&0_u64).call_sync(|| Ok::<_, ()>(1));
    assert_eq!(matches!(refused, Err(CallError::Open(_))), first == 0);
}
