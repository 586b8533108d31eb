//! Where nobody wants to hear of calls no clock is read for them: before the first observer comes,
//! beside one that doesn't want them or wants only those of its scope, and after the last has left.

use breakerbox::observe::{self, CallEnded, Observer};
use breakerbox::{Breaker, Clock, Config, test};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts how often it is read.
#[derive(Default)]
struct Counted {
    now: AtomicU32,
    exact: AtomicU32,
}

impl Clock for &Counted {
    fn now(&self) -> u64 {
        self.now.fetch_add(1, Ordering::Relaxed);
        0
    }

    fn exact(&self) -> u64 {
        self.exact.fetch_add(1, Ordering::Relaxed);
        0
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

struct Wants(bool, AtomicU32);

impl Observer for Wants {
    fn wants_calls(&self) -> bool {
        self.0
    }

    fn call_ended(&self, _: &CallEnded<'_>) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

fn wants(calls: bool) -> Arc<Wants> {
    Arc::new(Wants(calls, AtomicU32::new(0)))
}

// Alone in its process: observers of other tests would want calls too.
#[test]
fn no_call_is_timed_where_nobody_wants_to_know() {
    let clock: &'static Counted = Box::leak(Box::default());
    let pms = Breaker::with_clock("pms", Config::DEFAULT, clock);
    let read = || {
        for _ in 0..10 {
            let _ = pms.call_sync(|| Ok::<_, ()>(()));
        }
        (
            clock.now.swap(0, Ordering::Relaxed),
            clock.exact.swap(0, Ordering::Relaxed),
        )
    };
    assert_eq!(read(), (0, 0));
    {
        let does_not = wants(false);
        let _installed = observe::install(Arc::clone(&does_not));
        assert_eq!(read(), (0, 0));
        let (wants, other) = (wants(true), wants(true));
        let installed = observe::install(Arc::clone(&wants));
        assert_eq!(read(), (0, 20), "when it is admitted and when it ends");
        let other_installed = observe::install(Arc::clone(&other));
        assert_eq!(read(), (0, 20), "for all of them");
        drop(installed);
        assert_eq!(read(), (0, 20), "there is the other one");
        drop(other_installed);
        assert_eq!(read(), (0, 0));
        let told = |wants: &Wants| wants.1.load(Ordering::Relaxed);
        assert_eq!((told(&does_not), told(&wants), told(&other)), (0, 20, 20));
    }
    assert_eq!(read(), (0, 0));

    // An observer of a scope is not one of the process.
    let (installed, left) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let in_scope = std::thread::spawn(move || {
        let _scope = test::scope();
        observe::install(wants(true)).forever();
        installed.send(()).unwrap();
        let _ = ended.recv();
    });
    left.recv().unwrap();
    assert_eq!(read(), (0, 0));
    drop(end);
    in_scope.join().unwrap();
    assert_eq!(read(), (0, 0));
}
