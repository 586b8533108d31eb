//! What is wrong, in words of ours: those of a server, or of a client, may repeat a user, a password, or
//! anything.

mod encryption;
mod rights;
mod unknown;

use super::connection::Refusal;
use crate::error::{Right, Trouble};
use redis::{ErrorKind, RedisError};
use std::error::Error;
use std::io;
use std::time::Duration;
use unknown::Unknown;

#[cfg(feature = "tls")]
pub(crate) use encryption::{NO_TLS, of_handshake};
pub(crate) use encryption::{without_answer, without_tls};
pub(crate) use rights::{pattern, with_prefix};

/// Where a host's name leads nowhere: why, in the system's words.
pub(crate) fn of_lookup(why: impl std::fmt::Display) -> Trouble {
    Trouble::Unreachable(format!("its name can't be resolved ({why})"))
}

/// Of a connection that can't be made, or ended.
pub(crate) fn of_io(error: &io::Error) -> String {
    // The system's words, where it is the system's error.
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

/// What the client says where `SELECT` was refused: of why, it says nothing.
const NO_DATABASE: &str = "refused to switch database";

/// What is to be done where a login is refused.
const LOGIN: &str = "give both in the address, or by `FleetBuilder::login`";

/// What is to be done where a node of a cluster was taken for a Redis that has all circuits.
const CLUSTER: &str = match cfg!(feature = "cluster") {
    true => {
        "it is a node of a cluster, which has only a part of the circuits: say so by \
         `FleetBuilder::node(url)`, of the same URL if there is no other (the feature `cluster` is there)"
    }
    false => {
        "it is a node of a cluster, which has only a part of the circuits: add the feature `cluster` of \
         breaker-redis in `Cargo.toml`, and say so by `FleetBuilder::node(url)`, of the same URL if there is \
         no other"
    }
};

/// While logging in.
pub(crate) fn of_login(error: &RedisError) -> Trouble {
    if error.kind() == ErrorKind::RESP3NotSupported {
        return too_old();
    }
    if error.to_string().contains(NO_DATABASE) {
        return Trouble::Refuses(
            "it doesn't give the database that the URL names: there is none of this number, or the \
             user lacks `+select`"
                .to_owned(),
        );
    }
    match error.code() {
        Some("NOPROTO") => Trouble::Protocol("it doesn't know version 3".to_owned()),
        Some("WRONGPASS") => Trouble::Login(format!(
            "user or password is wrong, or the user is off (WRONGPASS): {LOGIN}"
        )),
        Some("NOAUTH") => Trouble::Login(format!("it asks for a password (NOAUTH): {LOGIN}")),
        Some(code) => refusal(&Refusal::new(code, error.detail())),
        None if error.kind() == ErrorKind::AuthenticationFailed => {
            Trouble::Login(format!("user or password is wrong, or missing: {LOGIN}"))
        }
        None => of_answer(error, Duration::ZERO),
    }
}

/// Where an answer was waited for, for so long.
pub(crate) fn of_answer(error: &RedisError, within: Duration) -> Trouble {
    if let Some(code) = error.code() {
        return refusal(&Refusal::new(code, error.detail()));
    }
    if error.is_timeout() {
        return Trouble::Silent(within);
    }
    match error.kind() {
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
            Trouble::Nonsense("it isn't Redis' protocol".to_owned())
        }
        _ => {
            let io = error.source().and_then(|source| source.downcast_ref());
            Trouble::Ended(io.map_or_else(|| "it was closed".to_owned(), of_io))
        }
    }
}

/// Whether it is so for all commands, and not only for that of one circuit.
pub(crate) fn is_for_all(refusal: &Refusal) -> bool {
    why(&refusal.code).is_some()
        || unknown::unknown(refusal).is_some()
        || rights::missing(refusal).is_some_and(|missing| !is_of_circuit(&missing))
}

/// Whether it is the circuit's key or channel that the user may not use. Whether it is so of all was
/// looked at when the connection was made.
fn is_of_circuit(right: &Right) -> bool {
    matches!(right, Right::Keys(_) | Right::Channels(_))
}

/// What a user may not hear, where that is said of a channel. `None`: something else is wrong.
pub(crate) fn of_channel(error: &RedisError) -> Option<Trouble> {
    let missing = rights::missing(&Refusal::new(error.code()?, error.detail()))?;
    is_of_circuit(&missing).then_some(Trouble::Forbidden(missing))
}

/// What Redis answered instead of what was asked.
pub(crate) fn refusal(refusal: &Refusal) -> Trouble {
    if let Some(missing) = rights::missing(refusal) {
        return Trouble::Forbidden(missing);
    }
    if let Some(unknown) = unknown::unknown(refusal) {
        return match unknown {
            Unknown::Command(unknown::HELLO) => too_old(),
            unknown => Trouble::Refuses(unknown::in_words(unknown)),
        };
    }
    let code = refusal.code.as_str();
    if code == "ERR" && refusal.details.starts_with("max number of clients") {
        return Trouble::Refuses(
            "it takes no more connections: each process has one, so set its `maxclients` to more than \
             there are processes"
                .to_owned(),
        );
    }
    if matches!(code, "WRONGPASS" | "NOAUTH") {
        return Trouble::Login(format!("it asks for another login ({code}): {LOGIN}"));
    }
    let shown = match is_code(code) {
        true => code,
        false => "no code",
    };
    match why(code) {
        Some(why) => Trouble::Refuses(format!("{why} ({shown})")),
        None => Trouble::Refuses(format!("it answers with an error ({shown})")),
    }
}

fn too_old() -> Trouble {
    Trouble::Protocol("it doesn't know `HELLO`".to_owned())
}

/// Codes are short words in capitals. What isn't may be anything.
fn is_code(code: &str) -> bool {
    (1..=24).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// What a script met, where Redis says it within an error of its own, as before version 7. Else what it
/// said.
pub(crate) fn met_by_script<'a>(code: &'a str, details: &'a str) -> (&'a str, &'a str) {
    // `@user_script: 340: -OOM command not allowed ..`: after the line.
    let within = match code {
        "ERR" if details.starts_with("Error running script") => {
            details.rsplit_once("@user_script: ").map(|(_, met)| met)
        }
        // The script itself gave it on.
        "@user_script:" => Some(details),
        _ => None,
    };
    let Some((_, met)) = within.and_then(|within| within.split_once(": ")) else {
        return (code, details);
    };
    match met.strip_prefix('-').and_then(|met| met.split_once(' ')) {
        Some(met) => met,
        None => ("ERR", met),
    }
}

/// What is wrong with a Redis as a whole.
fn why(code: &str) -> Option<&'static str> {
    Some(match code {
        "NOAUTH" | "WRONGPASS" => "it asks for another login",
        "READONLY" => "it is a replica: connect to the primary",
        "OOM" => "its memory is full",
        "MISCONF" => "it can't save to its disk, and takes no changes",
        "LOADING" => "it is still loading",
        "BUSY" => "it is busy with somebody's script",
        "MASTERDOWN" => "it is a replica without a primary",
        "NOREPLICAS" => "it has too few replicas to take changes",
        "CLUSTERDOWN" => "its cluster is down",
        "MOVED" | "ASK" | "CROSSSLOT" | "TRYAGAIN" => CLUSTER,
        "DENIED" => {
            "it is in protected mode, and talks to its own host alone: give it a password, or say \
             `protected-mode no` in its configuration"
        }
        "UNKILLABLE" => "it is busy with a script that can't be stopped",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Trouble, is_for_all, refusal};

    fn said(code: &str, details: &str) -> String {
        match refusal(&Refusal::new(code, Some(details))) {
            Trouble::Refuses(what) => what,
            trouble => trouble.to_string(),
        }
    }

    #[test]
    fn what_can_be_mended_says_how() {
        let node = said("MOVED", "3999 127.0.0.1:6381");
        for told in [
            "a node of a cluster",
            "`FleetBuilder::node(url)`",
            "the feature `cluster`",
        ] {
            assert!(node.contains(told), "{node}");
        }
        let is_there = node.contains("(the feature `cluster` is there)");
        let is_to_be_added = node.contains("add the feature `cluster` of breaker-redis");
        let (expected, not) = (cfg!(feature = "cluster"), !cfg!(feature = "cluster"));
        assert_eq!((is_there, is_to_be_added), (expected, not), "{node}");
        assert!(!node.contains("6381"), "{node}");
        let protected = said("DENIED", "Redis is running in protected mode");
        assert!(protected.contains("give it a password"), "{protected}");
        for code in ["WRONGPASS", "NOAUTH"] {
            let login = said(code, "shop");
            assert!(login.contains("by `FleetBuilder::login`"), "{login}");
            assert!(!login.contains("shop"), "{login}");
        }
    }

    /// As Redis says it before 7.
    #[test]
    fn what_a_script_met_is_told_as_if_it_were_a_command() {
        let within = |met: &str| {
            format!(
                "Error running script (call to f_00): @user_script:340: @user_script: 340: {met}"
            )
        };
        for (met, expected) in [
            (
                "-OOM command not allowed when used memory > 'maxmemory'.",
                "its memory is full (OOM)",
            ),
            (
                "-READONLY You can't write against a read only replica.",
                "it is a replica: connect to the primary (READONLY)",
            ),
            (
                "-NOREPLICAS Not enough good replicas to write.",
                "it has too few replicas to take changes (NOREPLICAS)",
            ),
            (
                "The user executing the script can't run this command or subcommand",
                "may not run a command that the script runs",
            ),
        ] {
            let said = said("ERR", &within(met));
            assert!(said.contains(expected), "{said}");
            assert!(is_for_all(&Refusal::new("ERR", Some(&within(met)))));
        }
        let right = "340: The user executing the script can't run this command or subcommand";
        let said_on = said("@user_script:", right);
        assert!(
            said_on.contains("a command that the script runs"),
            "{said_on}"
        );
        // Anything else is of the one circuit.
        for other in [
            within("user_script:1: abc"),
            within("-abc"),
            within(""),
            "Error running script (call to f_00): @user_script: 7".to_owned(),
            "-OOM".to_owned(),
        ] {
            assert!(!is_for_all(&Refusal::new("ERR", Some(&other))), "{other}");
            assert_eq!(said("ERR", &other), "it answers with an error (ERR)");
        }
    }

    #[test]
    fn what_is_of_one_key_or_channel_is_of_one_circuit() {
        for (code, details) in [
            (
                "NOPERM",
                "this user has no permissions to access one of the keys used as arguments",
            ),
            ("NOPERM", "No permissions to access a key"),
            (
                "NOPERM",
                "this user has no permissions to access one of the channels used as arguments",
            ),
            (
                "ERR",
                "The user executing the script can't publish to the channel mentioned in the command",
            ),
        ] {
            assert!(!is_for_all(&Refusal::new(code, Some(details))), "{details}");
        }
        for (code, details) in [
            (
                "NOPERM",
                "User monkey has no permissions to run the 'evalsha' command",
            ),
            (
                "ERR",
                "The user executing the script can't run this command or subcommand script",
            ),
            ("OOM", "no room for a key"),
        ] {
            assert!(
                is_for_all(&Refusal::new(code, Some(details))),
                "{code} {details}"
            );
        }
    }
}
