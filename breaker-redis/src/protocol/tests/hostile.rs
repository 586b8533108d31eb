//! What the script makes of keys that hold something else, or what was damaged: nothing.

use super::super::wire::stored::Hash;
use super::super::{Unusable, Verdict, Version};
use super::any;
use super::script::{CHANGE, READ, ask, caller, count, dump, place, real, timed};
use super::server::Server;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::Commands;
use std::cell::RefCell;

#[test]
fn what_a_key_holds_that_is_no_circuit_stays_as_it_is() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (connection, place) = (&mut server.connect(), place());
    let script = real();
    let whole = "1764.2 open 5 0 1 1700 tripped 5 web-1 - 0 0 - - -";
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
        (3, "yes"),
        (4, "256"),
        (5, "inf"),
        (6, "weather"),
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
