//! Random histories of commands, played through the rules and through the script on a real server: what
//! is answered, published and stored is the same.

mod steps;

use super::super::version::AHEAD;
use super::super::wire::stored::{Hash, comparable, fields};
use super::super::{
    Caller, Cause, Command, Known, Limits, Message, Reply, Stored, Verdict, Version, apply,
};
use super::script::{ask, place, timed};
use super::server::Server;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use redis::Commands;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::env;
use steps::{Knows, Step, history};

/// How many histories, if not the usual number.
const HISTORIES: &str = "HISTORIES";

fn future(now: u64, by: i64, counter: u64) -> Version {
    Version {
        epoch: (now + AHEAD).saturating_add_signed(by),
        counter,
    }
}

fn known(knows: Knows, stored: &Stored, told: Known, now: u64) -> Known {
    let held = stored.record.as_ref().map(|record| record.version);
    let moved = |epoch: i64, counter: i64| {
        held.map(|version| Version {
            epoch: version.epoch.saturating_add_signed(epoch),
            counter: version.counter.saturating_add_signed(counter),
        })
    };
    match knows {
        Knows::Nothing => None,
        Knows::WhatItWasTold => told,
        Knows::All => held,
        Knows::More(by) => moved(0, by as i64),
        Knows::Less(by) => moved(0, -(by as i64)),
        Knows::LaterLife(by) => moved(by as i64, 0),
        Knows::EarlierLife(by) => moved(-(by as i64), 0),
        Knows::Any(version) => Some(version),
        Knows::Future(by, counter) => Some(future(now, by, counter)),
    }
}

fn with_known(command: &Command, now_known: Known) -> Command {
    let mut command = command.clone();
    match &mut command {
        Command::Read { known }
        | Command::Change { known, .. }
        | Command::Lease { known, .. }
        | Command::Renew { known, .. }
        | Command::Release { known }
        | Command::Leave { known }
        | Command::Vote { known, .. }
        | Command::Count { known, .. } => *known = now_known,
        Command::Offer { known, .. } => {
            *known = now_known.unwrap_or(Version {
                epoch: 1,
                counter: 1,
            });
        }
    }
    command
}

/// What happened in all histories, so that one sees that they are worth playing.
#[derive(Debug, Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn note(&mut self, command: &Command, reply: &Reply, published: bool) {
        let debug = format!("{command:?}");
        let word = debug.split(' ').next().unwrap_or_default();
        let what = if published { ", published" } else { "" };
        let key = format!("{word} {:?}{what}", reply.verdict);
        *self.0.entry(key).or_default() += 1;
        if let Some(now) = reply.now.as_ref().filter(|_| published) {
            let debug = format!("{:?}", now.cause);
            let cause = debug.split(' ').next().unwrap_or_default().to_owned();
            *self.0.entry(cause).or_default() += 1;
            let by_rate = matches!(
                command,
                Command::Count {
                    limits: Limits::Rate { .. },
                    ..
                }
            );
            let what = match (now.census, now.cause) {
                (Some(0), _) => "a census begins",
                (None, Cause::Counted { .. }) if by_rate => "a census opens",
                _ => return,
            };
            *self.0.entry(what.into()).or_default() += 1;
        }
    }
}

struct Played<'a> {
    connection: &'a mut redis::Connection,
    script: &'a redis::Script,
    now: u64,
    rules: Stored,
    past: Vec<(Stored, Hash)>,
    told: BTreeMap<String, Known>,
    published: Vec<String>,
    seen: &'a RefCell<Seen>,
}

impl Played<'_> {
    fn step(&mut self, step: &Step) {
        let place = place();
        match step {
            Step::Asks(caller, knows, command) => {
                let told = self.told.get(caller.who.as_str()).copied().flatten();
                let command = with_known(command, known(*knows, &self.rules, told, self.now));
                self.ask(caller, &command);
            }
            Step::HolderAsks(caller, command) => {
                let lease = self
                    .rules
                    .record
                    .as_ref()
                    .and_then(|record| record.lease.clone());
                if let Some(lease) = lease {
                    let caller = Caller {
                        who: lease.holder,
                        ..caller.clone()
                    };
                    let command = with_known(command, known(Knows::All, &self.rules, None, 0));
                    self.ask(&caller, &command);
                }
            }
            Step::Passes(time) => self.now += time,
            Step::SetBack(time) => self.now = self.now.saturating_sub(*time).max(1),
            Step::UntilOver(before) => {
                if let Some(record) = &self.rules.record {
                    let left = record.left(self.now, u64::MAX);
                    self.now += left.saturating_sub(*before);
                }
            }
            Step::Emptied => {
                self.rules = Stored::default();
                let _: () = self.connection.del(place.key()).unwrap();
            }
            Step::Forged(record, by) => {
                let mut record = record.clone();
                if let Some(by) = by {
                    record.version = future(self.now, *by, record.version.counter);
                    record.operated = record.operated.filter(|it| *it <= record.version);
                    record.offered = record.offered.filter(|it| *it < record.version);
                }
                self.rules = Stored {
                    record: Some(record),
                    ..Stored::default()
                };
                let _: () = self.connection.del(place.key()).unwrap();
                let mut forged = Vec::from_iter(fields(&self.rules));
                forged.push(("format".to_owned(), "1".to_owned()));
                let _: () = self.connection.hset_multiple(place.key(), &forged).unwrap();
            }
            Step::RolledBack(steps) => {
                let Some(back) = self.past.len().checked_sub(*steps) else {
                    return;
                };
                let (rules, hash) = self.past[back].clone();
                self.rules = rules;
                let _: () = self.connection.del(place.key()).unwrap();
                if !hash.is_empty() {
                    let hash = Vec::from_iter(hash);
                    let _: () = self.connection.hset_multiple(place.key(), &hash).unwrap();
                }
            }
        }
        let hash: Hash = self.connection.hgetall(place.key()).unwrap();
        self.past.push((self.rules.clone(), hash.clone()));
        assert_eq!(
            comparable(hash),
            fields(&self.rules),
            "stored after {step:?}"
        );
        let term = self.rules.record.as_ref().map(|record| record.version);
        let members = &self.rules.members;
        assert_eq!(members.sums(), members.summed_up(term), "after {step:?}");
    }

    fn ask(&mut self, caller: &Caller, command: &Command) {
        // No two come in the same microsecond.
        self.now += 1;
        let place = place();
        let by_rules = apply(&mut self.rules, self.now, caller, command);
        let now = Some(self.now);
        let by_script = ask(self.connection, self.script, &place, caller, command, now);
        let expected = Reply {
            // The one that notes what is published.
            listeners: by_rules.publish.then_some(1),
            ..by_rules.reply.clone()
        };
        assert_eq!(by_script, Ok(expected), "{command:?} of {caller:?}");
        let mut seen = self.seen.borrow_mut();
        seen.note(command, &by_rules.reply, by_rules.publish);
        if let Some(told) = by_rules.reply.now {
            let known = Some(told.version);
            self.told.insert(caller.who.as_str().to_owned(), known);
            if by_rules.publish {
                let label = place.label().to_owned();
                self.published.push(Message { label, told }.encode());
            }
        }
    }
}

#[test]
fn the_script_does_what_the_rules_say() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = place();
    let script = timed();
    let connection = RefCell::new(server.connect());
    let mut listening = server.connect();
    let mut listening = listening.as_pubsub();
    listening.subscribe(place.channel()).unwrap();
    let listening = RefCell::new(listening);
    let seen = RefCell::new(Seen::default());
    let messages = Cell::new(0);

    let cases = env::var(HISTORIES).map_or(500, |text| text.parse().expect("a number"));
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        // The same ones each time, unless others are asked for.
        rng_seed: RngSeed::Fixed(8),
        ..Config::default()
    });
    let result = runner.run(&history(), |history| {
        let mut connection = connection.borrow_mut();
        let _: () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        let mut played = Played {
            connection: &mut connection,
            script: &script,
            now: 1_764_530_000_000_000,
            rules: Stored::default(),
            past: Vec::new(),
            told: BTreeMap::new(),
            published: Vec::new(),
            seen: &seen,
        };
        for step in &history {
            played.step(step);
        }
        let expected = played.published;
        let _: () = connection.publish(place.channel(), "end").unwrap();
        let mut published: Vec<String> = Vec::new();
        loop {
            let message = listening.borrow_mut().get_message().unwrap();
            match message.get_payload().unwrap() {
                end if end == "end" => break,
                text => published.push(text),
            }
        }
        messages.set(messages.get() + published.len());
        assert_eq!(published, expected);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let Seen(seen) = seen.into_inner();
    println!("{} messages; {seen:#?}", messages.get());
    // Each way of each command was gone often.
    for word in ["Lease", "Renew", "Release", "Vote", "Count"] {
        for verdict in [
            Verdict::Done,
            Verdict::Refused,
            Verdict::Missing,
            Verdict::Behind,
        ] {
            let done = format!("{word} {verdict:?}");
            let times = seen.get(&done).copied().unwrap_or(0)
                + seen
                    .get(&format!("{done}, published"))
                    .copied()
                    .unwrap_or(0);
            assert!(times > 10, "{done}: {times} times");
        }
    }
    for verdict in ["Done", "Missing", "Behind"] {
        let times = seen.get(&format!("Leave {verdict}")).copied().unwrap_or(0);
        assert!(times > 10, "Leave {verdict}: {times} times");
    }
    for cause in [
        "Voted",
        "Counted",
        "Founded",
        "Leased",
        "Released",
        "a census begins",
        "a census opens",
    ] {
        let times = seen.get(cause).copied().unwrap_or(0);
        assert!(times > 10, "{cause}: {times} times");
    }
}
