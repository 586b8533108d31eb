//! Counting by rate: when all are asked what their windows hold, and when what they say opens the circuit.

use super::super::record::{CENSUS, CENSUS_HOLDS};
use super::super::{Applied, Cause, Command, Counts, Limits, Quorum, Share, Told, Verdict};
use super::rules::{Redis, SECOND};
use super::script::{CLOSE, OPEN, READ};
use breakerbox::State;

/// Calls, failures and slow calls of a window.
type Window = (u32, u32, u32);

#[derive(Clone, Copy)]
struct Rules {
    failures: f64,
    slow: f64,
    min_calls: u32,
    least: u32,
}

const HALF: Rules = Rules {
    failures: 0.5,
    slow: 0.25,
    min_calls: 20,
    least: 1,
};

impl Rules {
    fn count(self, (calls, failures, slow): Window) -> Command {
        Command::Count {
            known: None,
            counts: Counts {
                calls,
                failures,
                slow,
            },
            limits: Limits::Rate {
                failures: Share::new(self.failures),
                slow: Share::new(self.slow),
                min_calls: self.min_calls,
            },
            quorum: Quorum::Instances(self.least),
            to: OPEN,
        }
    }
}

impl Redis {
    #[track_caller]
    fn counts(&mut self, who: &str, rules: Rules, window: Window) -> Told {
        self.done(who, &rules.count(window))
    }

    /// Which is to begin a census that all are told of.
    #[track_caller]
    fn begins(&mut self, who: &str, rules: Rules, window: Window) {
        let Applied { reply, publish } = self.ask(who, &rules.count(window));
        assert_eq!((reply.verdict, publish), (Verdict::Done, true));
        let told = reply.now.expect("how it stands");
        assert_eq!((told.shared.state, told.census), (State::Closed, Some(0)));
    }

    /// Of which nobody but who asked is told.
    #[track_caller]
    fn quietly(&mut self, who: &str, rules: Rules, window: Window) -> Option<u64> {
        let Applied { reply, publish } = self.ask(who, &rules.count(window));
        assert_eq!((reply.verdict, publish), (Verdict::Done, false));
        let told = reply.now.expect("how it stands");
        assert_eq!(told.shared.state, State::Closed);
        told.census
    }
}

#[test]
fn the_few_that_fail_begin_a_census_and_what_all_say_decides() {
    let mut redis = Redis::new();
    let version = redis.done("web-0", &CLOSE).version;
    redis.begins("web-0", HALF, (100, 100, 0));
    let told = redis.done("web-1", &READ);
    assert_eq!(
        (told.version, told.census),
        (version, Some(0)),
        "the same version"
    );
    for who in 1..10 {
        redis.now += 10_000;
        let census = redis.quietly(&format!("web-{who}"), HALF, (100, 0, 0));
        assert_eq!(census, Some(who * 10_000));
    }
    redis.now += CENSUS;
    redis.quietly("web-0", HALF, (100, 100, 0));
    // Now that the others' windows are known, one more failure is none for all.
    redis.now += 10 * SECOND;
    assert_eq!(redis.quietly("web-0", HALF, (100, 100, 0)), None);
    // Six of ten are more than half.
    for who in 1..5 {
        redis.quietly(&format!("web-{who}"), HALF, (100, 97, 0));
    }
    let failing = redis.ask("web-5", &HALF.count((100, 97, 0)));
    assert!(failing.publish, "a census");
    redis.now += CENSUS;
    let told = redis.counts("web-0", HALF, (100, 100, 0));
    assert_eq!(told.shared.state, State::Open);
    assert_eq!(told.cause, Cause::Counted { failures: 585 });
    assert_eq!((told.version, told.census), (version.next(), None));
}

#[test]
fn a_census_decides_from_its_end_on_until_it_holds_no_more() {
    let failing = (100, 100, 0);
    for (after, opens, begins_another) in [
        (0, false, false),
        (CENSUS - 1, false, false),
        (CENSUS, true, false),
        (CENSUS_HOLDS, true, false),
        (CENSUS_HOLDS + 1, false, true),
        (3_600 * SECOND, false, true),
    ] {
        let mut redis = Redis::new();
        redis.begins("web-0", HALF, failing);
        redis.now += after;
        // Whoever it is, if only the first one crashed.
        let applied = redis.ask("web-1", &HALF.count(failing));
        let told = applied.reply.now.expect("how it stands");
        assert_eq!(told.shared.state == State::Open, opens, "{after}");
        assert_eq!(applied.publish, opens || begins_another, "{after}");
        let age = if begins_another { 0 } else { after };
        assert_eq!(told.census, (!opens).then_some(age), "{after}");
    }
}

#[test]
fn all_calls_together_are_judged() {
    let rules = Rules {
        failures: 0.07,
        slow: 0.5,
        min_calls: 100,
        least: 1,
    };
    let two = Rules { least: 2, ..rules };
    for (first, second, rules, open) in [
        ((50, 6, 0), (50, 0, 0), rules, false),
        ((50, 7, 0), (51, 0, 0), rules, false),
        ((50, 7, 0), (50, 0, 0), rules, true),
        ((50, 6, 0), (50, 1, 0), rules, true),
        ((50, 7, 0), (49, 7, 0), rules, false),
        ((50, 0, 25), (50, 0, 24), rules, false),
        ((50, 0, 25), (50, 0, 25), rules, true),
        ((50, 0, 50), (50, 0, 0), rules, true),
        ((50, 0, 50), (49, 0, 49), rules, false),
        // All of them seen by one, where two must.
        ((50, 50, 50), (50, 0, 0), two, false),
        ((50, 50, 50), (50, 1, 0), two, true),
        ((50, 0, 50), (50, 0, 1), two, true),
    ] {
        let mut redis = Redis::new();
        redis.ask("web-1", &rules.count(first));
        redis.ask("web-2", &rules.count(second));
        redis.now += CENSUS;
        let told = redis.counts("web-2", rules, second);
        let state = told.shared.state;
        assert_eq!(
            state == State::Open,
            open,
            "{first:?} {second:?} {}",
            rules.least
        );
    }
}

#[test]
fn one_begins_where_those_not_heard_of_may_have_made_as_many_calls_as_it_takes() {
    let mut redis = Redis::new();
    redis.done("web-0", &CLOSE);
    // Of twenty calls ten failures would be half.
    assert_eq!(redis.quietly("web-0", HALF, (9, 9, 0)), None);
    redis.begins("web-0", HALF, (10, 10, 0));
    redis.now += CENSUS;
    redis.quietly("web-0", HALF, (10, 10, 0));
    redis.quietly("web-1", HALF, (9, 0, 0));
    let told = redis.counts("web-1", HALF, (10, 0, 0));
    assert_eq!(told.shared.state, State::Open);
}

#[test]
fn a_healthy_fleet_has_none_and_one_is_begun_once_a_second_at_most() {
    let mut redis = Redis::new();
    redis.done("web-0", &CLOSE);
    for who in 0..50 {
        assert_eq!(redis.quietly("web-0", HALF, (100, 1, 1)), None, "{who}");
        redis.now += 10_000;
    }
    // Too few calls, and all fail, for ten seconds.
    let (mut begun, mut last) = (0, None);
    for _ in 0..1_000 {
        let applied = redis.ask("web-0", &HALF.count((19, 19, 0)));
        if applied.publish {
            assert!(last.is_none_or(|last| redis.now > last + CENSUS_HOLDS));
            (begun, last) = (begun + 1, Some(redis.now));
        }
        redis.now += 10_000;
    }
    assert!((9..=10).contains(&begun), "{begun}");
}

#[test]
fn a_new_term_has_a_census_of_its_own() {
    let mut redis = Redis::new();
    redis.begins("web-0", HALF, (100, 100, 0));
    redis.now += CENSUS;
    assert_eq!(redis.done("operator", &CLOSE).census, None);
    redis.begins("web-0", HALF, (100, 100, 0));
}

#[test]
fn a_clock_that_was_set_back_makes_no_census_longer() {
    let mut redis = Redis::new();
    redis.begins("web-0", HALF, (100, 100, 0));
    redis.now -= 3_600 * SECOND;
    assert_eq!(redis.done("web-1", &READ).census, Some(0));
    redis.now += CENSUS;
    let told = redis.counts("web-0", HALF, (100, 100, 0));
    assert_eq!(told.shared.state, State::Open);
}

#[test]
fn failures_in_a_row_need_none() {
    let mut redis = Redis::new();
    let count = Command::Count {
        known: None,
        counts: Counts {
            failures: 5,
            ..Counts::default()
        },
        limits: Limits::Consecutive { threshold: 5 },
        quorum: Quorum::Instances(1),
        to: OPEN,
    };
    assert_eq!(redis.done("web-0", &count).shared.state, State::Open);
}
