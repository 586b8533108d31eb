//! Threads that call, beside threads that list, restore and operate. Alone in its process: what
//! is listed here would keep breakers of other tests.

#[path = "registry/asking.rs"]
mod asking;

use asking::{ask_for_everything, ends};
use breakerbox::registry::{self, Watch};
use breakerbox::{Breaker, Config, KeyedBreakers, State};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Threads call, make and drop breakers, while others list, operate and restore them.
#[test]
fn threads_that_call_are_not_held_up_by_those_that_operate() {
    const CALLS: u32 = 2_000;
    ends(|| {
        let done = AtomicBool::new(false);
        let keyed = KeyedBreakers::<u32>::shared("busy-by-key", Config::DEFAULT, 64).unwrap();
        let one = Breaker::shared("busy", Config::DEFAULT);
        let admitted = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    let mut watch = registry::watch().at_most(16);
                    while !done.load(Ordering::SeqCst) {
                        ask_for_everything();
                        let snapshot = registry::snapshot();
                        let mine = snapshot
                            .into_iter()
                            .filter(|it| it.circuit.breaker.starts_with("busy"));
                        registry::restore(&mine.collect());
                        let _ = watch.try_changed();
                    }
                });
            }
            let callers: Vec<_> = (0..2)
                .map(|_| {
                    threads.spawn(|| {
                        for call in 0..CALLS {
                            let client = Breaker::shared("busy-client", Config::DEFAULT);
                            client.call_sync(|| Ok::<_, ()>(())).unwrap();
                            one.call_sync(|| Ok::<_, ()>(())).unwrap();
                            keyed
                                .get(&(call % 100))
                                .call_sync(|| Ok::<_, ()>(()))
                                .unwrap();
                            admitted.fetch_add(3, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            for caller in callers {
                caller.join().unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        assert_eq!(admitted.into_inner(), 2 * 3 * CALLS as usize);
        assert_eq!(one.state(), State::Closed);
    });
}

/// Each waits for what the other does: one news that wakes nobody, and both wait for ever.
#[test]
fn no_news_comes_between_looking_and_waiting() {
    const ROUNDS: u64 = 20_000;
    ends(|| {
        let [ping, pong] = ["ping", "pong"].map(|name| Breaker::shared(name, Config::DEFAULT));
        let play = |own: &Breaker, other: &Breaker, mut watch: Watch, is_first: bool| {
            if is_first {
                own.close();
            }
            let (mut heard, mut missed) = (0, 0);
            while heard < ROUNDS {
                let some = watch.wait();
                missed += some.missed;
                let news = some.news.iter();
                for _ in news.filter(|news| *news.breaker == *other.name()) {
                    heard += 1;
                    own.close();
                }
            }
            assert_eq!(missed, 0);
        };
        let watches = [registry::watch(), registry::watch()];
        let [first, second] = watches.map(|watch| watch.at_most(usize::MAX));
        std::thread::scope(|threads| {
            threads.spawn(|| play(&pong, &ping, second, false));
            play(&ping, &pong, first, true);
        });
    });
}
