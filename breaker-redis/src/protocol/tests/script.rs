//! Running the script on a real server.

use super::super::wire::stored::{Hash, comparable};
use super::super::{
    Caller, Cause, Command, Counts, Limits, Place, Prefix, Quorum, Reply, SCRIPT, Shared, Unusable,
    Who, arguments,
};
use crate::background::trouble::met_by_script;
use breakerbox::State;
use redis::{Commands, Connection};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const LIVES: Duration = Duration::from_secs(3600);

pub(super) const OPEN: Shared = Shared {
    state: State::Open,
    wait: 60_000_000,
    imposed: false,
    reopenings: 0,
};

pub(super) const READ: Command = Command::Read { known: None };

/// An operator's: always done.
pub(super) const CHANGE: Command = Command::Change {
    known: None,
    to: OPEN,
    cause: Cause::Operator,
    again: false,
};

pub(super) const CLOSE: Command = Command::Change {
    known: None,
    to: Shared {
        state: State::Closed,
        wait: 0,
        ..OPEN
    },
    cause: Cause::Operator,
    again: false,
};

/// Far from opening anything.
pub(super) fn count(failures: u32) -> Command {
    Command::Count {
        known: None,
        counts: Counts {
            failures,
            ..Counts::default()
        },
        limits: Limits::Consecutive { threshold: 5_000 },
        quorum: Quorum::Instances(1),
        to: OPEN,
    }
}

pub(super) fn caller(name: &str) -> Caller {
    Caller {
        who: Who::new(name).unwrap(),
        alive: 15_000_000,
        present: true,
        longest_lease: 60_000_000,
        declared: None,
    }
}

/// Where the script reads the clock.
const READS_CLOCK: &str = "redis.call('TIME')";

pub(super) fn place() -> Place {
    Place::new(&Prefix::default(), "pms", None)
}

/// The script that users run.
pub(super) fn real() -> redis::Script {
    redis::Script::new(SCRIPT)
}

/// The same, but for the clock: its last argument says the time.
pub(super) fn timed() -> redis::Script {
    assert_eq!(SCRIPT.matches(READS_CLOCK).count(), 1);
    redis::Script::new(&SCRIPT.replace(READS_CLOCK, "{ 0, ARGV[#ARGV] }"))
}

/// What the script answers; `now`: to a [`timed`] one.
pub(super) fn ask(
    connection: &mut Connection,
    script: &redis::Script,
    place: &Place,
    caller: &Caller,
    command: &Command,
    now: Option<u64>,
) -> Result<Reply, Unusable> {
    let mut invocation = script.key(place.key());
    invocation.arg(arguments(place, caller, LIVES, command));
    if let Some(now) = now {
        invocation.arg(now);
    }
    let answer: Vec<u8> = invocation.invoke(connection).expect("an answer");
    Reply::decode(&answer)
}

/// Which major version the server is of, or which of Redis' a Valkey is like.
pub(super) fn version(connection: &mut Connection) -> u32 {
    let info: String = redis::cmd("INFO").arg("server").query(connection).unwrap();
    let (_, version) = info.split_once("redis_version:").expect("a version");
    let (major, _) = version.split_once('.').expect("a number");
    major.parse().expect("a number")
}

/// The code of an error, or of the one that a script met, which stands within another before Redis 7.
pub(super) fn code(error: &redis::RedisError) -> String {
    let code = error.code().unwrap_or_default();
    let (code, _) = met_by_script(code, error.detail().unwrap_or_default());
    code.to_owned()
}

/// What is stored, as far as the rules know of it.
pub(super) fn stored(connection: &mut Connection, place: &Place) -> Hash {
    comparable(connection.hgetall(place.key()).expect("a hash"))
}

/// All that a key holds: of a hash its fields, as they are dumped in any order.
pub(super) fn dump(connection: &mut Connection, place: &Place) -> (Option<Vec<u8>>, Fields) {
    match connection.hgetall(place.key()) {
        Ok(fields) => (None, fields),
        Err(_) => {
            let mut dump = redis::cmd("DUMP");
            let dump = dump.arg(place.key()).query(connection).unwrap();
            (dump, Fields::new())
        }
    }
}

type Fields = BTreeMap<Vec<u8>, Vec<u8>>;
