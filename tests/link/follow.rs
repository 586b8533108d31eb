//! What others did.

use super::link::Written;
use super::{RESET, SECOND, breaker, fail, ready_to_probe, succeed};
use breakerbox::link::{Counted, Follow, Link, Linked};
use breakerbox::observe::{self, Observer, StateChange};
use breakerbox::{
    AnyBreaker, Breaker, Change, Config, Effect, Generation, Outcome, Snapshot, SnapshotError,
    State, Trigger,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn state(state: State, time_left: Duration) -> Snapshot {
    Snapshot {
        state,
        time_left,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    }
}

fn open() -> Snapshot {
    state(State::Open, 20 * SECOND)
}

fn closed() -> Snapshot {
    state(State::Closed, Duration::ZERO)
}

/// In whatever generation it is.
fn anyway(to: Snapshot) -> Follow {
    Follow { to, only_in: None }
}

/// The lines of one breaker's changes.
struct Lines(&'static str, Mutex<Vec<String>>);

impl Lines {
    fn of(name: &'static str) -> Arc<Self> {
        Arc::new(Self(name, Mutex::default()))
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.1.lock().unwrap())
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == self.0 {
            self.1.lock().unwrap().push(event.to_string());
        }
    }
}

#[test]
fn what_is_followed_observers_hear_of_and_the_link_does_not() {
    let lines = Lines::of("followed");
    let _installed = observe::install(lines.clone());
    let ((pms, clock), link) = (breaker("followed"), Written::new());
    pms.link(link.clone()).unwrap();
    for (to, line) in [
        (open(), "was opened by the fleet, for 20s"),
        (open(), "was kept open by the fleet, for 20s"),
        (
            state(State::ForcedOpen, Duration::ZERO),
            "was set by the fleet: forced_open",
        ),
        (
            state(State::Shadow, Duration::ZERO),
            "was set by the fleet: shadow",
        ),
        (closed(), "was closed by the fleet"),
        (
            state(State::HalfOpen, Duration::ZERO),
            "was opened by the fleet",
        ),
    ] {
        let (from, before) = (pms.state(), pms.generation());
        let change = pms.follow(&anyway(to)).unwrap().unwrap();
        assert_eq!((change.from, change.trigger), (from, Trigger::Fleet));
        assert!(change.generation.is_after(before));
        assert_eq!(lines.take(), [format!("circuit `followed` {line}")]);
        let why = pms.last_change().unwrap();
        assert_eq!((why.trigger, why.to), (Trigger::Fleet, change.to));
    }
    assert!(link.take().is_empty());
    assert_eq!(Trigger::Fleet.as_str(), "fleet");

    // The trial is another's: who asks here is asked for at the link.
    link.will_say(Err(3 * SECOND));
    assert_eq!(pms.admit().unwrap_err().retry_after(), Some(3 * SECOND));
    assert_eq!(link.take(), ["may it probe?"]);
    pms.follow(&anyway(open())).unwrap();
    clock.advance(20 * SECOND);
    link.will_say(Ok(()));
    let probe = pms.admit().expect("a probe");
    lines.take();
    pms.follow(&anyway(open())).unwrap();
    assert_eq!(
        lines.take(),
        ["circuit `followed` was reopened by the fleet, for 20s"]
    );
    drop(probe);
    clock.advance(20 * SECOND);
    succeed(&pms);
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn what_happened_here_since_is_not_undone() {
    let (pms, _) = breaker("only-in");
    let seen = pms.generation();
    pms.force_open();
    let follow = Follow {
        to: closed(),
        only_in: Some(seen),
    };
    let lines = Lines::of("only-in");
    let _installed = observe::install(lines.clone());
    assert_eq!(pms.follow(&follow), Ok(None));
    assert_eq!(pms.state(), State::ForcedOpen);
    assert!(lines.take().is_empty());
    let present = Follow {
        only_in: Some(pms.generation()),
        ..follow
    };
    assert_eq!(pms.follow(&present).unwrap().unwrap().to, State::Closed);
    assert_eq!(pms.follow(&present), Ok(None), "once");
}

#[test]
fn nonsense_is_refused_and_nothing_happens() {
    let (pms, _) = breaker("nonsense");
    for (to, error) in [
        (
            state(State::Closed, SECOND),
            SnapshotError::ClosedWithTimeLeft,
        ),
        (
            Snapshot {
                consecutive: 3,
                ..closed()
            },
            SnapshotError::BeyondThreshold {
                consecutive: 3,
                threshold: 3,
            },
        ),
    ] {
        assert_eq!(pms.follow(&anyway(to)), Err(error));
        assert_eq!(pms.generation().get(), 0);
    }
    let years = Snapshot {
        time_left: Duration::MAX,
        ..open()
    };
    let change = pms.follow(&anyway(years)).unwrap().unwrap();
    assert_eq!(change.wait, Some(RESET), "never longer than its own wait");
}

#[test]
fn a_probe_of_before_counts_for_nothing_in_what_is_followed() {
    let ((pms, clock), link) = (breaker("half-open"), Written::new());
    pms.link(link.clone()).unwrap();
    for (to, ends) in [(closed(), State::Closed), (open(), State::Open)] {
        ready_to_probe(&pms, clock);
        let probe = pms.admit().unwrap();
        assert_eq!(pms.state(), State::HalfOpen);
        link.take();
        let follow = Follow {
            to,
            only_in: Some(pms.generation()),
        };
        assert!(pms.follow(&follow).unwrap().is_some());
        assert_eq!(probe.failure(), Effect::Late);
        assert_eq!(pms.state(), ends);
        assert!(link.take().is_empty());
        pms.close();
    }
}

#[test]
fn an_observer_may_operate_the_breaker_that_follows() {
    struct HoldsOpen(Arc<Breaker>);
    impl Observer for HoldsOpen {
        fn state_changed(&self, event: &StateChange<'_>) {
            if event.breaker == "called-back" && event.change.trigger == Trigger::Fleet {
                self.0.force_open();
            }
        }
    }

    let pms = Breaker::shared("called-back", Config::DEFAULT);
    let link = Written::new();
    pms.link(link.clone()).unwrap();
    let _installed = observe::install(HoldsOpen(pms.clone()));
    let change = pms.follow(&anyway(open())).unwrap().unwrap();
    assert_eq!(change.to, State::Open);
    assert_eq!(pms.state(), State::ForcedOpen);
    assert_eq!(link.take(), ["open -> forced_open: operator"]);
}

#[test]
fn a_link_may_follow_while_it_is_told() {
    /// Whatever is done here, elsewhere it is held open.
    struct HeldOpen;
    impl Link for HeldOpen {
        fn changed(&self, circuit: &Linked<'_>, change: &Change) {
            let follow = Follow {
                to: state(State::ForcedOpen, Duration::ZERO),
                only_in: Some(change.generation),
            };
            assert!(circuit.breaker().follow(&follow).unwrap().is_some());
        }

        fn settled(&self, _: &Linked<'_>, _: Generation, _: &Outcome, _: &Effect) {}

        fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration> {
            circuit.breaker().follow(&anyway(closed())).unwrap();
            Ok(())
        }

        fn key_added(&self, _: &Linked<'_>) {}
    }

    let (pms, clock) = breaker("within");
    pms.link(Arc::new(HeldOpen)).unwrap();
    (0..3).for_each(|_| fail(&pms));
    assert_eq!(pms.state(), State::ForcedOpen);
    pms.follow(&anyway(open())).unwrap();
    clock.advance(RESET);
    // It was closed while it was asked: the call is none of a trial.
    let generation = pms.admit().unwrap().generation();
    assert_eq!((pms.state(), pms.generation()), (State::Closed, generation));
}

#[test]
fn what_is_counted_is_told_while_it_is_closed() {
    let (pms, _) = breaker("counted");
    assert_eq!(pms.counted(), Counted::default());
    fail(&pms);
    fail(&pms);
    let two = Counted {
        failures: 2,
        ..Counted::default()
    };
    assert_eq!(pms.counted(), two);
    let run = Snapshot {
        consecutive: 1,
        ..closed()
    };
    pms.follow(&anyway(run)).unwrap();
    assert_eq!(pms.counted().failures, 1);
    fail(&pms);
    fail(&pms);
    assert_eq!(pms.state(), State::Open);
    assert_eq!(pms.counted(), Counted::default());
    pms.shadow();
    fail(&pms);
    assert_eq!(pms.counted(), Counted::default());
}
