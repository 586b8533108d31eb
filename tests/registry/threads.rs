//! What the user's own code does meanwhile.

use crate::asking::{ask_for_everything, ends};
use breakerbox::observe::{self, KeyEvicted, Observer, StateChange};
use breakerbox::registry::{self, Registered};
use breakerbox::{AnyBreaker, Breaker, Config, Key, KeyedBreakers, Settings, State, test};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A key whose label asks the registry, once in a while.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Asking(u32);

static DEPTH: AtomicUsize = AtomicUsize::new(0);

impl Key for Asking {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if DEPTH.fetch_add(1, Ordering::SeqCst) == 0 {
            let _ = registry::all().len();
            let _ = breakerbox::find("asking[7]");
            let _ = registry::snapshot();
            registry::restore(&registry::snapshot());
            drop(Breaker::shared("of-a-label", Config::DEFAULT));
        }
        DEPTH.fetch_sub(1, Ordering::SeqCst);
        write!(f, "{}", owned.0)
    }
}

/// An observer that asks the registry, and operates what it finds.
struct Operator(AtomicBool);

impl Operator {
    fn act(&self) {
        if self.0.swap(true, Ordering::SeqCst) {
            return;
        }
        ask_for_everything();
        for it in registry::all() {
            match it {
                Registered::One(breaker) => assert_eq!(breaker.close().to, State::Closed),
                Registered::Keyed(keyed) => assert!(keyed.force_open() <= 2),
                _ => {}
            }
        }
        registry::restore(&registry::snapshot());
        drop(Breaker::shared("of-an-observer", Config::DEFAULT));
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Observer for Operator {
    fn state_changed(&self, _: &StateChange<'_>) {
        self.act();
    }

    fn key_evicted(&self, _: &KeyEvicted<'_>) {
        self.act();
    }
}

#[test]
fn observers_and_labels_may_use_the_registry() {
    ends(|| {
        let _scope = test::scope();
        let _operator = observe::install(Operator(AtomicBool::new(false)));
        let mut watch = registry::watch();
        let asking = KeyedBreakers::<Asking>::shared("asking", Config::DEFAULT, 2).unwrap();
        let pms = Breaker::shared("pms", Settings::new().threshold(1).must());
        for round in 0..5 {
            let _ = pms.call_sync(|| Err::<(), _>("no answer"));
            let key = asking.get(&Asking(round));
            key.open_for(Duration::from_secs(1));
            key.close();
            let snapshot = registry::snapshot();
            registry::restore(&snapshot);
        }
        let told = watch.try_changed().unwrap();
        assert!(
            told.news
                .iter()
                .any(|news| &*news.breaker == "of-an-observer")
        );
        assert!(told.news.iter().any(|news| &*news.breaker == "of-a-label"));
        assert_eq!(registry::all().len(), 2);
    });
}

#[test]
fn what_drops_last_may_be_the_list() {
    ends(|| {
        let _scope = test::scope();
        let all = {
            let _pms = Breaker::shared("dropped-by-the-list", Config::DEFAULT);
            registry::all()
        };
        let found = breakerbox::find("dropped-by-the-list").unwrap();
        drop(all);
        drop(found);
        assert!(breakerbox::find("dropped-by-the-list").is_none());
    });
}
