//! What many shared circuits cost: processes that have one for each of many keys, seen from outside.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::server::Server;
use crate::usage;
use crate::wait;

/// What a process of these is, told by its only argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Where Redis is.
    pub redis: String,
    /// How many keys it has.
    pub keys: u32,
    /// Whether failures of all count together.
    pub counting: bool,
}

/// What it is to do: a line of its input. It answers with one of its output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// To say how it stands: [`Stands`].
    Look,
    /// To wait until it has Redis, and knows how each key stands: when that was.
    Know,
    /// To wait until it has lost Redis: when that was.
    Lose,
    /// Failures until this key's circuit opens: when that was.
    Trip(u32),
    /// To wait until it is open: when that was.
    Follow(u32),
    /// [`Trip`](Self::Trip) of all keys, one after the other: when it began.
    TripAll,
}

/// How it stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Stands {
    /// Memory that it had before its keys were shared, and has since, in bytes.
    pub before: u64,
    /// The same, since.
    pub since: u64,
    /// Commands that Redis has answered.
    pub answered: u64,
    /// Messages that it has heard.
    pub heard: u64,
    /// How often it has lost Redis.
    pub lost: u64,
}

/// A running process. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts it: it has its keys, and shares them.
    ///
    /// # Panics
    /// If it doesn't start.
    #[must_use]
    pub fn start(program: &Path, plan: &Plan) -> Self {
        let plan = serde_json::to_string(plan).expect("a plan in JSON");
        let mut command = Command::new(program);
        command
            .arg(plan)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program `keys`");
        let says = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { child, says }
    }

    /// Tells it to do something, and doesn't wait for it.
    ///
    /// # Panics
    /// If it is gone.
    pub fn order(&mut self, order: Order) {
        let line = serde_json::to_string(&order).expect("an order in JSON") + "\n";
        let input = self.child.stdin.as_mut().expect("its input");
        input
            .write_all(line.as_bytes())
            .expect("a process that listens");
    }

    /// What it answers to the first order that it has not answered yet.
    ///
    /// # Panics
    /// If it is gone.
    pub fn answer<T: DeserializeOwned>(&mut self) -> T {
        let line = self.says.next().expect("an answer").expect("a line");
        serde_json::from_str(&line).expect("an answer in JSON")
    }

    /// Both.
    ///
    /// # Panics
    /// If it is gone.
    pub fn ask<T: DeserializeOwned>(&mut self, order: Order) -> T {
        self.order(order);
        self.answer()
    }

    /// How long its thread for sharing has run.
    #[must_use]
    pub fn background(&self) -> Duration {
        usage::cpu_of_thread(self.child.id(), "breaker-fleet")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// So many processes with so many keys each.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Processes.
    pub processes: u32,
    /// Keys of each, the same of all.
    pub keys: u32,
    /// Whether failures of all count together.
    pub counting: bool,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// From when the first process was started until the last one knew how each key stands.
    pub begun: Duration,
    /// From when Redis was started again, empty, until that was so again.
    pub again: Duration,
    /// How often a process has lost Redis, but for the one time that it was killed.
    pub lost: u64,
    /// Memory of a key, in a process: in addition to that of its breaker. In bytes.
    pub memory: u64,
    /// While nothing happens: commands of a process, a second.
    pub commands: f64,
    /// How much of a processor its thread takes.
    pub background: f64,
    /// How much of one Redis takes.
    pub redis: f64,
    /// From when a key's circuit opened in one process until it was open in the next: half took less.
    pub follows: Duration,
    /// The longest.
    pub follows_last: Duration,
    /// From when all processes began to see failures of all keys, until all circuits were open, and Redis
    /// knew.
    pub outage: Duration,
    /// For how long its thread has run, for each key, until all keys were known.
    pub learns: Duration,
}

/// Measures it.
///
/// # Panics
/// If something doesn't come about that has to.
#[must_use]
pub fn measure(program: &Path, case: Case, idle: Duration) -> Figures {
    let mut server = Server::start();
    let began = wait::monotonic();
    let plan = Plan {
        redis: server.url(),
        keys: case.keys,
        counting: case.counting,
    };
    let mut processes: Vec<_> = (0..case.processes)
        .map(|_| Process::start(program, &plan))
        .collect();
    let begun = all(&mut processes, Order::Know) - began;
    let ran = |processes: &[Process]| processes.iter().map(Process::background).sum::<Duration>();
    let learns = ran(&processes) / (case.processes * case.keys);

    // What is left of the beginning.
    thread::sleep(Duration::from_secs(2));
    let stand = |processes: &mut [Process]| -> Vec<Stands> {
        processes.iter_mut().map(|it| it.ask(Order::Look)).collect()
    };
    let (stood, had_run, redis) = (stand(&mut processes), ran(&processes), server.cpu());
    thread::sleep(idle);
    let (stands, has_run, redis_since) = (stand(&mut processes), ran(&processes), server.cpu());
    let share = |ran: Duration| ran.as_secs_f64() / idle.as_secs_f64();
    let each = f64::from(case.processes);
    let answered = |all: &[Stands]| all.iter().map(|it| it.answered).sum::<u64>();
    let memory = |it: &Stands| it.since.saturating_sub(it.before);
    let memory =
        stands.iter().map(memory).sum::<u64>() / (u64::from(case.processes) * u64::from(case.keys));

    let mut follows: Vec<u64> = (0..case.keys.min(21))
        .map(|key| {
            let [first, second, ..] = &mut processes[..] else {
                panic!("two processes at least");
            };
            second.order(Order::Follow(key));
            let opened: u64 = first.ask(Order::Trip(key));
            second.answer::<u64>().saturating_sub(opened)
        })
        .collect();
    follows.sort_unstable();
    let micros = Duration::from_micros;

    server.kill();
    all(&mut processes, Order::Lose);
    server.run();
    let back = wait::monotonic();
    let again = all(&mut processes, Order::Know) - back;
    thread::sleep(Duration::from_secs(3));
    let fail = wait::monotonic();
    all(&mut processes, Order::TripAll);
    let outage = all(&mut processes, Order::Know) - fail;
    let lost = stand(&mut processes).iter().map(|it| it.lost).max();
    Figures {
        begun: micros(begun),
        again: micros(again),
        lost: lost.unwrap_or(0) - 1,
        memory,
        commands: (answered(&stands) - answered(&stood)) as f64 / idle.as_secs_f64() / each,
        background: share(has_run - had_run) / each,
        redis: share(redis_since - redis),
        follows: micros(follows[follows.len() / 2]),
        follows_last: micros(follows[follows.len() - 1]),
        outage: micros(outage),
        learns,
    }
}

/// When the last of them had done it.
fn all(processes: &mut [Process], order: Order) -> u64 {
    for process in &mut *processes {
        process.order(order);
    }
    let done = processes.iter_mut().map(Process::answer);
    done.max().unwrap_or(0)
}

/// What was measured, as a table in Markdown.
#[must_use]
pub fn table(measured: &[(Case, Figures)]) -> String {
    let mut text = String::from(
        "| processes | keys in each | memory for each key | all known after the start | its thread's work for each \
         | all known again after a restart of Redis | Redis lost besides | idle: commands of a process, a second \
         | its thread | a trip is followed within (half of 20) | the last | all keys fail in all: all told within |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (case, figures) in measured {
        let together = if case.counting { ", counting" } else { "" };
        // What a process takes for itself hides what a few keys do.
        let memory = match case.keys {
            ..1_000 => "-".to_owned(),
            _ => format!("{} bytes", figures.memory),
        };
        let learns = match case.keys {
            ..100 => "-".to_owned(),
            _ => format!("{:.0} us", figures.learns.as_secs_f64() * 1e6),
        };
        // Of more it takes minutes until the first one's turn comes again.
        let (idle, thread) = match case.keys {
            ..=100 => (
                format!("{:.1}", figures.commands),
                format!("{:.2} %", figures.background * 100.0),
            ),
            _ => ("-".to_owned(), "-".to_owned()),
        };
        let _ = writeln!(
            text,
            "| {} | {}{together} | {memory} | {} | {learns} | {} | {} | {idle} | {thread} | {} | {} | {} |",
            case.processes,
            grouped(case.keys),
            time(figures.begun),
            time(figures.again),
            match figures.lost {
                0 => "no".to_owned(),
                1 => "once".to_owned(),
                more => format!("{more} times"),
            },
            time(figures.follows),
            time(figures.follows_last),
            time(figures.outage),
        );
    }
    text
}

fn grouped(number: u32) -> String {
    match (number / 1_000, number % 1_000) {
        (0, ones) => ones.to_string(),
        (thousands, ones) => format!("{thousands},{ones:03}"),
    }
}

fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}
