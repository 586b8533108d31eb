//! Who has the lease may crash, or sleep: another probes once it is over, and only then.

use std::time::Duration;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::server::Server;
use test_fleet::service::{Arrival, Health};
use test_fleet::wait::{self, monotonic};

use crate::deploys::refuses;

/// No call of these takes as long: probes hang until the service answers.
const LONG: Duration = Duration::from_secs(50);

/// How long a lease lasts, in milliseconds.
const LEASE: u64 = 3_000;

/// Four instances, of which one is probing a service that hangs; where it stands in the list.
fn probing() -> (Fleet, usize) {
    let mut settings = Settings {
        instances: 4,
        ..Settings::default()
    };
    settings.circuit.reset = 500;
    settings.circuit.timeout = 60_000;
    settings.sharing.lease = LEASE;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.go(2_000);
    fleet.call_on(10);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    // No call is on its way any more that was let through before.
    for instance in &fleet.instances {
        refuses(instance, 1);
    }
    fleet.service.turns(Health::Hanging);
    wait::until_so("a probe", || !hanging(&fleet).is_empty());
    let holder = number(&fleet, &hanging(&fleet)[0]);
    (fleet, holder)
}

fn hanging(fleet: &Fleet) -> Vec<Arrival> {
    let log = fleet.service.log().into_iter();
    log.filter(|arrival| arrival.health == Health::Hanging)
        .collect()
}

fn number(fleet: &Fleet, arrival: &Arrival) -> usize {
    let mut instances = fleet.instances.iter();
    instances
        .position(|instance| instance.name() == arrival.instance)
        .unwrap()
}

/// Longer than the lease lasts by itself, and calls went on.
fn longer_than_the_lease(fleet: &Fleet, holder: usize) {
    let start = monotonic();
    let calls = |number: usize| fleet.instances[number].called();
    let others: Vec<usize> = (0..4).filter(|number| *number != holder).collect();
    let before: Vec<usize> = others.iter().map(|number| calls(*number)).collect();
    wait::until_so("time to pass, and calls to go on", || {
        let mut called = others.iter().zip(&before);
        monotonic() > start + LEASE * 1_500
            && called.all(|(number, before)| calls(*number) > before + 50)
    });
}

#[test]
fn a_holder_that_is_killed_is_followed_by_another() {
    let (mut fleet, holder) = probing();
    // While it lives the lease is renewed: nobody else probes.
    longer_than_the_lease(&fleet, holder);
    assert_eq!(
        hanging(&fleet).len(),
        1,
        "a lease that is renewed is its holder's"
    );

    let mut dead = fleet.instances.remove(holder);
    dead.kill();
    let over = over_at(&fleet, dead.name());
    wait::until_so("another probe", || hanging(&fleet).len() > 1);
    let second = hanging(&fleet)[1].clone();
    assert_ne!(second.instance, dead.name());
    let after = i128::from(second.at) - i128::from(over);
    eprintln!("the next probe came {after} us after the lease was over, which lasts {LEASE} ms");
    assert!(after >= 0, "before the lease was over");
    // And one is enough, again.
    longer_than_the_lease_of_three(&fleet);
    assert_eq!(hanging(&fleet).len(), 2);

    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.call_on(20);
    fleet.end(LONG);
    // What reached the dead service once it hung: the two probes.
    assert_eq!(hanging(&fleet).len(), 2);
}

/// When the lease that Redis holds is over, by [`monotonic`]: not later than it is.
fn over_at(fleet: &Fleet, holder: &str) -> u64 {
    let record: String = fleet
        .server
        .ask(redis::cmd("HGET").arg("test:pms").arg("record"));
    let fields: Vec<&str> = record.split(' ').collect();
    let number = |at: usize| -> u64 { fields[at].parse().unwrap() };
    assert_eq!(fields[1], "half_open");
    assert!(fields[9].starts_with(holder), "{record}");
    let over = number(10) + number(11);
    let here = monotonic();
    let (seconds, micros): (u64, u64) = fleet.server.ask(&redis::cmd("TIME"));
    let there = seconds * 1_000_000 + micros;
    // The two clocks go on alike, but for what is set right meanwhile.
    (here + over.saturating_sub(there)).saturating_sub(1_000)
}

fn longer_than_the_lease_of_three(fleet: &Fleet) {
    let start = monotonic();
    wait::until_so("time to pass", || monotonic() > start + LEASE * 1_500);
    assert_eq!(fleet.instances.len(), 3);
}

#[test]
fn a_holder_that_slept_through_its_lease_undoes_nothing() {
    let (mut fleet, holder) = probing();
    let name = fleet.instances[holder].name().to_owned();
    fleet.instances[holder].pause();
    wait::until_so("another probe", || hanging(&fleet).len() > 1);
    assert_ne!(hanging(&fleet)[1].instance, name);
    // Its own probe has failed by the time it wakes up; that of the other has succeeded.
    fleet.service.turns_for(&name, Health::Down);
    let others: Vec<usize> = (0..4).filter(|number| *number != holder).collect();
    for (number, instance) in fleet.instances.iter().enumerate() {
        if number != holder {
            fleet.service.turns_for(instance.name(), Health::Up);
        }
    }
    for number in &others {
        fleet.instances[*number].until("to close", |seen| (seen.state() == "closed").then_some(()));
    }
    let marks: Vec<usize> = others
        .iter()
        .map(|number| fleet.instances[*number].seen(|seen| seen.changes.len()))
        .collect();
    // What it calls from now on is answered well.
    fleet.service.turns(Health::Up);
    fleet.instances[holder].go_on();
    fleet.all_become("closed");
    fleet.call_on(50);
    for (number, mark) in others.iter().zip(marks) {
        fleet.instances[*number].seen(|seen| assert_eq!(seen.changes[mark..], []));
    }
    fleet.end(LONG);
}
