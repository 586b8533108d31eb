//! One host with a broken network, or one shard of a service, must not open everybody's circuit: what a
//! quorum guards against, and what happens without.

use std::time::Duration;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::instance::Instance;
use test_fleet::network::Weather;
use test_fleet::plan::{Answer, Sharing};
use test_fleet::server::Server;
use test_fleet::service::Health;

const TOO_LONG: Duration = Duration::from_secs(10);

fn begun(sharing: Sharing) -> Fleet {
    let mut settings = Settings {
        instances: 6,
        ways: true,
        sharing,
        ..Settings::default()
    };
    settings.circuit.reset = 300;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.go(8_000);
    fleet.call_on(20);
    fleet
}

/// With a quorum, and the same with failures that count together.
fn guarded(instances: u32) -> [Sharing; 2] {
    [false, true].map(|counted| Sharing {
        quorum: instances,
        counted,
        ..Sharing::default()
    })
}

fn opened(instance: &Instance) -> usize {
    instance.seen(|seen| {
        seen.changes
            .iter()
            .filter(|change| change.to == "open")
            .count()
    })
}

fn refused(instance: &Instance) -> usize {
    instance.seen(|seen| {
        let mut refused = seen
            .calls
            .iter()
            .filter(|call| call.result == Answer::Refused);
        refused.by_ref().count()
    })
}

/// These alone open, again and again; nobody else's circuit ever does, and none of their calls fails.
fn opens_alone(fleet: &Fleet, few: &[usize]) {
    for number in few {
        fleet.instances[*number].until("to open and to reopen", |seen| {
            let opened = seen
                .changes
                .iter()
                .filter(|change| change.to == "open")
                .count();
            (opened >= 3).then_some(())
        });
    }
    fleet.call_on(80);
    for (number, instance) in fleet.instances.iter().enumerate() {
        if !few.contains(&number) {
            instance.seen(|seen| {
                assert_eq!(seen.changes, [], "{}", instance.name());
                assert!(seen.calls.iter().all(|call| call.result == Answer::Good));
            });
        }
    }
}

fn recovers(fleet: &mut Fleet, few: &[usize]) {
    for number in few {
        let instance = &fleet.instances[*number];
        instance.until("to close", |seen| (seen.state() == "closed").then_some(()));
    }
    // What all see is still everybody's.
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.end(TOO_LONG);
}

#[test]
fn with_a_quorum_one_broken_host_opens_its_own_circuit_alone() {
    for sharing in guarded(3) {
        let mut fleet = begun(sharing);
        fleet.ways[2].turns(Weather::Reset);
        opens_alone(&fleet, &[2]);
        fleet.ways[2].turns(Weather::Fair);
        recovers(&mut fleet, &[2]);
    }
}

#[test]
fn with_a_quorum_one_shard_of_the_service_opens_its_clients_circuits_alone() {
    for sharing in guarded(4) {
        let mut fleet = begun(sharing);
        for name in ["i0", "i1"] {
            fleet.service.turns_for(name, Health::Down);
        }
        opens_alone(&fleet, &[0, 1]);
        fleet.service.turns(Health::Up);
        recovers(&mut fleet, &[0, 1]);
    }
}

#[test]
fn without_a_quorum_one_broken_host_opens_everybodys() {
    let mut fleet = begun(Sharing::default());
    fleet.ways[2].turns(Weather::Reset);
    for instance in &fleet.instances {
        instance.until("to open", |seen| {
            seen.changes
                .iter()
                .any(|change| change.to == "open")
                .then_some(())
        });
    }
    fleet.call_on(100);
    fleet.ways[2].turns(Weather::Fair);
    fleet.all_become("closed");
    fleet.end(TOO_LONG);
    for (number, instance) in fleet.instances.iter().enumerate() {
        eprintln!(
            "{}: opened {} times, {} of {} calls refused",
            instance.name(),
            opened(instance),
            refused(instance),
            instance.called()
        );
        if number != 2 {
            // The service would have answered all of these.
            assert!(refused(instance) > 0);
            assert!(
                instance.seen(|seen| seen.calls.iter().all(|call| call.result != Answer::Failed))
            );
        }
    }
}
