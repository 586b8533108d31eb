//! What a user of Redis needs, and what becomes of one who has less: nothing is changed.

use super::super::{Reply, Unusable, arguments};
use super::script::{CHANGE, LIVES, READ, ask, caller, dump, place, real, timed, version};
use super::server::Server;
use redis::{Connection, RedisResult};

/// A connection of a user who may do this.
fn user(server: &Server, rules: &[&str]) -> Connection {
    let mut set = redis::cmd("ACL");
    set.arg("SETUSER").arg("fleet").arg("reset").arg("on");
    set.arg(">secret").arg("resetchannels").arg(rules);
    let _: () = set.query(&mut server.connect()).unwrap();
    let mut connection = server.connect();
    let mut login = redis::cmd("AUTH");
    login.arg("fleet").arg("secret");
    let _: () = login.query(&mut connection).unwrap();
    connection
}

fn forget_all(server: &Server) {
    let mut connection = server.connect();
    for command in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"]] {
        let mut flush = redis::Cmd::new();
        flush.arg(command);
        let _: () = flush.query(&mut connection).unwrap();
    }
}

/// All that the script ever does: also to look for silent instances, and to delete them. The last reads
/// the server's clock.
fn all(connection: &mut Connection) -> RedisResult<()> {
    let place = place();
    for (name, command, now) in [
        ("web-1", &READ, Some(1_000)),
        ("web-2", &CHANGE, Some(2_000)),
        ("web-1", &READ, Some(100_000_000)),
        ("web-1", &READ, None),
    ] {
        let script = now.map_or_else(real, |_| timed());
        let mut invocation = script.key(place.key());
        invocation.arg(arguments(&place, &caller(name), LIVES, command));
        if let Some(now) = now {
            invocation.arg(now);
        }
        let answer: Vec<u8> = invocation.invoke(connection)?;
        if Reply::decode(&answer) == Err(Unusable::MayNotPublish) {
            return Err((redis::ErrorKind::Client, "may not publish").into());
        }
    }
    Ok(())
}

const COMMANDS: [&str; 11] = [
    "+evalsha",
    "+script|load",
    "+time",
    "+exists",
    "+hmget",
    "+hset",
    "+hdel",
    "+hscan",
    "+pttl",
    "+pexpire",
    "+publish",
];

const PLACES: [&str; 2] = ["~breakerbox:*", "&breakerbox:*"];

#[test]
fn a_user_needs_what_is_documented_and_all_of_it() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let documented = include_str!("../script.rs");
    let whole = [&COMMANDS[..], &PLACES].concat();
    all(&mut user(&server, &whole)).unwrap();
    for missing in whole.iter().copied() {
        forget_all(&server);
        let rules: Vec<_> = whole
            .iter()
            .copied()
            .filter(|rule| *rule != missing)
            .collect();
        let answer = all(&mut user(&server, &rules));
        assert!(answer.is_err(), "{missing} is not needed");
        let word = missing.replace("breakerbox", "prefix");
        assert!(documented.contains(&word), "{word} is not documented");
    }
}

#[test]
fn who_may_not_publish_changes_nothing() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (place, script) = (place(), real());
    let mut admin = server.connect();
    if version(&mut admin) < 7 {
        // There a script can't know it beforehand: the change is made, and the command fails.
        return;
    }
    for command in [&CHANGE, &READ] {
        ask(&mut admin, &script, &place, &caller("web-1"), command, None).unwrap();
    }
    let before = dump(&mut admin, &place);
    for rules in [
        ["+@all", "~*", "&elsewhere:*"],
        ["+@all", "~*", "resetchannels"],
    ] {
        let connection = &mut user(&server, &rules);
        let mut ask = |command| ask(connection, &script, &place, &caller("web-1"), command, None);
        assert_eq!(ask(&CHANGE), Err(Unusable::MayNotPublish));
        // To read nobody publishes.
        assert!(ask(&READ).is_ok());
        assert_eq!(dump(&mut admin, &place), before);
    }
    // Keys of others are not even looked at.
    let connection = &mut user(&server, &["+@all", "~elsewhere:*", "&*"]);
    let mut invocation = script.key(place.key());
    invocation.arg(arguments(&place, &caller("web-1"), LIVES, &CHANGE));
    let answer: RedisResult<Vec<u8>> = invocation.invoke(connection);
    assert_eq!(answer.unwrap_err().code(), Some("NOPERM"));
    assert_eq!(dump(&mut admin, &place), before);
}
