//! What an instance does for a census.

use super::{ByHand, done, generation, happened, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Instance, Options, Settled, Step};
use breaker_redis::protocol::{
    CENSUS, CENSUS_HOLDS, CENSUS_SPREAD, Cause, Command, Counts, Limits, Reply, Share, Told,
    Verdict,
};

pub(super) fn rate() -> Option<Limits> {
    Some(Limits::Rate {
        failures: Share::new(0.5),
        slow: Share::new(0.5),
        min_calls: 10,
    })
}

pub(super) const WELL: Counts = Counts {
    calls: 20,
    failures: 0,
    slow: 0,
};

const FAILING: Counts = Counts {
    calls: 20,
    failures: 5,
    slow: 0,
};

pub(super) fn by(counting: Option<Limits>, seed: u64) -> Instance {
    let options = Options {
        counting,
        ..options(0)
    };
    let begun = happened(0, CLOSED, None);
    let mut instance = Instance::new(std::sync::Arc::new(options), &begun, 0, seed);
    instance.found(0);
    let poll = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(poll);
    instance.replied(poll, asked, Ok(&done(stands(None))));
    assert!(poll < SECOND, "{poll}");
    instance
}

pub(super) fn stands(census: Option<u64>) -> Told {
    Told {
        census,
        operated: None,
        declared: None,
        ..told(1, CLOSED, Cause::Founded, "other")
    }
}

fn settles(instance: &mut Instance, now: u64, counts: Counts) {
    let settled = Settled {
        generation: generation(0),
        counted: true,
        counts,
    };
    instance.settled(now, &settled);
}

/// What it asks, and when, from then until a time; what its window holds and how it stands there is that.
pub(super) fn plays(
    instance: &mut Instance,
    from: u64,
    until: u64,
    holds: Counts,
    census: impl Fn(u64) -> Option<u64>,
) -> Vec<(u64, Option<Counts>)> {
    let (mut now, mut asks) = (from, Vec::new());
    loop {
        match instance.next(now) {
            Step::Look => instance.counted(now, holds),
            Step::Ask(asked, command) => {
                let counts = match command {
                    Command::Count { counts, .. } => Some(counts),
                    Command::Read { .. } => None,
                    command => panic!("{command:?}"),
                };
                asks.push((now, counts));
                instance.replied(now, asked, Ok(&done(stands(census(now)))));
            }
            Step::Wait(next) => match next.filter(|next| *next <= until) {
                Some(next) => now = next,
                None => return asks,
            },
            step @ Step::Follow(_) => panic!("{step:?}"),
        }
    }
}

/// How old a census is that began then, as long as it holds.
pub(super) fn began(at: u64) -> impl Fn(u64) -> Option<u64> {
    move |now| {
        now.checked_sub(at)
            .filter(|age| (0..=CENSUS_HOLDS).contains(age))
    }
}

#[test]
fn one_that_is_well_says_so_soon_at_a_time_of_its_own() {
    let mut first = Vec::new();
    for seed in 0..200 {
        let mut instance = by(rate(), seed);
        instance.heard(SECOND, &stands(Some(0)));
        let asks = plays(&mut instance, SECOND, 2 * SECOND, WELL, began(SECOND));
        let [(at, Some(WELL))] = asks[..] else {
            panic!("{asks:?}");
        };
        first.push(at - SECOND);
    }
    first.sort_unstable();
    assert!(first[199] <= CENSUS_SPREAD, "{first:?}");
    let early = first.partition_point(|at| *at < CENSUS_SPREAD / 2);
    assert!((70..130).contains(&early), "{first:?}");
}

#[test]
fn one_that_has_seen_failures_counts_again_at_the_end_though_nothing_has_changed() {
    for seed in 0..50 {
        let mut instance = by(rate(), seed);
        settles(&mut instance, SECOND, FAILING);
        let asks = plays(&mut instance, SECOND, SECOND + MS, FAILING, |_| None);
        assert_eq!(asks, [(SECOND, Some(FAILING))]);
        let now = SECOND + 100 * MS;
        instance.heard(now, &stands(Some(10 * MS)));
        let asks = plays(
            &mut instance,
            now,
            2 * SECOND,
            FAILING,
            began(now - 10 * MS),
        );
        let [(at, Some(FAILING))] = asks[..] else {
            panic!("{asks:?}");
        };
        let after = at - now + 10 * MS;
        assert!((CENSUS..CENSUS + CENSUS_SPREAD).contains(&after), "{after}");
    }
}

#[test]
fn one_that_counted_before_the_end_by_redis_clock_counts_again() {
    let mut instance = by(rate(), 1);
    settles(&mut instance, SECOND, FAILING);
    let late = |now: u64| began(SECOND + 100 * MS)(now);
    plays(&mut instance, SECOND, SECOND + MS, FAILING, |_| None);
    // By Redis' clock it began later than it was told here.
    instance.heard(SECOND + MS, &stands(Some(0)));
    let asks = plays(&mut instance, SECOND + MS, 2 * SECOND, FAILING, late);
    let last = asks.last().expect("it counted").0;
    assert!((2..=3).contains(&asks.len()), "{asks:?}");
    assert!(last >= SECOND + 100 * MS + CENSUS, "{asks:?}");
}

#[test]
fn what_is_told_again_is_the_same_census() {
    let mut instance = by(rate(), 1);
    let mut asks = Vec::new();
    for step in 0..1_000 {
        let now = SECOND + step * MS;
        let age = step * MS;
        instance.heard(now, &stands((age <= CENSUS_HOLDS).then_some(age)));
        // Each time there would be something to say.
        let holds = Counts {
            calls: 1 + step as u32,
            ..WELL
        };
        asks.extend(plays(&mut instance, now, now, holds, began(SECOND)));
    }
    // Within the first half, and perhaps at the end: it looks there too.
    assert!((1..=2).contains(&asks.len()), "{asks:?}");
}

#[test]
fn a_flood_of_new_ones_is_looked_at_twice_a_second_at_most() {
    let mut instance = by(rate(), 1);
    let mut asks = Vec::new();
    for step in 0..10_000 {
        let now = SECOND + step * MS;
        instance.heard(now, &stands(Some(0)));
        let holds = Counts {
            calls: 1 + step as u32,
            failures: 1,
            ..WELL
        };
        asks.extend(plays(&mut instance, now, now, holds, |_| Some(0)));
    }
    // Twice for each look, at the end of a census; and the polls.
    let most = 10 * 2 + 10_000 / 200 + 3;
    assert!(asks.len() <= most, "{} in ten seconds", asks.len());
    for pair in asks.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= 20 * MS, "{pair:?}");
    }
}

#[test]
fn one_that_is_told_of_later_is_the_same_and_the_next_is_another() {
    for (later, is_another) in [
        (CENSUS / 2, false),
        (CENSUS - CENSUS_SPREAD - MS, false),
        // By Redis' clock it is a second and more after the one before.
        (CENSUS_HOLDS - 100 * MS, true),
        (CENSUS_HOLDS + 1, true),
    ] {
        let mut instance = by(rate(), 1);
        instance.heard(SECOND, &stands(Some(0)));
        let now = SECOND + later;
        let first = plays(&mut instance, SECOND, now, WELL, |_| None);
        assert_eq!(first.len(), 1);
        instance.heard(now, &stands(Some(0)));
        let holds = Counts { calls: 30, ..WELL };
        let soon = now + CENSUS_SPREAD;
        let asks = plays(&mut instance, now, soon, holds, |_| None);
        let says = asks.iter().any(|(_, counts)| *counts == Some(holds));
        assert_eq!(says, is_another, "{later}: {asks:?}");
    }
}

#[test]
fn that_of_an_earlier_version_is_over() {
    let mut instance = by(rate(), 1);
    let before = Told {
        census: Some(0),
        operated: None,
        declared: None,
        ..told(0, CLOSED, Cause::Founded, "other")
    };
    instance.heard(SECOND, &before);
    let asks = plays(&mut instance, SECOND, 2 * SECOND, WELL, |_| None);
    assert_eq!(asks, []);
}

#[test]
fn another_term_has_a_census_of_its_own_at_once() {
    let mut instance = by(rate(), 1);
    instance.heard(SECOND, &stands(Some(0)));
    let asks = plays(
        &mut instance,
        SECOND,
        SECOND + 300 * MS,
        WELL,
        began(SECOND),
    );
    assert_eq!(asks.len(), 1);
    let now = SECOND + 301 * MS;
    let next = Told {
        census: Some(0),
        operated: None,
        declared: None,
        ..told(2, CLOSED, Cause::Operator, "other")
    };
    instance.heard(now, &next);
    instance.follows(now);
    instance.followed(now, Ok(generation(1)));
    let asks = plays(&mut instance, now, now + 150 * MS, WELL, |_| None);
    assert!(matches!(asks[..], [(_, Some(WELL))]), "{asks:?}");
}

#[test]
fn who_counts_failures_in_a_row_or_nothing_takes_no_part() {
    let row = Limits::Consecutive { threshold: 5 };
    for counting in [None, Some(row)] {
        let mut instance = by(counting, 1);
        instance.heard(SECOND, &stands(Some(0)));
        let until = instance.waits(SECOND).expect("a poll");
        assert!(until > 3 * SECOND, "{until}");
    }
}

#[test]
fn one_that_hears_of_it_late_says_at_once_what_it_holds() {
    for (holds, age) in [(WELL, CENSUS), (FAILING, CENSUS_HOLDS)] {
        let mut instance = by(rate(), 1);
        instance.heard(SECOND, &stands(Some(age)));
        let asks = plays(&mut instance, SECOND, SECOND + 10 * MS, holds, |_| None);
        assert_eq!(asks, [(SECOND, Some(holds))]);
    }
}

/// A failure that has left the window before it was told.
#[test]
fn where_nothing_is_stored_who_has_seen_no_failure_does_not_ask_again_and_again() {
    let options = Options {
        counting: rate(),
        ..options(0)
    };
    let begun = happened(0, CLOSED, None);
    let mut instance = Instance::new(std::sync::Arc::new(options), &begun, 0, 1);
    instance.found(0);
    let poll = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(poll);
    let missing = Reply {
        verdict: Verdict::Missing,
        now: None,
        listeners: None,
    };
    instance.replied(poll, asked, Ok(&missing));
    settles(&mut instance, SECOND, FAILING);
    settles(&mut instance, SECOND, WELL);
    assert!(instance.waits(SECOND).expect("a poll") > 2 * SECOND);
    // It tells of failures, there as elsewhere.
    settles(&mut instance, SECOND, FAILING);
    let (_, command) = instance.asks(SECOND);
    assert!(
        matches!(
            command,
            Command::Count {
                counts: FAILING,
                ..
            }
        ),
        "{command:?}"
    );
}

#[test]
fn a_poll_is_one_question_whatever_is_to_be_said() {
    // One that has seen failures counts at each poll, since that is when sums are judged.
    let mut instance = by(rate(), 1);
    settles(&mut instance, SECOND, FAILING);
    plays(&mut instance, SECOND, SECOND + MS, FAILING, |_| None);
    let asks = plays(&mut instance, SECOND + MS, 60 * SECOND, FAILING, |_| None);
    assert!((9..=16).contains(&asks.len()), "{asks:?}");
    assert!(asks.iter().all(|(_, counts)| *counts == Some(FAILING)));

    // One that is well and has said so counts only if its window is another by now.
    let mut instance = by(rate(), 1);
    instance.heard(SECOND, &stands(Some(0)));
    plays(&mut instance, SECOND, 2 * SECOND, WELL, began(SECOND));
    let asks = plays(&mut instance, 2 * SECOND, 60 * SECOND, WELL, |_| None);
    assert!((9..=16).contains(&asks.len()), "{asks:?}");
    assert!(asks.iter().all(|(_, counts)| counts.is_none()), "{asks:?}");
    let less = Counts { calls: 3, ..WELL };
    let asks = plays(&mut instance, 60 * SECOND, 90 * SECOND, less, |_| None);
    assert_eq!(asks[0].1, Some(less));
    assert!(asks[1..].iter().all(|(_, counts)| counts.is_none()));
    assert!((4..=8).contains(&asks.len()), "{asks:?}");
}

#[test]
fn failures_in_a_row_are_said_again_at_each_poll_and_nothing_is_of_none() {
    let options = Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        ..options(0)
    };
    let mut instance = with(options);
    let failed = Counts {
        failures: 2,
        ..Counts::default()
    };
    settles(&mut instance, SECOND, failed);
    let asks = plays(&mut instance, SECOND, 30 * SECOND, failed, |_| None);
    assert!((5..=9).contains(&asks.len()), "{asks:?}");
    assert!(
        asks.iter().all(|(_, counts)| *counts == Some(failed)),
        "{asks:?}"
    );
    let none = Counts::default();
    settles(&mut instance, 30 * SECOND, none);
    let asks = plays(&mut instance, 30 * SECOND, 90 * SECOND, none, |_| None);
    // For a while: what was said before may come once more.
    let (said, others) = asks.split_at(7);
    assert!(
        said.iter().all(|(_, counts)| *counts == Some(none)),
        "{asks:?}"
    );
    assert!(
        others.iter().all(|(_, counts)| counts.is_none()),
        "{asks:?}"
    );
    assert!((3..=12).contains(&others.len()), "{asks:?}");
}
