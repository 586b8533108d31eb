//! Breakers that are dropped while their fleet goes on: others need not wait for what they held.

use crate::circuits::HoldsUp;
use crate::server::Server;
use crate::support::{Instance, LONG, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::observe;
use breakerbox::{AnyBreaker, Breaker, Config, KeyedBreakers, Settings, State};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// Opens by one failure, and is tried at once.
fn quick() -> Config {
    let settings = Settings::new().threshold(1).jitter(0.0);
    settings.reset(Duration::from_millis(1)).must()
}

/// It lasts far longer than any of these tests may.
fn long() -> Sharing {
    Sharing::new().lease(Duration::from_secs(50))
}

fn fleet(server: &Server) -> Fleet {
    let fleet = builder(server).start().expect("a fleet");
    fleet.ready(LONG).expect("to be ready");
    fleet
}

/// Whether the lease of this circuit is held by somebody, as Redis has it.
fn is_leased(server: &Server, circuit: &str) -> bool {
    let record: Option<String> = redis::cmd("HGET")
        .arg(format!("breakerbox:{circuit}"))
        .arg("record")
        .query(&mut server.connect())
        .unwrap();
    record.is_some_and(|record| record.contains(" half_open "))
}

/// In far less time than the lease would last.
fn soon(what: &str, is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    until(what, is_so);
    assert!(begun.elapsed() < Duration::from_secs(30), "late: {what}");
}

type Keyed = Arc<FleetKeyedBreakers<Arc<KeyedBreakers<String>>>>;

fn keyed(fleet: &Fleet, name: &'static str, keys: u32) -> Keyed {
    let breakers = KeyedBreakers::<String>::new(name, quick()).max_keys(keys);
    let breakers = Arc::new(FleetKeyedBreakers::of(Arc::new(breakers), long()));
    fleet.share_keyed(&breakers).expect("to be shared");
    breakers
}

/// The background of the first waits for an observer, and tells nobody anything before this is dropped.
fn hold_up(
    name: &'static str,
    [one, other]: [&Instance; 2],
) -> (mpsc::Sender<()>, observe::Installed) {
    let (release, held) = mpsc::channel();
    let installed = observe::install(Arc::new(HoldsUp {
        circuit: name,
        held: Mutex::new(held),
    }));
    other.breaker.open_for(Duration::from_secs(3600));
    until("the background to be busy", || {
        one.breaker.state() == State::Open
    });
    (release, installed)
}

/// Its probe never ends.
fn probe_for_ever(breaker: &breakerbox::KeyedBreaker<String>) {
    until("a probe", || breaker.admit().map(std::mem::forget).is_ok());
}

#[test]
fn a_breaker_that_is_dropped_gives_back_its_lease() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("parting");
    let [a, b] = std::array::from_fn(|_| Instance::new(builder(&server), name, quick(), long()));
    for is_used in [true, false] {
        let breaker = Arc::new(FleetBreaker::of(
            Arc::new(Breaker::new(name, quick())),
            long(),
        ));
        let fleet = fleet(&server);
        fleet.share(&breaker).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        drop(breaker.call_sync(|| Err::<(), _>("no answer")));
        until("the trip to be known", || b.breaker.state() == State::Open);
        if is_used {
            until("a probe", || breaker.admit().map(std::mem::forget).is_ok());
        }
        // Else calls that are refused ask for it, and none comes to use it.
        until("the lease to be got", || {
            is_leased(&server, name) || {
                drop(breaker.admit());
                false
            }
        });
        drop(breaker);
        soon("the lease to be free", || b.succeed());
        assert_eq!(b.breaker.state(), State::Closed);
        until("all to be closed", || a.breaker.state() == State::Closed);
    }
}

/// Only what is closed is given up: so what a key may leave behind is that it was closed.
#[test]
fn what_an_operator_said_of_a_key_that_is_given_up_is_still_told() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (name, busy) = (name("parting-key"), name("busy"));
    let [mine, others] =
        std::array::from_fn(|_| Instance::new(builder(&server), busy, quick(), Sharing::new()));
    let (a, b) = (keyed(&mine.fleet, name, 1), keyed(&others.fleet, name, 10));
    b.get("first").force_open();
    until("the first word to be known", || {
        a.get("first").state() == State::ForcedOpen
    });
    let held_up = hold_up(busy, [&mine, &others]);
    a.get("first").close();
    // There is room for one.
    drop(a.get("second"));
    drop(held_up);
    until("an operator's last word", || {
        b.get("first").state() == State::Closed
    });
    until("the key to be forgotten", || {
        mine.fleet.status().circuits == 2
    });
}

#[test]
fn breakers_of_all_keys_that_are_dropped_give_back_their_leases() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("parting-keys");
    let (mine, others) = (fleet(&server), fleet(&server));
    let (a, b) = (keyed(&mine, name, 10), keyed(&others, name, 10));
    let keys = ["first", "second", "third"];
    for key in keys {
        drop(a.get(key).call_sync(|| Err::<(), _>("no answer")));
        until("the trip to be known", || b.get(key).state() == State::Open);
        probe_for_ever(&a.get(key));
    }
    for key in keys {
        until("the lease to be got", || {
            is_leased(&server, &format!("{name}[{key}]"))
        });
    }
    drop(a);
    for key in keys {
        soon("the lease to be free", || {
            b.get(key).call_sync(|| Ok::<_, ()>(())).is_ok()
        });
    }
}

#[test]
fn what_an_operator_said_of_a_breaker_that_is_dropped_is_still_told() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    for the_fleet_ends_too in [false, true] {
        let (busy, name) = (name("busy"), name("last-word"));
        let observed = Instance::new(builder(&server), busy, quick(), Sharing::new());
        let other = Instance::new(builder(&server), busy, quick(), Sharing::new());
        let peer = Instance::new(builder(&server), name, quick(), Sharing::new());
        let breaker = Breaker::new(name, quick());
        let breaker = Arc::new(FleetBreaker::of(Arc::new(breaker), Sharing::new()));
        observed.fleet.share(&breaker).expect("to be shared");
        observed.fleet.ready(LONG).expect("to be ready");
        let held_up = hold_up(busy, [&observed, &other]);
        breaker.force_open();
        let begun = Instant::now();
        drop(breaker);
        assert!(
            begun.elapsed() < Duration::from_secs(1),
            "it waits for nothing"
        );
        let kept = match the_fleet_ends_too {
            true => {
                drop(observed);
                None
            }
            false => Some(observed),
        };
        drop(held_up);
        until("an operator's last word", || {
            peer.breaker.state() == State::ForcedOpen
        });
        drop(kept);
    }
}

#[test]
fn a_breaker_whose_name_is_taken_tells_nothing_when_it_is_dropped() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("taken");
    let first = Instance::new(builder(&server), name, quick(), Sharing::new());
    let second = Arc::new(FleetBreaker::of(
        Arc::new(Breaker::new(name, quick())),
        Sharing::new(),
    ));
    second.force_open();
    assert!(first.fleet.share(&second).is_err());
    second.disable();
    drop(second);
    first.fleet.ready(LONG).expect("to be ready");
    assert_eq!(first.breaker.state(), State::Closed);
    let last = first.breaker.last_change().map(|change| change.to);
    assert_eq!(last, None, "nothing has happened to it");
}

/// How many instances Redis holds something of, that counts for this circuit.
fn members(server: &Server, circuit: &str) -> usize {
    let fields: Vec<String> = redis::cmd("HKEYS")
        .arg(format!("breakerbox:{circuit}"))
        .query(&mut server.connect())
        .unwrap();
    let of_members = fields.iter().filter(|field| field.starts_with("member:"));
    of_members.count()
}

#[test]
fn votes_and_counts_are_withdrawn_with_the_breaker_and_with_the_fleet() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let once = Settings::new().threshold(1).must();
    let vote = (once, Sharing::new().quorum(2));
    let count = (
        Settings::new().threshold(2).must(),
        Sharing::new().counting(),
    );
    let alive = (once, Sharing::new().quorum_share(1.0));
    for (config, sharing) in [vote, count, alive] {
        for with_its_fleet in [false, true] {
            let name = name("withdrawn");
            // Far longer than any of these tests may last.
            let patient = || builder(&server).alive(Duration::from_secs(3600));
            let parts = Instance::new(patient(), name, config, sharing);
            let stays = Instance::new(patient(), name, config, sharing);
            let before = if sharing == alive.1 { 1 } else { 0 };
            parts.fail();
            until("it to be told", || members(&server, name) == before + 1);
            parts.fleet.ready(LONG).expect("to be ready");
            let kept = match with_its_fleet {
                true => {
                    drop(parts);
                    None
                }
                false => {
                    drop(parts.breaker);
                    Some(parts.fleet)
                }
            };
            soon("it to be withdrawn", || members(&server, name) == before);
            if sharing != alive.1 {
                // Else it would be the second.
                stays.fail();
                until("it to be told", || members(&server, name) == 1);
                let other = Instance::new(patient(), name, config, sharing);
                assert_eq!(other.breaker.state(), State::Closed, "{sharing:?}");
            }
            drop(kept);
        }
    }
}
