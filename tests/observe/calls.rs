//! The end of each admitted call, through every way to make one.

use crate::record::listen;
use crate::support::{block_on, poll};
use breakerbox::observe::{self, CallEnded, CallOutcome, Observer};
use breakerbox::{
    Breaker, CallError, Config, Effect, ExactClock, KeyedBreakers, ManualClock, OnCancel, Outcome,
    Settings, State, SystemClock, circuit_breaker, test,
};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// How each call ended, and how long it took.
#[derive(Default)]
struct Ends(Mutex<Vec<(CallOutcome, Duration)>>);

impl Ends {
    fn take(&self) -> Vec<(CallOutcome, Duration)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Ends {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        self.0.lock().unwrap().push((event.outcome, event.took));
    }
}

fn ends() -> (Arc<Ends>, observe::Installed) {
    let ends = Arc::new(Ends::default());
    let installed = observe::install(Arc::clone(&ends));
    (ends, installed)
}

/// Never trips by itself.
const PATIENT: Config = Settings::new().threshold(1_000).must();

/// Every way that a call can end, and what it is called.
const OUTCOMES: [(Outcome, CallOutcome); 6] = [
    (Outcome::Success, CallOutcome::Success),
    (Outcome::Failure, CallOutcome::Failure),
    (Outcome::Ignored, CallOutcome::Ignored),
    (Outcome::Dropped, CallOutcome::Dropped),
    (Outcome::Panicked, CallOutcome::Panicked),
    (Outcome::Overloaded(SECOND), CallOutcome::Overloaded(SECOND)),
];

#[test]
fn a_permit_tells_how_it_was_settled_and_when() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::shared("pms", PATIENT);
    let hosts = KeyedBreakers::<u32>::new("hosts", PATIENT);
    for (took, (outcome, told)) in (1..).map(|n| n * SECOND).zip(OUTCOMES) {
        pms.close();
        let permit = pms.admit().unwrap();
        scope.advance(took);
        let _ = permit.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);

        pms.close();
        let owned = pms.admit_owned().unwrap();
        scope.advance(took);
        let _ = owned.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);

        let host = hosts.get(&(took.as_secs() as u32));
        let permit = host.admit().unwrap();
        scope.advance(took);
        let _ = permit.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);
    }
}

#[test]
fn the_methods_of_a_permit_are_its_outcomes() {
    let _scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::shared("pms", PATIENT);
    let permit = || pms.admit().unwrap();
    let owned = || pms.admit_owned().unwrap();
    let told = |outcome| assert_eq!(ends.take(), [(outcome, Duration::ZERO)]);

    let _ = permit().success();
    told(CallOutcome::Success);
    let _ = owned().success();
    told(CallOutcome::Success);
    let _ = permit().failure();
    told(CallOutcome::Failure);
    let _ = owned().failure();
    told(CallOutcome::Failure);
    let _ = permit().ignore();
    told(CallOutcome::Ignored);
    let _ = owned().ignore();
    told(CallOutcome::Ignored);
    drop(permit());
    told(CallOutcome::Dropped);
    drop(owned());
    told(CallOutcome::Dropped);
    for unwinding in [
        catch_unwind(AssertUnwindSafe(|| {
            let _permit = permit();
            panic!("the call");
        })),
        catch_unwind(AssertUnwindSafe(|| {
            let _permit = owned();
            panic!("the call");
        })),
    ] {
        assert!(unwinding.is_err());
    }
    assert_eq!(
        ends.take(),
        [(CallOutcome::Panicked, Duration::ZERO); 2],
        "one for each"
    );
    let _ = permit().overloaded(SECOND);
    told(CallOutcome::Overloaded(SECOND));
}

#[test]
fn at_explicit_times_a_call_took_the_time_between_them() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::new("pms", PATIENT);
    let took = |nanos| [(CallOutcome::Success, Duration::from_nanos(nanos))];

    let _ = pms
        .admit_at(1_000)
        .unwrap()
        .settle_at(Outcome::Success, 4_500);
    assert_eq!(ends.take(), took(3_500));
    let _ = pms.admit_at(1_000).unwrap().success();
    assert_eq!(ends.take(), took(0));
    // Back in time is no time.
    let _ = pms.admit_at(5_000).unwrap().settle_at(Outcome::Success, 1);
    assert_eq!(ends.take(), took(0));
    let _ = pms
        .admit_at(0)
        .unwrap()
        .settle_at(Outcome::Success, u64::MAX);
    assert_eq!(ends.take(), took(u64::MAX - 1));
    let _ = pms.admit_at(u64::MAX).unwrap().success();
    assert_eq!(ends.take(), took(0));

    scope.advance(SECOND);
    let permit = pms.admit().unwrap();
    let _ = permit.settle_at(Outcome::Success, 3_000_000_000);
    assert_eq!(ends.take(), took(2_000_000_000));
}

/// Counts its exact readings from another origin, as the clock of the system does.
struct TwoOrigins(ManualClock);

impl breakerbox::Clock for TwoOrigins {
    fn now(&self) -> u64 {
        self.0.now() / 4_000_000 * 4_000_000
    }

    fn exact(&self) -> u64 {
        self.0.now() - 77_000_000_000
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_call_admitted_by_the_clock_and_settled_at_an_explicit_time_took_what_is_between() {
    let (ends, _installed) = ends();
    let clock = TwoOrigins(ManualClock::new(100_000_000_000));
    let pms = Breaker::with_clock("two-origins", PATIENT, clock);
    let permit = pms.admit().unwrap();
    let _ = permit.settle_at(Outcome::Success, 103_000_000_000);
    let heard = ends.take();
    assert!(
        heard.contains(&(CallOutcome::Success, 3 * SECOND)),
        "{heard:?}"
    );
}

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(name = "plain", threshold = 1_000, classify = |e| matches!(e, CallError::Call("down")))]
fn plain(answer: Result<u32, &'static str>) -> Answer {
    answer.map_err(CallError::Call)
}

#[circuit_breaker(name = "waiting", threshold = 1_000, classify = |e| matches!(e, CallError::Call("down")))]
async fn waiting(answer: Option<Result<u32, &'static str>>) -> Answer {
    match answer {
        Some(answer) => answer.map_err(CallError::Call),
        None => pending().await,
    }
}

#[circuit_breaker(name = "limited", threshold = 1_000, timeout = "2s")]
async fn limited() -> Answer {
    pending().await
}

#[circuit_breaker(name = "panics", threshold = 1_000)]
async fn panics() -> Answer {
    panic!("in the body")
}

#[circuit_breaker(name = "by-key", key = host, threshold = 1_000)]
async fn by_key(host: &str) -> Answer {
    if host.is_empty() {
        return Err(CallError::Call("no host"));
    }
    Ok(1)
}

#[circuit_breaker(name = "entered", threshold = 1_000, fallback = |_| Ok(7), fallback_on = open)]
fn entered(answer: String) -> Answer {
    drop(answer);
    Ok(1)
}

#[test]
fn annotated_functions_tell_how_their_calls_ended() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    assert_eq!(plain(Ok(1)), Ok(1));
    assert!(plain(Err("down")).is_err());
    assert!(plain(Err("no such room")).is_err());
    block_on(async {
        assert_eq!(waiting(Some(Ok(1))).await, Ok(1));
        assert!(waiting(Some(Err("down"))).await.is_err());
        assert!(waiting(Some(Err("no such room"))).await.is_err());
        {
            let mut dropped = pin!(waiting(None));
            assert!(poll(dropped.as_mut()).is_pending());
            scope.advance(SECOND);
        }
        let mut late = pin!(limited());
        assert!(poll(late.as_mut()).is_pending());
        scope.advance(2 * SECOND);
        assert!(matches!(late.await, Err(CallError::TimedOut(_))));
        assert_eq!(by_key("a.example").await, Ok(1));
        assert!(by_key("").await.is_err());
    });
    assert!(catch_unwind(|| block_on(panics())).is_err());
    assert_eq!(entered(String::new()), Ok(1));
    assert_eq!(
        heard.take(),
        [
            "circuit `plain`: a call ended after 0ns: success",
            "circuit `plain`: a call ended after 0ns: failure",
            "circuit `plain`: a call ended after 0ns: ignored",
            "circuit `waiting`: a call ended after 0ns: success",
            "circuit `waiting`: a call ended after 0ns: failure",
            "circuit `waiting`: a call ended after 0ns: ignored",
            "circuit `waiting`: a call ended after 1s: dropped",
            "circuit `limited`: a call ended after 2s: timeout",
            "circuit `by-key[a.example]`: a call ended after 0ns: success",
            "circuit `by-key[]`: a call ended after 0ns: failure",
            "circuit `panics`: a call ended after 0ns: panicked",
            "circuit `entered`: a call ended after 0ns: success",
        ]
    );
}

#[test]
fn a_call_that_was_never_made_has_no_end() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    drop(waiting(None));
    let pms = Breaker::new("pms", PATIENT);
    drop(pms.call(pending::<Result<(), ()>>()));
    assert!(heard.take().is_empty());

    pms.force_open();
    assert!(pms.call_sync(|| Ok::<_, ()>(())).is_err());
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was set by an operator: forced_open",
            "call refused: circuit `pms` is held open by an operator",
        ]
    );
}

#[test]
fn calls_without_the_attribute_tell_how_they_ended() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::new("pms", PATIENT);
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    let _ = pms
        .classify(|_: &&str| false)
        .call_sync(|| Err::<(), _>("404"));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        pms.call_sync(|| -> Result<(), ()> {
            scope.advance(SECOND);
            panic!("the call")
        })
    }));
    // A classifier is part of its call.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        pms.classify(|_: &&str| -> bool { panic!("the classifier") })
            .call_sync(|| Err::<(), _>("down"))
    }));
    block_on(async {
        let mut call = pin!(pms.call(pending::<Result<(), ()>>()).timeout(3 * SECOND));
        assert!(poll(call.as_mut()).is_pending());
        scope.advance(3 * SECOND);
        assert!(call.await.is_err());
        // Settled by a drop that follows a panic of the same future.
        let panics = pms.call(async { panic!("the body") });
        let mut panics =
            Box::pin(async move { panics.await.map(|()| 1).map_err(|_: CallError<()>| 2) });
        let unwound = catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut())));
        assert!(unwound.is_err());
    });
    let at_once = |outcome| (outcome, Duration::ZERO);
    assert_eq!(
        ends.take(),
        [
            at_once(CallOutcome::Failure),
            at_once(CallOutcome::Ignored),
            (CallOutcome::Panicked, SECOND),
            at_once(CallOutcome::Panicked),
            (CallOutcome::TimedOut, 3 * SECOND),
            at_once(CallOutcome::Panicked),
        ]
    );
}

#[test]
fn in_every_state_that_admits_calls_their_ends_are_told() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1).reset(SECOND);
    let pms = Breaker::new("pms", settings.on_cancel(OnCancel::Failure).must());
    let fail = || {
        let _ = pms.call_sync(|| Err::<(), _>("down"));
    };
    fail();
    scope.advance(SECOND);
    drop(pms.admit().unwrap());
    scope.advance(SECOND);
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    pms.disable();
    fail();
    pms.shadow();
    fail();
    fail();
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` opened after 1 failure, for 1s",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` reopened after 1 failure while probing, for 1s",
            "circuit `pms`: a call ended after 0ns: dropped",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` closed: its probes succeeded",
            "circuit `pms`: a call ended after 0ns: success",
            "circuit `pms` was set by an operator: disabled",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms` was set by an operator: shadow",
            "circuit `pms` would have opened after 1 failure, for 1s",
            "circuit `pms`: a call ended after 0ns: failure",
            "circuit `pms`: a call ended after 0ns: failure",
        ]
    );
}

#[test]
fn a_late_end_is_told_as_both() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let pms = Breaker::new("pms", Settings::new().threshold(1).timeout(SECOND).must());
    let permit = pms.admit().unwrap();
    let dropped = pms.admit().unwrap();
    block_on(async {
        let mut timed_out = pin!(pms.call(pending::<Result<(), ()>>()).timeout(SECOND));
        assert!(poll(timed_out.as_mut()).is_pending());
        pms.close();
        scope.advance(SECOND);
        assert!(timed_out.await.is_err());
    });
    let _ = permit.success();
    drop(dropped);
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was set by an operator: closed",
            "circuit `pms`: a call ended too late to count: timeout",
            "circuit `pms`: a call ended after 1s: timeout",
            "circuit `pms`: a call ended too late to count: success",
            "circuit `pms`: a call ended after 1s: success",
            "circuit `pms`: a call ended too late to count: dropped",
            "circuit `pms`: a call ended after 1s: dropped",
        ]
    );
}

#[test]
fn a_late_outcome_has_both_generations_and_is_told_also_where_nobody_wants_calls() {
    #[derive(Default)]
    struct Late(Mutex<Vec<(CallOutcome, u32, u32)>>);
    impl Observer for Late {
        fn call_ended(&self, _: &CallEnded<'_>) {
            panic!("it does not want them");
        }

        fn late_outcome(&self, event: &observe::LateOutcome<'_>) {
            let (of, current) = (event.generation.get(), event.current.get());
            self.0.lock().unwrap().push((event.outcome, of, current));
        }
    }
    let _scope = test::scope();
    let late = Arc::new(Late::default());
    let _installed = observe::install(Arc::clone(&late));
    let pms = Breaker::new("pms", PATIENT);
    let permit = pms.admit().unwrap();
    let of = permit.generation().get();
    pms.close();
    pms.close();
    assert_eq!(permit.failure(), Effect::Late);
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    assert_eq!(
        *late.0.lock().unwrap(),
        [(CallOutcome::Failure, of, of + 2)]
    );
}

#[test]
fn probes_that_never_end_are_told_beside_the_new_trial() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1).reset(SECOND);
    let pms = Breaker::new("pms", settings.probe_timeout(2 * SECOND).must());
    pms.open_for(SECOND);
    scope.advance(SECOND);
    let stuck = pms.admit().unwrap();
    scope.advance(2 * SECOND);
    let _ = pms.admit().unwrap().success();
    drop(stuck);
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was opened by an operator, for 1s",
            "circuit `pms` probes: its wait is over",
            "circuit `pms` probes again: its probes never ended",
            "circuit `pms` gave up its probes: they never ended",
            "circuit `pms` closed: its probes succeeded",
            "circuit `pms`: a call ended after 0ns: success",
            "circuit `pms`: a call ended too late to count: dropped",
            "circuit `pms`: a call ended after 2s: dropped",
        ]
    );
}

#[test]
fn a_call_from_before_any_observer_is_not_told_of() {
    let scope = test::scope();
    let pms = Breaker::new("pms", PATIENT);
    let before = pms.admit().unwrap();
    scope.advance(SECOND);
    let (first, installed) = ends();
    let between = pms.admit().unwrap();
    let _ = before.success();
    assert!(first.take().is_empty(), "nobody knows how long it took");

    scope.advance(SECOND);
    drop(installed);
    let (second, _installed) = ends();
    let _ = between.success();
    assert!(first.take().is_empty(), "it has left");
    assert_eq!(
        second.take(),
        [(CallOutcome::Success, SECOND)],
        "it was timed for another observer"
    );
}

#[test]
fn a_call_settles_in_the_scope_that_admitted_it() {
    let permit = {
        static PMS: Breaker = Breaker::new("of-a-scope", PATIENT);
        let scope = test::scope();
        let (ends, _installed) = ends();
        let permit = PMS.admit().unwrap();
        scope.advance(SECOND);
        {
            let _inner = test::scope();
            let (inner, _installed) = self::ends();
            let _ = permit.success();
            assert!(inner.take().is_empty());
        }
        assert_eq!(ends.take(), [(CallOutcome::Success, SECOND)]);
        PMS.admit().unwrap()
    };
    // The scope's observers are gone with it.
    let _ = permit.success();
}

/// The ends of calls of this breaker.
struct Of(&'static str, Ends);

impl Observer for Of {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        if event.breaker == self.0 {
            self.1.call_ended(event);
        }
    }
}

#[test]
fn by_the_clocks_of_the_system_a_call_takes_what_it_takes() {
    fn takes<C: breakerbox::Clock + Send + Sync + 'static>(breaker: &Breaker<C>) {
        let of = Arc::new(Of("real", Ends::default()));
        let _installed = observe::install(Arc::clone(&of));
        let before = std::time::Instant::now();
        let _ = breaker.call_sync(|| {
            let began = std::time::Instant::now();
            while began.elapsed() < Duration::from_micros(300) {}
            Ok::<_, ()>(())
        });
        let most = before.elapsed();
        let ended = of.1.take();
        let [(CallOutcome::Success, took)] = ended[..] else {
            panic!("{ended:?}");
        };
        assert!(took >= Duration::from_micros(300), "{took:?}");
        assert!(took <= most, "{took:?} of {most:?}");
    }
    takes(&Breaker::with_clock("real", PATIENT, SystemClock));
    takes(&Breaker::with_clock("real", PATIENT, ExactClock));
}

#[test]
fn from_many_threads_each_end_is_told_once() {
    let of = Arc::new(Of("many", Ends::default()));
    let _installed = observe::install(Arc::clone(&of));
    let pms = Breaker::new("many", Settings::new().threshold(2).reset(SECOND).must());
    let ended: u32 = std::thread::scope(|scope| {
        let threads = (0..4_u32).map(|thread| {
            let pms = &pms;
            scope.spawn(move || {
                let mut made = 0;
                for n in 0..500 {
                    let call = || match n % 5 {
                        0 => Err("down"),
                        _ => Ok(()),
                    };
                    match pms.call_sync(call) {
                        Err(CallError::Open(_)) => drop(pms.close()),
                        _ => made += 1,
                    }
                    if n % 50 == thread {
                        pms.force_open();
                    }
                }
                made
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(of.1.take().len(), ended as usize);
    assert_ne!(pms.state(), State::HalfOpen);
}

#[test]
fn events_of_a_circuit_have_one_number_and_those_of_others_another() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1);
    let (pms, rates) = (
        Breaker::new("same-name", settings.must()),
        Breaker::new("same-name", settings.must()),
    );
    let hosts = KeyedBreakers::<u32>::new("hosts", settings.must());
    let events = |breaker: &dyn Fn()| {
        breaker();
        let circuits = heard.take_circuits();
        assert!(circuits.len() > 2);
        assert!(circuits.iter().all(|circuit| *circuit == circuits[0]));
        circuits[0]
    };
    let fail_twice = |breaker: &Breaker| {
        let _ = breaker.call_sync(|| Err::<(), _>(1));
        let _ = breaker.call_sync(|| Err::<(), _>(1));
    };
    let of_key = |key: u32| {
        let _ = hosts.get(&key).call_sync(|| Err::<(), _>(1));
        let _ = hosts.get(&key).call_sync(|| Err::<(), _>(1));
    };
    let mut circuits = vec![
        events(&|| fail_twice(&pms)),
        events(&|| fail_twice(&rates)),
        events(&|| of_key(1)),
        events(&|| of_key(2)),
    ];
    let outer = circuits[0];
    {
        let _inner = test::scope();
        let (heard, _installed) = listen();
        fail_twice(&pms);
        circuits.push(heard.take_circuits()[0]);
    }
    pms.close();
    assert_eq!(heard.take_circuits(), [outer]);
    let distinct: std::collections::HashSet<_> = circuits.iter().collect();
    assert_eq!(distinct.len(), 5);
}

#[test]
fn a_key_that_is_given_up_is_told_as_the_circuit_that_it_was() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    let hosts = KeyedBreakers::<u32>::new("hosts", PATIENT).max_keys(1);
    let _ = hosts.get(&1_u32).call_sync(|| Ok::<_, ()>(()));
    let circuits = heard.take_circuits();
    drop(hosts.get(&2_u32));
    assert_eq!(heard.take_circuits(), circuits);
    hosts.get(&2_u32).admit().unwrap().overloaded(SECOND);
    drop(heard.take());
    let third = hosts.get(&3_u32);
    let _ = third.call_sync(|| Ok::<_, ()>(()));
    let circuits = heard.take_circuits();
    assert_eq!(circuits.len(), 2, "no room, and the call's end");
    assert_eq!(circuits[0], circuits[1]);
}
