//! Channels are heard for as long as there are breakers of their name.

use crate::server::Server;
use crate::support::{LONG, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, SharedFleetBreaker, Sharing};
use breakerbox::{AnyBreaker, Breaker, Config, KeyedBreakers, Settings, State};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// Only messages tell anything.
fn fleet(server: &Server) -> Fleet {
    let hours = |so_many: u64| Duration::from_secs(3600 * so_many);
    let fleet = Fleet::builder(server.url()).poll(hours(1)).alive(hours(3));
    let fleet = fleet.lease(LONG).answer(LONG).start().expect("a fleet");
    fleet.ready(LONG).expect("to be ready");
    fleet
}

fn config() -> Config {
    Settings::new().threshold(1).must()
}

fn breaker(name: &'static str) -> Arc<SharedFleetBreaker> {
    let breaker = Arc::new(Breaker::new(name, config()));
    Arc::new(FleetBreaker::of(breaker, Sharing::new()))
}

fn share(fleet: &Fleet, name: &'static str) -> Arc<SharedFleetBreaker> {
    let breaker = breaker(name);
    fleet.share(&breaker).expect("to be shared");
    breaker
}

/// How many connections hear messages of this name.
fn heard(server: &Server, name: &str) -> u32 {
    let mut command = redis::cmd("PUBSUB");
    let command = command.arg("NUMSUB").arg(format!("breakerbox:{name}"));
    let answer: (String, u32) = command.query(&mut server.connect()).unwrap();
    answer.1
}

/// Whether what one does is heard by the other, whichever.
fn is_shared(one: &SharedFleetBreaker, other: &SharedFleetBreaker) {
    for [from, to] in [[one, other], [other, one]] {
        from.force_open();
        until("an operator's word", || to.state() == State::ForcedOpen);
        from.close();
        until("another", || to.state() == State::Closed);
    }
}

#[test]
fn a_channel_is_left_with_the_last_breaker_of_its_name_and_heard_again_with_the_next() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (one, all, other) = (name("left"), name("left-keys"), name("stays"));
    let channels = [one, &format!("{all}[")];
    let [fleet, peers] = [(); 2].map(|()| fleet(&server));
    let (stays, peer_of_other) = (share(&fleet, other), share(&peers, other));
    for _ in 0..3 {
        let breaker = share(&fleet, one);
        let keyed = KeyedBreakers::<u32>::new(all, config());
        let keyed = Arc::new(FleetKeyedBreakers::of(Arc::new(keyed), Sharing::new()));
        fleet.share_keyed(&keyed).expect("to be shared");
        keyed.get(&7_u32).force_open();
        fleet.ready(LONG).expect("to be ready");
        assert_eq!(channels.map(|name| heard(&server, name)), [1, 1]);
        let peer = share(&peers, one);
        peers.ready(LONG).expect("to be ready");
        assert_eq!(heard(&server, one), 2);
        is_shared(&breaker, &peer);
        // Not while somebody may still use it.
        let still_used = Arc::clone(&breaker);
        drop(breaker);
        is_shared(&still_used, &peer);
        drop((still_used, keyed));
        until("the channels to be left", || {
            channels.map(|name| heard(&server, name)) == [1, 0]
        });
        until("the circuits to be forgotten", || {
            fleet.status().circuits == 1
        });
        drop(peer);
        until("the last to leave", || heard(&server, one) == 0);
        is_shared(&stays, &peer_of_other);
    }
    let lost = [&fleet, &peers].map(|fleet| (fleet.status().lost, fleet.status().nonsense));
    assert_eq!(lost, [(0, 0); 2]);
}

/// Whoever leaves a channel might do so after another has begun to hear it.
#[test]
fn breakers_that_come_while_another_of_their_name_goes_are_heard() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("to-and-fro");
    let [fleet, peers] = [(); 2].map(|()| fleet(&server));
    let peer = share(&peers, name);
    peers.ready(LONG).expect("to be ready");
    let mut last = share(&fleet, name);
    for round in 0..40 {
        for _ in 0..round % 5 {
            // At the same time; until it is gone its name is taken.
            let (next, both) = (breaker(name), Barrier::new(2));
            thread::scope(|threads| {
                let both = &both;
                threads.spawn(move || {
                    both.wait();
                    drop(last);
                });
                both.wait();
                until("the name to be free", || fleet.share(&next).is_ok());
            });
            last = next;
        }
        // Also where it was gone for a moment.
        drop(last);
        last = share(&fleet, name);
        fleet.ready(LONG).expect("to be ready");
        assert_eq!(heard(&server, name), 2, "{round}");
        is_shared(&last, &peer);
    }
    drop(last);
    until("the channel to be left", || heard(&server, name) == 1);
    assert_eq!(fleet.status().nonsense, 0);
}
