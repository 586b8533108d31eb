//! One fault after the other, and a Redis that comes and goes: told once a minute at most, calls go on, and
//! the fleet is one in the end.

use std::time::Instant;

use test_fleet::fleet::Fleet;
use test_fleet::instance::Seen;
use test_fleet::network::Weather;
use test_fleet::service::Health;

use crate::outages::{
    ALL, PAUSE, TOO_LONG, begun, each_guards_itself, ends_well, is_one, lost, operate, restored,
    settings,
};

/// Ends well; a loss was told at least once, and at most once a minute.
fn ends(fleet: &mut Fleet, begun: Instant) {
    fleet.end(TOO_LONG);
    let minutes = begun.elapsed().as_secs() / 60;
    let most = usize::try_from(minutes).unwrap() + 1;
    for instance in &fleet.instances {
        let seen = instance.seen(Seen::clone);
        let losses = seen.losses.len();
        assert!((1..=most).contains(&losses), "{:?}", seen.losses);
        assert!((1..=losses).contains(&seen.restorations));
        assert_eq!(seen.output, "", "{}", instance.name());
    }
}

#[test]
fn up_and_down_every_moment() {
    let start = Instant::now();
    let mut fleet = begun(settings());
    for round in 0..12 {
        fleet.server.kill();
        fleet.call_on(10);
        if round == 3 {
            each_guards_itself(&fleet, &ALL);
        }
        if round == 7 {
            operate(&mut fleet, 1, "force_open");
        }
        fleet.server.run();
        fleet.call_on(10);
    }
    restored(&fleet, &ALL);
    fleet.connected();
    // What was said in the midst of it stands, although Redis has lost all it held again and again.
    fleet.all_become("forced_open");
    operate(&mut fleet, 2, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends(&mut fleet, start);
}

#[test]
fn cut_off_again_and_again() {
    let start = Instant::now();
    let mut fleet = begun(settings());
    for round in 0..12 {
        let bad = [Weather::Reset, Weather::ResetAfter(150)][round % 2];
        for network in &fleet.networks {
            network.turns(bad);
        }
        fleet.call_on(10);
        if round == 4 {
            each_guards_itself(&fleet, &ALL);
        }
        for network in &fleet.networks {
            network.turns(Weather::Fair);
        }
        fleet.call_on(10);
    }
    restored(&fleet, &ALL);
    fleet.connected();
    is_one(&mut fleet);
    ends(&mut fleet, start);
}

#[test]
fn paused_then_killed_then_emptied_then_paused_again() {
    let start = Instant::now();
    let mut fleet = begun(settings());
    fleet.server.pause();
    fleet.call_on(50);
    // Killed in its sleep, before anybody has noticed.
    fleet.server.kill();
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &ALL);
    fleet.server.restart_with(None);
    fleet.server.pause();
    fleet.call_on(50);
    each_guards_itself(&fleet, &ALL);
    operate(&mut fleet, 0, "force_open");
    fleet.server.go_on();
    restored(&fleet, &ALL);
    fleet.all_become("forced_open");
    operate(&mut fleet, 2, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends(&mut fleet, start);
}

#[test]
fn refusing_writes_then_restarted_with_older_data() {
    let start = Instant::now();
    let mut fleet = begun(settings());
    operate(&mut fleet, 0, "disable");
    fleet.all_become("disabled");
    let older = fleet.server.backup();
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    fleet.server.say(&["CONFIG", "SET", "maxmemory", "1"]);
    // It can't be written down, so it is the word of one.
    operate(&mut fleet, 2, "force_open");
    lost(&fleet, &[2]);
    fleet.call_on(30);
    fleet.server.restart_with(Some(&older));
    restored(&fleet, &[2]);
    fleet.all_become("forced_open");
    operate(&mut fleet, 0, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    lost(&fleet, &ALL);
    restored(&fleet, &ALL);
    ends(&mut fleet, start);
}

#[test]
fn a_process_that_starts_while_redis_is_away() {
    let mut fleet = begun(settings());
    fleet.server.kill();
    lost(&fleet, &ALL);
    operate(&mut fleet, 0, "force_open");
    // It knows of nothing, and guards itself.
    let all = [0, 1, 2, 3];
    fleet.add();
    fleet.go(PAUSE);
    fleet.call_on(20);
    lost(&fleet, &[3]);
    each_guards_itself_but(&fleet);
    fleet.server.restart_with(None);
    restored(&fleet, &all);
    fleet.all_become("forced_open");
    operate(&mut fleet, 3, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &all, "");
}

/// All but the first, which an operator holds open.
fn each_guards_itself_but(fleet: &Fleet) {
    let has = |to: &str, by: &str| {
        for instance in &fleet.instances[1..] {
            instance.until(&format!("to become {to} by {by}"), |seen| {
                let last = seen.changes.last();
                last.filter(|change| change.to == to && change.by == by)
                    .map(drop)
            });
        }
    };
    fleet.service.turns(Health::Down);
    has("open", "failures");
    fleet.service.turns(Health::Up);
    has("closed", "recovered");
}

#[test]
fn a_pause_that_is_shorter_than_anybody_notices() {
    let mut settings = settings();
    settings.sharing.answer = 60_000;
    settings.sharing.lease = 60_000;
    let mut fleet = begun(settings);
    for _ in 0..5 {
        fleet.server.pause();
        fleet.call_on(30);
        operate(&mut fleet, 0, "force_open");
        fleet.instances[0].until("to do so", |seen| {
            (seen.state() == "forced_open").then_some(())
        });
        fleet.call_on(30);
        fleet.server.go_on();
        fleet.all_become("forced_open");
        operate(&mut fleet, 1, "close");
        fleet.all_become("closed");
    }
    is_one(&mut fleet);
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        assert_eq!(instance.seen(|seen| seen.losses.clone()), [""; 0]);
    }
}
