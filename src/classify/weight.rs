//! How grave outcomes are, and what two of them make together. Pure; `None` is a
//! classifier that says nothing (`false`).

use breaker_core::Outcome;
use core::cmp::Ordering;
use core::time::Duration;

/// Where it stands from mild to grave.
fn weight(verdict: Option<Outcome>) -> (u8, Duration) {
    let rank = match verdict {
        None => 0,
        Some(Outcome::Success) => 1,
        Some(Outcome::Ignored) => 2,
        Some(Outcome::Dropped) => 3,
        Some(Outcome::Failure) => 4,
        Some(Outcome::Panicked) => 5,
        Some(Outcome::Overloaded(wait)) => return (6, wait),
        // Unknown here: no success, in any case.
        Some(_) => 4,
    };
    (rank, Duration::ZERO)
}

/// Whether it counts against the dependency.
fn counts(verdict: Option<Outcome>) -> bool {
    weight(verdict) >= weight(Some(Outcome::Failure))
}

/// The graver.
pub(super) fn any(a: Option<Outcome>, b: Option<Outcome>) -> Option<Outcome> {
    match weight(a).cmp(&weight(b)) {
        Ordering::Less => b,
        Ordering::Equal | Ordering::Greater => a,
    }
}

fn milder(a: Option<Outcome>, b: Option<Outcome>) -> Option<Outcome> {
    match weight(a).cmp(&weight(b)) {
        Ordering::Less | Ordering::Equal => a,
        Ordering::Greater => b,
    }
}

/// The graver if both count, or else the milder.
pub(super) fn all(a: Option<Outcome>, b: Option<Outcome>) -> Option<Outcome> {
    if counts(a) && counts(b) {
        any(a, b)
    } else {
        milder(a, b)
    }
}

/// A failure of what doesn't count, and nothing of what does.
pub(super) fn not(verdict: Option<Outcome>) -> Option<Outcome> {
    match verdict {
        Some(Outcome::Dropped) => verdict,
        _ if counts(verdict) => None,
        _ => Some(Outcome::Failure),
    }
}

#[cfg(test)]
mod tests {
    use super::{all, any, counts, not};
    use breaker_core::Outcome;
    use core::time::Duration;

    /// From mild to grave.
    const VERDICTS: [Option<Outcome>; 9] = [
        None,
        Some(Outcome::Success),
        Some(Outcome::Ignored),
        Some(Outcome::Dropped),
        Some(Outcome::Failure),
        Some(Outcome::Panicked),
        Some(Outcome::Overloaded(Duration::ZERO)),
        Some(Outcome::Overloaded(Duration::from_secs(1))),
        Some(Outcome::Overloaded(Duration::MAX)),
    ];

    #[test]
    fn any_is_the_graver_of_each_pair() {
        for (i, a) in VERDICTS.into_iter().enumerate() {
            for (j, b) in VERDICTS.into_iter().enumerate() {
                assert_eq!(any(a, b), VERDICTS[i.max(j)], "{a:?}, {b:?}");
            }
        }
    }

    #[test]
    fn all_is_the_graver_of_what_counts_and_else_the_milder() {
        for (i, a) in VERDICTS.into_iter().enumerate() {
            for (j, b) in VERDICTS.into_iter().enumerate() {
                let chosen = if i >= 4 && j >= 4 { i.max(j) } else { i.min(j) };
                assert_eq!(all(a, b), VERDICTS[chosen], "{a:?}, {b:?}");
            }
        }
    }

    #[test]
    fn what_counts_is_as_logic_says() {
        for a in VERDICTS {
            for b in VERDICTS {
                assert_eq!(counts(any(a, b)), counts(a) || counts(b), "{a:?}, {b:?}");
                assert_eq!(counts(all(a, b)), counts(a) && counts(b), "{a:?}, {b:?}");
            }
            if a == Some(Outcome::Dropped) {
                assert_eq!(not(a), a);
            } else {
                assert_eq!(counts(not(a)), !counts(a), "{a:?}");
                assert_eq!(not(not(not(a))), not(a), "{a:?}");
            }
        }
    }

    #[test]
    fn neither_order_nor_parentheses_matter() {
        for merge in [any, all] {
            for a in VERDICTS {
                assert_eq!(merge(a, a), a);
                for b in VERDICTS {
                    assert_eq!(merge(a, b), merge(b, a), "{a:?}, {b:?}");
                    for c in VERDICTS {
                        let (left, right) = (merge(merge(a, b), c), merge(a, merge(b, c)));
                        assert_eq!(left, right, "{a:?}, {b:?}, {c:?}");
                    }
                }
            }
        }
    }
}
