//! What is wrong, in words of ours: those of a server, or of a client, may repeat a user, a password, or
//! anything.

use crate::error::Trouble;
use redis::{ErrorKind, RedisError};
use std::error::Error;
use std::io;
use std::time::Duration;

/// Of a connection that can't be made, or ended.
pub(crate) fn of_io(error: &io::Error) -> String {
    // The system's words, where it is the system's error.
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

/// While logging in.
pub(crate) fn of_login(error: &RedisError) -> Trouble {
    if error.kind() == ErrorKind::RESP3NotSupported {
        return Trouble::Protocol("it doesn't know `HELLO`".to_owned());
    }
    match error.code() {
        Some("NOPROTO") => Trouble::Protocol("it doesn't know version 3".to_owned()),
        Some("WRONGPASS") => {
            Trouble::Login("user or password is wrong, or the user is off (WRONGPASS)".to_owned())
        }
        Some("NOAUTH") => Trouble::Login("it asks for a password (NOAUTH)".to_owned()),
        Some(code) => refusal(code),
        None if error.kind() == ErrorKind::AuthenticationFailed => {
            Trouble::Login("user or password is wrong, or missing".to_owned())
        }
        None => of_answer(error, Duration::ZERO),
    }
}

/// Where an answer was waited for, for so long.
pub(crate) fn of_answer(error: &RedisError, within: Duration) -> Trouble {
    if let Some(code) = error.code() {
        return refusal(code);
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
pub(crate) fn is_for_all(code: &str) -> bool {
    why(code).is_some()
}

/// What Redis answered instead of what was asked.
pub(crate) fn refusal(code: &str) -> Trouble {
    if matches!(code, "WRONGPASS" | "NOAUTH") {
        return Trouble::Login(format!("it asks for another login ({code})"));
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

/// Codes are short words in capitals. What isn't may be anything.
fn is_code(code: &str) -> bool {
    (1..=24).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// What is wrong with a Redis as a whole.
fn why(code: &str) -> Option<&'static str> {
    Some(match code {
        "NOPERM" => {
            "the user may not run a command, use a key or a channel that is needed: see \
             `FleetBuilder::login`"
        }
        "NOAUTH" | "WRONGPASS" => "it asks for another login",
        "READONLY" => "it is a replica: connect to the primary",
        "OOM" => "its memory is full",
        "MISCONF" => "it can't save to its disk, and takes no changes",
        "LOADING" => "it is still loading",
        "BUSY" => "it is busy with somebody's script",
        "MASTERDOWN" => "it is a replica without a primary",
        "NOREPLICAS" => "it has too few replicas to take changes",
        "CLUSTERDOWN" => "its cluster is down",
        "MOVED" | "ASK" | "CROSSSLOT" | "TRYAGAIN" => {
            "it is a node of a cluster, which this connection can't follow"
        }
        "UNKILLABLE" => "it is busy with a script that can't be stopped",
        _ => return None,
    })
}
