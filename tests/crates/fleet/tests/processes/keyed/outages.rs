//! Redis fails under load: each process guards each key by itself, and the fleet is one again, key by
//! key, when it returns.

use test_fleet::fleet::Fleet;
use test_fleet::instance::{Instance, Seen};
use test_fleet::service::Health;

use super::{
    A, B, C, TOO_LONG, all_become, all_call_on, becomes, begun, calls, calls_on, entered, history,
    operate, operate_all, settings,
};

/// Redis, where it doesn't answer, takes longer: who waits for it is seen.
const STALL: u64 = 8_000;

/// A key that the last of the three instances doesn't know.
const D: &str = "d.example";

/// Three instances, with one key forced open, one disabled, and two closed.
fn fleet() -> Fleet {
    let mut settings = settings(3, 500);
    settings.sharing.answer = STALL;
    settings.sharing.connect = STALL;
    settings.sharing.lease = STALL;
    let mut fleet = begun(settings, &[A, B, C]);
    for number in 0..2 {
        calls(&mut fleet, number, &[D]);
        calls_on(&fleet.instances[number], &[D], 5);
    }
    operate(&mut fleet, 0, B, "force_open");
    all_become(&fleet, B, "forced_open");
    operate(&mut fleet, 1, D, "disable");
    for instance in &fleet.instances[..2] {
        becomes(instance, D, "disabled");
    }
    fleet
}

fn lost(fleet: &Fleet) {
    for instance in &fleet.instances {
        instance.until("to have lost redis", |seen| seen.losses.first().map(drop));
    }
}

fn restored(fleet: &Fleet) {
    for instance in &fleet.instances {
        instance.until("to have redis again", |seen| {
            (seen.restorations > 0).then_some(())
        });
    }
}

/// Each opens this key by what it sees itself, and closes it by its own probe; other keys are as before.
fn each_guards_itself(fleet: &Fleet, key: &str) {
    let others: Vec<&str> = [A, B, C]
        .into_iter()
        .filter(|other| *other != key)
        .collect();
    let lengths = |instance: &Instance| -> Vec<usize> {
        let others = others.iter();
        others.map(|other| history(instance, other).len()).collect()
    };
    let before: Vec<_> = fleet.instances.iter().map(lengths).collect();
    let marks: Vec<usize> = fleet
        .instances
        .iter()
        .map(|instance| history(instance, key).len())
        .collect();
    let has = |to: &str, by: &str| {
        for (instance, mark) in fleet.instances.iter().zip(&marks) {
            instance.until(&format!("to have {key} {to} by {by}"), |seen| {
                let mut since = seen.changes_of(key).skip(*mark);
                since
                    .find(|change| change.to == to && change.by == by)
                    .map(drop)
            });
        }
    };
    fleet.service.turns_for_key(key, Health::Down);
    has("open", "failures");
    fleet.service.turns_for_key(key, Health::Up);
    has("closed", "recovered");
    all_become(fleet, key, "closed");
    all_call_on(fleet, &[A, B, C], 20);
    let after: Vec<_> = fleet.instances.iter().map(lengths).collect();
    assert_eq!(before, after, "other keys have nothing of it");
}

/// Words for one key and for all reach everybody, and so does a trip.
fn is_one(fleet: &mut Fleet) {
    operate_all(fleet, 1, "force_open");
    for key in [A, B, C] {
        all_become(fleet, key, "forced_open");
    }
    becomes(&fleet.instances[0], D, "forced_open");
    operate(fleet, 2, B, "close");
    all_become(fleet, B, "closed");
    for instance in &fleet.instances {
        assert_eq!(
            instance.seen(|seen| seen.state_of(A).to_owned()),
            "forced_open"
        );
    }
    operate_all(fleet, 0, "close");
    for key in [A, B, C] {
        all_become(fleet, key, "closed");
    }
    let marks: Vec<usize> = fleet
        .instances
        .iter()
        .map(|instance| history(instance, C).len())
        .collect();
    fleet.service.turns_for_both("i0", C, Health::Down);
    for (instance, mark) in fleet.instances.iter().zip(marks).skip(1) {
        instance.until("to open with i0", |seen| {
            let mut since = seen.changes_of(C).skip(mark);
            since
                .find(|change| change.to == "open" && change.by == "fleet")
                .map(drop)
        });
    }
    fleet.service.turns_for_both("i0", C, Health::Up);
    all_become(fleet, C, "closed");
}

fn ends_well(fleet: &mut Fleet) {
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        let seen = instance.seen(Seen::clone);
        assert_eq!(seen.losses.len(), 1, "{:?}", seen.losses);
        assert_eq!(seen.restorations, 1);
        assert_eq!(seen.output, "", "{}", instance.name());
    }
}

#[test]
fn killed_and_restarted_empty() {
    let mut fleet = fleet();
    fleet.server.kill();
    lost(&fleet);
    each_guards_itself(&fleet, C);
    // Said at one while Redis is away: of one key. Another is only known to the others.
    operate(&mut fleet, 2, A, "force_open");
    fleet.server.restart_with(None);
    restored(&fleet);
    all_become(&fleet, A, "forced_open");
    all_call_on(&fleet, &[A, B, C], 10);
    // Who comes now, or comes to know a key, is told what the others knew.
    fleet.add();
    calls(&mut fleet, 3, &[A, B, C, D]);
    becomes(&fleet.instances[3], A, "forced_open");
    becomes(&fleet.instances[3], B, "forced_open");
    becomes(&fleet.instances[3], D, "disabled");
    let mut latest = fleet.instances.pop().unwrap();
    latest.end();
    calls(&mut fleet, 2, &[D]);
    becomes(&fleet.instances[2], D, "disabled");
    assert_eq!(
        history(&fleet.instances[2], D),
        [entered("disabled", "fleet")]
    );
    is_one(&mut fleet);
    ends_well(&mut fleet);
}

#[test]
fn restarted_with_older_data() {
    let mut fleet = fleet();
    let older = fleet.server.backup();
    // Another word of a key that was there, one of a key that wasn't, and none of the last.
    operate(&mut fleet, 0, B, "shadow");
    operate(&mut fleet, 1, A, "force_open");
    let expected = [(A, "forced_open"), (B, "shadow"), (C, "closed")];
    for (key, state) in expected {
        all_become(&fleet, key, state);
    }
    let marks: Vec<usize> = fleet
        .instances
        .iter()
        .map(|instance| instance.seen(|seen| seen.changes.len()))
        .collect();
    fleet.server.restart_with(Some(&older));
    lost(&fleet);
    restored(&fleet);
    all_call_on(&fleet, &[A, B, C], 20);
    for (instance, mark) in fleet.instances.iter().zip(marks) {
        let since = instance.seen(|seen| seen.changes[mark..].to_vec());
        for change in &since {
            let key = change.key.as_deref().unwrap_or_default();
            let is_expected = expected.contains(&(key, change.to.as_str()));
            let is_last = (key, change.to.as_str()) == (D, "disabled");
            assert!(is_expected || is_last, "nothing is undone: {since:?}");
        }
    }
    calls(&mut fleet, 2, &[D]);
    becomes(&fleet.instances[2], D, "disabled");
    fleet.add();
    calls(&mut fleet, 3, &[A, B, C, D]);
    for (key, state) in expected.into_iter().chain([(D, "disabled")]) {
        becomes(&fleet.instances[3], key, state);
    }
    fleet.instances.pop().unwrap().end();
    is_one(&mut fleet);
    ends_well(&mut fleet);
}

#[test]
fn emptied_while_it_runs() {
    let mut fleet = fleet();
    // Nobody is told that all keys are gone: who asks finds it out.
    fleet.server.say(&["FLUSHALL"]);
    all_call_on(&fleet, &[A, B, C], 20);
    fleet.add();
    calls(&mut fleet, 3, &[B, D]);
    becomes(&fleet.instances[3], B, "forced_open");
    becomes(&fleet.instances[3], D, "disabled");
    fleet.instances.pop().unwrap().end();
    is_one(&mut fleet);
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        assert_eq!(instance.seen(|seen| seen.losses.clone()), [""; 0]);
    }
}

#[test]
fn paused() {
    let mut fleet = fleet();
    fleet.server.pause();
    // Long before anybody knows that Redis is gone.
    each_trips(&fleet, C);
    all_call_on(&fleet, &[A, B, C], 50);
    lost(&fleet);
    fleet.service.turns_for_key(C, Health::Up);
    all_become(&fleet, C, "closed");
    each_guards_itself(&fleet, A);
    operate_all(&mut fleet, 2, "force_open");
    operate(&mut fleet, 2, C, "close");
    fleet.server.go_on();
    restored(&fleet);
    for (key, state) in [(A, "forced_open"), (B, "forced_open"), (C, "closed")] {
        all_become(&fleet, key, state);
    }
    is_one(&mut fleet);
    ends_well(&mut fleet);
}

/// Each opens this key, whoever is first.
fn each_trips(fleet: &Fleet, key: &str) {
    fleet.service.turns_for_key(key, Health::Down);
    for instance in &fleet.instances {
        becomes(instance, key, "open");
        assert_eq!(history(instance, key), [entered("open", "failures")]);
    }
}
