//! Why a circuit is in its state, and since when, as an operator's code asks.

use breakerbox::observe;
use breakerbox::registry::{self, Registered};
use breakerbox::{
    AnyBreaker, Breaker, Config, KeyedBreakers, LastChange, Outcome, Overrides, Settings, State,
    Trigger, test,
};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn settings() -> Config {
    Settings::new()
        .threshold(3)
        .reset(10 * SECOND)
        .probe_timeout(5 * SECOND)
        .must()
}

fn why(it: &dyn AnyBreaker) -> (State, State, Trigger, u32, Duration) {
    let LastChange {
        from,
        to,
        generation,
        trigger,
        failures,
        ago,
        ..
    } = it.last_change().unwrap();
    assert_eq!((to, generation), (it.state(), it.generation()));
    (from, to, trigger, failures, ago)
}

#[test]
fn every_way_into_a_state_is_told_with_its_moment_and_without_an_observer() {
    use State::{Closed, Disabled, ForcedOpen, HalfOpen, Open, Shadow};

    let scope = test::scope();
    let pms = Breaker::shared("pms", settings());
    let found = registry::find("pms").unwrap();
    let zero = Duration::ZERO;
    assert_eq!(found.last_change(), None);
    let settle = |outcome| pms.admit().unwrap().settle(outcome);
    let fail = || settle(Outcome::Failure);
    for _ in 0..2 {
        fail();
    }
    assert_eq!(found.last_change(), None, "counting is no change");
    fail();
    assert_eq!(why(&*found), (Closed, Open, Trigger::Failures, 3, zero));
    scope.advance(9 * SECOND);
    assert!(pms.admit().is_err(), "nor is refusing");
    let opened = (Closed, Open, Trigger::Failures, 3, 9 * SECOND);
    assert_eq!(why(&*found), opened);
    // Nor is a configuration.
    pms.reconfigure(&Overrides::new().reset(11 * SECOND))
        .unwrap();
    assert_eq!(why(&*found), opened);
    scope.advance(2 * SECOND);
    let probe = pms.admit().unwrap();
    assert_eq!(why(&*found), (Open, HalfOpen, Trigger::WaitOver, 0, zero));
    scope.advance(6 * SECOND);
    std::mem::forget(probe);
    let again = pms.admit().unwrap();
    let timed_out = (HalfOpen, HalfOpen, Trigger::ProbeTimedOut, 0, zero);
    assert_eq!(why(&*found), timed_out);
    again.settle(Outcome::Failure);
    assert_eq!(
        why(&*found),
        (HalfOpen, Open, Trigger::FailedProbe, 1, zero)
    );
    scope.advance(11 * SECOND);
    settle(Outcome::Success);
    scope.advance(3 * SECOND);
    assert_eq!(
        why(&*found),
        (HalfOpen, Closed, Trigger::Recovered, 0, 3 * SECOND)
    );
    settle(Outcome::Overloaded(SECOND));
    assert_eq!(why(&*found), (Closed, Open, Trigger::Overloaded, 1, zero));
    let taken = pms.snapshot();
    for (order, to) in [
        (Breaker::force_open as fn(&_) -> _, ForcedOpen),
        (Breaker::disable, Disabled),
        (Breaker::shadow, Shadow),
        (Breaker::close, Closed),
        (Breaker::close, Closed),
        (Breaker::clear, Closed),
    ] {
        let from = pms.state();
        order(&pms);
        scope.advance(SECOND);
        assert_eq!(why(&*found), (from, to, Trigger::Operator, 0, SECOND));
    }
    pms.restore(&taken).unwrap();
    assert_eq!(why(&*found), (Closed, Open, Trigger::Restored, 0, zero));
}

#[test]
fn by_rate_it_is_the_rate() {
    let _scope = test::scope();
    let rate = Settings::new().failure_rate(0.5).min_calls(2);
    let rate = Breaker::<breakerbox::DefaultClock, breakerbox::Sliding<26>>::shared_by_rate(
        "rate",
        rate.build_rate().unwrap(),
    )
    .unwrap();
    for outcome in [Outcome::Success, Outcome::Failure] {
        rate.admit().unwrap().settle(outcome);
    }
    let zero = Duration::ZERO;
    let opened = (State::Closed, State::Open, Trigger::FailureRate, 1, zero);
    assert_eq!(why(&*rate), opened);
}

#[test]
fn each_key_has_its_own_and_what_waited_for_it_is_told() {
    let scope = test::scope();
    let hosts = KeyedBreakers::<String>::shared("hosts", settings(), 100).unwrap();
    let (a, b) = (hosts.get("a"), hosts.get("b"));
    a.force_open();
    scope.advance(SECOND);
    let taken = registry::snapshot();
    let forced = (
        State::Closed,
        State::ForcedOpen,
        Trigger::Operator,
        0,
        SECOND,
    );
    let all = registry::all();
    let told: Vec<_> = all
        .iter()
        .flat_map(Registered::breakers)
        .filter_map(|it| it.last_change().map(|_| why(&*it)))
        .collect();
    assert_eq!((told, b.last_change()), (vec![forced], None));
    drop((a, b, hosts, all, scope));

    let scope = test::scope();
    let _ = registry::restore(&taken);
    scope.advance(SECOND);
    let hosts = KeyedBreakers::<String>::shared("hosts", settings(), 100).unwrap();
    let restored = (
        State::Closed,
        State::ForcedOpen,
        Trigger::Restored,
        0,
        Duration::ZERO,
    );
    assert_eq!(why(&hosts.get("a")), restored);
    assert_eq!(hosts.get("b").last_change(), None);
}

/// Each has its first change, whose number is the same everywhere.
#[test]
fn a_scope_has_its_own_and_leaves_none_outside() {
    static PMS: Breaker = Breaker::new("pms", Settings::new().threshold(1).must());

    let scope = test::scope();
    PMS.force_open();
    assert_eq!(PMS.last_change().unwrap().trigger, Trigger::Operator);
    drop(scope);
    assert_eq!(PMS.last_change(), None);
    PMS.admit().unwrap().settle(Outcome::Failure);
    assert_eq!(PMS.last_change().unwrap().trigger, Trigger::Failures);
    let _scope = test::scope();
    assert_eq!(PMS.last_change(), None);
    PMS.admit().unwrap().settle(Outcome::Overloaded(SECOND));
    assert_eq!(PMS.last_change().unwrap().trigger, Trigger::Overloaded);
}

#[test]
fn of_changes_at_once_the_last_one_stays() {
    let pms = Breaker::shared("changes at once", settings());
    let barrier = Barrier::new(4);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                barrier.wait();
                for _ in 0..2_000 {
                    let change = pms.force_open();
                    if let Some(last) = pms.last_change() {
                        assert!(!change.generation.is_after(last.generation));
                    }
                    pms.close();
                }
            });
        }
    });
    let last = pms.last_change().unwrap();
    assert_eq!(last.generation, pms.generation());
    assert_eq!((last.generation.get(), last.to), (16_000, pms.state()));
}

/// Asks the registry when it is told of a change.
struct Asks(Mutex<Vec<Option<(Trigger, breakerbox::Generation)>>>);

impl observe::Observer for Asks {
    fn state_changed(&self, event: &observe::StateChange<'_>) {
        let last = registry::find(event.breaker).and_then(|it| it.last_change());
        let last = last.map(|last| (last.trigger, last.generation));
        self.0.lock().unwrap().push(last);
    }
}

#[test]
fn an_observer_that_asks_finds_what_it_is_told_of() {
    let _scope = test::scope();
    let asks = Arc::new(Asks(Mutex::default()));
    let _installed = observe::install(Arc::clone(&asks));
    let pms = Breaker::shared("pms", settings());
    for _ in 0..3 {
        pms.admit().unwrap().settle(Outcome::Failure);
    }
    let opened = pms.generation();
    pms.close();
    assert_eq!(
        *asks.0.lock().unwrap(),
        [
            Some((Trigger::Failures, opened)),
            Some((Trigger::Operator, pms.generation()))
        ]
    );
}
