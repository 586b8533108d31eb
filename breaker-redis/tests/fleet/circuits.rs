//! What instances of a fleet do together.

use crate::server::Server;
use crate::support::{Instance, LONG, builder, instances, name, until};
use breaker_redis::{FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::observe::{self, Observer, StateChange};
use breakerbox::{AnyBreaker, Breaker, KeyedBreakers, Settings, State, Trigger};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

#[test]
fn a_trip_here_opens_there_and_recovery_spreads() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(2)
        .reset(Duration::from_millis(300))
        .jitter(0.0)
        .must();
    let [a, b, c] = instances(&server, config, Sharing::new());
    a.fail();
    assert_eq!(b.breaker.state(), State::Closed);
    a.fail();
    assert_eq!(a.breaker.state(), State::Open);
    for other in [&b, &c] {
        until("the trip to be known", || {
            other.breaker.state() == State::Open
        });
        let why = other.breaker.last_change().expect("it changed");
        assert_eq!((why.from, why.trigger), (State::Closed, Trigger::Fleet));
        assert!(!other.succeed(), "it refuses");
    }
    // One of them is let through, once the wait is over.
    until("a probe", || b.succeed());
    assert_eq!(b.breaker.state(), State::Closed);
    for other in [&a, &c] {
        until("the recovery to be known", || {
            other.breaker.state() == State::Closed
        });
        let why = other.breaker.last_change().expect("it changed");
        assert_eq!(why.trigger, Trigger::Fleet);
    }
    let status = a.fleet.status();
    assert!(status.is_connected, "{status:?}");
    assert_eq!(
        (status.circuits, status.lost, status.nonsense),
        (1, 0, 0),
        "{status:?}"
    );
    assert!(status.heard > 0 && status.answered > 0, "{status:?}");
}

#[test]
fn what_an_operator_says_reaches_all() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let [a, b] = instances(&server, Settings::new().must(), Sharing::new());
    let all_are = |state| {
        for one in [&a, &b] {
            until("an operator's word to be known", || {
                one.breaker.state() == state
            });
        }
    };
    a.breaker.force_open();
    all_are(State::ForcedOpen);
    b.breaker.disable();
    all_are(State::Disabled);
    a.breaker.shadow();
    all_are(State::Shadow);
    b.breaker.close();
    all_are(State::Closed);
    a.breaker.open_for(Duration::from_secs(3600));
    all_are(State::Open);
    let left = b.breaker.time_left().expect("it is open");
    assert!(left > Duration::from_secs(3500), "{left:?}");
    a.breaker.close();
    all_are(State::Closed);
}

#[test]
fn the_time_left_is_what_a_refused_call_is_told() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_millis(50))
        .jitter(0.0)
        .must();
    // Long enough that what is told is never over before it is looked at.
    let sharing = Sharing::new().slow_start(Duration::from_secs(3600));
    let [a, b] = instances(&server, config, sharing);
    let agree = |what: &str, least: Duration, most: Duration| {
        until(what, || {
            let is_within = |left: Duration| least < left && left <= most;
            let left = b.breaker.time_left();
            let told = b.breaker.admit().err().and_then(|it| it.retry_after());
            left.is_some_and(is_within) && told.is_some_and(is_within)
        });
    };
    a.fail();
    until("the trip to be known", || b.breaker.state() == State::Open);
    until("a probe", || a.succeed());
    agree(
        "a slow start",
        Duration::from_millis(100),
        Duration::from_secs(3600),
    );
    let wait = Duration::from_secs(1800);
    a.breaker.open_for(wait);
    agree("an operator's wait", wait - LONG, wait);
    a.breaker.close();
    until("an operator's word", || b.breaker.time_left().is_none());
    assert!(b.succeed());
}

#[test]
fn failures_of_all_count_together() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new().threshold(5).must();
    let all: [Instance; 5] = instances(&server, config, Sharing::new().counting());
    for one in &all {
        assert_eq!(one.breaker.state(), State::Closed);
        one.fail();
    }
    for one in &all {
        until("five failures to open it", || {
            one.breaker.state() == State::Open
        });
    }
}

#[test]
fn one_instance_alone_opens_nobody_elses_with_a_quorum() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(60))
        .must();
    let [a, b, c] = instances(&server, config, Sharing::new().quorum(2));
    a.fail();
    assert_eq!(a.breaker.state(), State::Open);
    // Whatever was said of it has been, once an operator's later word is known.
    let asked = a.fleet.status().answered;
    until("the vote to be told", || {
        a.fleet.status().answered > asked + 2
    });
    assert_eq!(
        (b.breaker.state(), c.breaker.state()),
        (State::Closed, State::Closed)
    );
    b.fail();
    until("the second vote to open all", || {
        c.breaker.state() == State::Open
    });
}

#[test]
fn keys_are_shared_each_for_itself() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(60))
        .must();
    let name = name("hosts");
    let [a, b] = std::array::from_fn(|_| {
        let fleet = builder(&server).start().expect("a fleet");
        let breakers = Arc::new(KeyedBreakers::<String>::new(name, config));
        let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
        // Of one key it is known before.
        drop(breakers.get("known"));
        fleet.share_keyed(&breakers).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        (fleet, breakers)
    });
    let open = |breakers: &KeyedBreakers<String>, key: &str| {
        let failed = breakers.get(key).call_sync(|| Err::<(), _>("no answer"));
        assert!(failed.is_err());
    };
    open(&a.1, "known");
    until("a known key's trip", || {
        b.1.get("known").state() == State::Open
    });
    open(&a.1, "new: [a]\n");
    // It is asked for once it is new there.
    until("a new key's trip", || {
        b.1.get("new: [a]\n").state() == State::Open
    });
    assert_eq!(b.1.get("other").state(), State::Closed);
    assert_eq!(b.0.status().circuits, 3);
    a.1.get("known").close();
    until("an operator's word of a key", || {
        b.1.get("known").state() == State::Closed
    });
    assert_eq!(b.1.get("new: [a]\n").state(), State::Open);
}

#[test]
fn a_fleet_that_is_dropped_leaves_local_breakers_which_another_can_share() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(60))
        .must();
    let [a, b] = instances(&server, config, Sharing::new());
    let Instance { fleet, breaker } = a;
    assert_eq!(
        builder(&server)
            .start()
            .expect("a fleet")
            .share(&breaker)
            .unwrap_err()
            .to_string(),
        format!(
            "circuit `{}` is shared already: share a breaker once, by one `FleetBreaker`, and with one \
             fleet at a time (drop the other fleet first)",
            breaker.name()
        )
    );
    drop(fleet);
    b.fail();
    assert_eq!(b.breaker.state(), State::Open);
    let fleet = builder(&server).start().expect("a fleet");
    assert_eq!(breaker.state(), State::Closed, "it is on its own");
    fleet.share(&breaker).expect("to be shared again");
    until("what happened meanwhile", || breaker.state() == State::Open);
    b.breaker.close();
    until("what happens now", || breaker.state() == State::Closed);
}

/// Holds up who tells it of a change that a fleet brought about, until it is dropped.
pub(crate) struct HoldsUp {
    pub(crate) circuit: &'static str,
    pub(crate) held: Mutex<mpsc::Receiver<()>>,
}

impl Observer for HoldsUp {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == self.circuit && event.change.trigger == Trigger::Fleet {
            let _ = self.held.lock().unwrap().recv();
        }
    }
}

#[test]
fn a_background_that_an_observer_holds_up_holds_up_no_probe() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("held-up");
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_millis(1))
        .jitter(0.0)
        .must();
    let [a, b] = std::array::from_fn(|_| {
        let quick = builder(&server).answer(Duration::from_millis(200));
        Instance::new(quick, name, config, Sharing::new())
    });
    let (release, held) = mpsc::channel();
    let held = Mutex::new(held);
    let installed = observe::install(Arc::new(HoldsUp {
        circuit: name,
        held,
    }));
    a.fail();
    until("the trip to be known", || b.breaker.state() == State::Open);
    // Its background waits for the observer now.
    until("a probe by itself", || b.succeed());
    drop(release);
    drop(installed);
    until("what it found out to be known", || {
        a.breaker.state() == State::Closed
    });
}

#[test]
fn a_lease_is_given_back_by_a_fleet_that_leaves() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("leaving");
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_millis(1))
        .jitter(0.0)
        .must();
    // It would last far longer than any test.
    let long = Sharing::new().lease(Duration::from_secs(50));
    let [a, b] = std::array::from_fn(|_| Instance::new(builder(&server), name, config, long));
    a.fail();
    until("the trip to be known", || b.breaker.state() == State::Open);
    let breaker = Arc::clone(&a.breaker);
    let mut probe = None;
    until("a probe", || {
        probe = breaker.admit().ok();
        probe.is_some()
    });
    until("the lease to be known", || {
        !b.succeed() && b.fleet.status().heard > 1
    });
    drop(a);
    until("the lease to be free", || b.succeed());
    drop(probe);
}

#[test]
fn what_set_a_breaker_before_it_was_shared_is_told_but_not_what_was_restored() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (name, config) = (name("before"), Settings::new().threshold(1).must());
    let first = Instance::new(builder(&server), name, config, Sharing::new());
    let joins = |before: fn(&Breaker)| {
        let breaker = Arc::new(Breaker::new(name, config));
        before(&breaker);
        let fleet = builder(&server).start().expect("a fleet");
        let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
        fleet.share(&breaker).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        Instance { fleet, breaker }
    };
    let both_are = |other: &Instance, state| {
        until("one state of both", || {
            [&first, other].map(|one| one.breaker.state()) == [state; 2]
        });
    };

    let tripped = joins(|breaker| drop(breaker.call_sync(|| Err::<(), _>("no answer"))));
    both_are(&tripped, State::Open);
    first.breaker.close();
    both_are(&tripped, State::Closed);

    let restored = joins(|breaker| {
        let other = Breaker::new("other", Settings::new().must());
        other.force_open();
        let restored = breaker.restore(&other.snapshot());
        assert_eq!(restored.map(|change| change.to), Ok(State::ForcedOpen));
    });
    both_are(&restored, State::Closed);

    let set = joins(|breaker| _ = breaker.force_open());
    both_are(&set, State::ForcedOpen);
    // That it was closed once says nothing now.
    let closed = joins(|breaker| _ = breaker.close());
    both_are(&closed, State::ForcedOpen);
}

#[test]
fn breakers_that_are_shared_while_the_background_runs_are_all_told() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let fleet = builder(&server).start().expect("a fleet");
    fleet.ready(LONG).expect("to be ready");
    let config = Settings::new().must();
    let shared = (0..300).map(|_| {
        let breaker = Arc::new(Breaker::new(name("one-of-many"), config));
        let breaker = FleetBreaker::of(breaker, Sharing::new());
        fleet.share(&breaker).expect("to be shared");
        breaker
    });
    let shared: Vec<_> = shared.collect();
    fleet.ready(LONG).expect("all to be told");
    assert_eq!(fleet.status().circuits, shared.len());
}

#[test]
fn an_operators_word_is_told_also_where_the_fleet_ends_with_it() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    for waits in [false, true] {
        let [a, b] = instances(&server, Settings::new().must(), Sharing::new());
        let Instance { fleet, breaker } = a;
        breaker.force_open();
        if waits {
            fleet.ready(LONG).expect("to be told");
            let mut key = redis::cmd("HGET");
            key.arg(format!("breakerbox:{}", breaker.name()))
                .arg("record");
            let record: String = key.query(&mut server.connect()).unwrap();
            assert!(record.contains(" forced_open "), "{record}");
        }
        drop(fleet);
        until("an operator's last word to be known", || {
            b.breaker.state() == State::ForcedOpen
        });
        assert_eq!(b.fleet.status().lost, 0);
    }
}
