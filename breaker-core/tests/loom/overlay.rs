//! What an operator lays over a configuration, while others read it, lay something else over it,
//! or take it away.

use crate::race::{race, race_within};
use breaker_core::{Circuit, Config, Laid, Outcome, Overlay, Overrides, Settings, UnderWay};
use std::time::Duration;

type Two = Overlay<2>;
type Before = Result<Option<Laid<2>>, UnderWay>;

/// What is whole has the same word twice.
fn lay(overlay: &Two, word: u64) -> Before {
    overlay.write(1, [word; 2])
}

fn laid_over(word: u64) -> Option<Laid<2>> {
    Some(Laid {
        mask: 1,
        words: [word; 2],
    })
}

/// With a 1 laid over.
fn with_one() -> Two {
    let overlay = Two::new();
    assert_eq!(lay(&overlay, 1), Ok(None));
    overlay
}

/// Guards: the bank that holds is not the one that is filled (`Version::spare`), the count is
/// looked at again after the words (`read`), they are stored with release (`write`) and loaded
/// with acquire (`laid`).
#[test]
fn a_reader_sees_what_was_laid_over_at_one_time() {
    race(
        with_one,
        Two::read,
        |overlay| {
            for word in [2, 3] {
                lay(overlay, word).unwrap();
            }
        },
        |overlay, read, ()| {
            assert!([1, 2, 3].map(laid_over).contains(&read), "{read:?}");
            assert_eq!(overlay.read(), laid_over(3));
        },
    );
}

/// Guards: taking away keeps the count (`Version::cleared`), else the words of another laying
/// over could be taken for the first one's.
#[test]
fn a_reader_never_takes_what_came_after_a_clear_for_what_was_before() {
    race(
        with_one,
        Two::read,
        |overlay| {
            assert_eq!(overlay.clear(), laid_over(1));
            for word in [2, 3] {
                lay(overlay, word).unwrap();
            }
        },
        |_, read, ()| {
            let seen = [None, laid_over(1), laid_over(2), laid_over(3)];
            assert!(seen.contains(&read), "{read:?}");
        },
    );
}

/// Guards: a writer claims the word (`claim`).
#[test]
fn of_two_writers_one_may_be_told_to_try_again_and_nothing_is_mixed() {
    race(
        with_one,
        |overlay| lay(overlay, 2),
        |overlay| lay(overlay, 3),
        |overlay, one, other| {
            let last = overlay.read();
            match (one, other) {
                (Ok(before), Err(UnderWay)) => {
                    assert_eq!((before, last), (laid_over(1), laid_over(2)));
                }
                (Err(UnderWay), Ok(before)) => {
                    assert_eq!((before, last), (laid_over(1), laid_over(3)));
                }
                // One after the other: who came second knows what the first one left.
                (Ok(one), Ok(other)) if one == laid_over(1) => {
                    assert_eq!((other, last), (laid_over(2), laid_over(3)));
                }
                (Ok(one), Ok(other)) => {
                    assert_eq!(
                        (one, other, last),
                        (laid_over(3), laid_over(1), laid_over(2))
                    );
                }
                both => panic!("{both:?}"),
            }
        },
    );
}

/// Guards: a writer that was cancelled publishes nothing (`CANCELLED`).
#[test]
fn nothing_that_began_before_a_clear_is_there_after_it() {
    race(
        with_one,
        Two::clear,
        |overlay| lay(overlay, 2),
        |overlay, cleared, laid| {
            // Nobody else writes.
            let before = laid.unwrap();
            if before.is_none() {
                // It began when all was clear.
                assert_eq!((cleared, overlay.read()), (laid_over(1), laid_over(2)));
            } else {
                assert!([1, 2].map(laid_over).contains(&cleared), "{cleared:?}");
                assert_eq!(overlay.read(), None);
            }
            // And whoever comes next is not in anybody's way.
            assert!(lay(overlay, 3).is_ok());
            assert_eq!(overlay.read(), laid_over(3));
        },
    );
}

/// Guards: what is cleared is said by the one who cleared it (the swap in `clear`).
#[test]
fn of_two_clears_one_has_cleared() {
    race(with_one, Two::clear, Two::clear, |overlay, one, other| {
        assert!(one.is_some() ^ other.is_some(), "{one:?} {other:?}");
        assert_eq!(overlay.read(), None);
    });
}

const MILLI: u64 = 1_000_000;

fn waits(millis: u64) -> Overrides {
    let wait = Duration::from_millis(millis);
    Overrides::new().reset(wait).probe_timeout(wait)
}

/// The same through a circuit, whose configuration is nine words.
///
/// Guards: what is read of it is from one reading (`LiveConfig::read`).
#[test]
fn a_configuration_is_the_old_one_or_the_new_one() {
    race_within(
        Some(1),
        || {
            let circuit = Circuit::new(Config::DEFAULT);
            circuit.reconfigure(&waits(20)).unwrap();
            circuit
        },
        Circuit::config,
        |circuit| {
            for millis in [40, 60] {
                circuit.reconfigure(&waits(millis)).unwrap();
            }
        },
        |circuit, config, ()| {
            assert_eq!(config.reset(), config.probe_timeout(), "of two");
            assert_eq!(circuit.config().reset(), Duration::from_millis(60));
        },
    );
}

/// Guards: a refusal that looked at an overridden configuration goes by it
/// (`refused_at_once`, `slowly`).
#[test]
fn a_refusal_says_what_is_left_of_the_old_wait_or_of_the_new_one() {
    race_within(
        Some(3),
        || {
            let settings = Settings::new().threshold(1).jitter(0.0);
            let circuit = Circuit::new(settings.reset(Duration::from_millis(10)).must());
            circuit.admit_at(0).unwrap().settle(Outcome::Failure);
            circuit
        },
        |circuit| circuit.admit_at(MILLI).unwrap_err().retry_after.unwrap(),
        |circuit| {
            circuit.reconfigure(&waits(20)).unwrap();
            circuit.admit_at(MILLI).unwrap_err().retry_after.unwrap()
        },
        |circuit, left, left_then| {
            let [old, new] = [9, 19].map(Duration::from_millis);
            assert!([old, new].contains(&left), "{left:?}");
            assert_eq!(left_then, new, "reconfigured before it asked");
            assert!(circuit.admit_at(19 * MILLI).is_err());
        },
    );
}
