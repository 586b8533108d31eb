//! What an instance is told, and what it tells: lines of JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The header of a request that names who made it.
pub const INSTANCE: &str = "x-instance";

/// The header of a request that names the key of its circuit, as [`header_of`] writes it.
pub const KEY: &str = "x-key";

/// A key in a header, which takes no bytes but a few.
#[must_use]
pub fn header_of(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// What an instance is, told by its only argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Its name.
    pub instance: String,
    /// Where the service is that it calls: `http://127.0.0.1:1234/`.
    pub service: String,
    /// Where Redis is; `None`: its circuit is its own.
    pub redis: Option<String>,
    /// An authority to be trusted for `rediss://`: a file in PEM.
    pub authority: Option<PathBuf>,
    /// Who it is for `rediss://`: a certificate and its key, files in PEM.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Who it is for Redis: user and password.
    pub login: Option<(String, String)>,
    /// Whether it knows how the fleet's circuit stands before it takes orders.
    pub ready: bool,
    /// The circuit.
    pub circuit: Circuit,
    /// How it is shared.
    pub sharing: Sharing,
    /// Whether it writes what it traces to its standard error, at the finest level.
    pub trace: bool,
}

/// The settings of the circuit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Circuit {
    /// Its name.
    pub name: String,
    /// Failures in a row.
    pub threshold: u32,
    /// How long it stays open, in milliseconds.
    pub reset: u64,
    /// A share of that at random.
    pub jitter: f64,
    /// How long a call may take, in milliseconds.
    pub timeout: u64,
    /// There is one for each key, and so many are kept at most.
    pub keys: Option<u32>,
    /// It opens by rate, and not by failures in a row.
    pub rate: Option<Rate>,
}

/// When a circuit opens by rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// So many of all calls fail, as a share.
    pub failures: f64,
    /// Of the last so many calls: 100 at most.
    pub window: u32,
    /// Once there were so many.
    pub min_calls: u32,
}

/// How a circuit is shared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sharing {
    /// Whether failures of all instances count together.
    pub counted: bool,
    /// By how many instances an outage must be seen.
    pub quorum: u32,
    /// Before the names of keys and channels.
    pub prefix: String,
    /// How long a lease lasts, in milliseconds.
    pub lease: u64,
    /// How often Redis is asked without a reason, in milliseconds.
    pub poll: u64,
    /// How long Redis may take for an answer, in milliseconds.
    pub answer: u64,
    /// How long a connection to Redis may take to be made, in milliseconds.
    pub connect: u64,
}

impl Default for Circuit {
    /// One that opens after three failures in a row, for a second.
    fn default() -> Self {
        Self {
            name: "pms".into(),
            threshold: 3,
            reset: 1_000,
            jitter: 0.0,
            timeout: 20_000,
            keys: None,
            rate: None,
        }
    }
}

impl Default for Sharing {
    /// One trip opens all.
    fn default() -> Self {
        Self {
            counted: false,
            quorum: 1,
            prefix: "test".into(),
            lease: 2_000,
            poll: 500,
            answer: 1_000,
            connect: 5_000,
        }
    }
}

/// What an instance is to do: a line of its standard input. It ends when that ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Calls one after the other, so many microseconds after the last one's end.
    Go {
        /// The pause.
        pause: u64,
    },
    /// No more calls; those that are under way go on.
    Stand,
    /// So many calls, one after the other.
    Call {
        /// How many.
        times: u32,
    },
    /// What an operator does: `close`, `force_open`, `disable`, `shadow`, `clear`.
    Operate {
        /// It.
        what: String,
    },
    /// One of these, of a key. What isn't said of a key is meant for all that are known.
    Of {
        /// The key.
        key: String,
        /// What is to be done.
        order: Box<Order>,
    },
    /// Tells its state.
    Look,
    /// Ends, once the calls that are under way have.
    End,
}

/// What an instance tells: a line of its standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When, by [`monotonic`](crate::wait::monotonic).
    pub at: u64,
    /// What.
    pub saw: Saw,
}

/// What an instance saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saw {
    /// It takes orders.
    Ready,
    /// It can't be started like this.
    Refused {
        /// Why.
        error: String,
    },
    /// The end of a call.
    Call {
        /// Calls have numbers from 0 on.
        number: u64,
        /// What came of it.
        result: Answer,
        /// How long it took, in microseconds.
        took: u64,
        /// The key that it was made with.
        key: Option<String>,
    },
    /// A key was given up for another.
    GaveUp {
        /// Which.
        key: String,
    },
    /// A circuit of it entered a state.
    Changed {
        /// That of this key.
        key: Option<String>,
        /// Which.
        to: String,
        /// By what.
        by: String,
    },
    /// How it stands.
    State {
        /// The state of its circuit; of those by key, which are all in `keys`: closed.
        state: String,
        /// The states of all keys that it knows.
        keys: BTreeMap<String, String>,
        /// Whether it has a connection to Redis.
        connected: bool,
        /// What it was told that made no sense.
        nonsense: u64,
        /// What ended the last connection, or the last attempt to make one.
        trouble: Option<String>,
    },
    /// The fleet was lost.
    Lost {
        /// Why.
        error: String,
    },
    /// The fleet was found again.
    Restored,
    /// Another process declares the circuit otherwise.
    Differs {
        /// In what.
        differences: String,
    },
    /// It did all that it was told, and ends.
    Ended {
        /// Calls that it began.
        calls: u64,
    },
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The service answered well.
    Good,
    /// The service failed, or wasn't there.
    Failed,
    /// It took too long.
    TimedOut,
    /// It was refused by the circuit.
    Refused,
}

impl Answer {
    /// Whether the service was called.
    #[must_use]
    pub fn reached_out(self) -> bool {
        self != Self::Refused
    }
}
