//! Watching the registry.

use breakerbox::registry::{self, Happened, Heard, News};
use breakerbox::{Breaker, Config, KeyedBreakers, Settings, State, breaker, test};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

fn told(heard: &Heard) -> Vec<String> {
    heard.news.iter().map(ToString::to_string).collect()
}

/// How often a task was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_watcher_hears_of_all_that_happens_in_its_order() {
    breaker! { static DECLARED = { name: "watched-declared", threshold: 1, reset: "1s", jitter: 0.0 } }
    let scope = test::scope();
    let before = Breaker::shared("before", Config::DEFAULT);
    let mut watch = registry::watch();
    assert_eq!(watch.try_changed(), None, "nothing happened since");
    drop(before.admit());
    assert_eq!(watch.try_changed(), None, "a call that changes nothing");

    let _ = DECLARED.call_sync(|| Err::<(), _>("no answer"));
    let shared = Breaker::shared("shared", Config::DEFAULT);
    scope.advance(Duration::from_secs(1));
    DECLARED.call_sync(|| Ok::<_, ()>(())).unwrap();
    drop((shared, before));
    let heard = watch.try_changed().unwrap();
    assert_eq!(
        told(&heard),
        [
            "`watched-declared` entered the registry",
            "`watched-declared`: closed -> open",
            "`shared` entered the registry",
            "`watched-declared`: open -> half_open",
            "`watched-declared`: half_open -> closed",
            "`shared` left the registry",
            "`before` left the registry",
        ]
    );
    assert_eq!(heard.missed, 0);
    let changes: Vec<_> = heard
        .news
        .iter()
        .filter_map(|news| match news.what {
            Happened::Changed {
                change, sequence, ..
            } => Some((change.to, change.generation, sequence)),
            _ => None,
        })
        .collect();
    assert_eq!(
        changes.iter().map(|(to, ..)| *to).collect::<Vec<_>>(),
        [State::Open, State::HalfOpen, State::Closed]
    );
    assert!(
        changes
            .windows(2)
            .all(|two| two[0].1.get() < two[1].1.get() && two[0].2 < two[1].2)
    );
    assert_eq!(watch.try_changed(), None);
}

#[test]
fn a_watcher_hears_of_keys() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::shared("watched-hosts", Config::DEFAULT, 2).unwrap();
    let mut watch = registry::watch();
    for host in ["a", "b", "a", "c"] {
        drop(hosts.get(host));
    }
    hosts.get("c").open();
    let heard = watch.try_changed().unwrap();
    let (entered, left): (Vec<_>, Vec<_>) = heard
        .news
        .iter()
        .filter(|news| !matches!(news.what, Happened::Changed { .. }))
        .partition(|news| news.what == Happened::Entered);
    let labels = |news: &[&News]| -> Vec<String> {
        news.iter()
            .map(|it| it.key.as_deref().unwrap().to_owned())
            .collect()
    };
    assert_eq!(labels(&entered), ["a", "b", "c"]);
    assert_eq!(left.len(), 1, "one was given up for the third");
    assert!(told(&heard).contains(&"`watched-hosts[c]`: closed -> open".to_owned()));
}

trait Opens {
    fn open(&self);
}

impl Opens for breakerbox::KeyedBreaker<String> {
    fn open(&self) {
        breakerbox::AnyBreaker::open_for(self, Duration::from_secs(1));
    }
}

#[test]
fn a_slow_watcher_is_told_how_much_it_missed() {
    let _scope = test::scope();
    let (mut slow, mut other) = (registry::watch().at_most(3), registry::watch());
    let pms = Breaker::shared("missed", Config::DEFAULT);
    for _ in 0..10 {
        pms.force_open();
        pms.close();
    }
    let heard = slow.try_changed().unwrap();
    assert_eq!((heard.news.len(), heard.missed), (3, 18), "of 21");
    assert_eq!(
        told(&heard)[2],
        "`missed`: forced_open -> closed",
        "the newest is kept"
    );
    let now = registry::all();
    assert_eq!(
        now[0].breakers()[0].state(),
        State::Closed,
        "and all can be looked at again"
    );

    pms.disable();
    let heard = slow.try_changed().unwrap();
    assert_eq!((heard.news.len(), heard.missed), (1, 0), "said once");
    let all = other.try_changed().unwrap();
    assert_eq!(
        (all.news.len(), all.missed),
        (22, 0),
        "another missed nothing"
    );
    assert_eq!(registry::watch().at_most(0).try_changed(), None);

    // What is kept by default is bounded as well.
    for _ in 0..registry::DEFAULT_KEPT_NEWS {
        pms.close();
    }
    pms.disable();
    let heard = other.try_changed().unwrap();
    assert_eq!(
        (heard.news.len(), heard.missed),
        (registry::DEFAULT_KEPT_NEWS, 1)
    );
}

#[test]
fn a_task_is_woken_once_something_happens() {
    let _scope = test::scope();
    let mut watch = registry::watch();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);

    let mut changed = Box::pin(watch.changed());
    assert!(changed.as_mut().poll(&mut context).is_pending());
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
    let pms = Breaker::shared("wakes", Config::DEFAULT);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    let Poll::Ready(heard) = changed.as_mut().poll(&mut context) else {
        panic!("it was woken for nothing");
    };
    assert_eq!(told(&heard), ["`wakes` entered the registry"]);
    drop(changed);

    // One that is dropped while it waits takes nothing with it.
    let mut changed = Box::pin(watch.changed());
    assert!(changed.as_mut().poll(&mut context).is_pending());
    pms.force_open();
    drop(changed);
    assert_eq!(
        told(&watch.try_changed().unwrap()),
        ["`wakes`: closed -> forced_open"]
    );
}

/// What is told in a test scope is told on its thread; so threads need the process' registry.
#[test]
fn a_thread_that_waits_goes_on_once_something_happens() {
    // Of all tests that run beside this one.
    let mut watch = registry::watch().at_most(1_000_000);
    let (mut heard, mut missed) = (Vec::new(), 0);
    std::thread::scope(|threads| {
        threads.spawn(|| drop(Breaker::shared("of-another-thread", Config::DEFAULT)));
        let mine = |news: &&News| &*news.breaker == "of-another-thread";
        while heard.len() < 2 {
            let some = watch.wait();
            missed += some.missed;
            heard.extend(some.news.iter().filter(mine).map(|news| news.what));
        }
    });
    assert_eq!(
        (heard, missed),
        (vec![Happened::Entered, Happened::Left], 0)
    );
    drop(watch);

    let _scope = test::scope();
    let mut watch = registry::watch();
    assert_eq!(watch.wait_timeout(Duration::from_millis(1)), None);
    let _pms = Breaker::shared("already-there", Config::DEFAULT);
    assert_eq!(watch.wait_timeout(Duration::ZERO).unwrap().news.len(), 1);
}

#[test]
fn a_future_may_go_to_another_thread() {
    fn sendable(_: impl Send) {}
    sendable(registry::watch().changed());
}

#[test]
fn a_watcher_in_a_scope_hears_of_it_alone() {
    let outside = Breaker::shared("outside-of-the-scope", Config::DEFAULT);
    let mut outer = registry::watch();
    let scope = test::scope();
    let mut inner = registry::watch();
    let inside = Breaker::shared("inside-the-scope", Config::DEFAULT);
    drop(outside.admit());
    outside.force_open();
    drop(scope);
    outside.disable();
    drop(inside);
    let mine = |heard: &Heard| -> Vec<String> {
        told(heard)
            .into_iter()
            .filter(|line| line.contains("side-"))
            .collect()
    };
    assert_eq!(
        mine(&outer.try_changed().unwrap()),
        ["`outside-of-the-scope`: closed -> disabled"]
    );
    assert_eq!(
        told(&inner.try_changed().unwrap()),
        [
            "`inside-the-scope` entered the registry",
            "`outside-of-the-scope` entered the registry",
            "`outside-of-the-scope`: closed -> forced_open",
        ]
    );
}

/// A watcher is nobody's but its own: it hears nothing more, and keeps nothing.
#[test]
fn a_watcher_that_is_dropped_leaves_nothing() {
    let _scope = test::scope();
    let (watch, mut other) = (registry::watch(), registry::watch());
    drop(watch);
    let pms = Breaker::shared("after-it", Settings::new().threshold(1).must());
    assert_eq!(other.try_changed().unwrap().news.len(), 1);
    drop((other, pms));
}

#[test]
fn of_a_configuration_it_hears_when_it_was_changed_and_not_when_it_was_said_again() {
    let _scope = test::scope();
    let mut watch = registry::watch();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let hosts = KeyedBreakers::<String>::shared("hosts", Config::DEFAULT, 10).unwrap();
    let _host = hosts.get("a");
    let _ = watch.try_changed();
    for name in ["pms", "pms", "hosts", "nobody"] {
        registry::configure(name, breakerbox::Overrides::new().threshold(2)).unwrap();
    }
    pms.clear_overrides();
    assert_eq!(
        told(&watch.try_changed().unwrap()),
        [
            "`pms` was reconfigured",
            "`hosts` was reconfigured",
            "`pms` was reconfigured"
        ]
    );
}
