//! What other processes declare otherwise: told once each, and not all the time.

use crate::protocol::{Declared, Limits, Quorum, Share};
use breakerbox::observe::Difference;
use std::collections::VecDeque;
use std::time::Duration;

/// So many declarations are remembered as told: more than a fleet has in use at once.
const REMEMBERED: usize = 16;

/// At most one is told in so many microseconds: who writes to Redis may make up any number of them.
const AT_MOST_EVERY: u64 = 60_000_000;

/// What others were heard to declare of a group of circuits.
#[derive(Debug, Default)]
pub(super) struct Differing {
    /// What was declared here, when they were told.
    here: Option<Declared>,
    told: VecDeque<Declared>,
    told_at: Option<u64>,
    /// What is not told yet.
    untold: Option<Declared>,
}

impl Differing {
    /// Another declares this.
    pub(super) fn hear(&mut self, there: Declared) {
        self.untold = Some(there);
    }

    /// What is to be told now.
    pub(super) fn take(&mut self, here: Declared, now: u64) -> Option<Declared> {
        self.untold?;
        if self.here != Some(here) {
            self.here = Some(here);
            self.told.clear();
        }
        self.untold
            .take_if(|there| *there == here || self.told.contains(there));
        let is_soon = self
            .told_at
            .is_some_and(|at| now.saturating_sub(at) < AT_MOST_EVERY);
        let there = self.untold.take_if(|_| !is_soon)?;
        self.told_at = Some(now);
        self.told.truncate(REMEMBERED - 1);
        self.told.push_front(there);
        Some(there)
    }

    /// Whether there was any.
    pub(super) fn is_there(&self) -> bool {
        self.told_at.is_some()
    }
}

/// What of the two is not the same.
pub(super) fn differences(here: Declared, there: Declared) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut note = |what, here: String, there: String| {
        if here != there {
            all.push(Difference::new(what, here, there));
        }
    };
    match (here.opens, there.opens) {
        (Limits::Consecutive { threshold: here }, Limits::Consecutive { threshold: there }) => {
            note("threshold", here.to_string(), there.to_string());
        }
        (
            Limits::Rate {
                failures,
                slow,
                min_calls,
            },
            Limits::Rate {
                failures: failures_there,
                slow: slow_there,
                min_calls: min_calls_there,
            },
        ) => {
            note("failure_rate", rate(failures), rate(failures_there));
            note("slow_rate", rate(slow), rate(slow_there));
            note(
                "min_calls",
                min_calls.to_string(),
                min_calls_there.to_string(),
            );
        }
        (here, there) => note("what opens it", rule(here), rule(there)),
    }
    let time = |micros| format!("{:?}", Duration::from_micros(micros));
    note("reset", time(here.reset), time(there.reset));
    let switch = |is_on| if is_on { "on" } else { "off" }.to_owned();
    note("counting", switch(here.counting), switch(there.counting));
    note("quorum", quorum(here.quorum), quorum(there.quorum));
    all
}

fn rate(share: Option<Share>) -> String {
    share.map_or_else(|| "none".to_owned(), |share| share.as_f64().to_string())
}

fn rule(limits: Limits) -> String {
    match limits {
        Limits::Consecutive { threshold } => format!("threshold {threshold}"),
        Limits::Rate {
            failures,
            slow,
            min_calls,
        } => {
            let (failures, slow) = (rate(failures), rate(slow));
            format!("failure_rate {failures}, slow_rate {slow}, min_calls {min_calls}")
        }
    }
}

fn quorum(quorum: Quorum) -> String {
    match quorum {
        Quorum::Instances(least) => least.to_string(),
        Quorum::Share(share) => format!("a share of {}", share.as_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_threshold(threshold: u32) -> Declared {
        Declared {
            opens: Limits::Consecutive { threshold },
            reset: 30_000_000,
            counting: false,
            quorum: Quorum::Instances(1),
        }
    }

    /// Whether that is told at once.
    fn tells(differing: &mut Differing, [here, there]: [u32; 2], now: u64) -> bool {
        differing.hear(by_threshold(there));
        let told = differing.take(by_threshold(here), now);
        assert!(told.is_none() || told == Some(by_threshold(there)));
        told.is_some()
    }

    #[test]
    fn each_is_told_once_and_a_flood_once_a_minute() {
        let mut differing = Differing::default();
        let here = 5;
        assert!(!differing.is_there());
        assert!(tells(&mut differing, [here, 3], 7));
        assert!(!tells(&mut differing, [here, 3], 7));
        assert!(!tells(&mut differing, [here, 4], 60_000_006));
        // Not lost.
        let later = differing.take(by_threshold(here), 60_000_007);
        assert_eq!(later, Some(by_threshold(4)));
        assert!(!tells(&mut differing, [here, 3], 150_000_000));
        let mut told = 0;
        for made_up in 0..100_000 {
            let now = 200_000_000 + u64::from(made_up) * 10_000;
            told += usize::from(tells(&mut differing, [here, 10 + made_up], now));
        }
        assert_eq!(told, 17, "in 1000 seconds");
        assert_eq!(differing.told.len(), REMEMBERED);
        assert!(differing.is_there());
    }

    #[test]
    fn after_a_change_here_it_is_another_difference_or_none() {
        let mut differing = Differing::default();
        assert!(tells(&mut differing, [5, 3], 0));
        assert!(!tells(&mut differing, [4, 3], 59_999_999));
        assert!(tells(&mut differing, [4, 3], 60_000_000));
        assert!(!tells(&mut differing, [3, 3], 600_000_000));
        assert_eq!(differing.take(by_threshold(4), u64::MAX), None);
    }

    #[test]
    fn what_differs_is_named_and_nothing_else() {
        let lines = |here, there| {
            let all = differences(here, there);
            let lines: Vec<_> = all.iter().map(ToString::to_string).collect();
            lines
        };
        let here = by_threshold(5);
        assert!(lines(here, here).is_empty());
        let there = Declared {
            opens: Limits::Consecutive { threshold: 3 },
            reset: 500_000,
            counting: true,
            quorum: Quorum::Share(Share::new(0.25).expect("a share")),
        };
        let expected = [
            "threshold 5 here, 3 there",
            "reset 30s here, 500ms there",
            "counting off here, on there",
            "quorum 1 here, a share of 0.25 there",
        ];
        assert_eq!(lines(here, there), expected);
        let by_rate = |failures, slow, min_calls| Declared {
            opens: Limits::Rate {
                failures: Share::new(failures),
                slow: Share::new(slow),
                min_calls,
            },
            ..here
        };
        let expected = [
            "failure_rate 0.5 here, none there",
            "slow_rate none here, 0.1 there",
        ];
        assert_eq!(
            lines(by_rate(0.5, 0.0, 20), by_rate(0.0, 0.1, 20)),
            expected
        );
        let expected = ["min_calls 20 here, 10 there"];
        assert_eq!(
            lines(by_rate(0.5, 0.1, 20), by_rate(0.5, 0.1, 10)),
            expected
        );
        let expected = [
            "what opens it threshold 5 here, failure_rate 0.5, slow_rate none, min_calls 20 there",
        ];
        assert_eq!(lines(here, by_rate(0.5, 0.0, 20)), expected);
    }
}
