//! Several fleets of one process, at once and one after another.

use crate::connection::server_that;
use crate::server::Server;
use crate::support::{Instance, LONG, Lines, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetError, FleetKeyedBreakers, Sharing};
use breakerbox::{Breaker, Config, KeyedBreakers, Settings, State};
use std::sync::Arc;

fn once() -> Config {
    Settings::new().threshold(1).must()
}

#[test]
fn fleets_of_other_prefixes_or_servers_have_nothing_to_do_with_each_other() {
    let (Some(first), Some(second)) = (Server::start(&[]), Server::start(&[])) else {
        return;
    };
    let name = name("circuit");
    let new = |server: &Server, prefix: &str| {
        let fleet = builder(server).prefix(prefix);
        Instance::new(fleet, name, once(), Sharing::new())
    };
    let [shop, peer, bank, other] = [
        new(&first, "shop"),
        new(&first, "shop"),
        new(&first, "bank"),
        new(&second, "shop"),
    ];
    shop.fail();
    until("the trip to be known", || {
        peer.breaker.state() == State::Open
    });
    bank.breaker.force_open();
    for one in [&shop, &peer, &bank, &other] {
        one.fleet.ready(LONG).expect("to be ready");
    }
    let states = [&shop, &peer, &bank, &other].map(|one| one.breaker.state());
    let expected = [State::Open, State::Open, State::ForcedOpen, State::Closed];
    assert_eq!(states, expected);
    // Each is another instance, also of the same process.
    let names = [&shop, &peer, &bank, &other].map(|one| one.fleet.instance());
    for (at, name) in names.iter().enumerate() {
        assert!(!names[..at].contains(name), "{names:?}");
    }
}

#[test]
fn a_breaker_is_in_one_fleet_at_a_time_and_stays_there() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("twice");
    let [mine, peer] =
        std::array::from_fn(|_| Instance::new(builder(&server), name, once(), Sharing::new()));
    let second = builder(&server).prefix("second").start().expect("a fleet");
    for fleet in [&second, &mine.fleet] {
        let error = fleet.share(&mine.breaker).expect_err("it is shared");
        assert!(
            matches!(&error, FleetError::AlreadyShared(of) if of == name),
            "{error}"
        );
        let text = error.to_string();
        assert!(text.ends_with("(drop the other fleet first)"), "{text}");
    }
    // By another `FleetBreaker` of the same breaker as well.
    let breaker = Arc::new(Breaker::new("of-two", once()));
    let [one, other] =
        [(); 2].map(|()| Arc::new(FleetBreaker::of(Arc::clone(&breaker), Sharing::new())));
    mine.fleet.share(&one).expect("to be shared");
    for fleet in [&second, &mine.fleet] {
        let error = fleet.share(&other).expect_err("it is shared");
        assert!(matches!(error, FleetError::AlreadyShared(_)), "{error}");
    }
    // Nothing of it has done any harm.
    mine.fail();
    until("the trip to be known", || {
        peer.breaker.state() == State::Open
    });
    assert_eq!(
        (mine.fleet.status().circuits, second.status().circuits),
        (2, 0)
    );
}

#[test]
fn fleets_one_after_another_can_share_the_same_at_once() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (name, keys) = (name("again"), name("again-keys"));
    let peer = Instance::new(builder(&server), name, once(), Sharing::new());
    let breaker = Arc::new(Breaker::new(name, once()));
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    let breakers = Arc::new(KeyedBreakers::<u64>::new(keys, once()));
    let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
    for _ in 0..20 {
        let fleet = builder(&server).start().expect("a fleet");
        fleet.share(&breaker).expect("to be shared again");
        fleet.share_keyed(&breakers).expect("to be shared again");
        drop(breakers.get(&7_u64));
        assert_eq!(fleet.status().circuits, 2);
    }
    let last = builder(&server).start().expect("a fleet");
    last.share(&breaker).expect("to be shared again");
    peer.fail();
    until("it to follow the last one", || {
        breaker.state() == State::Open
    });
    breaker.close();
    until("the others to follow it", || {
        peer.breaker.state() == State::Closed
    });
}

#[test]
fn a_fleet_that_is_dropped_at_once_is_told_and_one_that_has_done_its_part_is_not() {
    let shared = || {
        let breaker = Arc::new(Breaker::new(name("temporary"), once()));
        Arc::new(FleetBreaker::of(breaker, Sharing::new()))
    };
    let prefix = name("at-once");
    let lines = Lines::of(prefix);
    // However slow this test is, nothing comes of it.
    let url = server_that(std::mem::forget);
    let breaker = shared();
    Fleet::builder(url)
        .prefix(prefix)
        .start()
        .expect("a fleet")
        .share(&breaker)
        .expect("shared");
    until("it to be told", || !lines.all().is_empty());
    let [line] = &lines.all()[..] else {
        panic!("{:?}", lines.all());
    };
    let expected = "the fleet was dropped before it had heard how its circuits stand: keep it for as \
                    long as the program runs, as in `let fleet = Fleet::start(..)?; fleet.share(..)?;`";
    assert!(line.ends_with(expected), "{line}");
    drop(breaker);

    let Some(server) = Server::start(&[]) else {
        return;
    };
    let prefix = name("done");
    let lines = Lines::of(prefix);
    let clients = || {
        let list: String = redis::cmd("CLIENT")
            .arg("LIST")
            .query(&mut server.connect())
            .unwrap();
        list.lines().count()
    };
    // One that was told, and one that shares nothing.
    for shares in [true, false] {
        let (fleet, breaker) = (
            builder(&server).prefix(prefix).start().expect("a fleet"),
            shared(),
        );
        if shares {
            fleet.share(&breaker).expect("to be shared");
        }
        fleet.ready(LONG).expect("to be ready");
        assert!(clients() > 1);
        drop(fleet);
        // With its connection everything of it is over.
        until("it to be gone", || clients() == 1);
    }
    assert_eq!(lines.all(), [""; 0]);
}
