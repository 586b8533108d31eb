//! Counts and votes of many instances, case by case.

use super::super::{Cause, Command, Quorum, Share, Stored, Verdict};
use super::rules::{ALIVE, HOUR, Redis, SECOND, count, vote};
use super::script::{CHANGE, CLOSE, OPEN, READ, ask, caller, place, timed};
use super::server::Server;
use breakerbox::State;
use redis::Commands;

#[test]
fn one_host_with_a_broken_network_opens_nobodys_circuit_but_its_own() {
    let half = Quorum::Share(Share::new(0.5).unwrap());
    for quorum in [half, Quorum::Instances(5)] {
        let mut redis = Redis::new();
        redis.present = true;
        let round = |redis: &mut Redis, votes: usize| {
            let mut known = None;
            for n in 0..10 {
                let who = format!("web-{n}");
                let command = if n < votes { vote(None, quorum) } else { READ };
                let reply = redis.ask(&who, &command).reply;
                known = reply.now.or(known);
            }
            redis.now += ALIVE / 4;
            known.map(|told| told.shared.state)
        };
        // Who is alive is known before long, also after Redis was emptied.
        for votes in [0, 0, 0, 1, 1, 4, 4] {
            let state = round(&mut redis, votes);
            assert_ne!(state, Some(State::Open), "{votes} of 10 by {quorum:?}");
        }
        assert_eq!(round(&mut redis, 5), Some(State::Open), "{quorum:?}");
        let told = redis.done("web-9", &READ);
        assert_eq!(told.cause, Cause::Voted { instances: 5 });
    }
}

#[test]
fn nobody_is_all_of_a_fleet_that_is_not_known_yet() {
    let all = Quorum::Share(Share::new(1.0).unwrap());
    let mut redis = Redis::new();
    redis.present = true;
    let closed = |redis: &mut Redis| redis.done("web-1", &vote(None, all)).shared.state;
    // Just emptied, only who votes has been heard of.
    assert_eq!(closed(&mut redis), State::Closed);
    redis.now += ALIVE / 4;
    assert_eq!(closed(&mut redis), State::Closed);
    // A clock that jumped: nobody was heard of for so long.
    redis.now += HOUR;
    assert_eq!(closed(&mut redis), State::Closed);
    redis.now += ALIVE / 4;
    assert_eq!(closed(&mut redis), State::Closed);
    // Nobody else has come: it is alone.
    redis.now += ALIVE / 4;
    assert_eq!(closed(&mut redis), State::Open);
}

#[test]
fn who_leaves_votes_and_counts_no_more_from_then_on() {
    let known = None;
    let leave = Command::Leave { known };
    let two = Quorum::Instances(2);
    let mut redis = Redis::new();
    assert_eq!(redis.ask("web-1", &leave).reply.verdict, Verdict::Missing);
    assert_eq!(redis.stored, Stored::default(), "nothing was written");
    redis.done("web-1", &vote(None, two));
    redis.done("web-1", &leave);
    redis.done("web-1", &leave);
    assert_eq!(
        redis.done("web-2", &vote(None, two)).shared.state,
        State::Closed
    );
    // Nor is it one of those alive any more, whatever it has said before.
    redis.present = true;
    redis.done("web-1", &READ);
    redis.done("web-1", &leave);
    assert_eq!(redis.stored.members.sums().present, 1);
    redis.present = false;
    redis.done("web-3", &count(None, 4, 5));
    redis.done("web-3", &leave);
    assert_eq!(
        redis.done("web-2", &count(None, 4, 5)).shared.state,
        State::Closed
    );
    assert_eq!(redis.stored.members.sums().failures, 4);
    // The state is what it was, also for who has set it.
    let trip = redis.ask("web-1", &CHANGE).reply;
    assert_eq!(trip.verdict, Verdict::Done);
    let open = redis.done("web-1", &READ);
    assert_eq!(redis.done("web-1", &leave), open);
}

#[test]
fn a_vote_can_be_taken_back() {
    let mut redis = Redis::new();
    let two = Quorum::Instances(2);
    redis.done("web-1", &vote(None, two));
    redis.done(
        "web-1",
        &Command::Vote {
            known: None,
            open: false,
            to: OPEN,
            quorum: two,
        },
    );
    assert_eq!(
        redis.done("web-2", &vote(None, two)).shared.state,
        State::Closed
    );
    // Twice is once.
    assert_eq!(
        redis.done("web-2", &vote(None, two)).shared.state,
        State::Closed
    );
    assert_eq!(
        redis.done("web-1", &vote(None, two)).shared.state,
        State::Open
    );
}

#[test]
fn failures_of_all_count_together() {
    let mut redis = Redis::new();
    for (who, failures, open) in [
        ("web-1", 2, false),
        ("web-1", 2, false),
        ("web-2", 2, false),
        // A success ends its own row alone.
        ("web-1", 0, false),
        ("web-3", 2, false),
        ("web-3", 3, true),
    ] {
        let told = redis.done(who, &count(None, failures, 5));
        assert_eq!(told.shared.state == State::Open, open, "{who} {failures}");
    }
    assert_eq!(
        redis.done("web-1", &READ).cause,
        Cause::Counted { failures: 5 }
    );
}

#[test]
fn what_was_counted_before_a_change_counts_no_more() {
    let mut redis = Redis::new();
    redis.done("web-1", &count(None, 4, 5));
    redis.done("operator", &CLOSE);
    let told = redis.done("web-2", &count(None, 1, 5));
    assert_eq!(told.shared.state, State::Closed);
    // Said of the closed circuit of before, it is late.
    let known = Some(told.version);
    redis.opened();
    redis.refused("web-1", &count(known, 5, 5));
    redis.done("operator", &CLOSE);
    redis.refused("web-1", &count(known, 5, 5));
}

#[test]
fn who_fell_silent_counts_no_more() {
    let quarter = ALIVE / 4;
    for (silent_for, counts) in [(4 * quarter, true), (5 * quarter, false)] {
        let mut redis = Redis::new();
        redis.done("web-1", &count(None, 4, 5));
        redis.now += silent_for;
        let state = redis.done("web-2", &count(None, 1, 5)).shared.state;
        assert_eq!(state == State::Open, counts, "{silent_for}");
    }
    // Any command says that it is alive.
    let mut redis = Redis::new();
    redis.done("web-1", &count(None, 4, 5));
    for _ in 0..20 {
        redis.now += 3 * quarter;
        redis.done("web-1", &READ);
    }
    let told = redis.done("web-2", &count(None, 1, 5));
    assert_eq!(told.shared.state, State::Open);
}

#[test]
fn a_hundred_thousand_are_counted_one_by_one() {
    let mut redis = Redis::new();
    let all = 100_000;
    for n in 1..all {
        let told = redis.done(&format!("web-{n}"), &count(None, 1, all));
        assert_eq!(told.shared.state, State::Closed);
        // So that they stand in several slices.
        redis.now += 100;
    }
    let told = redis.done("web-0", &count(None, 1, all));
    assert_eq!(told.cause, Cause::Counted { failures: all });
}

/// Of processes that are short-lived more come than are looked for when time has passed.
#[test]
fn instances_that_come_and_go_are_forgotten_by_the_script() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), timed());
    let (a_tick, ticks) = (500, 16);
    let mut now = 1_764_530_000 * SECOND;
    let mut most = 0;
    for number in 0..a_tick * ticks {
        let who = caller(&format!("job-{number}"));
        ask(connection, &script, &place, &who, &READ, Some(now)).expect("an answer");
        now += ALIVE / 4 / a_tick;
        let fields: u64 = connection.hlen(place.key()).unwrap();
        most = most.max(fields);
    }
    // Those of five slices of time count.
    assert!(most < 5 * a_tick * 3 / 2, "{most} are kept");
}

#[test]
fn instances_that_come_and_go_are_forgotten() {
    let mut redis = Redis::new();
    redis.present = true;
    let mut most = 0;
    for n in 0..20_000 {
        redis.ask(&format!("web-{n}"), &READ);
        redis.now += ALIVE / 100;
        most = most.max(redis.stored.members.kept());
    }
    assert!(most < 400, "{most} are kept");
}
