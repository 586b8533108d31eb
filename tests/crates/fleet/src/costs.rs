//! What Redis takes for what a fleet asks of it: its time on a processor, and its memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use breaker_redis::protocol::{
    Caller, Cause, Command, Counts, Known, Limits, Place, Prefix, Quorum, Reply, SCRIPT, Shared,
    Who, arguments,
};
use breakerbox::State;
use redis::{Cmd, ConnectionLike, Value};

use crate::server::{self, Server};
use crate::wait;

/// A kind of command, and what it costs Redis.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// What is asked.
    pub what: &'static str,
    /// Where each comes on a connection of its own.
    pub alone: Duration,
    /// Where 64 come at once.
    pub batched: Duration,
}

/// What a change costs Redis of which so many are told.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Subscribers.
    pub subscribers: usize,
    /// For each of them, and each message: all that Redis and the system do for it.
    pub message: Duration,
    /// How long another client waits for an answer that asks just after a message.
    pub others_wait: Duration,
    /// What a connection takes of its memory, in bytes.
    pub memory: u64,
}

/// Circuits that are asked for in turn.
const CIRCUITS: u64 = 1_000;

/// Connections that ask one thing at a time.
const CONNECTIONS: usize = 50;

/// What is asked at once by who has many circuits.
const BATCH: usize = 64;

fn caller(number: usize, present: bool) -> Caller {
    Caller {
        who: Who::new(&format!("measured-{number}.0123456789abcdef")).expect("a name"),
        alive: 15_000_000,
        longest_lease: 60_000_000,
        declared: None,
        present,
    }
}

fn place(number: u64) -> Place {
    Place::new(&Prefix::default(), "measured", Some(&number.to_string()))
}

fn shared(state: State, wait: u64) -> Shared {
    Shared {
        state,
        wait,
        imposed: false,
        reopenings: 0,
    }
}

fn change(known: Known) -> Command {
    Command::Change {
        known,
        to: shared(State::Open, 30_000_000),
        cause: Cause::Tripped { failures: 5 },
        again: false,
    }
}

/// Of a circuit that has not counted so much before.
fn count(known: Known, failures: u32) -> Command {
    Command::Count {
        known,
        counts: Counts {
            failures,
            ..Counts::default()
        },
        limits: Limits::Consecutive {
            threshold: u32::MAX,
        },
        quorum: Quorum::Instances(2),
        to: shared(State::Open, 30_000_000),
    }
}

fn command(script: &str, circuit: u64, caller: &Caller, command: &Command) -> Cmd {
    let (place, week) = (place(circuit), Duration::from_secs(7 * 86_400));
    let mut asks = redis::cmd("EVALSHA");
    asks.arg(script).arg(1).arg(place.key());
    asks.arg(arguments(&place, caller, week, command));
    asks
}

/// What each kind of command costs, by so many of them.
///
/// # Panics
/// If the server doesn't answer as it should.
#[must_use]
pub fn commands(rounds: u32) -> Vec<Cost> {
    let read = |known, _| Command::Read { known };
    let kinds = [
        Kind {
            what: "a poll of a circuit of which nothing is stored",
            state: State::Closed,
            present: false,
            asks: read,
        },
        Kind {
            what: "a poll of one that has been open",
            state: State::Open,
            present: false,
            asks: read,
        },
        Kind {
            what: "the same with `quorum_share`",
            state: State::Open,
            present: true,
            asks: read,
        },
        Kind {
            what: "a change",
            state: State::Open,
            present: false,
            asks: |known, _| change(known),
        },
        Kind {
            what: "a count, or a vote",
            state: State::Closed,
            present: false,
            asks: |known, round| count(known, round + 1),
        },
    ];
    let cost = |kind: Kind| Cost {
        what: kind.what,
        alone: cost(kind, rounds, 1),
        batched: cost(kind, rounds, BATCH),
    };
    kinds.map(cost).to_vec()
}

/// What is asked, of a circuit that stands so.
#[derive(Clone, Copy)]
struct Kind {
    what: &'static str,
    state: State,
    present: bool,
    asks: fn(Known, u32) -> Command,
}

fn cost(kind: Kind, rounds: u32, size: usize) -> Duration {
    let server = Server::start();
    let connect = |_| server.tcp_connection().expect("a connection");
    let mut connections: Vec<redis::Connection> = (0..CONNECTIONS).map(connect).collect();
    let script: String = server.ask(redis::cmd("SCRIPT").arg("LOAD").arg(SCRIPT));
    let mut known = vec![None; CIRCUITS as usize];
    if kind.state == State::Open {
        for circuit in 0..CIRCUITS {
            let answer = server.ask(&command(
                &script,
                circuit,
                &caller(0, kind.present),
                &change(None),
            ));
            known[circuit as usize] = version(&answer);
        }
    }
    let mut costs = Vec::new();
    for round in 0..rounds {
        let before = server.cpu();
        for first in (0..CIRCUITS).step_by(CONNECTIONS * size) {
            let circuits: Vec<u64> = (first..CIRCUITS).take(CONNECTIONS * size).collect();
            let mut batches: Vec<_> = circuits.chunks(size).zip(&mut connections).collect();
            for (number, (batch, connection)) in batches.iter_mut().enumerate() {
                let mut packed = Vec::new();
                for circuit in *batch {
                    let what = (kind.asks)(known[*circuit as usize], round);
                    let asks = command(&script, *circuit, &caller(number, kind.present), &what);
                    packed.extend(asks.get_packed_command());
                }
                connection.send_packed_command(&packed).expect("to ask");
            }
            for (batch, connection) in batches {
                for circuit in batch {
                    let answer = connection.recv_response().expect("an answer");
                    known[*circuit as usize] = version(&answer).or(known[*circuit as usize]);
                }
            }
        }
        costs.push((server.cpu() - before) / CIRCUITS as u32);
    }
    undisturbed(costs)
}

/// What a quarter was below: of a machine that does other things too, most is more than what it costs.
fn undisturbed(mut costs: Vec<Duration>) -> Duration {
    costs.sort_unstable();
    costs[costs.len() / 4]
}

fn version(answer: &Value) -> Known {
    let Value::BulkString(text) = answer else {
        panic!("{answer:?} is no answer of the script");
    };
    let reply = Reply::decode(text).expect("an answer of the script");
    reply.now.map(|told| told.version)
}

/// What a message costs that so many hear.
///
/// # Panics
/// If the server doesn't take so many connections, or doesn't answer as it should.
#[must_use]
pub fn told(subscribers: usize, messages: u32) -> Told {
    let server = Server::with(server::Settings {
        lines: vec![("maxclients".into(), (subscribers + 100).to_string())],
        ..server::Settings::default()
    });
    let script: String = server.ask(redis::cmd("SCRIPT").arg("LOAD").arg(SCRIPT));
    let memory = || -> u64 {
        let info: redis::InfoDict = server.ask(redis::cmd("INFO").arg("memory"));
        info.get("used_memory").expect("its memory")
    };
    let before = memory();
    let place = place(0);
    let subscribe = |_| {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        let mut commands = redis::cmd("HELLO").arg(3).get_packed_command();
        let subscribe = redis::cmd("SUBSCRIBE")
            .arg(place.channel())
            .get_packed_command();
        commands.extend(subscribe);
        stream.write_all(&commands).expect("to subscribe");
        stream
    };
    let heard: Vec<TcpStream> = (0..subscribers).map(subscribe).collect();
    let mut counted = redis::cmd("PUBSUB");
    counted.arg("NUMSUB").arg(place.channel());
    wait::until_so("all to be subscribed", || {
        let (_, number): (String, usize) = server.ask(&counted);
        number == subscribers
    });
    let memory = (memory() - before) / subscribers as u64;

    let mut connection = server.connection().expect("a connection");
    let mut other = server.tcp_connection().expect("a connection");
    let mut known = None;
    let mut tell = |known: &mut Known| {
        let asks = command(&script, 0, &caller(0, false), &change(*known));
        *known = version(&connection.req_command(&asks).expect("an answer"));
        let asked = Instant::now();
        let _: Value = redis::cmd("PING").query(&mut other).expect("an answer");
        asked.elapsed()
    };
    tell(&mut known);
    let (mut waits, mut took) = (Vec::new(), Vec::new());
    for _ in 0..messages {
        let before = server.cpu();
        waits.push(tell(&mut known));
        took.push(server.cpu() - before);
    }
    drop(heard);
    Told {
        subscribers,
        message: undisturbed(took) / u32::try_from(subscribers).unwrap_or(u32::MAX),
        others_wait: undisturbed(waits),
        memory,
    }
}

fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

/// What was measured, as tables in Markdown.
#[must_use]
pub fn tables(commands: &[Cost], told: &[Told]) -> String {
    let mut text = String::from(
        "| a command, on Redis' processor | each on a connection of its own | 64 at once |\n\
         | --- | ---: | ---: |\n",
    );
    for Cost {
        what,
        alone,
        batched,
    } in commands
    {
        let _ = writeln!(
            text,
            "| {what} | {} | {} |",
            micros(*alone),
            micros(*batched)
        );
    }
    text.push_str(
        "\n| a message to | for each of them | what another client waits then | memory of a connection |\n\
         | ---: | ---: | ---: | ---: |\n",
    );
    for told in told {
        let _ = writeln!(
            text,
            "| {} subscribers | {} | {:.1} ms | {} bytes |",
            told.subscribers,
            micros(told.message),
            told.others_wait.as_secs_f64() * 1e3,
            told.memory,
        );
    }
    text
}
