//! Hosts' clocks differ by hours, and that of Redis jumps: nothing comes of it.

use std::sync::Arc;
use std::time::Duration;

use test_fleet::clock::Clock;
use test_fleet::fleet::{Fleet, Settings};
use test_fleet::instance::Seen;
use test_fleet::plan::Order;
use test_fleet::server::{self, Server};
use test_fleet::service::Health;

use crate::harness::skipped;

/// How long a circuit is open, in milliseconds.
const RESET: u64 = 700;

/// Trips, waits, probes once it is time, recovers: the first probe's time after the trip.
fn trips_and_recovers(fleet: &Fleet) -> Duration {
    fleet.all_become("closed");
    fleet.call_on(10);
    let log = fleet.service.log().len();
    let marks: Vec<usize> = fleet
        .instances
        .iter()
        .map(|instance| instance.seen(|seen| seen.changes.len()))
        .collect();
    fleet.service.turns(Health::Down);
    let opened = fleet.instances.iter().zip(marks).map(|(instance, mark)| {
        instance.until("to open", |seen| {
            let mut changes = seen.changes[mark..].iter();
            changes
                .find(|change| change.to == "open")
                .map(|change| change.at)
        })
    });
    let opened: Vec<u64> = opened.collect();
    let (first, last) = (opened.iter().min().unwrap(), opened.iter().max().unwrap());
    let failures = fleet.service.log().split_off(log);
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    let all = fleet.service.log().split_off(log);
    // Those that crossed the trip are no probes.
    let mut later = all
        .iter()
        .skip(failures.len())
        .filter(|arrival| arrival.at > *last);
    let probe = later.next().map_or(u64::MAX, |arrival| arrival.at);
    eprintln!("all open {} us after the first", last - first);
    Duration::from_micros(probe.saturating_sub(*first))
}

#[test]
fn clocks_that_differ_by_hours_change_nothing() {
    let clocks = ["+3h", "+5h", "-7h"].map(Clock::off_by);
    let [Some(of_server), Some(ahead), Some(behind)] = clocks else {
        return skipped("libfaketime");
    };
    let (of_server, ahead, behind) = (Arc::new(of_server), Arc::new(ahead), Arc::new(behind));
    let server = Server::with(server::Settings {
        clock: Some(of_server.clone()),
        ..server::Settings::default()
    });
    let mut settings = Settings {
        instances: 3,
        clocks: vec![ahead, behind.clone()],
        ..Settings::default()
    };
    settings.circuit.reset = RESET;
    let mut fleet = Fleet::start(settings, server);
    fleet.connected();
    fleet.go(2_000);

    let probe = trips_and_recovers(&fleet);
    assert!(
        probe >= Duration::from_millis(RESET),
        "the wait was cut short: {probe:?}"
    );
    // The clocks of Redis and of a host are set right, and wrong.
    for jump in ["-9h", "+2d"] {
        of_server.jumps_to(jump);
        behind.jumps_to(jump);
        trips_and_recovers(&fleet);
    }
    // They jump while the circuit is open.
    for jump in ["-12h", "+1h"] {
        fleet.service.turns(Health::Down);
        fleet.all_become("open");
        of_server.jumps_to(jump);
        fleet.service.turns(Health::Up);
        fleet.all_become("closed");
    }
    let last = fleet.instances.len() - 1;
    fleet.instances[0].order(&Order::Operate {
        what: "force_open".into(),
    });
    fleet.all_become("forced_open");
    of_server.jumps_to("-30d");
    fleet.instances[last].order(&Order::Operate {
        what: "close".into(),
    });
    fleet.all_become("closed");

    fleet.end(Duration::from_secs(5));
    for instance in &fleet.instances {
        assert_eq!(instance.seen(|seen: &Seen| seen.losses.clone()), [""; 0]);
    }
}
