//! The script on servers in all conditions.

use super::super::{Place, Prefix, SCRIPT, Verdict, arguments};
use super::script::{CHANGE, LIVES, OPEN, READ, ask, caller, count, dump, place, real, timed};
use super::server::Server;
use redis::{Commands, RedisResult};
use std::thread;

fn set(server: &Server, option: &str, value: &str) {
    let mut config = redis::cmd("CONFIG");
    config.arg("SET").arg(option).arg(value);
    let _: () = config.query(&mut server.connect()).unwrap();
}

#[test]
fn a_server_that_refuses_to_write_changes_nothing() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), real());
    ask(connection, &script, &place, &caller("web-1"), &CHANGE, None).unwrap();
    let before = dump(connection, &place);
    for (option, refuses, again, code) in [
        ("maxmemory", "1", "0", "OOM"),
        ("min-replicas-to-write", "1", "0", "NOREPLICAS"),
        // Of nobody who answers.
        ("replicaof", "127.0.0.1 1", "no one", "READONLY"),
    ] {
        let put = |value: &str| {
            if option == "replicaof" {
                let mut replicaof = redis::cmd("REPLICAOF");
                replicaof.arg(value.split(' ').collect::<Vec<_>>());
                let _: () = replicaof.query(&mut server.connect()).unwrap();
            } else {
                set(&server, option, value);
            }
        };
        put(refuses);
        for (name, command) in [("web-1", &CHANGE), ("web-2", &READ), ("web-3", &CHANGE)] {
            let mut invocation = script.key(place.key());
            invocation.arg(arguments(&place, &caller(name), LIVES, command));
            let answer: RedisResult<Vec<u8>> = invocation.invoke(connection);
            assert_eq!(
                super::script::code(&answer.unwrap_err()),
                code,
                "{command:?}"
            );
            assert_eq!(dump(connection, &place), before);
        }
        put(again);
    }
    ask(connection, &script, &place, &caller("web-2"), &CHANGE, None).unwrap();
    assert_ne!(dump(connection, &place), before);
}

#[test]
fn a_server_that_forgot_the_script_is_given_it_again() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), real());
    for _ in 0..3 {
        let asked = ask(connection, &script, &place, &caller("web-1"), &CHANGE, None);
        assert_eq!(asked.unwrap().verdict, Verdict::Done);
        let _: () = redis::cmd("SCRIPT").arg("FLUSH").query(connection).unwrap();
    }
}

#[test]
fn a_server_that_can_not_say_who_may_publish_takes_it() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    const ASKS: &str = "redis.acl_check_cmd and";
    assert_eq!(SCRIPT.matches(ASKS).count(), 1);
    // As before Redis 7, where there is none.
    let script = redis::Script::new(&SCRIPT.replace(ASKS, "redis.none_such and"));
    let (connection, place) = (&mut server.connect(), place());
    let asked = ask(connection, &script, &place, &caller("web-1"), &CHANGE, None);
    assert_eq!(asked.unwrap().verdict, Verdict::Done);
}

#[test]
fn a_node_of_a_cluster_takes_it() {
    let Some(server) = Server::start_with_port(&["--cluster-enabled", "yes"]) else {
        return;
    };
    let (connection, script) = (&mut server.connect(), real());
    // `ADDSLOTSRANGE` is of Redis 7.
    let mut all_slots = redis::cmd("CLUSTER");
    all_slots
        .arg("ADDSLOTS")
        .arg((0..16_384).collect::<Vec<u16>>());
    let _: () = all_slots.query(connection).unwrap();
    while !redis::cmd("CLUSTER")
        .arg("INFO")
        .query::<String>(connection)
        .unwrap()
        .contains("cluster_state:ok")
    {
        thread::yield_now();
    }
    for name in ["pms", "{pms}", "}{", "a{b}c"] {
        let place = Place::new(&Prefix::default(), name, Some("{H1}"));
        let mut ask = |command| ask(connection, &script, &place, &caller("web-1"), command, None);
        assert_eq!(ask(&READ).unwrap().verdict, Verdict::Missing);
        assert_eq!(ask(&CHANGE).unwrap().verdict, Verdict::Done);
        assert_eq!(ask(&READ).unwrap().verdict, Verdict::Done);
    }
    // Spread over slots as by their whole keys: nobody's braces are hash tags.
    let mut slot = |key: &str| {
        let mut slot = redis::cmd("CLUSTER");
        slot.arg("KEYSLOT").arg(key);
        slot.query::<u16>(connection).unwrap()
    };
    let prefix = Prefix::default();
    let slots: Vec<u16> = (0..50)
        .map(|n| slot(Place::new(&prefix, "pms", Some(&format!("{{x}}{n}"))).key()))
        .collect();
    let mut different = slots.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 45, "{slots:?}");
    let tagged = Prefix::new("{breakers}").unwrap();
    assert_eq!(
        slot(Place::new(&tagged, "a", None).key()),
        slot(Place::new(&tagged, "b", Some("c")).key())
    );
}

#[test]
fn a_key_lives_as_long_as_it_is_used() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), real());
    let whole = LIVES.as_millis() as i64;
    let mut caller = caller("web-1");
    let mut ask = |connection: &mut _, command| {
        caller.present = !caller.present;
        ask(connection, &script, &place, &caller, command, None).unwrap()
    };
    // What only reads leaves nothing behind.
    caller_reads_nothing(&server, &place);
    ask(connection, &CHANGE);
    let lives: i64 = connection.pttl(place.key()).unwrap();
    assert!((whole - 60_000..=whole).contains(&lives), "{lives}");
    // Not for each use: it would be sent to replicas.
    let short = whole - 100_000;
    let _: () = connection.pexpire(place.key(), short).unwrap();
    ask(connection, &READ);
    let lives: i64 = connection.pttl(place.key()).unwrap();
    assert!(lives <= short, "{lives}");
    for before in [whole / 2, 10_000] {
        let _: () = connection.pexpire(place.key(), before).unwrap();
        ask(connection, &READ);
        let lives: i64 = connection.pttl(place.key()).unwrap();
        assert!(lives > whole - 60_000, "{lives}");
    }
    let _: () = connection.persist(place.key()).unwrap();
    ask(connection, &READ);
    let lives: i64 = connection.pttl(place.key()).unwrap();
    assert!(lives > 0, "{lives}");
}

fn caller_reads_nothing(server: &Server, place: &Place) {
    let mut connection = server.connect();
    let mut caller = caller("web-1");
    caller.present = false;
    let read = ask(&mut connection, &real(), place, &caller, &READ, None);
    assert_eq!(read.unwrap().verdict, Verdict::Missing);
    assert!(!connection.exists::<_, bool>(place.key()).unwrap());
}

#[test]
fn silent_instances_are_forgotten_a_few_at_a_time() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), timed());
    for instances in [60, 2_000] {
        let mut now = 1_764_530_000_000_000;
        let _: () = connection.del(place.key()).unwrap();
        for number in 0..instances {
            let caller = caller(&format!("web-{number}"));
            ask(connection, &script, &place, &caller, &count(1), Some(now)).unwrap();
        }
        let fields =
            |connection: &mut redis::Connection| -> usize { connection.hlen(place.key()).unwrap() };
        let all = fields(connection);
        assert_eq!(all, instances + 8);
        let mut rounds = 0;
        let mut before = all;
        while fields(connection) > 9 {
            now += 4_000_000;
            rounds += 1;
            assert!(rounds < 200, "{before} are still there");
            ask(
                connection,
                &script,
                &place,
                &caller("web-0"),
                &READ,
                Some(now),
            )
            .unwrap();
            let after = fields(connection);
            // However many are silent, not all of them are looked at at once.
            assert!(before - after < 300, "{before} {after}");
            before = after;
        }
        assert!(rounds >= 5, "{rounds}: the others counted for so long");
    }
}

#[test]
fn the_script_that_users_run_reads_the_servers_clock() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), real());
    let time = |connection: &mut redis::Connection| {
        let (seconds, micros): (u64, u64) = redis::cmd("TIME").query(connection).unwrap();
        seconds * 1_000_000 + micros
    };
    let before = time(connection);
    let changed = ask(connection, &script, &place, &caller("web-1"), &CHANGE, None);
    let between = time(connection);
    let read = ask(connection, &script, &place, &caller("web-1"), &READ, None);
    let after = time(connection);
    let (changed, read) = (changed.unwrap().now.unwrap(), read.unwrap().now.unwrap());
    assert!(
        (before..=between).contains(&changed.version.epoch),
        "{changed:?}"
    );
    assert_eq!(changed.shared, OPEN);
    assert_eq!(read.version, changed.version);
    let passed = OPEN.wait - read.shared.wait;
    assert!(passed <= after - before, "{passed}");
    let since = changed.version.epoch;
    assert!(passed >= between.saturating_sub(since), "{passed}");
}
