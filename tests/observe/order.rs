//! `InOrder`, with threads that change one breaker at the same time.

use breakerbox::observe::{
    self, CallEnded, CircuitId, InOrder, KeyEvicted, Missed, Observer, Rejection, StateChange,
};
use breakerbox::{
    AnyBreaker, Breaker, CallError, Clock, Generation, KeyedBreakers, ManualClock, Settings, State,
    test,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What is known of a circuit from its events alone.
#[derive(Debug)]
struct Picture {
    state: State,
    generation: u32,
    changes: u64,
    refused: u64,
    ended: u64,
}

/// Checks that each circuit's changes are a chain, and that nobody is told of two events of one
/// at the same time.
#[derive(Default)]
struct Chains {
    of: &'static str,
    circuits: Mutex<HashMap<CircuitId, Picture>>,
    busy: Mutex<HashMap<CircuitId, Arc<AtomicBool>>>,
    wrong: Mutex<Vec<String>>,
}

impl Chains {
    fn of(name: &'static str) -> Arc<Self> {
        let of = name;
        Arc::new(Self {
            of,
            ..Self::default()
        })
    }

    fn alone(&self, circuit: CircuitId, hear: impl FnOnce(&mut Picture)) {
        let busy = Arc::clone(self.busy.lock().unwrap().entry(circuit).or_default());
        if busy.swap(true, Ordering::SeqCst) {
            self.complain("two at a time".to_owned());
        }
        thread::yield_now();
        let mut circuits = self.circuits.lock().unwrap();
        hear(circuits.entry(circuit).or_insert(Picture {
            state: State::Closed,
            generation: 0,
            changes: 0,
            refused: 0,
            ended: 0,
        }));
        drop(circuits);
        busy.store(false, Ordering::SeqCst);
    }

    fn complain(&self, wrong: String) {
        self.wrong.lock().unwrap().push(wrong);
    }

    fn not_early(&self, picture: &Picture, generation: Generation) {
        if generation.get() > picture.generation {
            self.complain(format!("an event of {generation} at {picture:?}"));
        }
    }
}

impl Observer for Chains {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker != self.of {
            return;
        }
        self.alone(event.circuit, |picture| {
            let change = event.change;
            if (change.from, change.generation.get()) != (picture.state, picture.generation + 1) {
                self.complain(format!("{change:?} at {picture:?}"));
            }
            picture.state = change.to;
            picture.generation = change.generation.get();
            picture.changes += 1;
        });
    }

    fn rejected(&self, event: &Rejection<'_>) {
        if event.error.name() == self.of {
            self.alone(event.circuit, |picture| {
                picture.refused += 1;
                self.not_early(picture, event.generation);
            });
        }
    }

    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        if event.breaker == self.of {
            self.alone(event.circuit, |picture| {
                picture.ended += 1;
                self.not_early(picture, event.generation);
            });
        }
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        if event.breaker == self.of {
            self.circuits.lock().unwrap().remove(&event.circuit);
        }
    }

    fn missed(&self, event: &Missed<'_>) {
        if event.breaker == self.of {
            self.complain(event.to_string());
        }
    }
}

/// Nobody loses patience by it.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> u64 {
        0
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

#[test]
fn whatever_threads_do_to_a_breaker_its_changes_are_a_chain() {
    let chains = Chains::of("hammered");
    let installed = observe::install(InOrder::with_clock(Arc::clone(&chains), Stopped));
    let clock = ManualClock::new(0);
    let clock: &'static ManualClock = Box::leak(Box::new(clock));
    let settings = Settings::new().threshold(2).reset(Duration::from_millis(1));
    let pms = Breaker::with_clock("hammered", settings.must(), clock);
    let (refused, ended) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..6 {
            let (pms, refused, ended) = (&pms, &refused, &ended);
            scope.spawn(move || {
                for n in 0..300 {
                    let answer = match (n + thread) % 3 {
                        0 => Ok(()),
                        _ => Err("down"),
                    };
                    match pms.call_sync(|| answer) {
                        Err(CallError::Open(_)) => refused.fetch_add(1, Ordering::Relaxed),
                        _ => ended.fetch_add(1, Ordering::Relaxed),
                    };
                    clock.advance(Duration::from_micros(400));
                    match (n * 7 + thread) % 40 {
                        0 => Some(pms.force_open()),
                        1 => Some(pms.close()),
                        2 => Some(pms.shadow()),
                        3 => Some(pms.open_for(Duration::from_millis(2))),
                        4 => Some(pms.clear()),
                        5 => Some(pms.disable()),
                        _ => None,
                    };
                }
            });
        }
    });
    drop(installed);
    assert_eq!(*chains.wrong.lock().unwrap(), [""; 0]);
    let circuits = chains.circuits.lock().unwrap();
    assert_eq!(circuits.len(), 1);
    let picture = circuits.values().next().unwrap();
    assert_eq!(picture.state, pms.state());
    assert_eq!(picture.generation, pms.generation().get());
    assert_eq!(picture.changes, u64::from(pms.generation().get()));
    assert!(picture.changes > 100, "{picture:?}");
    assert_eq!(picture.refused, refused.into_inner());
    assert_eq!(picture.ended, ended.into_inner());
}

#[test]
fn keys_have_a_chain_each_also_where_one_is_given_up_and_comes_again() {
    let chains = Chains::of("hammered-keys");
    let installed = observe::install(InOrder::with_clock(Arc::clone(&chains), Stopped));
    let settings = Settings::new().threshold(1);
    let hosts = KeyedBreakers::<u32>::new("hammered-keys", settings.must()).max_keys(4);
    thread::scope(|scope| {
        for thread in 0..4_u32 {
            let hosts = &hosts;
            scope.spawn(move || {
                for n in 0..400_u32 {
                    let host = hosts.get(&((n * 3 + thread) % 9));
                    let _ = host.call_sync(|| Err::<(), _>("down"));
                    AnyBreaker::close(&host);
                }
            });
        }
    });
    drop(installed);
    assert_eq!(*chains.wrong.lock().unwrap(), [""; 0]);
    let circuits = chains.circuits.lock().unwrap();
    let (mut left, mut kept): (Vec<_>, Vec<_>) = (
        circuits
            .values()
            .map(|circuit| circuit.generation)
            .collect(),
        hosts
            .breakers()
            .iter()
            .map(|host| AnyBreaker::generation(host).get())
            .filter(|generation| *generation > 0)
            .collect(),
    );
    left.sort_unstable();
    kept.sort_unstable();
    assert_eq!(left, kept);
}

/// Stays in its first delivery until it is let go.
struct Held {
    entered: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
    heard: Mutex<Vec<(State, State, thread::ThreadId)>>,
}

impl Observer for Held {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker != "held" {
            return;
        }
        let by = thread::current().id();
        let (from, to) = (event.change.from, event.change.to);
        let is_first = {
            let mut heard = self.heard.lock().unwrap();
            heard.push((from, to, by));
            heard.len() == 1
        };
        if is_first {
            self.entered.lock().unwrap().send(()).unwrap();
            self.go.lock().unwrap().recv().unwrap();
        }
    }
}

#[test]
fn who_finds_another_thread_delivering_leaves_its_event_there() {
    let ((entered, has_entered), (go, may_go)) = (channel(), channel());
    let held = Arc::new(Held {
        entered: Mutex::new(entered),
        go: Mutex::new(may_go),
        heard: Mutex::default(),
    });
    let _installed = observe::install(InOrder::new(Arc::clone(&held)));
    let pms = Arc::new(Breaker::new("held", Settings::new().must()));
    let first = {
        let pms = Arc::clone(&pms);
        thread::spawn(move || pms.force_open())
    };
    has_entered.recv().unwrap();
    // None of these waits.
    pms.close();
    pms.disable();
    thread::scope(|scope| {
        scope.spawn(|| pms.close());
    });
    assert_eq!(held.heard.lock().unwrap().len(), 1);
    let by = first.thread().id();
    go.send(()).unwrap();
    first.join().unwrap();
    assert_eq!(
        *held.heard.lock().unwrap(),
        [
            (State::Closed, State::ForcedOpen, by),
            (State::ForcedOpen, State::Closed, by),
            (State::Closed, State::Disabled, by),
            (State::Disabled, State::Closed, by),
        ]
    );
}

/// Closes what opens, and panics.
struct ClosesAndPanics(Breaker<breakerbox::DefaultClock>, Mutex<Vec<State>>);

#[test]
fn an_observer_that_operates_and_panics_hears_of_what_it_did_afterwards() {
    struct Closes(Arc<ClosesAndPanics>);
    impl Observer for Closes {
        fn state_changed(&self, event: &StateChange<'_>) {
            self.0.1.lock().unwrap().push(event.change.to);
            if event.change.to == State::ForcedOpen {
                self.0.0.close();
                let heard = self.0.1.lock().unwrap().len();
                assert_eq!(heard % 2, 1, "not from within");
            }
            panic!("in the observer");
        }
    }
    let _scope = test::scope();
    let pms = Breaker::new("pms", Settings::new().must());
    let shared = Arc::new(ClosesAndPanics(pms, Mutex::default()));
    let _installed = observe::install(InOrder::new(Closes(Arc::clone(&shared))));
    shared.0.force_open();
    shared.0.force_open();
    assert_eq!(
        *shared.1.lock().unwrap(),
        [
            State::ForcedOpen,
            State::Closed,
            State::ForcedOpen,
            State::Closed
        ]
    );
    assert_eq!(shared.0.state(), State::Closed);
}
