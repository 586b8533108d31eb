//! What becomes of a circuit's record, case by case.

use super::super::{
    Applied, Caller, Cause, Command, Counts, Known, Limits, Quorum, Shared, Stored, Told, Verdict,
    Version, Who, apply,
};
use super::script::{CHANGE, CLOSE, OPEN, READ};
use breakerbox::State;

pub(super) const SECOND: u64 = 1_000_000;
pub(super) const HOUR: u64 = 3_600 * SECOND;
pub(super) const ALIVE: u64 = 15 * SECOND;
pub(super) const LONGEST_LEASE: u64 = 60 * SECOND;

/// Redis, as far as the rules go.
pub(super) struct Redis {
    pub(super) stored: Stored,
    pub(super) now: u64,
    pub(super) present: bool,
}

impl Redis {
    pub(super) fn new() -> Self {
        Self {
            stored: Stored::default(),
            now: 1_764_530_000 * SECOND,
            present: false,
        }
    }

    pub(super) fn ask(&mut self, who: &str, command: &Command) -> Applied {
        let caller = Caller {
            who: Who::new(who).unwrap(),
            alive: ALIVE,
            present: self.present,
            longest_lease: LONGEST_LEASE,
            declared: None,
        };
        apply(&mut self.stored, self.now, &caller, command)
    }

    #[track_caller]
    pub(super) fn done(&mut self, who: &str, command: &Command) -> Told {
        self.answers(who, command, Verdict::Done)
    }

    #[track_caller]
    pub(super) fn refused(&mut self, who: &str, command: &Command) -> Told {
        self.answers(who, command, Verdict::Refused)
    }

    #[track_caller]
    pub(super) fn answers(&mut self, who: &str, command: &Command, verdict: Verdict) -> Told {
        let before = self.stored.record.clone();
        let applied = self.ask(who, command);
        assert_eq!(applied.reply.verdict, verdict, "{command:?}");
        if verdict != Verdict::Done {
            assert!(!applied.publish, "{command:?}");
            assert_eq!(self.stored.record, before, "{command:?}");
        }
        applied.reply.now.expect("how it stands")
    }

    /// With a wait of a minute.
    pub(super) fn opened(&mut self) -> Known {
        Some(self.done("operator", &CHANGE).version)
    }

    pub(super) fn with_trial(&mut self, holder: &str) -> Known {
        let known = self.opened();
        self.now += OPEN.wait;
        Some(self.done(holder, &lease(known)).version)
    }
}

pub(super) fn shared(state: State) -> Shared {
    Shared {
        state,
        wait: 0,
        imposed: false,
        reopenings: 0,
    }
}

pub(super) fn change(known: Known, state: State) -> Command {
    Command::Change {
        known,
        to: shared(state),
        cause: Cause::Recovered,
        again: false,
    }
}

pub(super) fn by_operator(known: Known, state: State, again: bool) -> Command {
    Command::Change {
        known,
        to: shared(state),
        cause: Cause::Operator,
        again,
    }
}

pub(super) fn lease(known: Known) -> Command {
    Command::Lease {
        known,
        lasts: 5 * SECOND,
    }
}

pub(super) fn offer(known: Version, to: Shared) -> Command {
    Command::Offer {
        known,
        to,
        cause: Cause::Tripped { failures: 5 },
    }
}

pub(super) fn vote(known: Known, quorum: Quorum) -> Command {
    Command::Vote {
        known,
        open: true,
        to: OPEN,
        quorum,
    }
}

pub(super) fn count(known: Known, failures: u32, threshold: u32) -> Command {
    Command::Count {
        known,
        counts: Counts {
            failures,
            ..Counts::default()
        },
        limits: Limits::Consecutive { threshold },
        quorum: Quorum::Instances(1),
        to: OPEN,
    }
}

#[test]
fn who_knows_nothing_and_has_nothing_to_say_leaves_nothing() {
    let mut redis = Redis::new();
    let to = OPEN;
    let quorum = Quorum::Instances(1);
    for command in [
        READ,
        lease(None),
        Command::Release { known: None },
        count(None, 0, 5),
        Command::Vote {
            known: None,
            open: false,
            to,
            quorum,
        },
    ] {
        let applied = redis.ask("web-1", &command);
        assert_eq!(applied.reply.verdict, Verdict::Missing, "{command:?}");
        assert_eq!((applied.reply.now, applied.publish), (None, false));
    }
    assert_eq!(redis.stored, Stored::default());
}

#[test]
fn a_change_is_done_by_who_knew_what_it_changes() {
    let mut redis = Redis::new();
    let first = redis.done("web-1", &change(None, State::Open));
    assert_eq!(first.version.epoch, redis.now);
    // Not closed any more: what somebody counted who never heard of it came too late.
    redis.refused("web-2", &change(None, State::Open));
    let known = Some(first.version);
    let second = redis.done("web-1", &change(known, State::Closed));
    assert_eq!(second.version, first.version.next());
    assert_eq!(
        (second.by.as_str(), second.cause),
        ("web-1", Cause::Recovered)
    );
    let told = redis.refused("web-2", &change(known, State::Open));
    assert_eq!(told, redis.done("web-2", &READ));
    // Closed again: a young instance has counted from the same beginning.
    redis.done("web-3", &change(None, State::Open));
}

#[test]
fn an_operators_last_word_stands() {
    let mut redis = Redis::new();
    let known = Some(redis.done("web-1", &CLOSE).version);
    let forced = redis.done("web-1", &by_operator(None, State::ForcedOpen, false));
    assert_eq!(forced.shared.state, State::ForcedOpen);
    for state in [State::ForcedOpen, State::Disabled, State::Shadow] {
        let set = Some(
            redis
                .done("web-1", &by_operator(None, state, false))
                .version,
        );
        redis.refused("web-2", &change(set, State::Closed));
        redis.refused("web-2", &change(set, State::Open));
        redis.refused("web-2", &lease(set));
        redis.refused("web-2", &count(set, 9, 5));
        redis.refused("web-2", &vote(set, Quorum::Instances(1)));
    }
    // Another operator's, which was asked before and may have come before.
    let told = redis.refused("web-2", &by_operator(known, State::Closed, true));
    assert_eq!(told.shared.state, State::Shadow);
    redis.done(
        "web-2",
        &by_operator(Some(told.version), State::Closed, true),
    );
    // What was no operator's since doesn't hold it up.
    let tripped = redis.done("web-1", &change(None, State::Open));
    let before = Version {
        counter: tripped.version.counter - 1,
        ..tripped.version
    };
    redis.done("web-2", &by_operator(Some(before), State::Disabled, true));
}

#[test]
fn an_operators_word_that_was_offered_is_of_when_it_was_said() {
    let mut redis = Redis::new();
    let earlier = redis.done("web-1", &by_operator(None, State::Disabled, false));
    let older = redis.stored.clone();
    redis.now += SECOND;
    let last = redis.done(
        "web-1",
        &by_operator(Some(earlier.version), State::Closed, false),
    );
    // Older data; what was said last comes back.
    redis.stored = older;
    let again = Command::Offer {
        known: last.version,
        to: shared(State::Closed),
        cause: Cause::Operator,
    };
    let offered = redis.done("web-1", &again);
    assert_eq!(offered.shared.state, State::Closed);
    // Who spoke before it was said has spoken too early, and who spoke after it has the last word.
    redis.refused(
        "web-2",
        &by_operator(Some(earlier.version), State::Shadow, true),
    );
    let told = redis.done(
        "web-3",
        &by_operator(Some(last.version), State::ForcedOpen, true),
    );
    assert_eq!(told.shared.state, State::ForcedOpen);
    redis.refused("web-1", &again);
}

#[test]
fn a_clock_that_jumps_holds_nothing_open_longer() {
    for back in [SECOND, HOUR, 180 * 24 * HOUR] {
        let mut redis = Redis::new();
        let known = redis.opened();
        redis.now -= back.min(redis.now);
        assert_eq!(redis.done("web-1", &READ).shared.wait, OPEN.wait);
        redis.now += OPEN.wait;
        let told = redis.done("web-1", &lease(known));
        let known = Some(told.version);
        redis.now -= back.min(redis.now);
        let (_, left) = redis.done("web-2", &READ).lease.unwrap();
        assert_eq!(left, 5 * SECOND);
        redis.refused("web-2", &lease(known));
        redis.now += 5 * SECOND;
        redis.done("web-2", &lease(known));
    }
    let mut redis = Redis::new();
    let known = redis.opened();
    redis.now += HOUR;
    assert_eq!(redis.done("web-1", &READ).shared.wait, 0);
    redis.done("web-1", &lease(known));
}

#[test]
fn what_waits_longer_than_a_day_waits_a_day() {
    const DAY: u64 = 24 * HOUR;
    for wait in [DAY - 1, DAY, DAY + 1, u64::MAX] {
        let mut redis = Redis::new();
        let to = Shared { wait, ..OPEN };
        let cause = Cause::Operator;
        let (known, again) = (None, false);
        let set = Command::Change {
            known,
            to,
            cause,
            again,
        };
        let told = redis.done("web-1", &set);
        assert_eq!(told.shared.wait, wait.min(DAY));
        redis.now += wait.min(DAY);
        redis.done("web-2", &lease(Some(told.version)));
    }
}
