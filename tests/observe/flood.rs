//! `FirstThenCounts`: how rejections come, and that none is lost.

use breakerbox::observe::{self, FirstThenCounts, Observer, Rejection, StateChange};
use breakerbox::{
    Breaker, CircuitOpenError, Generation, KeyedBreakers, ManualClock, Settings, test,
};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Changes and rejections, as lines; and of the rejections what they hold.
#[derive(Default)]
struct Lines {
    of: Option<&'static str>,
    lines: Mutex<Vec<String>>,
    rejections: Mutex<Vec<(Generation, u64, CircuitOpenError)>>,
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }

    fn calls(&self) -> u64 {
        let rejections = self.rejections.lock().unwrap();
        rejections.iter().map(|(_, calls, _)| calls).sum()
    }

    fn hears(&self, breaker: &str) -> bool {
        self.of.is_none_or(|of| of == breaker)
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        if self.hears(event.breaker) {
            self.lines.lock().unwrap().push(event.to_string());
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        if self.hears(event.error.name()) {
            self.lines.lock().unwrap().push(event.to_string());
            let rejection = (event.generation, event.calls, event.error.clone());
            self.rejections.lock().unwrap().push(rejection);
        }
    }
}

fn refuse<P>(pms: &Breaker<breakerbox::DefaultClock, P>, times: usize)
where
    P: breakerbox::Policy + Send + Sync + 'static,
{
    for _ in 0..times {
        assert!(pms.admit().is_err());
    }
}

#[test]
fn the_first_of_an_opening_then_counts() {
    let scope = test::scope();
    let lines = Arc::new(Lines::default());
    let _installed = observe::install(FirstThenCounts::new(Arc::clone(&lines)));
    let settings = Settings::new().threshold(1).reset(60 * SECOND);
    let pms = Breaker::new("pms", settings.must());
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    refuse(&pms, 5);
    assert_eq!(
        lines.take(),
        [
            "circuit `pms` opened after 1 failure, for 60s",
            "call refused: circuit `pms` is open: retry in 60s",
        ]
    );
    scope.advance(10 * SECOND - Duration::from_nanos(1));
    refuse(&pms, 1);
    assert!(lines.take().is_empty());
    scope.advance(Duration::from_nanos(1));
    refuse(&pms, 3);
    assert_eq!(
        lines.take(),
        ["6 calls refused: circuit `pms` is open: retry in 50s"]
    );
    scope.advance(50 * SECOND);
    let probe = pms.admit().unwrap();
    refuse(&pms, 2);
    let _ = probe.failure();
    refuse(&pms, 1);
    pms.close();
    assert_eq!(
        lines.take(),
        [
            "2 calls refused: circuit `pms` is open: retry in 50s",
            "circuit `pms` probes: its wait is over",
            "call refused: circuit `pms` is half-open and its probes are in flight: \
             retry in 60s at the latest",
            "call refused: circuit `pms` is half-open and its probes are in flight: \
             retry in 60s at the latest",
            "circuit `pms` reopened after 1 failure while probing, for 60s",
            "call refused: circuit `pms` is open: retry in 60s",
            "circuit `pms` was set by an operator: closed",
        ]
    );
    let rejections = lines.rejections.lock().unwrap();
    let told: Vec<_> = rejections
        .iter()
        .map(|(generation, calls, _)| (generation.get(), *calls))
        .collect();
    assert_eq!(told, [(1, 1), (1, 6), (1, 2), (2, 1), (2, 1), (3, 1)]);
}

#[test]
fn the_interval_and_the_clock_may_be_chosen() {
    let _scope = test::scope();
    let clock: &ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    let lines = Arc::new(Lines::default());
    let counts = FirstThenCounts::with_clock(Arc::clone(&lines), clock).interval(2 * SECOND);
    let _installed = observe::install(counts);
    let pms = Breaker::new("pms", Settings::new().must());
    pms.force_open();
    refuse(&pms, 3);
    clock.advance(2 * SECOND);
    refuse(&pms, 1);
    // A clock that goes back tells nothing early and loses nothing.
    clock.set(0);
    refuse(&pms, 1);
    pms.close();
    let calls: Vec<_> = lines
        .rejections
        .lock()
        .unwrap()
        .iter()
        .map(|r| r.1)
        .collect();
    assert_eq!(calls, [1, 3, 1]);
}

#[test]
fn the_sum_is_exact_from_many_threads() {
    let lines = Arc::new(Lines {
        of: Some("flooded"),
        ..Lines::default()
    });
    let counts = FirstThenCounts::new(Arc::clone(&lines)).interval(Duration::from_micros(50));
    let counts = Arc::new(counts);
    let installed = observe::install(Arc::clone(&counts));
    let pms = Breaker::new("flooded", Settings::new().threshold(1).must());
    let refused: u64 = thread::scope(|scope| {
        let threads = (0..4).map(|thread| {
            let pms = &pms;
            scope.spawn(move || {
                let mut refused = 0;
                for n in 0..2_000 {
                    if n % 100 == thread {
                        match n % 3 {
                            0 => pms.close(),
                            _ => pms.force_open(),
                        };
                    }
                    refused += u64::from(pms.admit().is_err());
                }
                refused
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    drop(installed);
    counts.flush();
    assert!(refused > 1_000);
    assert_eq!(lines.calls(), refused);
}

#[test]
fn what_is_left_is_told_by_a_flush_and_at_the_end() {
    let _scope = test::scope();
    let lines = Arc::new(Lines::default());
    let counts = Arc::new(FirstThenCounts::new(Arc::clone(&lines)));
    let installed = observe::install(Arc::clone(&counts));
    let pms = Breaker::new("pms", Settings::new().must());
    pms.force_open();
    refuse(&pms, 4);
    assert_eq!(lines.calls(), 1);
    counts.flush();
    assert_eq!(lines.calls(), 4);
    counts.flush();
    assert_eq!(lines.calls(), 4);
    refuse(&pms, 2);
    drop(installed);
    drop(counts);
    assert_eq!(lines.calls(), 6);
}

#[test]
fn each_key_is_counted_for_itself_and_none_is_held() {
    let _scope = test::scope();
    let lines = Arc::new(Lines::default());
    let _installed = observe::install(FirstThenCounts::new(Arc::clone(&lines)));
    let hosts = KeyedBreakers::<u32>::new("hosts", Settings::new().threshold(1).must());
    let hosts = hosts.max_keys(2);
    for key in [1_u32, 2] {
        let host = hosts.get(&key);
        breakerbox::AnyBreaker::force_open(&host);
        for _ in 0..3 {
            assert!(host.admit().is_err());
        }
    }
    drop(lines.take());
    breakerbox::AnyBreaker::close(&hosts.get(&1_u32));
    assert_eq!(
        lines.take(),
        [
            "2 calls refused: circuit `hosts[1]` is held open by an operator",
            "circuit `hosts[1]` was set by an operator: closed",
        ]
    );
    lines.rejections.lock().unwrap().clear();
    assert_eq!(hosts.len(), 2);
    drop(hosts.get(&3_u32));
    assert_eq!(hosts.len(), 2, "1 was given up: nothing of it is kept");
    let kept = hosts.breakers();
    assert!(kept.iter().all(|host| *host.key() != 1));
}

#[test]
fn tens_of_thousands_of_open_keys_are_counted_exactly() {
    const KEYS: u32 = 30_000;
    let _scope = test::scope();
    let lines = Arc::new(Lines::default());
    let installed = observe::install(FirstThenCounts::new(Arc::clone(&lines)));
    let hosts = KeyedBreakers::<u32>::new("hosts", Settings::new().must()).max_keys(KEYS);
    for key in 0..KEYS {
        let host = hosts.get(&key);
        breakerbox::AnyBreaker::force_open(&host);
        for _ in 0..3 {
            assert!(host.admit().is_err());
        }
    }
    assert_eq!(lines.calls(), u64::from(KEYS));
    drop(installed);
    assert_eq!(lines.calls(), 3 * u64::from(KEYS));
}

/// Number, calls, and the time left of each.
#[derive(Default)]
struct Last(Mutex<Vec<(u64, u64, Option<Duration>)>>);

impl Observer for Last {
    fn rejected(&self, event: &Rejection<'_>) {
        let left = event.error.retry_after();
        let rejection = (event.sequence, event.calls, left);
        self.0.lock().unwrap().push(rejection);
    }
}

#[test]
fn a_count_is_the_last_refused_call_of_those_that_it_stands_for() {
    let scope = test::scope();
    let (all, last) = (Arc::new(Last::default()), Arc::new(Last::default()));
    let _all = observe::install(Arc::clone(&all));
    let counts = Arc::new(FirstThenCounts::new(Arc::clone(&last)));
    let _counts = observe::install(Arc::clone(&counts));
    let pms = Breaker::new("pms", Settings::new().must());
    pms.open_for(60 * SECOND);
    for _ in 0..4 {
        refuse(&pms, 1);
        scope.advance(SECOND);
    }
    counts.flush();
    let (all, last) = (all.0.lock().unwrap(), last.0.lock().unwrap());
    assert_eq!(last[..], [all[0], (all[3].0, 3, Some(57 * SECOND))]);
}
