//! Keys whose label is code that does something: adaptors keep events, and display labels for it.

use breakerbox::observe::{self, FirstThenCounts, InOrder, Observer, Rejection, StateChange};
use breakerbox::{AnyBreaker, Config, Key, KeyedBreakers, State, test};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Long enough for any machine: only a deadlock takes as long.
const FOR_EVER: Duration = Duration::from_secs(120);

thread_local! {
    /// Whether a label operates its circuit the next time that it is displayed.
    static OPERATES: Cell<bool> = const { Cell::new(false) };
}

static HOSTS: KeyedBreakers<Host> = KeyedBreakers::new("hosts", Config::DEFAULT);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Host(u32);

impl Key for Host {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if OPERATES.replace(false) {
            HOSTS.get(owned).force_open();
        }
        write!(f, "{}", owned.0)
    }
}

/// Counts refused calls; while it hears that the circuit is open, it closes it.
#[derive(Default)]
struct Closes(AtomicU64);

impl Observer for Closes {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.change.to == State::Open {
            OPERATES.set(true);
            HOSTS.get(&Host(1)).close();
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.0.fetch_add(event.calls, Ordering::Relaxed);
    }
}

/// Fails where `what` never ends.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        what();
        let _ = ended.send(());
    });
    if end.recv_timeout(FOR_EVER) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it never ended");
    }
    thread.join().unwrap();
}

#[test]
fn may_operate_their_circuit_while_a_count_keeps_it() {
    ends(|| {
        let _scope = test::scope();
        let closes = Arc::new(Closes::default());
        let _installed = observe::install(FirstThenCounts::new(Arc::clone(&closes)));
        let host = HOSTS.get(&Host(1));
        host.force_open();
        for _ in 0..5 {
            assert!(host.admit().is_err());
            OPERATES.set(true);
        }
        OPERATES.set(false);
        host.close();
        assert_eq!(closes.0.load(Ordering::Relaxed), 5);
    });
}

#[test]
fn may_operate_their_circuit_while_an_event_waits_for_its_turn() {
    ends(|| {
        let _scope = test::scope();
        let closes = Arc::new(Closes::default());
        let _installed = observe::install(InOrder::new(closes));
        let host = HOSTS.get(&Host(1));
        host.open_for(Duration::from_secs(1));
        assert!(!OPERATES.get(), "it was displayed");
        assert_eq!(host.state(), State::ForcedOpen);
    });
}
