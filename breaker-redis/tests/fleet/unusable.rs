//! Circuits that Redis refuses while it answers for others: their key holds something else, or the user may
//! not use it.

use crate::server::Server;
use crate::support::{LONG, Lines, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetStatus, SharedFleetBreaker, Sharing, Trouble};
use breakerbox::{Breaker, Settings, State};
use redis::Connection;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The circuits of a fleet: the first is the one that is refused.
const CIRCUITS: [&str; 3] = ["bad", "good", "better"];

/// Begins to be wrong, with the fleet of this prefix; and is mended.
#[derive(Clone, Copy)]
struct Wrong {
    begins: fn(&mut Connection, prefix: &str),
    ends: fn(&mut Connection, prefix: &str),
    /// Connections end by it, as Redis does with who hears what it may not hear any more.
    ends_connections: bool,
    said: &'static str,
}

fn run(connection: &mut Connection, command: &[&str]) {
    let mut of = redis::cmd(command[0]);
    of.arg(&command[1..]);
    of.exec(connection).expect(command[0]);
}

fn delete(connection: &mut Connection, prefix: &str) {
    run(connection, &["DEL", &format!("{prefix}:bad")]);
}

/// The user may use these circuits' keys and channels.
fn allow(connection: &mut Connection, prefix: &str, keys: &[&str], channels: &[&str]) {
    let keys = keys.iter().map(|circuit| format!("~{prefix}:{circuit}"));
    let channels = channels.iter().map(|of| format!("&{prefix}:{of}"));
    let begin = ["ACL", "SETUSER", prefix, "on", ">hush", "+@all"];
    let begin = begin.into_iter().chain(["resetkeys", "resetchannels"]);
    let all: Vec<_> = begin
        .map(str::to_owned)
        .chain(keys)
        .chain(channels)
        .collect();
    run(
        connection,
        &all.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

const WRONG: [Wrong; 5] = [
    Wrong {
        begins: |connection, prefix| run(connection, &["SET", &format!("{prefix}:bad"), "mine"]),
        ends: delete,
        ends_connections: false,
        said: "the key holds something else",
    },
    Wrong {
        begins: |connection, prefix| {
            let key = format!("{prefix}:bad");
            let damaged = ["HSET", &key, "format", "1", "record", "mine"];
            run(connection, &damaged);
        },
        ends: delete,
        ends_connections: false,
        said: "the key holds a damaged circuit",
    },
    Wrong {
        begins: |connection, prefix| {
            run(connection, &["DEL", &format!("{prefix}:bad")]);
            run(
                connection,
                &["HSET", &format!("{prefix}:bad"), "format", "77"],
            );
        },
        ends: delete,
        ends_connections: false,
        said: "the key holds another version of the format",
    },
    Wrong {
        begins: |connection, prefix| {
            allow(connection, prefix, &["~*", "good", "better"], &["*"]);
        },
        ends: |connection, prefix| allow(connection, prefix, &["*"], &["*"]),
        ends_connections: false,
        said: "the user may not use keys that begin with the prefix: give it `~refused",
    },
    Wrong {
        begins: |connection, prefix| {
            allow(connection, prefix, &["*"], &["~*", "good", "better"]);
        },
        ends: |connection, prefix| allow(connection, prefix, &["*"], &["*"]),
        ends_connections: true,
        said: "the user may not use channels that begin with the prefix: give it `&refused",
    },
];

/// A fleet of a user of its own.
struct Shared {
    fleet: Fleet,
    breakers: [Arc<SharedFleetBreaker>; 3],
}

impl Shared {
    fn start(server: &Server, prefix: &str) -> Self {
        let fleet = builder(server).prefix(prefix).login(prefix, "hush");
        let fleet = fleet.start().expect("a fleet");
        let config = Settings::new().threshold(1).must();
        let breakers = CIRCUITS.map(|name| {
            let breaker = Arc::new(Breaker::new(name, config));
            let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
            fleet.share(&breaker).expect("to be shared");
            breaker
        });
        Self { fleet, breakers }
    }

    fn is_well(&self) {
        self.fleet.ready(LONG).expect("to be ready");
        until("all to be had", || self.fleet.status().is_connected);
        assert_eq!(
            (self.fleet.status().cut_off, self.fleet.status().circuits),
            (0, 3)
        );
    }

    /// The one circuit is refused, the others aren't.
    fn is_refused(&self, prefix: &str, said: &str) {
        let is_refused = |status: &FleetStatus| {
            let error = status.last_error.as_ref().map(ToString::to_string);
            let is_said = error.is_some_and(|error| error.contains(said));
            assert!(!status.is_connected || status.cut_off == 0, "{status:?}");
            status.cut_off == 1 && is_said
        };
        until(said, || is_refused(&self.fleet.status()));
        let status = self.fleet.status();
        assert!(!status.is_connected, "{status:?}");
        assert_eq!(status.circuits, 3);
        let error = status.last_error.expect("an error");
        let key = format!("{prefix}:bad");
        assert!(
            matches!(&error.trouble, Trouble::Circuit { key: of, .. } if *of == key),
            "{error}"
        );
        let late = self.fleet.ready(Duration::from_millis(1)).unwrap_err();
        let expected = format!("can't be used for `{key}`: {said}");
        for text in [late.to_string(), error.to_string()] {
            assert!(text.contains(&expected), "{text}");
            assert!(!text.contains("mine") && !text.contains("hush"), "{text}");
        }
    }
}

fn is_told_and_mended(server: &Server, wrong: Wrong) {
    let prefix = name("refused");
    let lines = Lines::of(prefix);
    let mut admin = server.connect();
    allow(&mut admin, prefix, &["*"], &["*"]);
    let [here, there] = [(); 2].map(|()| Shared::start(server, prefix));
    for shared in [&here, &there] {
        shared.is_well();
    }
    assert_eq!(lines.all(), [""; 0]);

    // While it runs.
    (wrong.begins)(&mut admin, prefix);
    here.is_refused(prefix, wrong.said);
    if !wrong.ends_connections {
        until("it to be told", || !lines.all().is_empty());
        let said = lines.all().remove(0);
        let begin = format!("1 of 3 circuits of fleet `{prefix}` can't be shared, each process is");
        assert!(said.starts_with(&begin), "{said}");
        assert!(
            said.contains(&format!("`{prefix}:bad`: {}", wrong.said)),
            "{said}"
        );
        assert_eq!(here.fleet.status().lost, 0);
    }
    // It goes on alone, and the others together.
    here.breakers[0].force_open();
    here.breakers[1].force_open();
    until("the others' word", || {
        there.breakers[1].state() == State::ForcedOpen
    });
    assert_eq!(there.breakers[0].state(), State::Closed);

    // After a reconnect.
    let lost = here.fleet.status().lost;
    run(&mut admin, &["CLIENT", "KILL", "USER", prefix]);
    until("the loss", || here.fleet.status().lost > lost);
    here.is_refused(prefix, wrong.said);

    // Before it is shared.
    let late = Shared::start(server, prefix);
    late.is_refused(prefix, wrong.said);

    (wrong.ends)(&mut admin, prefix);
    for shared in [&here, &there, &late] {
        shared.is_well();
    }
    for other in [&there, &late] {
        until("what was said meanwhile", || {
            other.breakers[0].state() == State::ForcedOpen
        });
    }
    until("it to be told", || {
        let said = lines.all();
        let told = said.iter().filter(|line| *line == "restored").count();
        told >= 3
    });
    assert!(!lines.all().last().expect("lines").contains("circuits"));
}

#[test]
fn what_is_wrong_with_one_circuit_is_told_and_that_it_is_mended() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    thread::scope(|scope| {
        for wrong in WRONG {
            let server = &server;
            scope.spawn(move || is_told_and_mended(server, wrong));
        }
    });
}

#[test]
fn a_key_that_comes_and_goes_is_told_once_a_minute() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let prefix = name("flips");
    let lines = Lines::of(prefix);
    let mut admin = server.connect();
    allow(&mut admin, prefix, &["*"], &["*"]);
    let shared = Shared::start(&server, prefix);
    shared.is_well();
    for _ in 0..4 {
        (WRONG[0].begins)(&mut admin, prefix);
        shared.is_refused(prefix, WRONG[0].said);
        delete(&mut admin, prefix);
        shared.is_well();
    }
    let all = lines.all();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("1 of 3 circuits"), "{all:?}");
    assert_eq!(all[1], "restored");
}

/// Nobody answers for a breaker that is gone.
#[test]
fn who_is_refused_and_gone_is_missed_by_nobody() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let prefix = name("gone");
    let mut admin = server.connect();
    allow(&mut admin, prefix, &["*"], &["*"]);
    (WRONG[0].begins)(&mut admin, prefix);
    let lines = Lines::of(prefix);
    let Shared { fleet, breakers } = Shared::start(&server, prefix);
    until("it to be told", || !lines.all().is_empty());
    until("the others to be had", || fleet.status().cut_off == 1);
    let [bad, good, better] = breakers;
    drop(bad);
    until("nobody to miss it", || fleet.status().is_connected);
    assert_eq!((fleet.status().cut_off, fleet.status().circuits), (0, 2));
    until("it to be told", || {
        lines.all().last().is_some_and(|line| line == "restored")
    });
    drop((good, better));
}

/// Of a node of a cluster, spoken to as if it were all of it: its other keys can be written.
#[test]
fn a_connection_on_which_all_is_refused_is_not_reached_again() {
    let Some(server) = Server::start_with_port(&["--cluster-enabled", "yes"]) else {
        return;
    };
    let mut admin = server.connect();
    let prefix = name("refusing");
    let key = format!("{prefix}:pms");
    let mut slot_of = redis::cmd("CLUSTER");
    let slot: u16 = slot_of.arg("KEYSLOT").arg(&key).query(&mut admin).unwrap();
    let others = (0..16_384)
        .filter(|other| *other != slot)
        .map(|slot| slot.to_string());
    run(
        &mut admin,
        &["CONFIG", "SET", "cluster-require-full-coverage", "no"],
    );
    let others: Vec<_> = ["CLUSTER".to_owned(), "ADDSLOTS".to_owned()]
        .into_iter()
        .chain(others)
        .collect();
    run(
        &mut admin,
        &others.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let is_up = |admin: &mut Connection| {
        let info: String = redis::cmd("CLUSTER").arg("INFO").query(admin).unwrap();
        info.contains("cluster_state:ok")
    };
    until("the cluster to be up", || is_up(&mut admin));

    let lines = Lines::of(prefix);
    let fleet = builder(&server).prefix(prefix).start().expect("a fleet");
    until("a connection", || fleet.status().is_connected);
    let breaker = Arc::new(Breaker::new("pms", Settings::new().must()));
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    fleet.share(&breaker).expect("to be shared");
    until("it to be refused", || fleet.status().lost > 0);
    until("it to be refused again", || {
        let status = fleet.status();
        assert!(!status.is_connected && status.cut_off == 1, "{status:?}");
        status.lost > 3
    });
    let said = lines.all();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("can't be reached"), "{said:?}");
    run(&mut admin, &["CLUSTER", "ADDSLOTS", &slot.to_string()]);
    fleet.ready(LONG).expect("to be ready");
    until("it to be told", || lines.all().len() == 2);
    assert_eq!(lines.all()[1], "restored");
    assert!(fleet.status().is_connected);
}
