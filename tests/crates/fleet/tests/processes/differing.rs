//! Two programs, or two deploys of one, that declare a circuit in different ways.

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::plan::Order;
use test_fleet::server::Server;
use test_fleet::service::Health;

use crate::outages::{PAUSE, operate};

/// Of the first two, and of the third, in milliseconds.
const RESETS: [u64; 2] = [600_000, 300_000];

fn tells(fleet: &Fleet) -> Vec<Vec<String>> {
    let instances = fleet.instances.iter();
    let told = instances.map(|one| one.seen(|seen| seen.differences.clone()));
    told.collect()
}

#[test]
fn each_process_tells_once_in_what_another_differs() {
    let mut settings = Settings {
        instances: 2,
        ..Settings::default()
    };
    settings.circuit.reset = RESETS[0];
    let mut fleet = Fleet::start(settings, Server::start());
    let other = fleet.add_with(|plan| plan.circuit.reset = RESETS[1]);
    assert!(!other.name().is_empty());
    fleet.connected();
    fleet.go(PAUSE);
    fleet.call_on(5);
    // While nothing fails nobody says anything, so nobody knows.
    assert_eq!(tells(&fleet), [const { Vec::<String>::new() }; 3]);

    // Whoever trips says what it declares. Who has seen no failure yet may be an operator's program, and
    // says nothing of it.
    fleet.order(&Order::Stand);
    fleet.service.turns(Health::Down);
    for trips in [2, 0, 1, 2, 0] {
        fleet.instances[trips].order(&Order::Call { times: 5 });
        fleet.all_become("open");
        operate(&mut fleet, trips, "close");
        fleet.all_become("closed");
    }
    for (number, expected) in [
        (0, "reset 600s here, 300s there"),
        (1, "reset 600s here, 300s there"),
        (2, "reset 300s here, 600s there"),
    ] {
        fleet.instances[number].until("to have told it", |seen| {
            (!seen.differences.is_empty()).then_some(())
        });
        let told = fleet.instances[number].seen(|seen| seen.differences.clone());
        assert_eq!(told, [expected], "{number}");
    }
}
