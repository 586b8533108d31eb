//! When it asks, and what it waits for.

use super::{ByHand, OPEN, TRIPPED, at, done, generation, happened, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Asked, Instance, Options, Settled, Step, Unanswered};
use breaker_redis::protocol::{Cause, Command, Counts, Limits, Reply, Share, Shared, Verdict};
use breakerbox::State;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn it_is_small() {
    let size = size_of::<Instance>();
    assert!(size <= 480, "{size} bytes of each circuit of a process");
}

#[test]
fn before_redis_is_found_it_asks_nothing_and_lets_through() {
    let begun = happened(3, OPEN, TRIPPED);
    let mut instance = Instance::new(Arc::new(options(0)), &begun, 0, 3);
    assert_eq!(instance.waits(10 * SECOND), None);
    assert_eq!(instance.probe_wanted(10 * SECOND), Ok(()));
    instance.found(10 * SECOND);
    let (_, command) = instance.asks(10 * SECOND);
    let Command::Change { to, cause, .. } = command else {
        panic!("{command:?}");
    };
    assert_eq!((to.state, to.wait, cause), (State::Open, 0, TRIPPED));
}

#[test]
fn what_was_not_sent_was_not_told_before() {
    let mut instance = at(CLOSED);
    let ask = |instance: &mut Instance, now| match instance.asks(now) {
        (asked, Command::Change { again, .. }) => (asked, again),
        other => panic!("{other:?}"),
    };
    instance.changed(2 * SECOND, &happened(1, OPEN, Cause::Operator));
    for (why, was_again) in [
        (Unanswered::NotSent, false),
        (Unanswered::Unknown, false),
        (Unanswered::NotSent, true),
    ] {
        let now = instance.due(2 * SECOND).expect("it is to be told");
        let (asked, again) = ask(&mut instance, now);
        assert_eq!(again, was_again);
        instance.replied(now, asked, Err(why));
    }
}

#[test]
fn a_redis_that_does_not_answer_is_asked_less_and_less() {
    let mut instance = with(Options {
        poll: Duration::from_secs(30),
        alive: Duration::from_secs(120),
        ..options(0)
    });
    let (mut now, mut times) = (SECOND, Vec::new());
    while now < 120 * SECOND {
        match instance.next(now) {
            Step::Ask(..) => times.push(now / SECOND),
            Step::Wait(until) => now = until.expect("it asks again"),
            step => panic!("{step:?}"),
        }
    }
    assert!((6..=9).contains(&times.len()), "{times:?}");
    assert_eq!(instance.probe_wanted(now), Ok(()));
}

#[test]
fn polls_are_spread_and_in_time_for_being_alive() {
    let mut polls = Vec::new();
    for seed in 0..200 {
        let begun = happened(0, CLOSED, None);
        let fast = Options {
            poll: Duration::from_secs(60),
            ..options(0)
        };
        let mut instance = Instance::new(Arc::new(fast), &begun, 0, seed);
        instance.found(0);
        let first = instance.waits(0).expect("a poll");
        assert!(first < 500 * MS, "all ask soon");
        let (asked, _) = instance.asks(first);
        instance.replied(first, asked, Ok(&nothing()));
        polls.push((first, instance.waits(first).expect("a poll") - first));
    }
    let spread = |of: fn(&(u64, u64)) -> u64| {
        let all = polls.iter().map(of);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let (first, last) = spread(|poll| poll.0);
    assert!(first < 50 * MS && last > 450 * MS, "{first} {last}");
    // A quarter of 15 s, and a quarter of that more or less.
    let (shortest, longest) = spread(|poll| poll.1);
    assert!(
        shortest < 2_900 * MS && longest > 4_600 * MS,
        "{shortest} {longest}"
    );
    assert!(
        shortest >= 2_812 * MS && longest <= 4_688 * MS,
        "{shortest} {longest}"
    );
}

#[test]
fn a_window_is_looked_at_again_as_it_forgets_by_itself() {
    let mut instance = with(Options {
        counting: Some(Limits::Rate {
            failures: Share::new(0.5),
            slow: None,
            min_calls: 10,
        }),
        ..options(0)
    });
    let counts = Counts {
        calls: 4,
        failures: 1,
        slow: 0,
    };
    let settled = Settled {
        generation: generation(0),
        counted: true,
        counts,
    };
    instance.settled(0, &settled);
    let (asked, command) = instance.asks(0);
    assert!(
        matches!(command, Command::Count { counts: it, .. } if it == counts),
        "{command:?}"
    );
    instance.replied(
        0,
        asked,
        Ok(&done(told(1, CLOSED, Cause::Founded, "node-0"))),
    );
    let poll = instance.waits(0).expect("a poll");
    assert_eq!(instance.next(poll), Step::Look);
    instance.counted(poll, Counts::default());
    // In place of the question how things stand.
    let (asked, command) = instance.asks(poll);
    assert!(
        matches!(command, Command::Count { counts, .. } if counts == Counts::default()),
        "{command:?}"
    );
    instance.replied(
        poll,
        asked,
        Ok(&done(told(1, CLOSED, Cause::Founded, "node-0"))),
    );
    let poll = instance.waits(poll).expect("a poll");
    instance.asks(poll);
    assert!(
        matches!(instance.next(poll), Step::Wait(_)),
        "there is nothing to forget"
    );
}

#[test]
fn counts_of_another_generation_are_nothing() {
    let mut instance = with(Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        ..options(0)
    });
    let settled = Settled {
        generation: generation(5),
        counted: true,
        counts: Counts {
            failures: 3,
            ..Counts::default()
        },
    };
    instance.settled(0, &settled);
    assert!(instance.waits(0).is_some());
}

/// One that counts with others, and what its breaker has counted.
fn counting() -> Instance {
    with(Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        ..options(0)
    })
}

fn failures(instance: &mut Instance, failures: u32) {
    let settled = Settled {
        generation: generation(0),
        counted: true,
        counts: Counts {
            failures,
            ..Counts::default()
        },
    };
    instance.settled(0, &settled);
}

/// What it says that it has counted, when it is time to.
fn says(instance: &mut Instance) -> (u64, Asked, u32) {
    let now = instance.due(0).expect("it has something to say");
    match instance.asks(now) {
        (asked, Command::Count { counts, .. }) => (now, asked, counts.failures),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_count_that_may_have_arrived_is_taken_back_although_nothing_was_ever_known_to_be_said() {
    let mut instance = counting();
    failures(&mut instance, 1);
    let (now, asked, 1) = says(&mut instance) else {
        panic!("it says another number");
    };
    instance.replied(now, asked, Err(Unanswered::Unknown));
    failures(&mut instance, 0);
    // It asks how things stand, and then goes on.
    let now = instance.due(0).expect("it tries again");
    let (asked, command) = instance.asks(now);
    assert_eq!(command, Command::Read { known: None });
    let reply = done(told(1, CLOSED, Cause::Founded, "node-0"));
    instance.replied(now, asked, Ok(&reply));
    // Founded by that very count, whose term it is.
    assert_eq!(says(&mut instance).2, 0);
}

#[test]
fn what_was_counted_is_said_again_after_a_silence_but_not_where_it_is_nothing() {
    for counted in [2, 0] {
        let mut instance = counting();
        let reply = done(told(1, CLOSED, Cause::Founded, "node-0"));
        for number in [2 - counted, counted] {
            failures(&mut instance, number);
            if counted > 0 && number == 0 {
                continue;
            }
            let (now, asked) = said(&mut instance, number).expect("it is said");
            instance.replied(now, asked, Ok(&reply));
        }
        let now = instance.due(0).expect("a poll");
        let (asked, _) = instance.asks(now);
        instance.replied(now, asked, Err(Unanswered::Unknown));
        let now = instance.due(0).expect("it tries again");
        let (asked, _) = instance.asks(now);
        instance.replied(now, asked, Ok(&reply));
        let said = said(&mut instance, counted).filter(|(at, _)| *at < now + SECOND);
        assert_eq!(said.is_some(), counted > 0, "before its next poll");
    }
}

/// Whether it says before its next poll that it has counted so many.
fn said(instance: &mut Instance, failures: u32) -> Option<(u64, Asked)> {
    let now = instance.due(0).expect("a poll at least");
    match instance.next(now) {
        Step::Ask(asked, Command::Count { counts, .. }) if counts.failures == failures => {
            Some((now, asked))
        }
        _ => None,
    }
}

#[test]
fn nothing_is_counted_together_while_an_order_is_on_its_way() {
    let mut instance = counting();
    instance.changed(0, &happened(0, CLOSED, Cause::Operator));
    instance.asks(0);
    failures(&mut instance, 1);
    assert!(instance.waits(MS).is_some());
}

fn nothing() -> Reply {
    Reply {
        verdict: Verdict::Missing,
        now: None,
        listeners: None,
    }
}

#[test]
fn where_nothing_is_stored_nothing_is_taken_back() {
    let mut instance = counting();
    failures(&mut instance, 1);
    let (now, asked, _) = says(&mut instance);
    instance.replied(now, asked, Err(Unanswered::Unknown));
    failures(&mut instance, 0);
    let now = instance.due(0).expect("it tries again");
    let (asked, _) = instance.asks(now);
    instance.replied(now, asked, Ok(&nothing()));
    let poll = instance.waits(now).expect("a poll");
    assert!(poll > now + SECOND, "{poll} after {now}");
}

#[test]
fn counts_wait_for_the_record_that_is_offered() {
    let mut instance = counting();
    failures(&mut instance, 1);
    let (now, asked, _) = says(&mut instance);
    let founded = told(1, CLOSED, Cause::Founded, "node-0");
    instance.replied(now, asked, Ok(&done(founded.clone())));
    let poll = instance.waits(now).expect("a poll");
    let (asked, _) = instance.asks(poll);
    instance.replied(poll, asked, Ok(&nothing()));
    let (asked, command) = instance.asks(poll);
    assert!(matches!(command, Command::Offer { .. }), "{command:?}");
    instance.waits(poll);
    let mut anew = founded;
    anew.version.epoch += 1;
    instance.replied(poll, asked, Ok(&done(anew)));
    let (_, command) = instance.asks(poll);
    assert!(matches!(command, Command::Count { .. }), "{command:?}");
}

/// Whatever it answers, and however little sense it makes.
#[test]
fn a_redis_that_says_the_same_to_everything_is_not_asked_all_the_time() {
    let stands = |counter, state| {
        let shared = Shared { state, ..CLOSED };
        told(counter, shared, Cause::Recovered, "other")
    };
    let verdicts = [
        Verdict::Done,
        Verdict::Refused,
        Verdict::Missing,
        Verdict::Behind,
    ];
    let states = [State::Closed, State::Open, State::ForcedOpen];
    for verdict in verdicts {
        for (state, counter) in states
            .into_iter()
            .flat_map(|it| [(it, 3), (it, 4), (it, 5)])
        {
            for (happens, cause) in [
                (OPEN, TRIPPED),
                (OPEN, Cause::Operator),
                (CLOSED, Cause::Operator),
            ] {
                let mut instance = at(CLOSED);
                let mut generations = 2..;
                instance.changed(2 * SECOND, &happened(1, happens, cause));
                let reply = Reply {
                    verdict,
                    now: (verdict != Verdict::Missing).then(|| stands(counter, state)),
                    ..done(stands(counter, state))
                };
                let (mut now, mut asks) = (2 * SECOND, 0);
                while now < 32 * SECOND {
                    match instance.next(now) {
                        Step::Ask(asked, _) => {
                            asks += 1;
                            now += MS;
                            instance.replied(now, asked, Ok(&reply));
                        }
                        Step::Follow(_) => {
                            let next = generations.next().expect("one more");
                            instance.followed(now, Ok(generation(next)));
                        }
                        Step::Look => instance.counted(now, Counts::default()),
                        Step::Wait(until) => now = until.expect("a poll"),
                    }
                }
                let what = format!("{verdict:?} {counter} {state}, {cause:?} {}", happens.state);
                assert!(asks < 60, "{asks} questions: {what}");
            }
        }
    }
}
