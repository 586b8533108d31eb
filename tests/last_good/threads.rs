//! Many threads, the same answers.

use super::{load, store};
use breakerbox::LastGood;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// Numbers that grow, each given after the one before: who reads never sees one
/// that is smaller than what was stored before it looked.
#[test]
fn a_younger_answer_is_never_replaced() {
    const KEYS: u32 = 4;
    let answers = LastGood::<u32, u32>::new(HOUR);
    let stored: [AtomicU32; KEYS as usize] = Default::default();
    let answers = &answers;
    thread::scope(|threads| {
        for key in 0..KEYS {
            let stored = &stored[key as usize];
            threads.spawn(move || {
                for n in 1..20_000 {
                    store(answers, &key, n);
                    stored.store(n, Ordering::Release);
                }
            });
            threads.spawn(move || {
                // What was given a while ago loses against what is there.
                for n in 0..2_000 {
                    if stored.load(Ordering::Acquire) > 0 {
                        let Ok(()) = answers.prime_now(&key, &(1_000_000 + n), HOUR / 2);
                    }
                }
            });
            threads.spawn(move || {
                for _ in 0..20_000 {
                    let at_least = stored.load(Ordering::Acquire);
                    let found = load(answers, &key).map(|served| served.value);
                    if at_least > 0 {
                        assert!(
                            found.is_some_and(|found| (at_least..1_000_000).contains(&found)),
                            "{found:?} after {at_least}"
                        );
                    }
                }
            });
        }
    });
}

#[test]
fn the_bound_holds_between_threads() {
    let answers = LastGood::<u32, u32>::new(HOUR).max_answers(64);
    let answers = &answers;
    thread::scope(|threads| {
        for part in 0..4_u32 {
            threads.spawn(move || {
                for n in 0..5_000 {
                    let key = part * 1_000_000 + n;
                    store(answers, &key, key);
                    if let Some(served) = load(answers, &key) {
                        assert_eq!(served.value, key);
                    }
                    if n % 7 == 0 {
                        let Ok(()) = answers.forget_now(&key);
                    }
                    assert!(answers.backend().len() <= 64);
                }
            });
        }
    });
}
