//! All processes are replaced while the circuit is open: the new ones know of it, and don't each probe.

use test_fleet::fleet::{Fleet, Settings, name};
use test_fleet::instance::{Call, Instance};
use test_fleet::plan::{Answer, Order};
use test_fleet::server::Server;
use test_fleet::service::{Arrival, Health};
use test_fleet::wait::{self, monotonic};

use crate::outages::{PAUSE, TOO_LONG, operate};

/// How many instances there are at a time.
const INSTANCES: usize = 4;
/// Longer than any test, in milliseconds.
const FOR_EVER: u64 = 600_000;
/// How long a lease lasts, in milliseconds.
const LEASE: u64 = 3_000;

/// Instances whose circuits are all open, so that nobody calls the service any more.
fn open(ready: bool, reset: u64) -> Fleet {
    let mut settings = Settings {
        instances: INSTANCES,
        ready,
        ..Settings::default()
    };
    settings.circuit.reset = reset;
    settings.circuit.timeout = 60_000;
    settings.sharing.lease = LEASE;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.go(PAUSE);
    fleet.call_on(5);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    for instance in &fleet.instances {
        refuses(instance, 1);
    }
    fleet
}

/// It has refused so many calls.
pub(crate) fn refuses(instance: &Instance, calls: usize) {
    instance.until("to refuse calls", |seen| {
        let refused = |call: &&Call| call.result == Answer::Refused;
        (seen.calls.iter().filter(refused).count() >= calls).then_some(())
    });
}

/// One that calls.
fn comes(fleet: &mut Fleet) {
    fleet.add().order(&Order::Go { pause: PAUSE });
}

/// The requests of those that came later.
fn of_new_ones(fleet: &Fleet) -> Vec<Arrival> {
    let old: Vec<String> = (0..INSTANCES).map(name).collect();
    let mut log = fleet.service.log();
    log.retain(|arrival| !old.contains(&arrival.instance));
    log
}

/// What the service hasn't answered, or had not for a while: probes.
fn hanging(fleet: &Fleet) -> Vec<Arrival> {
    let mut log = fleet.service.log();
    log.retain(|arrival| arrival.health == Health::Hanging);
    log
}

#[test]
fn one_after_the_other_and_all_at_once_call_nobody() {
    let mut fleet = open(true, FOR_EVER);
    for number in 0..INSTANCES {
        comes(&mut fleet);
        refuses(&fleet.instances[INSTANCES + number], 20);
        fleet.instances[number].end();
    }
    // For a moment there is none.
    for instance in &mut fleet.instances[INSTANCES..] {
        instance.end();
    }
    for number in 0..INSTANCES {
        comes(&mut fleet);
        refuses(&fleet.instances[2 * INSTANCES + number], 20);
    }
    assert_eq!(of_new_ones(&fleet), []);
    for instance in &fleet.instances[INSTANCES..] {
        instance.seen(|seen| {
            let changes = seen.changes.iter().map(|change| (&*change.to, &*change.by));
            assert_eq!(changes.collect::<Vec<_>>(), [("open", "fleet")]);
            assert!(seen.calls.iter().all(|call| call.result == Answer::Refused));
        });
    }
    fleet.instances.drain(..2 * INSTANCES);
    fleet.service.turns(Health::Up);
    operate(&mut fleet, 0, "close");
    fleet.all_become("closed");
    fleet.call_on(10);
    fleet.end(TOO_LONG);
}

#[test]
fn those_that_do_not_wait_until_they_know_fail_no_more_than_alone() {
    let mut fleet = open(false, FOR_EVER);
    for number in 0..INSTANCES {
        comes(&mut fleet);
        let new = &fleet.instances[INSTANCES + number];
        refuses(new, 20);
        // What it called before it was told: fewer than open its own, or just as many.
        let called = fleet.service.requests_of(new.name());
        assert!(called <= 3, "{called}");
        fleet.instances[number].end();
    }
    fleet.instances.drain(..INSTANCES);
    operate(&mut fleet, 3, "close");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.end(TOO_LONG);
}

#[test]
fn while_one_probes_the_new_ones_do_not() {
    let mut fleet = open(true, 300);
    fleet.service.turns(Health::Hanging);
    wait::until_so("a probe", || !hanging(&fleet).is_empty());
    let holder = hanging(&fleet)[0].instance.clone();
    let begun = monotonic();
    for number in 0..INSTANCES {
        comes(&mut fleet);
        refuses(&fleet.instances[INSTANCES + number], 50);
        if fleet.instances[number].name() != holder {
            fleet.instances[number].end();
        }
    }
    // Longer than the lease, which is renewed.
    wait::until_so("time to pass", || monotonic() > begun + LEASE * 1_500);
    for instance in &fleet.instances[INSTANCES..] {
        let so_far = instance.called();
        wait::until_so("calls to go on", || instance.called() > so_far + 50);
    }
    assert_eq!(hanging(&fleet).len(), 1);

    // The holder is told to end, and does so once its probe has: the result is everybody's.
    let mut instances = fleet.instances.drain(..INSTANCES);
    let mut holder = instances.find(|one| one.name() == holder).unwrap();
    drop(instances);
    holder.order(&Order::End);
    fleet.call_on(20);
    assert_eq!(hanging(&fleet).len(), 1);
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.call_on(20);
    holder.until("to end", |seen| seen.ended);
    for instance in &fleet.instances {
        instance.seen(|seen| {
            assert!(seen.changes.iter().all(|change| change.by == "fleet"));
        });
    }
    assert_eq!(hanging(&fleet).len(), 1);
    fleet.end(TOO_LONG);
}

#[test]
fn a_holder_that_a_deploy_kills_is_followed_by_one_new_probe() {
    let mut fleet = open(true, 300);
    fleet.service.turns(Health::Hanging);
    wait::until_so("a probe", || !hanging(&fleet).is_empty());
    // All of them at once, with no time for anything.
    for instance in &mut fleet.instances {
        instance.kill();
    }
    fleet.instances.clear();
    for number in 0..INSTANCES {
        comes(&mut fleet);
        refuses(&fleet.instances[number], 1);
    }
    wait::until_so("another probe", || hanging(&fleet).len() > 1);
    let begun = monotonic();
    wait::until_so("time to pass", || monotonic() > begun + LEASE * 1_500);
    assert_eq!(hanging(&fleet).len(), 2);
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.call_on(10);
    assert_eq!(hanging(&fleet).len(), 2);
    fleet.end(wait::LIMIT);
}
