//! An instance of the fleet: a process of its own, seen from the test.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::Clock;
use crate::plan::{Answer, Line, Order, Plan, Saw};
use crate::wait;

/// A running instance. It is killed when this is dropped.
#[derive(Debug)]
pub struct Instance {
    name: String,
    child: Child,
    seen: Arc<Mutex<Seen>>,
    readers: Vec<JoinHandle<()>>,
}

/// All that an instance has told.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The calls that have ended.
    pub calls: Vec<Call>,
    /// The keys that were given up for others.
    pub given_up: Vec<String>,
    /// The states that its circuits have entered.
    pub changes: Vec<Change>,
    /// The errors by which it lost the fleet, one for each time that it told so.
    pub losses: Vec<String>,
    /// How often it told that the fleet was found again.
    pub restorations: usize,
    /// In what others declare the circuit otherwise.
    pub differences: Vec<String>,
    /// How it stood, each time that it was asked.
    pub looks: Vec<Looks>,
    /// Whether it takes orders.
    pub is_ready: bool,
    /// Why it can't be started.
    pub refused: Option<String>,
    /// It has ended, after it began so many calls.
    pub ended: Option<u64>,
    /// All that it wrote besides: what it traced, and how it died.
    pub output: String,
}

/// A call that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// When it ended, by [`wait::monotonic`].
    pub at: u64,
    /// How long it took.
    pub took: Duration,
    /// What came of it.
    pub result: Answer,
    /// The key that it was made with.
    pub key: Option<String>,
}

/// A state that a circuit entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When, by [`wait::monotonic`].
    pub at: u64,
    /// That of this key.
    pub key: Option<String>,
    /// The state.
    pub to: String,
    /// What brought it about.
    pub by: String,
}

/// How an instance stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    /// The state of its circuit.
    pub state: String,
    /// The states of all keys that it knows.
    pub keys: BTreeMap<String, String>,
    /// Whether it has Redis.
    pub connected: bool,
    /// What it was told that made no sense.
    pub nonsense: u64,
    /// What ended its last connection to Redis.
    pub trouble: Option<String>,
}

impl Seen {
    fn takes(&mut self, Line { at, saw }: Line) {
        match saw {
            Saw::Ready => self.is_ready = true,
            Saw::Refused { error } => self.refused = Some(error),
            Saw::Call {
                number,
                result,
                took,
                key,
            } => self.calls.push(Call {
                number,
                at,
                took: Duration::from_micros(took),
                result,
                key,
            }),
            Saw::GaveUp { key } => self.given_up.push(key),
            Saw::Changed { key, to, by } => self.changes.push(Change { at, key, to, by }),
            Saw::State {
                state,
                keys,
                connected,
                nonsense,
                trouble,
            } => self.looks.push(Looks {
                state,
                keys,
                connected,
                nonsense,
                trouble,
            }),
            Saw::Lost { error } => self.losses.push(error),
            Saw::Restored => self.restorations += 1,
            Saw::Differs { differences } => self.differences.push(differences),
            Saw::Ended { calls } => self.ended = Some(calls),
        }
    }

    /// The state of its circuit: the last that it entered.
    #[must_use]
    pub fn state(&self) -> &str {
        self.changes.last().map_or("closed", |change| &change.to)
    }

    /// What the circuit of this key has done.
    pub fn changes_of(&self, key: &str) -> impl Iterator<Item = &Change> {
        let is_it = move |change: &&Change| change.key.as_deref() == Some(key);
        self.changes.iter().filter(is_it)
    }

    /// The state of the circuit of this key.
    #[must_use]
    pub fn state_of(&self, key: &str) -> &str {
        self.changes_of(key)
            .last()
            .map_or("closed", |change| &change.to)
    }

    /// The calls with this key that have ended.
    pub fn calls_of(&self, key: &str) -> impl Iterator<Item = &Call> {
        let is_it = move |call: &&Call| call.key.as_deref() == Some(key);
        self.calls.iter().filter(is_it)
    }
}

impl Instance {
    /// Starts it, by its program; it stands until it is told to go.
    ///
    /// # Panics
    /// If it doesn't start.
    #[must_use]
    pub fn start(program: &Path, plan: &Plan, clock: Option<&Clock>) -> Self {
        let instance = Self::spawn(program, plan, clock);
        instance.until("to be ready", |seen| seen.is_ready.then_some(()));
        instance
    }

    /// Starts it, whatever becomes of it.
    ///
    /// # Panics
    /// If there is no such program.
    #[must_use]
    pub fn spawn(program: &Path, plan: &Plan, clock: Option<&Clock>) -> Self {
        let plan_text = serde_json::to_string(plan).expect("a plan in JSON");
        let mut command = Command::new(program);
        command.arg(plan_text);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(clock) = clock {
            clock.set(&mut command);
        }
        let mut child = command.spawn().expect("the program `instance`");
        let seen = Arc::<Mutex<Seen>>::default();
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        let reads_lines = thread::spawn({
            let seen = Arc::clone(&seen);
            move || {
                for line in lines.lines().map_while(Result::ok) {
                    match serde_json::from_str(&line) {
                        Ok(line) => lock(&seen).takes(line),
                        Err(_) => lock(&seen).output.push_str(&line),
                    }
                }
            }
        });
        let mut errors = child.stderr.take().expect("its errors");
        let reads_errors = thread::spawn({
            let seen = Arc::clone(&seen);
            move || {
                let mut piece = vec![0; 64 * 1024];
                while let Ok(length @ 1..) = errors.read(&mut piece) {
                    let text = String::from_utf8_lossy(&piece[..length]);
                    lock(&seen).output.push_str(&text);
                }
            }
        });
        Self {
            name: plan.instance.clone(),
            child,
            seen,
            readers: vec![reads_lines, reads_errors],
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to do something.
    ///
    /// # Panics
    /// If it is gone.
    pub fn order(&mut self, order: &Order) {
        let mut line = serde_json::to_string(order).expect("an order in JSON");
        line.push('\n');
        let input = self.child.stdin.as_mut().expect("its input");
        input
            .write_all(line.as_bytes())
            .expect("an instance that listens");
    }

    /// Looks at what it has told so far.
    pub fn seen<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&lock(&self.seen))
    }

    /// Waits until it has told what is looked for.
    ///
    /// # Panics
    /// If it doesn't.
    pub fn until<T>(&self, what: &str, look: impl Fn(&Seen) -> Option<T>) -> T {
        let found = wait::within(wait::LIMIT, || self.seen(&look));
        found.unwrap_or_else(|| {
            let seen = self.seen(Seen::clone);
            let Seen {
                changes,
                losses,
                refused,
                output,
                ..
            } = seen;
            panic!(
                "waited for {} {what}: {changes:?}, losses {losses:?}, refused {refused:?}: {output}",
                self.name
            )
        })
    }

    /// Asks it how it stands.
    ///
    /// # Panics
    /// If it doesn't say.
    pub fn look(&mut self) -> Looks {
        let before = self.seen(|seen| seen.looks.len());
        self.order(&Order::Look);
        self.until("to say how it stands", |seen| {
            seen.looks.get(before).cloned()
        })
    }

    /// How many calls have ended.
    #[must_use]
    pub fn called(&self) -> usize {
        self.seen(|seen| seen.calls.len())
    }

    /// The state that its circuit is in: the last that it entered.
    #[must_use]
    pub fn state(&self) -> String {
        self.seen(|seen| seen.state().to_owned())
    }

    /// The most memory that it ever had, in bytes.
    ///
    /// # Panics
    /// If it is gone.
    #[must_use]
    pub fn most_memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid());
        let text = fs::read_to_string(path).expect("a living process");
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kilobytes.expect("its memory") * 1024
    }

    /// Stops it in its tracks.
    ///
    /// # Panics
    /// If it is gone.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// If it is gone.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a signal to an instance");
    }

    /// Kills it, as it stands.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }

    /// Tells it to end, and looks that each of its calls had exactly one result.
    ///
    /// # Panics
    /// If a call has none, or two, or it doesn't end well.
    pub fn end(&mut self) {
        self.order(&Order::End);
        let calls = self.until("to end", |seen| seen.ended);
        let status = wait::until("an instance to end", || {
            self.child.try_wait().ok().flatten()
        });
        self.kill();
        let Seen {
            calls: told,
            output,
            ..
        } = self.seen(Seen::clone);
        assert!(status.success(), "{}: {status}: {output}", self.name);
        let mut numbers: Vec<u64> = told.iter().map(|call| call.number).collect();
        numbers.sort_unstable();
        assert!(
            numbers.into_iter().eq(0..calls),
            "{}: a call has no result, or two",
            self.name
        );
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
