//! What breakers in shadow would have done: compared with live ones.

use breakerbox::observe::{
    self, Observer, Rehearsal, StateChange, WouldClose, WouldReject, WouldTrip,
};
use breakerbox::{
    Breaker, Change, Clock, DefaultClock, KeyedBreakers, Outcome, Overrides, Policy, RateConfig,
    Settings, Sliding, State, Trigger, Window, test,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const RESET: Duration = Duration::from_secs(30);

/// What a breaker did, or would have done, at a step of a history.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Did {
    Opened {
        reopened: bool,
        trigger: Trigger,
        failures: u32,
        wait: Option<Duration>,
    },
    Closed,
    Rejected,
}

impl Did {
    fn opened(change: &Change) -> Self {
        Self::Opened {
            reopened: change.from == State::HalfOpen,
            trigger: change.trigger,
            failures: change.failures,
            wait: change.wait,
        }
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<Did>>);

impl Heard {
    fn hear(&self, did: Did) {
        self.0.lock().unwrap().push(did);
    }

    fn take(&self) -> Vec<Did> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Heard {
    fn state_changed(&self, event: &StateChange<'_>) {
        match (event.change.to, event.change.trigger) {
            (_, Trigger::Operator) => {}
            (State::Open, _) => self.hear(Did::opened(event.change)),
            (State::Closed, _) => self.hear(Did::Closed),
            _ => {}
        }
    }

    fn rejected(&self, _: &observe::Rejection<'_>) {
        self.hear(Did::Rejected);
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        self.hear(Did::opened(event.change));
    }

    fn would_reject(&self, _: &WouldReject<'_>) {
        self.hear(Did::Rejected);
    }

    fn would_close(&self, _: &WouldClose<'_>) {
        self.hear(Did::Closed);
    }
}

/// Numbers that look random, and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// A call: how long after the one before, how it ends, how long it takes.
type Step = (Duration, Outcome, Duration);

/// With outages in it, from which the dependency recovers.
fn history(random: &mut Random) -> Vec<Step> {
    let mut failing = 10;
    let step = |_| {
        if random.below(15) == 0 {
            failing = [5, 50, 95][random.below(3) as usize];
        }
        let pause = match random.below(10) {
            0 => SECOND * random.below(90) as u32,
            _ => MILLI * random.below(3_000) as u32,
        };
        let outcome = match random.below(100) {
            share if share < failing => Outcome::Failure,
            96 => Outcome::Ignored,
            97 => Outcome::Dropped,
            98 if failing > 5 => Outcome::Overloaded(SECOND * random.below(20) as u32),
            _ => Outcome::Success,
        };
        (pause, outcome, MILLI * random.below(1_500) as u32)
    };
    (0..200).map(step).collect()
}

/// What happens at each step to a breaker that is made by `make`.
fn play<P>(
    history: &[Step],
    in_shadow: bool,
    make: impl FnOnce() -> Breaker<DefaultClock, P>,
) -> Vec<Vec<Did>>
where
    P: Policy + Send + Sync + 'static,
{
    let scope = test::scope();
    let heard = Arc::new(Heard::default());
    observe::install(Arc::clone(&heard)).forever();
    observe::install(Rehearsal::new()).forever();
    let breaker = make();
    if in_shadow {
        breaker.shadow();
    }
    let step = |&(pause, outcome, took): &Step| {
        scope.advance(pause);
        let admitted = breaker.admit();
        assert!(admitted.is_ok() || !in_shadow, "shadow refuses nothing");
        scope.advance(took);
        if let Ok(permit) = admitted {
            permit.settle(outcome);
        }
        heard.take()
    };
    history.iter().map(step).collect()
}

/// How often each thing happened in all.
#[derive(Debug, Default)]
struct Seen {
    opened: u32,
    reopened: u32,
    closed: u32,
    rejected: u32,
}

fn assert_as_live<P>(name: &str, make: impl Fn() -> Breaker<DefaultClock, P>)
where
    P: Policy + Send + Sync + 'static,
{
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut seen = Seen::default();
    for round in 0..100 {
        let history = history(&mut random);
        let live = play(&history, false, &make);
        let would = play(&history, true, &make);
        for (step, (live, would)) in live.iter().zip(&would).enumerate() {
            assert_eq!(would, live, "{name}, round {round}, step {step}");
            for did in live {
                match did {
                    Did::Opened { reopened: true, .. } => seen.reopened += 1,
                    Did::Opened { .. } => seen.opened += 1,
                    Did::Closed => seen.closed += 1,
                    Did::Rejected => seen.rejected += 1,
                }
            }
        }
    }
    let Seen {
        opened,
        reopened,
        closed,
        rejected,
    } = seen;
    let enough = opened > 50 && reopened > 50 && closed > 50 && rejected > 500;
    assert!(enough, "{name}: the histories show too little: {seen:?}");
}

#[test]
fn what_a_live_breaker_would_have_done_to_the_call() {
    let in_a_row = Settings::new().threshold(3).reset(RESET);
    let patient = in_a_row.backoff(2.0).max_reset(RESET * 4);
    let two = in_a_row.probes(2).close_after(3);
    let by_rate = in_a_row.probes(4).close_rate(0.5);
    let dropped_fail = in_a_row.on_cancel(breakerbox::OnCancel::Failure);
    for (name, settings) in [
        ("failures in a row", in_a_row),
        ("with backoff", patient),
        ("several probes", two),
        ("closing by rate", by_rate),
        ("dropped calls fail", dropped_fail),
    ] {
        assert_as_live(name, || Breaker::new("b", settings.must()));
    }
}

#[test]
fn and_one_by_rate() {
    let settings = Settings::new().reset(RESET).min_calls(10);
    let calls: RateConfig = settings
        .failure_rate(0.5)
        .window(Window::calls(20))
        .must_rate();
    assert_as_live("a window of calls", || {
        Breaker::<_, Sliding<64>>::by_rate("b", calls).unwrap()
    });
    let time = settings
        .failure_rate(0.5)
        .window(Window::time(SECOND * 60))
        .must_rate();
    assert_as_live("a window of time", || {
        Breaker::<_, Sliding<64>>::by_rate("b", time).unwrap()
    });
    let slow = settings
        .failure_rate(0.9)
        .slow(SECOND)
        .slow_rate(0.4)
        .window(Window::calls(20))
        .must_rate();
    assert_as_live("slow calls", || {
        Breaker::<_, Sliding<64>>::by_rate("b", slow).unwrap()
    });
}

fn settings() -> Settings {
    Settings::new().threshold(2).reset(RESET).jitter(0.0)
}

fn fail(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("down"));
}

fn succeed(breaker: &Breaker) {
    assert_eq!(breaker.call_sync(|| Ok::<_, ()>(7)), Ok(7));
}

#[test]
fn calls_that_overlap_an_opening_are_late_or_refused() {
    let scope = test::scope();
    let heard = Arc::new(Heard::default());
    let rehearsal = Arc::new(Rehearsal::new());
    observe::install(Arc::clone(&heard)).forever();
    observe::install(Arc::clone(&rehearsal)).forever();
    let b = Breaker::new("b", settings().must());
    b.shadow();
    let before = b.admit().unwrap();
    scope.advance(SECOND);
    fail(&b);
    fail(&b);
    assert!(matches!(heard.take()[..], [Did::Opened { .. }]));
    let during = b.admit().unwrap();
    scope.advance(RESET);
    let probe = b.admit().unwrap();
    let beside_the_probe = b.admit().unwrap();
    scope.advance(SECOND);
    probe.success();
    assert_eq!(heard.take(), [Did::Closed]);
    before.failure();
    assert_eq!(heard.take(), [], "it was under way: late");
    during.success();
    assert_eq!(heard.take(), [Did::Rejected]);
    beside_the_probe.failure();
    assert_eq!(heard.take(), [Did::Rejected]);
    succeed(&b);
    fail(&b);
    assert_eq!(heard.take(), [], "one failure of two");
    let report = &rehearsal.report()[0];
    assert_eq!((report.calls, report.openings, report.rejected), (8, 1, 2));
    assert_eq!(report.rejected_successes, 1);
    assert_eq!((report.open_for, report.is_open), (RESET + SECOND, false));
}

#[test]
fn lines_for_a_log() {
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);
    impl Observer for Lines {
        fn would_trip(&self, event: &WouldTrip<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
        fn would_reject(&self, event: &WouldReject<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
        fn would_close(&self, event: &WouldClose<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }
    let scope = test::scope();
    let lines = Arc::new(Lines::default());
    observe::install(Arc::clone(&lines)).forever();
    observe::install(Rehearsal::new()).forever();
    let hosts: KeyedBreakers<String> = KeyedBreakers::new("hosts", settings().must());
    let host = hosts.get("a.example");
    let host: &dyn breakerbox::AnyBreaker = &host;
    host.shadow();
    let call = |answer: Result<(), &'static str>| {
        let _ = hosts.get("a.example").call_sync(|| answer);
    };
    for answer in [Err("down"), Err("down"), Err("down"), Ok(())] {
        call(answer);
    }
    scope.advance(RESET);
    call(Err("down"));
    scope.advance(RESET);
    call(Ok(()));
    assert_eq!(
        *lines.0.lock().unwrap(),
        [
            "circuit `hosts[a.example]` would have opened after 2 failures, for 30s",
            "circuit `hosts[a.example]` would have refused a call, as open: it ended as failure",
            "circuit `hosts[a.example]` would have refused a call, as open: it ended as success",
            "circuit `hosts[a.example]` would have reopened after 1 failure while probing, for 30s",
            "circuit `hosts[a.example]` would have closed after 60s, having refused 2 calls of which 1 succeeded",
        ]
    );
}

#[test]
fn only_what_is_in_shadow_and_each_time_anew() {
    let scope = test::scope();
    let rehearsal = Arc::new(Rehearsal::new());
    observe::install(Arc::clone(&rehearsal)).forever();
    let live = Breaker::new("live", settings().must());
    let b = Breaker::new("b", settings().must());
    let early = b.admit().unwrap();
    b.shadow();
    early.failure();
    fail(&live);
    assert_eq!(rehearsal.report(), []);
    fail(&b);
    fail(&b);
    assert!(rehearsal.report()[0].is_open);
    b.close();
    succeed(&b);
    b.shadow();
    // From the beginning, but the report goes on.
    succeed(&b);
    fail(&b);
    scope.advance(SECOND);
    let report = &rehearsal.report()[0];
    assert_eq!((report.calls, report.openings, report.rejected), (4, 1, 0));
    assert!(!report.is_open);
}

#[test]
fn settings_that_are_changed_at_run_time_are_tried_at_once() {
    let scope = test::scope();
    let heard = Arc::new(Heard::default());
    observe::install(Arc::clone(&heard)).forever();
    observe::install(Rehearsal::new()).forever();
    let b = Breaker::new("b", settings().must());
    let patient = Overrides::new().threshold(4).reset(RESET * 2);
    let _ = b.reconfigure(&patient).unwrap();
    b.shadow();
    (0..3).for_each(|_| fail(&b));
    assert_eq!(heard.take(), []);
    fail(&b);
    let opened = heard.take();
    let [Did::Opened { failures, wait, .. }] = opened[..] else {
        panic!("{opened:?}")
    };
    assert_eq!((failures, wait), (4, Some(RESET * 2)));
    scope.advance(RESET * 2);
    succeed(&b);
    assert_eq!(heard.take(), [Did::Closed]);
    b.clear_overrides();
    fail(&b);
    fail(&b);
    assert!(matches!(
        heard.take()[..],
        [Did::Opened { failures: 2, .. }]
    ));
}

#[test]
fn no_more_circuits_are_kept_than_asked_for() {
    let _scope = test::scope();
    let rehearsal = Arc::new(Rehearsal::new().max_circuits(3));
    observe::install(Arc::clone(&rehearsal)).forever();
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(4);
    for key in 0..20_u64 {
        let host = hosts.get(&key);
        let host: &dyn breakerbox::AnyBreaker = &host;
        host.shadow();
        let _ = hosts.get(&key).call_sync(|| Err::<(), _>(()));
    }
    let keys: Vec<_> = rehearsal.report().into_iter().map(|one| one.key).collect();
    assert_eq!(keys, ["0", "1", "2"].map(|key| Some(key.to_owned())));
}

#[test]
fn clients_that_come_and_go_leave_nothing() {
    let _scope = test::scope();
    let rehearsal = Arc::new(Rehearsal::new().max_circuits(1));
    observe::install(Arc::clone(&rehearsal)).forever();
    for _ in 0..3 {
        let client = Breaker::shared("client", settings().must());
        client.shadow();
        fail(&client);
        assert_eq!(rehearsal.report().len(), 1);
        drop(client);
        assert_eq!(rehearsal.report(), []);
    }
}

/// A key that is given up is closed by then. What stands in its place is another's.
#[test]
fn keys_that_come_and_go_leave_nothing() {
    let _scope = test::scope();
    let rehearsal = Arc::new(Rehearsal::new().max_circuits(2));
    observe::install(Arc::clone(&rehearsal)).forever();
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(1);
    for key in 0..50_u64 {
        let host = hosts.get(&key);
        let operator: &dyn breakerbox::AnyBreaker = &host;
        operator.shadow();
        let _ = host.call_sync(|| Err::<(), _>(()));
        let report = rehearsal.report();
        let of_keys: Vec<_> = report
            .iter()
            .map(|one| (one.key.clone(), one.calls))
            .collect();
        assert_eq!(of_keys, [(Some(key.to_string()), 1)]);
        operator.close();
    }
}

/// Generations in which it would have opened.
#[derive(Default)]
struct Trips(Mutex<Vec<breakerbox::Generation>>);

impl Observer for Trips {
    fn would_trip(&self, event: &WouldTrip<'_>) {
        self.0.lock().unwrap().push(event.change.generation);
    }
}

#[test]
fn outages_are_summed_and_only_a_success_is_a_false_alarm() {
    let scope = test::scope();
    let (rehearsal, trips) = (Arc::new(Rehearsal::new()), Arc::new(Trips::default()));
    observe::install(Arc::clone(&rehearsal)).forever();
    observe::install(Arc::clone(&trips)).forever();
    let b = Breaker::new("b", settings().must());
    b.shadow();
    for _ in 0..2 {
        fail(&b);
        fail(&b);
        for outcome in [Outcome::Ignored, Outcome::Dropped, Outcome::Success] {
            b.admit().unwrap().settle(outcome);
        }
        scope.advance(RESET);
        succeed(&b);
    }
    let report = &rehearsal.report()[0];
    assert_eq!((report.openings, report.open_for), (2, 2 * RESET));
    assert_eq!((report.rejected, report.rejected_successes), (6, 2));
    assert_eq!(*trips.0.lock().unwrap(), [b.generation(); 2]);
}

/// Nobody is told when it is gone.
#[test]
fn a_key_for_which_there_is_no_room_is_not_played() {
    let _scope = test::scope();
    let rehearsal = Arc::new(Rehearsal::new());
    observe::install(Arc::clone(&rehearsal)).forever();
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(1);
    let hold = |key: u64| {
        let host = hosts.get(&key);
        let operator: &dyn breakerbox::AnyBreaker = &host;
        operator.shadow();
        let _ = host.call_sync(|| Err::<(), _>(()));
        host
    };
    let _hosts = [1, 2].map(hold);
    let report = rehearsal.report();
    let keys: Vec<_> = report.iter().map(|one| one.key.as_deref()).collect();
    assert_eq!(keys, [Some("1")]);
}

/// Held by a test that installs a rehearsal for the process: of several the first counts.
static OF_PROCESS: Mutex<()> = Mutex::new(());

#[test]
fn one_that_stands_where_another_stood_is_played_for_itself() {
    let _alone = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    // In no test scope, where a circuit is where its breaker stands.
    let rehearsal = Arc::new(Rehearsal::new());
    let _installed = observe::install(Arc::clone(&rehearsal));
    // `Breaker::new` is not listed: nobody is told when it is dropped.
    let mut place = Breaker::new("none", settings().must());
    for name in ["first", "second", "third"] {
        place = Breaker::new(name, settings().must());
        place.shadow();
        fail(&place);
        fail(&place);
        let report = rehearsal.report();
        let played: Vec<_> = report
            .iter()
            .map(|one| (&*one.breaker, one.calls))
            .collect();
        assert_eq!(played, [(name, 2)]);
    }
    drop(place);
}

#[test]
fn of_several_the_first_counts() {
    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    observe::install(Arc::clone(&heard)).forever();
    let [first, second] = [(); 2].map(|()| Arc::new(Rehearsal::new()));
    let installed = observe::install(Arc::clone(&first));
    observe::install(Arc::clone(&second)).forever();
    let b = Breaker::new("b", settings().must());
    b.shadow();
    fail(&b);
    fail(&b);
    let calls = |rehearsal: &Rehearsal| rehearsal.report().first().map(|one| one.calls);
    assert_eq!((calls(&first), calls(&second)), (Some(2), None));
    assert_eq!(heard.take().len(), 1, "it is told once");
    drop(installed);
    fail(&b);
    assert_eq!((calls(&first), calls(&second)), (Some(2), Some(1)));
}

#[test]
fn without_a_rehearsal_shadow_tells_once() {
    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    observe::install(Arc::clone(&heard)).forever();
    let b = Breaker::new("b", settings().must());
    b.shadow();
    for _ in 0..10 {
        fail(&b);
    }
    assert!(matches!(heard.take()[..], [Did::Opened { .. }]));
}

#[test]
fn on_many_threads_every_call_is_played_once() {
    const CALLS: u64 = 2_000;
    let _alone = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let rehearsal = Arc::new(Rehearsal::new());
    let installed = observe::install(Arc::clone(&rehearsal));
    // A wait that is over soon, and soon again.
    let settings = Settings::new()
        .threshold(3)
        .reset(Duration::from_micros(50));
    let b = Breaker::new("rehearsed-on-threads", settings.must());
    b.shadow();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let b = &b;
            threads.spawn(move || {
                let mut random = Random(thread + 1);
                for _ in 0..CALLS {
                    if random.below(3) == 0 {
                        succeed(b);
                    } else {
                        fail(b);
                    }
                }
            });
        }
    });
    drop(installed);
    let report = rehearsal.report();
    let report = report
        .iter()
        .find(|one| one.breaker == "rehearsed-on-threads")
        .unwrap();
    assert_eq!(report.calls, 4 * CALLS);
    assert!(report.openings > 0 && report.rejected > 0, "{report:?}");
    assert!(report.rejected_successes < report.rejected);
    assert_eq!(b.state(), State::Shadow);
    // Not a clock of the test's: the one that calls are timed by.
    assert!(report.open_for < Duration::from_nanos(DefaultClock::default().exact()).max(RESET));
}
