//! Redis fails in every way, under load: calls go on with local breakers, it is told once, and the fleet
//! is one again when it returns.

use std::time::Duration;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::instance::{Change, Seen};
use test_fleet::plan::Order;
use test_fleet::server::{self, Server};
use test_fleet::service::Health;

/// Redis, where it doesn't answer, and whatever else is waited for in the background, takes longer: a call
/// that waits for it is seen.
pub(crate) const STALL: u64 = 8_000;
/// No call takes this long, however slow the machine.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(4);
/// Between two calls of an instance, in microseconds.
pub(crate) const PAUSE: u64 = 8_000;

pub(crate) fn settings() -> Settings {
    let mut settings = Settings {
        networks: true,
        ..Settings::default()
    };
    settings.circuit.reset = 500;
    settings.sharing.answer = STALL;
    settings.sharing.connect = STALL;
    settings.sharing.lease = STALL;
    settings
}

/// Three instances that share their circuits, and call.
pub(crate) fn begun(settings: Settings) -> Fleet {
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.go(PAUSE);
    fleet.call_on(20);
    fleet
}

/// All changes of an instance since then.
pub(crate) fn since(seen: &Seen, changes: usize) -> &[Change] {
    &seen.changes[changes.min(seen.changes.len())..]
}

/// How many changes each has seen.
pub(crate) fn marks(fleet: &Fleet) -> Vec<usize> {
    let counts = fleet
        .instances
        .iter()
        .map(|instance| instance.seen(|seen| seen.changes.len()));
    counts.collect()
}

/// Each of these opens by what it sees itself, and closes by its own probe; calls go on.
pub(crate) fn each_guards_itself(fleet: &Fleet, instances: &[usize]) {
    let marks = marks(fleet);
    let has = |number: usize, to: &str, by: &str| {
        fleet.instances[number].until(&format!("to become {to} by {by}"), |seen| {
            let mut changes = since(seen, marks[number]).iter();
            changes
                .find(|change| change.to == to && change.by == by)
                .map(drop)
        });
    };
    fleet.service.turns(Health::Down);
    for number in instances {
        has(*number, "open", "failures");
    }
    fleet.service.turns(Health::Up);
    for number in instances {
        has(*number, "closed", "recovered");
    }
    fleet.all_become("closed");
    fleet.call_on(20);
}

/// An operator's word at one reaches all.
pub(crate) fn is_one(fleet: &mut Fleet) {
    let last = fleet.instances.len() - 1;
    operate(fleet, 0, "force_open");
    fleet.all_become("forced_open");
    operate(fleet, last, "close");
    fleet.all_become("closed");
    // And so does a trip.
    let marks = marks(fleet);
    fleet.service.turns_for("i0", Health::Down);
    for (instance, mark) in fleet.instances.iter().zip(marks).skip(1) {
        instance.until("to open with i0", |seen| {
            let mut changes = since(seen, mark).iter();
            changes
                .find(|change| change.to == "open" && change.by == "fleet")
                .map(drop)
        });
    }
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
}

pub(crate) fn operate(fleet: &mut Fleet, number: usize, what: &str) {
    fleet.instances[number].order(&Order::Operate { what: what.into() });
}

pub(crate) fn lost(fleet: &Fleet, instances: &[usize]) {
    for number in instances {
        let instance = &fleet.instances[*number];
        instance.until("to have lost redis", |seen| {
            (!seen.losses.is_empty()).then_some(())
        });
    }
}

pub(crate) fn restored(fleet: &Fleet, instances: &[usize]) {
    for number in instances {
        let instance = &fleet.instances[*number];
        instance.until("to have redis again", |seen| {
            (seen.restorations > 0).then_some(())
        });
    }
}

/// All calls have one result each, none was long, and the loss was told once by these alone.
pub(crate) fn ends_well(fleet: &mut Fleet, told_by: &[usize], error: &str) {
    fleet.end(TOO_LONG);
    for (number, instance) in fleet.instances.iter().enumerate() {
        let seen = instance.seen(Seen::clone);
        let times = usize::from(told_by.contains(&number));
        assert_eq!(
            seen.losses.len(),
            times,
            "{}: {:?}",
            instance.name(),
            seen.losses
        );
        assert_eq!(seen.restorations, times, "{}", instance.name());
        assert!(
            seen.losses.iter().all(|loss| loss.contains(error)),
            "{:?}",
            seen.losses
        );
        assert_eq!(seen.output, "", "{}", instance.name());
    }
}

pub(crate) const ALL: [usize; 3] = [0, 1, 2];

#[test]
fn gone_at_start() {
    let server = Server::stopped(server::Settings::default());
    let mut fleet = Fleet::start(settings(), server);
    fleet.go(PAUSE);
    fleet.call_on(20);
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &ALL);
    // What an operator says at one before anybody has Redis reaches all.
    operate(&mut fleet, 1, "force_open");
    fleet.server.run();
    restored(&fleet, &ALL);
    fleet.all_become("forced_open");
    operate(&mut fleet, 2, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "");
}

#[test]
fn killed_under_load_and_restarted_empty() {
    let mut fleet = begun(settings());
    is_one(&mut fleet);
    fleet.server.kill();
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &ALL);
    // Said while Redis was away, at one.
    operate(&mut fleet, 0, "force_open");
    fleet.server.restart_with(None);
    restored(&fleet, &ALL);
    fleet.all_become("forced_open");
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "");
}

#[test]
fn what_all_knew_outlives_an_emptied_redis() {
    let mut fleet = begun(settings());
    operate(&mut fleet, 0, "force_open");
    fleet.all_become("forced_open");
    fleet.server.restart_with(None);
    lost(&fleet, &ALL);
    restored(&fleet, &ALL);
    fleet.call_on(50);
    // Who comes now is told what the others knew.
    fleet.add();
    fleet.go(PAUSE);
    fleet.all_become("forced_open");
    operate(&mut fleet, 3, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "");
}

#[test]
fn restarted_with_older_data() {
    let mut fleet = begun(settings());
    operate(&mut fleet, 0, "force_open");
    fleet.all_become("forced_open");
    let older = fleet.server.backup();
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    operate(&mut fleet, 2, "disable");
    fleet.all_become("disabled");
    let marks = marks(&fleet);
    fleet.server.restart_with(Some(&older));
    lost(&fleet, &ALL);
    restored(&fleet, &ALL);
    fleet.call_on(50);
    for (instance, mark) in fleet.instances.iter().zip(&marks) {
        let undone = instance.seen(|seen| since(seen, *mark).to_vec());
        assert!(
            undone.iter().all(|change| change.to == "disabled"),
            "{undone:?}"
        );
    }
    fleet.add();
    fleet.go(PAUSE);
    fleet.all_become("disabled");
    operate(&mut fleet, 0, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "");
}

#[test]
fn paused_under_load() {
    let mut fleet = begun(settings());
    fleet.server.pause();
    fleet.call_on(100);
    // Nobody knows yet that Redis is gone: all trip, and want to probe, and nobody answers.
    fleet.service.turns(Health::Down);
    for instance in &fleet.instances {
        instance.until("to open by itself", |seen| {
            let mut changes = seen.changes.iter();
            changes.find(|change| change.by == "failures").map(drop)
        });
    }
    fleet.call_on(150);
    lost(&fleet, &ALL);
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    each_guards_itself(&fleet, &ALL);
    operate(&mut fleet, 0, "force_open");
    fleet.server.go_on();
    restored(&fleet, &ALL);
    fleet.all_become("forced_open");
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "answer");
}

/// Writes are refused, and everything else is done.
fn refusing(refuse: &[&str], allow: &[&str]) {
    let mut fleet = begun(settings());
    fleet.server.say(refuse);
    // It is only seen by who has something to say.
    each_guards_itself(&fleet, &[]);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &ALL);
    fleet.server.say(allow);
    restored(&fleet, &ALL);
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "refuses");
}

#[test]
fn refusing_writes_since_memory_is_full() {
    refusing(
        &["CONFIG", "SET", "maxmemory", "1"],
        &["CONFIG", "SET", "maxmemory", "0"],
    );
}

#[test]
fn refusing_writes_as_a_replica() {
    refusing(
        &["REPLICAOF", "127.0.0.1", "9"],
        &["REPLICAOF", "NO", "ONE"],
    );
}

#[test]
fn refusing_writes_without_replicas() {
    refusing(
        &["CONFIG", "SET", "min-replicas-to-write", "1"],
        &["CONFIG", "SET", "min-replicas-to-write", "0"],
    );
}
