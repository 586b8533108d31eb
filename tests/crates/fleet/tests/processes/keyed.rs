//! A circuit for each key: what happens to one key happens to it everywhere, and to no other.

mod known;
mod names;
mod outages;

use std::time::Duration;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::instance::{Instance, Seen};
use test_fleet::plan::{Answer, Order};
use test_fleet::server::Server;
use test_fleet::service::Health;
use test_fleet::wait::{self, monotonic};

/// No call takes this long, however slow the machine.
const TOO_LONG: Duration = Duration::from_secs(4);
/// Between two calls of an instance with the same key, in microseconds.
const PAUSE: u64 = 12_000;
/// Longer than any test, in milliseconds.
const FOR_EVER: u64 = 600_000;

const A: &str = "a.example";
const B: &str = "b.example";
const C: &str = "c.example";

fn settings(instances: usize, reset: u64) -> Settings {
    let mut settings = Settings {
        instances,
        ..Settings::default()
    };
    settings.circuit.name = "hosts".into();
    settings.circuit.keys = Some(1_000);
    settings.circuit.reset = reset;
    settings
}

/// Instances that all call with these keys.
fn begun(settings: Settings, keys: &[&str]) -> Fleet {
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    for number in 0..fleet.instances.len() {
        calls(&mut fleet, number, keys);
    }
    for instance in &fleet.instances {
        calls_on(instance, keys, 5);
    }
    fleet
}

/// Lets an instance call with these keys.
fn calls(fleet: &mut Fleet, number: usize, keys: &[&str]) {
    for key in keys {
        fleet.order_of(number, key, Order::Go { pause: PAUSE });
    }
}

/// An instance has called so often more with each of these keys.
fn calls_on(instance: &Instance, keys: &[&str], times: usize) {
    let called = |key: &str| instance.seen(|seen| seen.calls_of(key).count());
    let so_far: Vec<usize> = keys.iter().map(|key| called(key)).collect();
    for (key, so_far) in keys.iter().zip(so_far) {
        wait::until_so("calls to go on", || called(key) >= so_far + times);
    }
}

fn all_call_on(fleet: &Fleet, keys: &[&str], times: usize) {
    for instance in &fleet.instances {
        calls_on(instance, keys, times);
    }
}

fn becomes(instance: &Instance, key: &str, state: &str) {
    instance.until(&format!("to have {key:?} {state}"), |seen| {
        (seen.state_of(key) == state).then_some(())
    });
}

fn all_become(fleet: &Fleet, key: &str, state: &str) {
    for instance in &fleet.instances {
        becomes(instance, key, state);
    }
}

/// It has refused a call with this key since then, so that none is under way from before.
fn refuses(instance: &Instance, key: &str, since: usize) {
    instance.until("to refuse calls", |seen| {
        let mut calls = seen.calls_of(key).skip(since);
        calls.find(|call| call.result == Answer::Refused).map(drop)
    });
}

fn called(fleet: &Fleet, key: &str) -> Vec<usize> {
    let count = |seen: &Seen| seen.calls_of(key).count();
    let instances = fleet.instances.iter();
    instances.map(|instance| instance.seen(count)).collect()
}

fn operate(fleet: &mut Fleet, number: usize, key: &str, what: &str) {
    fleet.order_of(number, key, Order::Operate { what: what.into() });
}

/// An operator's word at one instance, for all keys that it knows.
fn operate_all(fleet: &mut Fleet, number: usize, what: &str) {
    fleet.instances[number].order(&Order::Operate { what: what.into() });
}

/// What a key went through, and why.
fn history(instance: &Instance, key: &str) -> Vec<(String, String)> {
    let of = |seen: &Seen| -> Vec<_> {
        let changes = seen.changes_of(key);
        changes
            .map(|change| (change.to.clone(), change.by.clone()))
            .collect()
    };
    instance.seen(of)
}

fn entered(to: &str, by: &str) -> (String, String) {
    (to.into(), by.into())
}

/// All calls with this key were answered well.
fn was_well(fleet: &Fleet, key: &str) {
    for instance in &fleet.instances {
        assert_eq!(history(instance, key), [], "{}", instance.name());
        let is_good = instance.seen(|seen| {
            let mut calls = seen.calls_of(key);
            calls.all(|call| call.result == Answer::Good)
        });
        assert!(is_good, "{}", instance.name());
    }
}

/// The circuits that Redis holds.
fn records(server: &Server) -> Vec<String> {
    let mut keys = server.keys();
    keys.retain(|key| key.starts_with("test:hosts"));
    keys
}

fn ends(fleet: &mut Fleet) {
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        assert_eq!(instance.seen(|seen| seen.output.clone()), "");
    }
}

#[test]
fn a_trip_opens_the_key_everywhere_and_no_other() {
    let mut fleet = begun(settings(3, FOR_EVER), &[A, B, C]);
    // The others have not one failure of their own.
    fleet.service.turns_for_both("i0", B, Health::Down);
    all_become(&fleet, B, "open");
    for instance in &fleet.instances {
        refuses(instance, B, 0);
    }
    all_call_on(&fleet, &[A, B, C], 40);
    was_well(&fleet, A);
    was_well(&fleet, C);
    for (number, instance) in fleet.instances.iter().enumerate() {
        let by = if number == 0 { "failures" } else { "fleet" };
        assert_eq!(history(instance, B), [entered("open", by)]);
        let failed = instance.seen(|seen| {
            let calls = seen.calls_of(B);
            calls.filter(|call| call.result == Answer::Failed).count()
        });
        assert_eq!(failed, if number == 0 { 3 } else { 0 });
    }
    // What is closed everywhere, and always was, isn't written down.
    assert_eq!(records(&fleet.server), ["test:hosts[b.example]"]);
    ends(&mut fleet);
}

#[test]
fn each_key_has_a_probe_and_a_recovery_of_its_own() {
    let mut settings = settings(4, 500);
    // Probes hang for as long as this test takes.
    settings.circuit.timeout = 60_000;
    let mut fleet = begun(settings, &[A, B, C]);
    let marks = [A, B].map(|key| (key, called(&fleet, key)));
    for key in [A, B] {
        fleet.service.turns_for_key(key, Health::Down);
    }
    for (key, marks) in &marks {
        all_become(&fleet, key, "open");
        for (instance, mark) in fleet.instances.iter().zip(marks) {
            refuses(instance, key, *mark);
        }
    }
    for key in [A, B] {
        fleet.service.turns_for_key(key, Health::Hanging);
    }
    let hanging = |fleet: &Fleet, key| fleet.service.met(key, Health::Hanging);
    for key in [A, B] {
        wait::until_so("a probe", || !hanging(&fleet, key).is_empty());
    }
    // Longer than each of them waits, all others would probe as well; the third key has nothing of it.
    let begun = monotonic();
    for key in [A, B] {
        let holder = hanging(&fleet, key)[0].instance.clone();
        for instance in &fleet.instances {
            if instance.name() != holder {
                calls_on(instance, &[key], 40);
            }
        }
    }
    all_call_on(&fleet, &[C], 40);
    wait::until_so("time to pass", || monotonic() > begun + 1_500_000);
    for key in [A, B] {
        assert_eq!(hanging(&fleet, key).len(), 1, "{key}");
    }

    fleet.service.turns_for_key(A, Health::Up);
    all_become(&fleet, A, "closed");
    all_call_on(&fleet, &[A, C], 20);
    let closed = fleet.instances.iter().filter(|instance| {
        let is_closed = |change: &(String, String)| change == &entered("closed", "recovered");
        history(instance, A).iter().any(is_closed)
    });
    assert_eq!(closed.count(), 1, "one probe, whose result is everybody's");
    for instance in &fleet.instances {
        assert_ne!(instance.seen(|seen| seen.state_of(B).to_owned()), "closed");
    }
    assert_eq!(hanging(&fleet, B).len(), 1);
    fleet.service.turns_for_key(B, Health::Up);
    all_become(&fleet, B, "closed");
    all_call_on(&fleet, &[A, B, C], 20);
    was_well(&fleet, C);
    for key in [A, B] {
        assert_eq!(hanging(&fleet, key).len(), 1, "{key}");
    }
    fleet.end(wait::LIMIT);
}

#[test]
fn failures_of_all_count_together_for_each_key_by_itself() {
    let mut settings = settings(3, FOR_EVER);
    settings.sharing.counted = true;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    for key in [A, B, C] {
        for number in 0..3 {
            fleet.order_of(number, key, Order::Call { times: 1 });
        }
    }
    for instance in &fleet.instances {
        instance.until("to have called", |seen| {
            (seen.calls.len() == 3).then_some(())
        });
    }
    fleet.service.turns(Health::Down);
    // Of one key two of the three that open it, and of another all.
    for (key, failing) in [(B, 0..2), (A, 0..3)] {
        for number in failing {
            fleet.order_of(number, key, Order::Call { times: 1 });
        }
    }
    all_become(&fleet, A, "open");
    // And as many as are allowed, of many keys: they aren't put together.
    for number in 0..3 {
        fleet.order_of(number, &format!("only-{number}"), Order::Call { times: 2 });
    }
    fleet.instances[2].until("to have called", |seen| {
        (seen.calls_of("only-2").count() == 2).then_some(())
    });
    // What was said before this was heard before it.
    operate(&mut fleet, 0, C, "force_open");
    all_become(&fleet, C, "forced_open");
    for instance in &fleet.instances {
        assert_eq!(history(instance, B), []);
    }
    // The third failure is one instance's first.
    fleet.order_of(2, B, Order::Call { times: 1 });
    all_become(&fleet, B, "open");
    ends(&mut fleet);
    for number in 0..3 {
        assert_eq!(
            history(&fleet.instances[number], &format!("only-{number}")),
            []
        );
    }
}

#[test]
fn operators_speak_of_one_key_or_of_all_that_a_process_knows() {
    let mut fleet = begun(settings(3, FOR_EVER), &[A, B]);
    calls(&mut fleet, 2, &[C]);
    calls_on(&fleet.instances[2], &[C], 5);
    operate(&mut fleet, 0, A, "force_open");
    all_become(&fleet, A, "forced_open");
    all_call_on(&fleet, &[B], 20);
    was_well(&fleet, B);
    operate(&mut fleet, 1, A, "close");
    all_become(&fleet, A, "closed");

    // The first process has never heard of the third key.
    operate_all(&mut fleet, 0, "force_open");
    for key in [A, B] {
        all_become(&fleet, key, "forced_open");
    }
    calls_on(&fleet.instances[2], &[C], 20);
    was_well(&fleet, C);
    // The last one knows all.
    operate_all(&mut fleet, 2, "disable");
    for key in [A, B] {
        all_become(&fleet, key, "disabled");
    }
    becomes(&fleet.instances[2], C, "disabled");
    calls(&mut fleet, 0, &[C]);
    becomes(&fleet.instances[0], C, "disabled");
    operate_all(&mut fleet, 0, "close");
    for key in [A, B] {
        all_become(&fleet, key, "closed");
    }
    for number in [0, 2] {
        becomes(&fleet.instances[number], C, "closed");
    }
    all_call_on(&fleet, &[A, B], 10);
    ends(&mut fleet);
}
