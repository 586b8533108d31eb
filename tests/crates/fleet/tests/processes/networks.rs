//! The way to Redis is bad, for all or for some, under load: as when Redis itself is.

use std::time::Duration;

use test_fleet::instance::Seen;
use test_fleet::network::{Network, Weather};
use test_fleet::service::Health;
use test_fleet::wait;

use crate::outages::{
    ALL, STALL, TOO_LONG, begun, each_guards_itself, ends_well, is_one, lost, marks, operate,
    restored, settings, since,
};

/// The network of all turns bad, in a way that Redis is as good as gone; then it is fair again.
fn bad_weather(weather: Weather) {
    let mut fleet = begun(settings());
    for network in &fleet.networks {
        network.turns(weather);
    }
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &ALL);
    for network in &fleet.networks {
        network.turns(Weather::Fair);
    }
    restored(&fleet, &ALL);
    is_one(&mut fleet);
    ends_well(&mut fleet, &ALL, "");
}

#[test]
fn slower_than_an_answer_may_be() {
    bad_weather(Weather::Slow(Duration::from_millis(STALL + 2_000)));
}

#[test]
fn answers_that_trickle() {
    bad_weather(Weather::Trickle(Duration::from_millis(400)));
}

#[test]
fn answers_with_wrong_bits() {
    let mut fleet = begun(settings());
    for network in &fleet.networks {
        network.turns(Weather::Corrupt);
    }
    fleet.call_on(150);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    for network in &fleet.networks {
        network.turns(Weather::Fair);
    }
    fleet.connected();
    is_one(&mut fleet);
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        let seen = instance.seen(Seen::clone);
        assert!(seen.losses.len() <= 2, "{:?}", seen.losses);
        assert_eq!(seen.output, "");
    }
}

#[test]
fn slow_but_not_too_slow() {
    let mut settings = settings();
    settings.sharing.answer = 3 * STALL;
    settings.sharing.lease = 3 * STALL;
    let mut fleet = begun(settings);
    for network in &fleet.networks {
        network.turns(Weather::Slow(Duration::from_secs(2)));
    }
    // An answer takes four seconds, and no call does.
    operate(&mut fleet, 0, "force_open");
    fleet.all_become("forced_open");
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    fleet.end(Duration::from_millis(3_900));
    for instance in &fleet.instances {
        assert_eq!(instance.seen(|seen| seen.losses.clone()), [""; 0]);
    }
}

/// One is cut off, and guards itself; the others are still one.
fn cut_off_from_one(weather: Weather) {
    let mut fleet = begun(settings());
    fleet.networks[0].turns(weather);
    lost(&fleet, &[0]);
    each_guards_itself(&fleet, &[0]);
    let mark = marks(&fleet)[0];
    operate(&mut fleet, 1, "force_open");
    fleet.instances[2].until("to hear of it", |seen| {
        (seen.state() == "forced_open").then_some(())
    });
    fleet.instances[0].seen(|seen| assert_eq!(since(seen, mark), []));
    fleet.networks[0].turns(Weather::Fair);
    restored(&fleet, &[0]);
    fleet.all_become("forced_open");
    operate(&mut fleet, 0, "close");
    fleet.all_become("closed");
    is_one(&mut fleet);
    ends_well(&mut fleet, &[0], "");
}

#[test]
fn cut_off_from_some_alone_in_silence() {
    cut_off_from_one(Weather::Silent);
}

#[test]
fn cut_off_from_some_alone_by_resets() {
    cut_off_from_one(Weather::Reset);
}

#[test]
fn connections_reset_in_the_middle_of_answers() {
    let mut fleet = begun(settings());
    for (network, length) in fleet.networks.iter().zip([37, 211, 467]) {
        network.turns(Weather::ResetAfter(length));
    }
    lost(&fleet, &ALL);
    each_guards_itself(&fleet, &[]);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    // It comes and goes for a while, and that isn't told each time.
    let connections = || -> usize {
        let counts = fleet.networks.iter().map(Network::connections);
        counts.min().unwrap_or(0)
    };
    wait::until_so("new connections", || connections() >= 4);
    for network in &fleet.networks {
        network.turns(Weather::Fair);
    }
    restored(&fleet, &ALL);
    fleet.connected();
    is_one(&mut fleet);
    fleet.end(TOO_LONG);
    for instance in &fleet.instances {
        let seen = instance.seen(Seen::clone);
        // At most once in a minute.
        assert!(seen.losses.len() <= 2, "{:?}", seen.losses);
        assert!(
            seen.restorations <= seen.losses.len(),
            "{:?}",
            seen.restorations
        );
        assert_eq!(seen.output, "");
    }
}
