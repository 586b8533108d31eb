//! Random histories of commands, played through the rules and through the script on a real server: what
//! is answered, published and stored is the same.

use super::super::version::{AHEAD, MAX_NUMBER};
use super::super::wire::stored::{Hash, comparable, fields};
use super::super::{
    Caller, Cause, Command, Counts, Known, Limits, Message, Quorum, Record, Reply, Share, Stored,
    Verdict, Version, apply,
};
use super::any;
use super::script::{CHANGE, CLOSE, ask, place, timed};
use super::server::Server;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use redis::Commands;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::env;

/// How many histories, if not the usual number.
const HISTORIES: &str = "HISTORIES";

/// What an instance knows when it asks.
#[derive(Clone, Copy, Debug)]
enum Knows {
    Nothing,
    /// What it was told last.
    WhatItWasTold,
    /// What is stored.
    All,
    /// So many more than what is stored.
    More(u64),
    /// Something of before.
    Less(u64),
    /// A life after that which is stored.
    LaterLife(u64),
    EarlierLife(u64),
    Any(Version),
    /// So much more than what is believed just now.
    Future(i64, u64),
}

#[derive(Clone, Debug)]
enum Step {
    Asks(Caller, Knows, Command),
    /// The instance that has the lease, if one has.
    HolderAsks(Caller, Command),
    Passes(u64),
    SetBack(u64),
    /// Until exactly when what is stored, wait or lease, is over; or so many microseconds before.
    UntilOver(u64),
    Emptied,
    /// Somebody wrote this, of a version that is so much more than what is believed, or of its own.
    Forged(Record, Option<i64>),
    /// As it was so many steps ago.
    RolledBack(usize),
}

fn knows() -> impl Strategy<Value = Knows> {
    prop_oneof![
        3 => Just(Knows::Nothing),
        6 => Just(Knows::WhatItWasTold),
        12 => Just(Knows::All),
        1 => (1..4_u64).prop_map(Knows::More),
        1 => (1..4_u64).prop_map(Knows::Less),
        1 => (1..4_u64).prop_map(Knows::LaterLife),
        1 => (1..4_u64).prop_map(Knows::EarlierLife),
        1 => any::version().prop_map(Knows::Any),
        1 => (-3..3_i64, any::number(MAX_NUMBER)).prop_map(|(by, counter)| Knows::Future(by, counter)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let asks = (any::caller(), knows(), any::command(None))
        .prop_map(|(caller, knows, command)| Step::Asks(caller, knows, command));
    let passes = prop_oneof![
        Just(1_u64),
        0..3_000_u64,
        90_000..110_000_u64,
        Just(100_000_u64),
        400_000..600_000_u64,
        Just(3_600_000_000_u64),
        Just(AHEAD),
    ];
    prop_oneof![
        30 => asks,
        // Else it would be open most of the time, and nothing counted.
        4 => any::caller().prop_map(|caller| Step::Asks(caller, Knows::All, CLOSE)),
        8 => (any::caller(), any::command(None))
            .prop_map(|(caller, command)| Step::HolderAsks(caller, command)),
        6 => passes.prop_map(Step::Passes),
        6 => (0..3_u64).prop_map(Step::UntilOver),
        1 => (0..200_000_u64).prop_map(Step::SetBack),
        1 => Just(Step::SetBack(3_600_000_000)),
        // Never to the very microsecond in which something was founded.
        1 => (3_600_000_000..7_200_000_000_u64).prop_map(|time| Step::SetBack(AHEAD + time)),
        2 => Just(Step::Emptied),
        2 => (any::record(), option::of(-3..3_i64)).prop_map(|(record, by)| Step::Forged(record, by)),
        1 => (1..20_usize).prop_map(Step::RolledBack),
    ]
}

/// What seldom comes about by chance: a trial, and something that its holder asks.
fn trial() -> impl Strategy<Value = Vec<Step>> {
    let asks = (any::caller(), any::command(None));
    (any::caller(), asks, 0..3_u64).prop_map(|(caller, (asks_as, asks), before)| {
        let known = None;
        let lasts = 5_000_000;
        vec![
            Step::Asks(caller.clone(), Knows::All, CHANGE),
            Step::UntilOver(before),
            Step::Asks(caller, Knows::All, Command::Lease { known, lasts }),
            Step::HolderAsks(asks_as, asks),
        ]
    })
}

/// Several instances count together, by the same limits.
fn counting() -> impl Strategy<Value = Vec<Step>> {
    let counts = (any::caller(), any::counts());
    let counted = vec(counts, 2..8);
    let all = (
        any::caller(),
        counted,
        any::limits(),
        any::quorum(),
        any::shared(),
    );
    all.prop_map(|(caller, counted, limits, quorum, to)| {
        let known = None;
        let count = |(caller, counts)| {
            let count = Command::Count {
                known,
                counts,
                limits,
                quorum,
                to,
            };
            Step::Asks(caller, Knows::All, count)
        };
        let closes = Step::Asks(caller, Knows::All, CLOSE);
        [closes]
            .into_iter()
            .chain(counted.into_iter().map(count))
            .collect()
    })
}

/// Counts by a rate that is mostly reached, and that a census decides on, or another does.
fn census() -> impl Strategy<Value = Vec<Step>> {
    let counts = (0..4_u32, 0..4_u32, 0..4_u32).prop_map(|(well, failures, slow)| Counts {
        calls: well + failures.max(slow),
        failures,
        slow,
    });
    let passes = prop_oneof![
        4 => Just(0_u64),
        2 => 0..300_000_u64,
        2 => 199_998..200_003_u64,
        1 => 799_998..800_003_u64,
        1 => 999_998..1_000_003_u64,
    ];
    let counted = vec((any::caller(), counts, passes), 2..10);
    let share = || {
        let share = option::weighted(0.8, prop::sample::select(vec![0.07, 0.5, 1.0]));
        share.prop_map(|share| share.and_then(Share::new))
    };
    let limits =
        (share(), share(), 1..12_u32).prop_map(|(failures, slow, min_calls)| Limits::Rate {
            failures,
            slow,
            min_calls,
        });
    let quorum = prop_oneof![3 => Just(Quorum::Instances(1)), 1 => any::quorum()];
    let all = (any::caller(), counted, limits, quorum, any::shared());
    all.prop_map(|(caller, counted, limits, quorum, to)| {
        let count = |(mut caller, counts, passes): (Caller, Counts, u64)| {
            // Else whoever spoke is forgotten before it is decided.
            caller.alive = 15_000_000;
            let count = Command::Count {
                known: None,
                counts,
                limits,
                quorum,
                to,
            };
            [Step::Asks(caller, Knows::All, count), Step::Passes(passes)]
        };
        let closes = Step::Asks(caller, Knows::All, CLOSE);
        [closes]
            .into_iter()
            .chain(counted.into_iter().flat_map(count))
            .collect()
    })
}

/// Redis was emptied, and several offer what they knew.
fn offering() -> impl Strategy<Value = Vec<Step>> {
    let knows = prop_oneof![
        any::version().prop_map(Knows::Any),
        Just(Knows::WhatItWasTold),
        Just(Knows::Less(1)),
        Just(Knows::EarlierLife(1)),
    ];
    let offer = (any::caller(), knows, any::shared(), any::cause());
    vec(offer, 2..6).prop_map(|offers| {
        let offer = |(caller, knows, to, cause)| {
            let known = Version {
                epoch: 1,
                counter: 1,
            };
            Step::Asks(caller, knows, Command::Offer { known, to, cause })
        };
        [Step::Emptied]
            .into_iter()
            .chain(offers.into_iter().map(offer))
            .collect()
    })
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    let steps = prop_oneof![
        30 => step().prop_map(|step| vec![step]),
        2 => trial(),
        2 => counting(),
        2 => census(),
        2 => offering(),
    ];
    vec(steps, 1..60).prop_map(|steps| steps.concat())
}

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
        assert_eq!(
            by_script.as_ref(),
            Ok(&by_rules.reply),
            "{command:?} of {caller:?}"
        );
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
