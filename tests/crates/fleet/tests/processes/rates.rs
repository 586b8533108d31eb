//! Circuits that open by rate, counted together: what opens one instance's circuit, and what opens all.

use std::ops::Range;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::instance::Seen;
use test_fleet::network::Weather;
use test_fleet::plan::{Answer, Order, Rate, Sharing};
use test_fleet::server::{self, Server};
use test_fleet::service::Health;
use test_fleet::wait;

use crate::outages::TOO_LONG;

const INSTANCES: usize = 10;
/// Of how many calls each has a window.
const WINDOW: usize = 40;
/// Between two calls of an instance, in microseconds.
const PAUSE: u64 = 20_000;

fn settings(min_calls: u32) -> Settings {
    let mut settings = Settings {
        instances: INSTANCES,
        ways: true,
        sharing: Sharing {
            counted: true,
            ..Sharing::default()
        },
        ..Settings::default()
    };
    // Those that trip by themselves count as such until their wait is over: all of them do meanwhile.
    settings.circuit.reset = 3_000;
    settings.circuit.rate = Some(Rate {
        failures: 0.5,
        window: u32::try_from(WINDOW).unwrap(),
        min_calls,
    });
    settings
}

fn lengths(fleet: &Fleet) -> Vec<usize> {
    let instances = fleet.instances.iter();
    instances
        .map(|one| one.seen(|seen| seen.changes.len()))
        .collect()
}

/// The networks of these between themselves and the service.
fn turn(fleet: &Fleet, some: Range<usize>, weather: Weather) {
    for way in &fleet.ways[some] {
        way.turns(weather);
    }
}

/// All are closed, with windows full of good calls.
fn are_well(fleet: &Fleet) {
    fleet.service.turns(Health::Up);
    turn(fleet, 0..INSTANCES, Weather::Fair);
    fleet.all_become("closed");
    fleet.call_on(WINDOW + 5);
    assert_eq!(fleet.states(), ["closed"; INSTANCES]);
}

#[test]
fn what_few_see_opens_their_circuits_and_what_most_see_opens_all() {
    let mut fleet = Fleet::start(settings(20), Server::start());
    fleet.connected();
    fleet.go(PAUSE);
    are_well(&fleet);
    assert_eq!(lengths(&fleet), [0; INSTANCES]);

    // One of ten has a broken network, and nine have traffic.
    turn(&fleet, 0..1, Weather::Reset);
    fleet.instances[0].until("to open and to reopen", |seen| {
        let opened = seen.changes.iter().filter(|change| change.to == "open");
        (opened.count() >= 2).then_some(())
    });
    fleet.call_on(WINDOW);
    assert_eq!(lengths(&fleet)[1..], [0; INSTANCES - 1], "nobody else's");
    for instance in &fleet.instances[1..] {
        let is_good = |seen: &Seen| seen.calls.iter().all(|call| call.result == Answer::Good);
        assert!(instance.seen(is_good), "{}", instance.name());
    }
    are_well(&fleet);

    // Six of ten.
    let marks = lengths(&fleet);
    turn(&fleet, 0..6, Weather::Reset);
    for (number, (instance, mark)) in fleet.instances.iter().zip(&marks).enumerate() {
        instance.until("to open with most", |seen| {
            let mut since = seen.changes[*mark..].iter();
            let with_others = |by: &str| number < 6 || by == "fleet";
            let opened = since.find(|change| change.to == "open" && with_others(&change.by));
            opened.map(drop)
        });
    }
    are_well(&fleet);

    // All.
    let marks: Vec<usize> = fleet.instances.iter().map(|one| one.called()).collect();
    let changes = lengths(&fleet);
    fleet.service.turns(Health::Down);
    for ((instance, mark), changes) in fleet.instances.iter().zip(&marks).zip(&changes) {
        let opened = instance.until("to open with all", |seen| {
            let mut since = seen.changes[*changes..].iter();
            since.find(|change| change.to == "open").cloned()
        });
        let failed = instance.seen(|seen| {
            let until = seen.calls[*mark..]
                .iter()
                .take_while(|call| call.at <= opened.at);
            until.filter(|call| call.result == Answer::Failed).count()
        });
        // By its own window it would have opened by half of it.
        assert!(failed <= WINDOW / 2 + 1, "{}: {failed}", instance.name());
    }
    are_well(&fleet);
    fleet.end(wait::LIMIT);
}

#[test]
fn instances_with_few_calls_each_open_together_and_never_alone() {
    let each = 4;
    for shared in [false, true] {
        let mut settings = settings(20);
        settings.circuit.reset = 600_000;
        settings.shared = shared;
        let server = match shared {
            true => Server::start(),
            false => Server::stopped(server::Settings::default()),
        };
        let mut fleet = Fleet::start(settings, server);
        if shared {
            fleet.connected();
        }
        fleet.service.turns(Health::Down);
        fleet.order(&Order::Call { times: each });
        for instance in &fleet.instances {
            instance.until("to have called", |seen| {
                (seen.calls.len() == usize::try_from(each).unwrap()).then_some(())
            });
        }
        if shared {
            fleet.all_become("open");
        }
        fleet.end(TOO_LONG);
        let opened: Vec<usize> = lengths(&fleet);
        assert_eq!(opened, [usize::from(shared); INSTANCES]);
    }
}
