//! Fleets that are dropped right after an operator's word, as by a command that opens a circuit and ends.

use crate::connection::server_that;
use crate::server::Server;
use crate::support::{Instance, LONG, Lines, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::observe::{self, Observer, StateChange};
use breakerbox::{AnyBreaker, Breaker, Config, KeyedBreakers, State, Trigger};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What Redis has of a circuit now.
fn stored(server: &Server, prefix: &str, circuit: &str) -> String {
    let record: Option<String> = redis::cmd("HGET")
        .arg(format!("{prefix}:{circuit}"))
        .arg("record")
        .query(&mut server.connect())
        .unwrap();
    record.unwrap_or_default()
}

type Shared = Arc<FleetBreaker<Arc<Breaker>>>;

fn breaker(name: &'static str) -> Shared {
    let breaker = Arc::new(Breaker::new(name, Config::DEFAULT));
    Arc::new(FleetBreaker::of(breaker, Sharing::new()))
}

#[test]
fn an_operators_word_is_told_once_the_fleet_is_dropped() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let prefix = name("told");
    let lines = Lines::of(prefix);
    let start = || builder(&server).prefix(prefix).start().expect("a fleet");
    // Nothing is known yet, and no connection was made.
    for state in [State::ForcedOpen, State::Disabled, State::Closed] {
        let (fleet, breaker) = (start(), breaker("said"));
        fleet.share(&breaker).expect("to be shared");
        match state {
            State::ForcedOpen => breaker.force_open(),
            State::Disabled => breaker.disable(),
            _ => breaker.close(),
        };
        drop(fleet);
        let record = stored(&server, prefix, "said");
        assert!(record.contains(&format!(" {state} ")), "{state}: {record}");
    }
    let fleet = start();
    let keyed = Arc::new(KeyedBreakers::<String>::new("said-of", Config::DEFAULT));
    let keyed = Arc::new(FleetKeyedBreakers::of(keyed, Sharing::new()));
    fleet.share_keyed(&keyed).expect("to be shared");
    for key in 0..50 {
        keyed.get(&format!("{key}")).force_open();
    }
    drop(fleet);
    for key in 0..50 {
        let record = stored(&server, prefix, &format!("said-of[{key}]"));
        assert!(record.contains(" forced_open "), "{key}: {record}");
    }
    assert_eq!(lines.all(), [""; 0]);
}

/// As locals are, in the reverse order of their declarations.
#[test]
fn an_operators_word_is_told_also_where_its_breaker_is_dropped_before_the_fleet() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let prefix = name("reverse");
    let lines = Lines::of(prefix);
    for (is_known, circuit) in [(false, "said"), (true, "known"), (true, "again")] {
        let fleet = builder(&server).prefix(prefix).start().expect("a fleet");
        let breaker = breaker(circuit);
        fleet.share(&breaker).expect("to be shared");
        if is_known {
            fleet.ready(LONG).expect("to be ready");
        }
        breaker.force_open();
        drop(breaker);
        drop(fleet);
        let record = stored(&server, prefix, circuit);
        assert!(record.contains(" forced_open "), "{circuit}: {record}");
        assert_eq!(lines.all(), [""; 0], "{circuit}");
    }
    let fleet = builder(&server).prefix(prefix).start().expect("a fleet");
    let keyed = Arc::new(KeyedBreakers::<String>::new("said-of", Config::DEFAULT));
    let keyed = Arc::new(FleetKeyedBreakers::of(keyed, Sharing::new()));
    fleet.share_keyed(&keyed).expect("to be shared");
    for key in 0..50 {
        keyed.get(&format!("{key}")).force_open();
    }
    drop(keyed);
    drop(fleet);
    for key in 0..50 {
        let record = stored(&server, prefix, &format!("said-of[{key}]"));
        assert!(record.contains(" forced_open "), "{key}: {record}");
    }
    assert_eq!(lines.all(), [""; 0]);
    // A key that makes room for another.
    let fleet = builder(&server).prefix(prefix).start().expect("a fleet");
    let keyed = KeyedBreakers::<String>::new("room-of", Config::DEFAULT).max_keys(1);
    let keyed = Arc::new(FleetKeyedBreakers::of(Arc::new(keyed), Sharing::new()));
    fleet.share_keyed(&keyed).expect("to be shared");
    keyed.get("first").close();
    drop(keyed.get("second"));
    drop(fleet);
    let record = stored(&server, prefix, "room-of[first]");
    assert!(record.contains(" closed "), "{record}");
    assert_eq!(lines.all(), [""; 0]);
}

/// Three circuits, of which an operator sets two, by a Redis that never says a word.
fn said_in_vain(prefix: &'static str) -> (Fleet, [Shared; 3]) {
    let url = server_that(std::mem::forget);
    let fleet = Fleet::builder(url).prefix(prefix).start().expect("a fleet");
    let breakers = ["one", "other", "neither"].map(breaker);
    for breaker in &breakers {
        fleet.share(breaker).expect("to be shared");
    }
    breakers[0].force_open();
    breakers[1].close();
    (fleet, breakers)
}

fn only(lines: &Lines) -> String {
    let [line] = &lines.all()[..] else {
        panic!("{:?}", lines.all());
    };
    line.clone()
}

#[test]
fn what_was_said_in_vain_is_told_also_of_breakers_that_are_gone() {
    let prefix = name("gone-in-vain");
    let lines = Lines::of(prefix);
    let (fleet, [one, _other, neither]) = said_in_vain(prefix);
    drop((one, neither));
    until("it to be forgotten", || fleet.status().circuits == 1);
    drop(fleet);
    let line = only(&lines);
    assert!(line.contains(" said of 2 of its circuits: "), "{line}");
}

#[test]
fn what_was_said_in_vain_is_told_by_who_drops_the_fleet() {
    let prefix = name("in-vain");
    let lines = Lines::of(prefix);
    let (fleet, [one, _other, _neither]) = said_in_vain(prefix);
    drop(fleet);
    let line = only(&lines);
    let expected = "the fleet was dropped before redis had been told what an operator said of 2 of its \
                    circuits: if this process goes on for a while, it may be yet; `Fleet::ready` \
                    waits until it is";
    assert!(line.ends_with(expected), "{line}");
    assert_eq!(one.state(), State::ForcedOpen, "here it stays so");
}

/// Opens one circuit and drops the fleet, as another one follows.
struct Drops {
    circuit: &'static str,
    what: Mutex<Option<(Fleet, Shared)>>,
}

impl Observer for Drops {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == self.circuit && event.change.trigger == Trigger::Fleet {
            let mut what = self.what.lock().unwrap();
            if let Some((fleet, breaker)) = what.take() {
                breaker.force_open();
                drop(fleet);
            }
        }
    }
}

#[test]
fn an_observer_may_drop_the_fleet_whose_background_it_is_in() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (prefix, circuit) = (name("from-within"), name("circuit"));
    let lines = Lines::of(prefix);
    let start = || builder(&server).prefix(prefix);
    let other = Instance::new(start(), circuit, Config::DEFAULT, Sharing::new());
    let fleet = start().start().expect("a fleet");
    let (follows, said) = (breaker(circuit), breaker("said"));
    fleet.share(&follows).expect("to be shared");
    fleet.share(&said).expect("to be shared");
    fleet.ready(LONG).expect("to be ready");
    let what = Mutex::new(Some((fleet, said)));
    let _installed = observe::install(Arc::new(Drops { circuit, what }));
    other.breaker.open_for(Duration::from_secs(3600));
    until("it to be told in the end", || {
        stored(&server, prefix, "said").contains(" forced_open ")
    });
    assert_eq!(lines.all(), [""; 0]);
}
