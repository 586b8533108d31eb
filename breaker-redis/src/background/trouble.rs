//! What is wrong, in words of ours: those of a server, or of a client, may repeat a user, a password, or
//! anything.

use super::connection::Refusal;
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

/// What the client says where `SELECT` was refused: of why, it says nothing.
const NO_DATABASE: &str = "refused to switch database";

/// While logging in.
pub(crate) fn of_login(error: &RedisError) -> Trouble {
    if error.kind() == ErrorKind::RESP3NotSupported {
        return Trouble::Protocol("it doesn't know `HELLO`".to_owned());
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
        Some("WRONGPASS") => {
            Trouble::Login("user or password is wrong, or the user is off (WRONGPASS)".to_owned())
        }
        Some("NOAUTH") => Trouble::Login("it asks for a password (NOAUTH)".to_owned()),
        Some(code) => refusal(&Refusal::new(code, error.detail())),
        None if error.kind() == ErrorKind::AuthenticationFailed => {
            Trouble::Login("user or password is wrong, or missing".to_owned())
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
    why(&refusal.code).is_some() || missing_right(refusal).is_some()
}

/// What Redis answered instead of what was asked.
pub(crate) fn refusal(refusal: &Refusal) -> Trouble {
    if let Some(missing) = missing_right(refusal) {
        return Trouble::Refuses(format!(
            "the user {missing} (NOPERM): see `FleetBuilder::login` for all that it needs"
        ));
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

/// Commands that Redis names where a user may not run them.
const COMMANDS: [&str; 9] = [
    "asking",
    "cluster|slots",
    "evalsha",
    "script|load",
    "subscribe",
    "unsubscribe",
    "hset",
    "pexpire",
    "publish",
];

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

/// What a user may not do, if that is what is wrong. Newer ones than 7.0 also name the user, so nothing
/// of what Redis says is repeated.
fn missing_right(Refusal { code, details }: &Refusal) -> Option<String> {
    // Of what a script does itself, Redis says so under a common code: first 7.0, then later ones.
    let by_script = [
        "The user executing the script can't",
        "ACL failure in script",
    ];
    if code == "ERR" && by_script.iter().any(|words| details.starts_with(words)) {
        return Some("may not run a command that the script runs".to_owned());
    }
    if code != "NOPERM" {
        return None;
    }
    let mut commands = COMMANDS.iter();
    let command = commands.find(|command| details.contains(&format!("'{command}'")));
    Some(match command {
        Some(command) => format!("may not run `{command}`"),
        // Before Redis 7 it is not said which of its kind.
        None if details.contains("'script'") => "may not run `script|load`".to_owned(),
        None if details.contains("channel") => {
            "may not use channels that begin with the prefix".to_owned()
        }
        None if details.contains("key") => "may not use keys that begin with the prefix".to_owned(),
        None => "may not do what is needed".to_owned(),
    })
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
        "MOVED" | "ASK" | "CROSSSLOT" | "TRYAGAIN" => {
            "it is a node of a cluster, which this connection can't follow"
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
            trouble => panic!("{trouble}"),
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

    /// As Redis 6.2, 7.0 and 7.4 say it.
    #[test]
    fn a_missing_right_is_named_and_the_user_is_not() {
        for (code, details, expected) in [
            (
                "NOPERM",
                "this user has no permissions to run the 'evalsha' command",
                "may not run `evalsha`",
            ),
            (
                "NOPERM",
                "User shop has no permissions to run the 'script|load' command",
                "may not run `script|load`",
            ),
            (
                "NOPERM",
                "this user has no permissions to run the 'script' command or its subcommand",
                "may not run `script|load`",
            ),
            (
                "NOPERM",
                "this user has no permissions to access one of the keys used as arguments",
                "may not use keys",
            ),
            (
                "NOPERM",
                "No permissions to access a channel",
                "may not use channels",
            ),
            ("NOPERM", "shop", "may not do what is needed"),
            (
                "ERR",
                "The user executing the script can't run this command or subcommand script: 00, on \
                 @user_script:1.",
                "may not run a command that the script runs",
            ),
            (
                "ERR",
                "ACL failure in script: User shop has no permissions to run the 'time' command",
                "may not run a command that the script runs",
            ),
        ] {
            let said = said(code, details);
            assert!(said.contains(expected), "{said}");
            assert!(said.contains("`FleetBuilder::login`"), "{said}");
            assert!(!said.contains("shop"), "{said}");
        }
        assert!(!said("ERR", "unknown command").contains("login"));
        assert!(said("OOM", "'evalsha'").contains("memory is full"));
    }
}
