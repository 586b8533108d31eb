//! What observers hear of state changes and refusals, and what they can't break.

use crate::support::block_on;
use breakerbox::observe::{self, FallbackServed, Observer, Rejection, StateChange};
use breakerbox::{
    Breaker, CallError, CircuitOpenError, Clock, Config, Effect, Generation, ManualClock, Policy,
    Reason, Settings, Sliding, Snapshot, State, Window, test,
};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Recorder {
    lines: Mutex<Vec<String>>,
    numbers: Mutex<Vec<(Generation, u64)>>,
}

impl Recorder {
    fn record(&self, line: String, generation: Generation, sequence: u64) {
        self.lines.lock().unwrap().push(line);
        self.numbers.lock().unwrap().push((generation, sequence));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

impl Observer for Recorder {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.record(event.to_string(), event.change.generation, event.sequence);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.record(event.to_string(), event.generation, event.sequence);
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        self.record(event.to_string(), event.generation, event.sequence);
    }
}

fn fail(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("down"));
}

#[test]
fn a_whole_outage_reads_as_a_log() {
    let scope = test::scope();
    let recorder = Arc::new(Recorder::default());
    let _installed = observe::install(Arc::clone(&recorder));
    let settings = Settings::new()
        .threshold(2)
        .reset(Duration::from_secs(30))
        .backoff(2.0);
    let pms = Breaker::new("pms", settings.must());

    fail(&pms);
    fail(&pms);
    fail(&pms);
    scope.advance(Duration::from_secs(30));
    fail(&pms);
    scope.advance(Duration::from_secs(60));
    let stuck = pms.admit().unwrap();
    scope.advance(Duration::from_secs(60));
    let _ = pms.call_sync(|| Ok::<_, &str>(()));
    drop(stuck);
    pms.force_open();
    pms.open_for(Duration::from_secs(5));
    pms.close();

    assert_eq!(
        recorder.take(),
        [
            "circuit `pms` opened after 2 failures, for 30s",
            "call refused: circuit `pms` is open: retry in 30s",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` reopened after 1 failure while probing, for 60s",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` probes again: its probes never ended",
            "circuit `pms` closed: its probes succeeded",
            "circuit `pms` was set by an operator: forced_open",
            "circuit `pms` was opened by an operator, for 5s",
            "circuit `pms` was set by an operator: closed",
        ]
    );
    let numbers = recorder.numbers.lock().unwrap();
    assert!(
        numbers.windows(2).all(|pair| pair[0].1 < pair[1].1),
        "sequence grows"
    );
    assert!(
        numbers
            .windows(2)
            .all(|pair| pair[0].0.get() <= pair[1].0.get()),
        "and generation"
    );
}

#[test]
fn an_observer_hears_nothing_once_it_is_uninstalled() {
    let _scope = test::scope();
    let recorder = Arc::new(Recorder::default());
    let pms = Breaker::new("pms", Config::DEFAULT);
    let installed = observe::install(Arc::clone(&recorder));
    pms.force_open();
    assert_eq!(recorder.take().len(), 1);
    drop(installed);
    pms.close();
    assert!(recorder.take().is_empty());
    assert_eq!(Arc::strong_count(&recorder), 1);
}

#[test]
fn shadow_tells_once_that_it_would_have_opened() {
    struct WouldTrip(Mutex<Vec<String>>);
    impl Observer for WouldTrip {
        fn would_trip(&self, event: &observe::WouldTrip<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }
    let _scope = test::scope();
    let heard = Arc::new(WouldTrip(Mutex::default()));
    let _installed = observe::install(Arc::clone(&heard));
    let pms = Breaker::new("pms", Settings::new().threshold(2).must());
    pms.shadow();
    for _ in 0..5 {
        fail(&pms);
    }
    assert_eq!(pms.state(), State::Shadow);
    assert_eq!(
        *heard.0.lock().unwrap(),
        ["circuit `pms` would have opened after 2 failures, for 30s"]
    );
}

struct Panics;

impl Observer for Panics {
    fn state_changed(&self, _: &StateChange<'_>) {
        panic!("in the observer");
    }

    fn rejected(&self, _: &Rejection<'_>) {
        panic!("in the observer");
    }
}

#[test]
fn an_observer_that_panics_costs_nothing() {
    let scope = test::scope();
    let recorder = Arc::new(Recorder::default());
    let _first = observe::install(Panics);
    let _second = observe::install(Arc::clone(&recorder));
    let pms = Breaker::new("pms", Settings::new().threshold(1).must());
    fail(&pms);
    assert!(pms.admit().is_err());
    scope.advance(Duration::from_secs(30));
    assert_eq!(pms.call_sync(|| Ok::<_, &str>(1)), Ok(1));
    assert_eq!(pms.state(), State::Closed);
    assert_eq!(recorder.take().len(), 4, "the other observer hears it all");
}

#[test]
fn an_observer_that_panics_while_unwinding_does_not_end_the_process() {
    let _scope = test::scope();
    let _installed = observe::install(Panics);
    let pms = Breaker::new("pms", Settings::new().threshold(1).must());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = pms.admit().unwrap();
        panic!("the call");
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
}

struct CallsBack(Arc<Breaker>);

impl Observer for CallsBack {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.change.to == State::Open {
            // Everything that could deadlock: the breaker, the registry, the
            // list of observers.
            assert!(self.0.admit().is_err());
            assert!(breakerbox::find(self.0.name()).is_some());
            drop(observe::install(Panics));
            self.0.close();
        }
    }
}

#[test]
fn an_observer_may_call_back() {
    let _scope = test::scope();
    let pms = Breaker::shared("calls-back", Settings::new().threshold(1).must());
    let _installed = observe::install(CallsBack(Arc::clone(&pms)));
    fail(&pms);
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn outside_a_scope_an_observer_hears_of_every_breaker_of_the_process() {
    let recorder = Arc::new(Recorder::default());
    let installed = observe::install(Arc::clone(&recorder));
    std::thread::spawn(|| Breaker::new("elsewhere", Config::DEFAULT).force_open())
        .join()
        .unwrap();
    {
        let _scope = test::scope();
        Breaker::new("in-a-scope", Config::DEFAULT).force_open();
    }
    drop(installed);
    let lines = recorder.take();
    assert!(lines.contains(&"circuit `elsewhere` was set by an operator: forced_open".to_owned()));
    assert!(!lines.iter().any(|line| line.contains("in-a-scope")));
}

#[test]
fn a_restore_is_told() {
    let _scope = test::scope();
    let recorder = Arc::new(Recorder::default());
    let _installed = observe::install(Arc::clone(&recorder));
    let pms = Breaker::new("pms", Config::DEFAULT);
    let open = Snapshot {
        state: State::Open,
        time_left: Duration::from_secs(7),
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    let change = pms.restore(&open).unwrap();
    assert_eq!(
        recorder.take(),
        ["circuit `pms` was restored: open, for 7s"]
    );
    assert_eq!(recorder.numbers.lock().unwrap()[0].0, change.generation);
    let nonsense = Snapshot {
        state: State::Closed,
        ..open
    };
    assert!(pms.restore(&nonsense).is_err());
    assert!(recorder.take().is_empty());
}

#[test]
fn an_overload_says_whether_it_opened_or_reopened() {
    let scope = test::scope();
    let recorder = Arc::new(Recorder::default());
    let _installed = observe::install(Arc::clone(&recorder));
    let pms = Breaker::new("pms", Config::DEFAULT);
    let wait = Duration::from_secs(7);
    let _ = pms.admit().unwrap().overloaded(wait);
    scope.advance(wait);
    let _ = pms.admit().unwrap().overloaded(wait * 2);
    assert_eq!(
        recorder.take(),
        [
            "circuit `pms` opened: overloaded, for 7s",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` reopened: overloaded, for 14s",
        ]
    );
}

#[test]
fn an_observer_for_ever_hears_as_long_as_its_scope() {
    let recorder = Arc::new(Recorder::default());
    {
        let _scope = test::scope();
        observe::install(Arc::clone(&recorder)).forever();
        Breaker::new("in-a-scope", Config::DEFAULT).force_open();
        assert_eq!(recorder.take().len(), 1);
    }
    assert_eq!(Arc::strong_count(&recorder), 1);
}

#[test]
fn an_observer_for_ever_hears_as_long_as_the_process() {
    let recorder = Arc::new(Recorder::default());
    observe::install(Arc::clone(&recorder)).forever();
    for order in 1..=2 {
        Breaker::new("for-ever", Config::DEFAULT).force_open();
        let lines = recorder.take();
        let heard = lines.iter().filter(|line| line.contains("for-ever"));
        assert_eq!(heard.count(), 1, "order {order}: {lines:?}");
    }
}

/// Trips at once, for a second.
fn quick(name: &'static str) -> Breaker {
    let settings = Settings::new().threshold(1).reset(Duration::from_secs(1));
    Breaker::new(name, settings.jitter(0.0).must())
}

const SECOND: u64 = 1_000_000_000;

/// Panics with what panics when it is dropped.
struct PanicsWithABomb;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the payload's destructor");
    }
}

impl Observer for PanicsWithABomb {
    fn state_changed(&self, _: &StateChange<'_>) {
        panic_any(Bomb);
    }

    fn rejected(&self, _: &Rejection<'_>) {
        panic_any(Bomb);
    }
}

#[test]
fn an_observer_whose_panic_panics_when_it_is_dropped_costs_nothing() {
    let _scope = test::scope();
    observe::install(PanicsWithABomb).forever();
    let recorder = Arc::new(Recorder::default());
    observe::install(Arc::clone(&recorder)).forever();
    let pms = quick("pms");
    let through = catch_unwind(AssertUnwindSafe(|| {
        let _ = pms.admit_at(0).unwrap().failure();
        assert!(pms.admit_at(0).is_err());
        let probe = pms.admit_at(SECOND).unwrap();
        assert!(matches!(probe.success(), Effect::Closed(_)));
    }));
    assert!(through.is_ok());
    assert_eq!(recorder.take().len(), 4, "the other observer hears it all");

    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = pms.admit().unwrap();
        panic!("the call");
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
}

const RESET: Duration = Duration::from_secs(30);

/// Refusals as they were told: of which generation, and the error.
#[derive(Default)]
struct Refusals {
    of: &'static str,
    told: Mutex<Vec<(Generation, CircuitOpenError)>>,
}

impl Observer for Refusals {
    fn rejected(&self, event: &Rejection<'_>) {
        if event.error.name() == self.of {
            let told = (event.generation, event.error.clone());
            self.told.lock().unwrap().push(told);
        }
    }
}

/// Every way to ask that is refused.
fn refusals<P>(pms: &Breaker<&'static ManualClock, P>, now: u64) -> Vec<CircuitOpenError>
where
    P: Policy + Send + Sync + 'static,
{
    let open = |error: CallError<()>| match error {
        CallError::Open(open) => open,
        error => panic!("not refused but {error:?}"),
    };
    let called = pms.call_sync(|| Ok(())).map_err(open);
    let polled = block_on(pms.call(async { Ok(()) })).map_err(open);
    vec![
        pms.admit().expect_err("admitted"),
        pms.admit_at(now).expect_err("admitted"),
        called.expect_err("called"),
        polled.expect_err("called"),
    ]
}

fn assert_each_refusal_is_told_once<P>(
    pms: &Breaker<&'static ManualClock, P>,
    now: impl Fn() -> u64,
) where
    P: Policy + Send + Sync + 'static,
{
    let refusals_of = Arc::new(Refusals {
        of: "refuses",
        ..Refusals::default()
    });
    let _installed = observe::install(Arc::clone(&refusals_of));
    let assert_told = |reason| {
        let refused = refusals(pms, now());
        let told = std::mem::take(&mut *refusals_of.told.lock().unwrap());
        let expected: Vec<_> = refused
            .into_iter()
            .inspect(|refused| assert_eq!(refused.reason(), reason))
            .map(|refused| (pms.generation(), refused))
            .collect();
        assert_eq!(told, expected, "{reason}");
    };
    // The second time there is another generation before.
    for _ in 0..2 {
        pms.open_for(RESET);
        assert_told(Reason::Open);
        pms.open_for(Duration::ZERO);
        let probe = pms.admit().expect("the probe");
        assert_told(Reason::HalfOpenFull);
        assert!(matches!(probe.overloaded(RESET), Effect::Tripped(_)));
        assert_told(Reason::Open);
        pms.force_open();
        assert_told(Reason::ForcedOpen);
    }
}

#[test]
fn each_refusal_is_told_once_and_of_the_generation_that_refused() {
    let later = 3_600 * SECOND;
    let in_a_row = || {
        let clock: &ManualClock = Box::leak(Box::new(ManualClock::new(later)));
        (
            Breaker::with_clock("refuses", Config::DEFAULT, clock),
            clock,
        )
    };
    let (pms, _) = in_a_row();
    assert_each_refusal_is_told_once(&pms, || later);

    let (pms, clock) = in_a_row();
    let set_back = || {
        // Who asks next finds the clock before the opening.
        clock.set(clock.now() / 2);
        clock.now()
    };
    assert_each_refusal_is_told_once(&pms, set_back);

    let settings = Settings::new().failure_rate(0.5).window(Window::calls(10));
    let (config, clock) = (settings.min_calls(1).must_rate(), clock);
    let rates = Breaker::<_, Sliding<1>>::by_rate_with_clock("refuses", config, clock).unwrap();
    assert_each_refusal_is_told_once(&rates, || clock.now());

    let _scope = test::scope();
    assert_each_refusal_is_told_once(&pms, || 0);
    assert_each_refusal_is_told_once(&rates, || 0);
}
