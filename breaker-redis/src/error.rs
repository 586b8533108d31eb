//! What can go wrong, in words without secrets: no password, no user, no whole URL.

use crate::sharing::SharingError;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a fleet can't be started, or a breaker not be shared. That Redis can't be reached is no such
/// error: see [`FleetStatus`](crate::FleetStatus).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The address of Redis can't be read.
    #[error(
        "the address of redis can't be read ({0}): write `redis://host:6379`, \
         `rediss://host:6379` for TLS, or `unix:///path/of/the/socket`; what is special in a URL, in a \
         password `#` and `/` above all, is written as `%23` and `%2F`, or given by `login`"
    )]
    Address(&'static str),
    /// The address asks for TLS without a look at the certificate, which is not done.
    #[error(
        "the address ends in `#insecure`, so as not to look at the certificate of redis, which is always \
         looked at: leave `#insecure` out, and give whom to trust by `root_certificates`"
    )]
    Insecure,
    /// The address names a database that can't be there.
    #[error("the database in the address of redis {0}")]
    Database(&'static str),
    /// What is asked for needs a feature of this crate.
    #[error("{what} needs the feature `{feature}` of breaker-redis: add it in `Cargo.toml`")]
    Feature {
        /// The feature.
        feature: &'static str,
        /// What needs it.
        what: &'static str,
    },
    /// A setting that can never work.
    #[error("`{setting}` {problem}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What is wrong, and what to write instead.
        problem: &'static str,
    },
    /// A time that is too short to work.
    #[error("`{setting}` is {value:?}, which is less than {least:?}: {why}")]
    TooShort {
        /// Its name.
        setting: &'static str,
        /// What was set.
        value: Duration,
        /// The least that works, with what else was set.
        least: Duration,
        /// Why, and what to write instead.
        why: &'static str,
    },
    /// A time that is too long to work.
    #[error("`{setting}` is {value:?}, which is more than {most:?}: {why}")]
    TooLong {
        /// Its name.
        setting: &'static str,
        /// What was set.
        value: Duration,
        /// The most that works, with what else was set.
        most: Duration,
        /// Why, and what to write instead.
        why: &'static str,
    },
    /// A certificate or key can't be read.
    #[error("TLS: {0}")]
    Certificate(String),
    /// The system has no thread for the background.
    #[error("the fleet's background has no thread: {0}")]
    Thread(#[source] io::Error),
    /// The options of a breaker can't work.
    #[error("circuit `{name}` can't be shared: {error}")]
    Sharing {
        /// The breaker's name.
        name: String,
        /// Why.
        #[source]
        error: SharingError,
    },
    /// The breaker is linked to something else: it was shared by another `FleetBreaker` already, or
    /// is shared with another running fleet.
    #[error(
        "circuit `{0}` is shared already: share a breaker once, by one `FleetBreaker`, and with one \
         fleet at a time (drop the other fleet first)"
    )]
    AlreadyShared(String),
    /// The fleet has another breaker of this name.
    #[error(
        "circuit `{0}` is the name of another breaker that this fleet shares: instances share a \
         circuit by its name, so give each its own"
    )]
    NameTaken(String),
    /// The breaker didn't get the name that it asked for, as another one of this process has it.
    #[error(
        "circuit `{name}` was to be called `{asked}`, which is the name of another breaker of this process: \
         instances share a circuit by its name, so give each its own, or use the one of that name for both"
    )]
    Renamed {
        /// The name that it got instead.
        name: String,
        /// The name that it asked for.
        asked: String,
    },
}

/// Why a fleet wasn't [ready](crate::Fleet::ready) in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the fleet is not ready after {within:?}: {}", Why(.error.as_ref()))]
pub struct NotReady {
    /// How long was waited.
    pub within: Duration,
    /// What the last attempt to reach Redis ended with, or what is wrong with a circuit that it refuses; if
    /// there was anything.
    pub error: Option<ConnectionError>,
}

/// Displays why, also where nothing is known.
struct Why<'a>(Option<&'a ConnectionError>);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(error) => error.fmt(f),
            None => f.write_str(
                "redis has neither answered nor failed to by then: wait for longer than `connect` and \
                 `answer` of the fleet, and the error says what is wrong",
            ),
        }
    }
}

/// Why Redis can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("redis at {at} {trouble}")]
pub struct ConnectionError {
    /// Where: host and port, or the path of a socket.
    pub at: String,
    /// What is wrong.
    pub trouble: Trouble,
}

/// What else is needed to speak TLS.
const TLS: &str = match cfg!(feature = "tls") {
    true => "",
    false => ", and add the feature `tls` of breaker-redis in `Cargo.toml`",
};

/// What a user of Redis lacks, and the rule that gives it: a word of `ACL SETUSER`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Right {
    /// To run a command.
    #[error("may not run `{0}`: give it `+{0}`")]
    Command(&'static str),
    /// To run one of the commands that the script runs. Older ones than Redis 7.2 don't say which.
    #[error("may not run a command that the script runs: give it all")]
    Script,
    /// To use the fleet's keys: the pattern of all of them, as a rule has it.
    #[error("may not use keys that begin with the prefix: give it `~{0}`")]
    Keys(String),
    /// To use the fleet's channels: the pattern of all of them, as a rule has it.
    #[error("may not use channels that begin with the prefix: give it `&{0}`")]
    Channels(String),
    /// Redis doesn't say what.
    #[error("may not do what is needed: give it all")]
    Unnamed,
}

/// What is wrong with Redis, or the way there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// There is no connection: no such host, nobody listens, no way there.
    #[error("can't be reached: {0}")]
    Unreachable(String),
    /// No connection, or no answer, within the time for it.
    #[error("didn't answer within {0:?}")]
    Silent(Duration),
    /// The certificate, or the handshake.
    #[error("can't be spoken to over TLS: {0}")]
    Tls(String),
    /// User or password are wrong, or missing.
    #[error("refused the login: {0}")]
    Login(String),
    /// It speaks another protocol: too old a Redis, or none.
    #[error("doesn't speak RESP3, which Redis does from 6.0 on: {0}")]
    Protocol(String),
    /// The connection ended.
    #[error("ended the connection: {0}")]
    Ended(String),
    /// It speaks TLS, which the address doesn't ask for.
    #[error(
        "speaks TLS, which the address doesn't ask for: write `rediss://` instead of `redis://`{TLS}"
    )]
    SpeaksTls,
    /// Commands are refused: a replica, a full memory.
    #[error("refuses commands: {0}")]
    Refuses(String),
    /// Commands are refused: the user lacks a right.
    #[error(
        "refuses commands: the user {0} (NOPERM); see `FleetBuilder::login` for all that it needs"
    )]
    Forbidden(Right),
    /// What it says is not what was asked for.
    #[error("says what makes no sense: {0}")]
    Nonsense(String),
    /// It can be had, but not for one circuit: its key holds something else, or the user may not use it.
    #[error("can't be used for `{key}`: {why}")]
    Circuit {
        /// The circuit's key in Redis.
        key: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
}
