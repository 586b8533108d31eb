//! What the script makes of keys that hold something else, or what was damaged: nothing.

use super::super::version::AHEAD;
use super::super::wire::stored::Hash;
use super::super::{Cause, Command, Limits, Quorum, Reply, Unusable, Verdict, Version, arguments};
use super::any;
use super::script::{CHANGE, LIVES, OPEN, READ, ask, caller, count, dump, place, real, timed};
use super::server::Server;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{Commands, RedisResult};
use std::cell::RefCell;

#[test]
fn what_a_key_holds_that_is_no_circuit_stays_as_it_is() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place) = (&mut server.connect(), place());
    let script = real();
    let whole = "1764.2 open 5 0 1 1700 tripped 5 web-1 - 0 0 - - - c:5:0:0:30000000:0:i:1";
    let record = |record: &str| {
        vec!["HSET", "*", "format", "1", "record", record]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let replaced = |at: usize, with: &str| {
        let mut fields: Vec<&str> = whole.split(' ').collect();
        fields[at] = with;
        record(&fields.join(" "))
    };
    let mut cases = vec![
        (words("SET * 1"), Unusable::Foreign),
        (words("RPUSH * format 1"), Unusable::Foreign),
        (words("SADD * format"), Unusable::Foreign),
        (words("HSET * name value"), Unusable::Foreign),
        (words("HSET * record x"), Unusable::StoredOtherwise),
        (words("HSET * format 2"), Unusable::StoredOtherwise),
        (words("HSET * format 1.0"), Unusable::StoredOtherwise),
        (record(""), Unusable::Damaged),
        (record(&"9".repeat(100_000)), Unusable::Damaged),
        (record(&format!("{whole} 0")), Unusable::Damaged),
        (words("HSET * format 1 ticks x"), Unusable::Damaged),
        (words("HSET * format 1 member:web-1 x"), Unusable::Damaged),
    ];
    for (at, with) in [
        (0, "-"),
        (0, "1764"),
        (0, "1764.2.3"),
        (0, "9007199254740993.1"),
        (1, "ajar"),
        (2, "-5"),
        (2, "5e3"),
        (2, "0x5"),
        (2, "nan"),
        (2, "9999999999999999"),
        (2, "86400000001"),
        (3, "yes"),
        (4, "256"),
        (5, "inf"),
        (6, "weather"),
        (6, "operator"),
        (7, "4294967296"),
        (8, "-"),
        (8, "\u{e4}"),
        (9, "web-1"),
        (10, "-1"),
        (11, "x"),
        (12, "0"),
        (13, "1."),
        (14, "x"),
        (14, "9007199254740993"),
        (14, "1700"),
        (15, "x"),
        (15, "c:5:0:0:30000000:0:i"),
        (15, "c:5:0:0:30000000:0:i:1:"),
        (15, "c:5:0:0:30000000:0:i:1:1"),
        (15, "c:5:1:0:30000000:0:i:1"),
        (15, "c:5:0:1:30000000:0:i:1"),
        (15, "c:4294967296:0:0:30000000:0:i:1"),
        (15, "c:-5:0:0:30000000:0:i:1"),
        (15, "c:5:0:0:86400000001:0:i:1"),
        (15, "c:5:0:0:30000000:2:i:1"),
        (15, "c:5:0:0:30000000:0:i:4294967296"),
        (15, "c:5:0:0:30000000:0:s:0"),
        (15, "c:5:0:0:30000000:0:s:1000000001"),
        (15, "c:5:0:0:30000000:0:a:1"),
        (15, "a:5:0:0:30000000:0:i:1"),
        (15, "r:1000000001:0:0:30000000:0:i:1"),
        (15, "r:0:1000000001:0:30000000:0:i:1"),
        (15, "c:00000000000000005:0:0:30000000:0:i:1"),
        (
            15,
            "c:5:0:0:0000000000030000000:0:i:0000000000000000000000000000000001",
        ),
        // Later than the version itself.
        (12, "1764.3"),
        (13, "1764.2"),
        (1, "closed"),
        (1, "half_open"),
    ] {
        cases.push((replaced(at, with), Unusable::Damaged));
    }
    for (put, expected) in cases {
        let _: () = connection.del(place.key()).unwrap();
        let mut command = redis::Cmd::new();
        for word in &put {
            command.arg(if word == "*" { place.key() } else { word });
        }
        let _: redis::Value = command.query(connection).unwrap();
        // Where `EXISTS` alone tells that a hash has no field of ours.
        let expected = if put.contains(&"x".to_owned()) && put[2] == "record" {
            Unusable::Foreign
        } else {
            expected
        };
        let before = dump(connection, &place);
        for asked in [&READ, &CHANGE, &count(1)] {
            let answer = ask(connection, &script, &place, &caller("web-1"), asked, None);
            assert_eq!(answer, Err(expected), "{put:.200?}");
        }
        let lives: i64 = connection.pttl(place.key()).unwrap();
        assert_eq!(lives, -1, "{put:.200?}");
        assert_eq!(dump(connection, &place), before, "{put:.200?}");
    }
    // As it was, it is one.
    let _: () = connection.del(place.key()).unwrap();
    let _: () = connection.hset(place.key(), "format", "1").unwrap();
    let _: () = connection.hset(place.key(), "record", whole).unwrap();
    let answer = ask(connection, &script, &place, &caller("web-1"), &READ, None);
    assert_eq!(answer.unwrap().verdict, Verdict::Done);
}

#[test]
fn any_damage_is_refused_or_answered_and_never_half_done() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place) = (RefCell::new(server.connect()), place());
    let script = timed();
    let now = 1_764_530_000_000_000;
    let known = Version {
        epoch: now,
        counter: 1,
    };
    let damage = (
        any::<prop::sample::Index>(),
        prop_oneof![
            "[ -~]{0,40}",
            "([0-9]{1,17}[. ]?){1,16}",
            "[0-9]{1,16} [0-9]{1,16} [0-9]{1,16} [0-9]{1,3}",
            "[0-9]{1,2} ([0-9]{1,16} ){5}[0-9]{1,16}",
            any::<String>(),
        ],
        any::<Option<(prop::sample::Index, u8)>>(),
        any::command(Some(known)),
    );
    let mut runner = TestRunner::new(Config {
        cases: 1000,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&damage, |(field, text, byte, command)| {
        let connection = &mut connection.borrow_mut();
        let _: () = connection.del(place.key()).unwrap();
        for (name, failures) in [("web-0", 2), ("web-1", 3)] {
            let counted = count(failures);
            ask(
                connection,
                &script,
                &place,
                &caller(name),
                &counted,
                Some(now),
            )
            .unwrap();
        }
        let hash: Hash = connection.hgetall(place.key()).unwrap();
        let (field, whole) = hash.iter().nth(field.index(hash.len())).unwrap();
        let damaged = match byte {
            Some((at, byte)) => {
                let mut bytes = whole.clone().into_bytes();
                let at = at.index(bytes.len());
                bytes[at] = byte;
                bytes
            }
            None => text.into_bytes(),
        };
        let _: () = connection.hset(place.key(), field, &damaged).unwrap();
        let before = dump(connection, &place);
        let later = Some(now + 4_000_000);
        // An error of the script itself would be none of these.
        match ask(
            connection,
            &script,
            &place,
            &caller("web-0"),
            &command,
            later,
        ) {
            Ok(_) => {}
            Err(Unusable::Damaged | Unusable::StoredOtherwise) => {
                prop_assert_eq!(dump(connection, &place), before);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn who_calls_the_script_by_hand_leaves_nothing_that_can_not_be_read() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place, script) = (&mut server.connect(), place(), timed());
    let now = 1_764_530_000_000_000;
    let known = Some(Version {
        epoch: now,
        counter: 1,
    });
    let (lasts, to, cause) = (5_000_000, OPEN, Cause::Tripped { failures: 5 });
    let quorum = Quorum::Instances(1);
    let commands = [
        READ,
        CHANGE,
        Command::Change {
            known,
            to,
            cause,
            again: false,
        },
        Command::Lease { known, lasts },
        Command::Renew { known, lasts },
        Command::Release { known },
        Command::Leave { known },
        Command::Vote {
            known,
            open: true,
            to,
            quorum,
        },
        Command::Count {
            known,
            counts: Default::default(),
            limits: Limits::Consecutive { threshold: 0 },
            quorum,
            to,
        },
        Command::Offer {
            known: Version {
                epoch: now + 9,
                counter: 9,
            },
            to,
            cause,
        },
    ];
    let future = format!("{}.4503599627370496", now + AHEAD);
    let beyond = format!("{}.1", now + AHEAD + 1);
    let forged = [
        "",
        "-",
        "x",
        "-1",
        "1e9",
        "1e999",
        "nan",
        "inf",
        "0x10",
        "0.5",
        " 7",
        "7 8",
        "9999999999999999",
        "99999999999999999999",
        "half_open",
        "operator",
        "4503599627370496.4503599627370496",
        "\u{e4}\0",
        &future,
        &beyond,
    ];
    let (mut refused, mut done) = (0, 0);
    // The lease is somebody's, or nothing has happened yet.
    for before in [&[CHANGE, Command::Lease { known, lasts }][..], &[count(1)]] {
        for command in &commands {
            let whole = arguments(&place, &caller("web-1"), LIVES, command);
            for at in 0..whole.len() {
                for text in forged {
                    let _: () = connection.del(place.key()).unwrap();
                    for (number, command) in before.iter().enumerate() {
                        let now = Some(now + number as u64 * OPEN.wait);
                        ask(connection, &script, &place, &caller("web-1"), command, now).unwrap();
                    }
                    let was = dump(connection, &place);
                    let mut arguments = whole.clone();
                    arguments[at] = text.to_owned();
                    let mut invocation = script.key(place.key());
                    invocation.arg(&arguments).arg(now + OPEN.wait);
                    let answer: RedisResult<Vec<u8>> = invocation.invoke(connection);
                    let what = format!("{command:?}: {text} at {at}");
                    // What only names the channel and its message isn't stored.
                    let decoded = match answer {
                        Ok(answer) => {
                            done += 1;
                            Reply::decode(&answer)
                        }
                        Err(error) => {
                            refused += 1;
                            assert_eq!(error.code(), Some("ERR"), "{what}: {error}");
                            assert_eq!(dump(connection, &place), was, "{what}");
                            continue;
                        }
                    };
                    assert!(decoded.is_ok(), "{what}: {decoded:?}");
                    let later = Some(now + OPEN.wait + 1);
                    let read = ask(connection, &script, &place, &caller("web-2"), &READ, later);
                    assert!(read.is_ok(), "{what}: {read:?}");
                }
            }
        }
    }
    assert!(
        refused > 1_000 && done > 1_000,
        "{refused} refused, {done} done"
    );
}
