//! Breakers that join a fleet which is connected already, one after the other and at once.

use std::sync::Arc;
use std::thread;

use breaker_redis::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::Config;
use test_fleet::server::Server;
use test_fleet::wait;

/// Of each thread.
const BREAKERS: usize = 150;

/// Joins them one after the other, while others do the same: a thread is often held up in the middle.
fn join(fleet: &Fleet, thread: usize) -> Vec<Arc<SharedFleetBreaker>> {
    let breakers = (0..BREAKERS).map(|number| {
        let name = format!("b{thread}-{number}");
        let breaker = FleetBreaker::shared(name, Config::DEFAULT, Sharing::new()).unwrap();
        fleet.share(&breaker).unwrap();
        breaker
    });
    breakers.collect()
}

#[test]
fn each_that_joins_is_looked_after() {
    let server = Server::start();
    let fleet = Fleet::builder(server.url()).prefix("test").start().unwrap();
    wait::until_so("redis", || fleet.status().is_connected);
    let breakers: Vec<_> = thread::scope(|scope| {
        let fleet = &fleet;
        let threads: Vec<_> = (0..6)
            .map(|thread| scope.spawn(move || join(fleet, thread)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    fleet.ready(wait::LIMIT).unwrap();
    for breaker in &breakers {
        breaker.force_open();
    }
    wait::until_so("all to be written", || {
        let keys = server.keys();
        breakers
            .iter()
            .all(|breaker| keys.contains(&format!("test:{}", breaker.name())))
    });
}
