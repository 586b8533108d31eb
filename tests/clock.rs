//! Clocks: the operating system's, and one of one's own behind a breaker.

use breakerbox::{
    Breaker, Clock, Effect, ExactClock, ManualClock, Outcome, Settings, Sliding, SystemClock,
    Trigger, Window,
};
use std::time::{Duration, Instant};

const RESET: Duration = Duration::from_secs(30);

/// Spins until the clock's reading changes.
fn next_reading(clock: impl Clock, read: impl Fn(&dyn Clock) -> u64) -> (u64, u64) {
    let (first, spinning) = (read(&clock), Instant::now());
    while spinning.elapsed() < Duration::from_secs(60) {
        let second = read(&clock);
        if second != first {
            return (first, second);
        }
        std::hint::spin_loop();
    }
    panic!("stands still at {first}");
}

#[test]
fn the_clocks_of_the_system_move_on_and_never_back() {
    fn moves_on(clock: impl Clock + Copy) {
        for read in [
            |clock: &dyn Clock| clock.now(),
            |clock: &dyn Clock| clock.exact(),
        ] {
            for _ in 0..3 {
                let (first, second) = next_reading(clock, read);
                assert!(second > first, "{second} after {first}");
            }
        }
    }
    moves_on(SystemClock);
    moves_on(ExactClock);
}

#[test]
fn the_clocks_of_the_system_run_no_faster_than_time() {
    fn runs_with_time(clock: impl Clock + Copy) {
        let (before, first) = next_reading(clock, |clock| clock.now());
        let passing = Instant::now();
        // A reading may be behind by a step, so between two later ones lies at
        // most the time since then and a step.
        let (_, second) = next_reading(clock, |clock| clock.now());
        let mut last = second;
        for _ in 0..10 {
            (_, last) = next_reading(clock, |clock| clock.now());
        }
        let most = passing.elapsed() + Duration::from_nanos(first - before);
        let passed = Duration::from_nanos(last - second);
        assert!(passed <= most, "{passed:?} within {most:?}");
    }
    runs_with_time(SystemClock);
    runs_with_time(ExactClock);
}

#[test]
fn the_exact_clock_runs_no_slower_than_time() {
    let first = ExactClock.now();
    let (passing, milli) = (Instant::now(), Duration::from_millis(1));
    while passing.elapsed() < milli {
        std::hint::spin_loop();
    }
    let passed = Duration::from_nanos(ExactClock.now() - first);
    assert!(passed >= milli, "only {passed:?}");
}

/// Lags by up to 4 ms; its exact reading runs apart.
struct Own {
    coarse: ManualClock,
    exact: ManualClock,
    entropy: Option<u64>,
}

impl Own {
    const fn new(entropy: Option<u64>) -> Self {
        Self {
            coarse: ManualClock::new(0),
            exact: ManualClock::new(0),
            entropy,
        }
    }
}

const RESOLUTION: Duration = Duration::from_millis(4);

impl Clock for Own {
    fn now(&self) -> u64 {
        self.coarse.now()
    }

    fn resolution(&self) -> u64 {
        u64::try_from(RESOLUTION.as_nanos()).unwrap()
    }

    fn exact(&self) -> u64 {
        self.exact.now()
    }

    fn entropy(&self) -> Option<u64> {
        self.entropy
    }
}

fn behind<C: Clock>(clock: C, settings: Settings) -> Breaker<C> {
    Breaker::with_clock("pms", settings.threshold(1).reset(RESET).must(), clock)
}

#[test]
fn a_breaker_waits_for_the_resolution_of_its_clock_too() {
    static CLOCK: Own = Own::new(None);
    let pms = behind(&CLOCK, Settings::new());
    let _ = pms.admit().unwrap().failure();
    let refused = pms.admit().unwrap_err();
    assert_eq!(refused.retry_after(), Some(RESET + RESOLUTION));
    assert_eq!(pms.snapshot().time_left, RESET);
    CLOCK
        .coarse
        .advance(RESET + RESOLUTION - Duration::from_nanos(1));
    assert!(pms.admit().is_err());
    CLOCK.coarse.advance(Duration::from_nanos(1));
    assert!(pms.admit().is_ok());
}

#[test]
fn a_time_that_is_given_is_exact() {
    let pms = behind(Own::new(None), Settings::new());
    let _ = pms.admit_at(0).unwrap().failure();
    assert_eq!(pms.admit_at(0).unwrap_err().retry_after(), Some(RESET));
}

#[test]
fn a_breaker_draws_its_jitter_from_the_entropy_of_its_clock() {
    let waits = |entropy, settings: Settings| {
        let pms = behind(Own::new(entropy), settings);
        let trip = |at: Option<u64>| {
            pms.close();
            let permit = match at {
                None => pms.admit(),
                Some(now) => pms.admit_at(now),
            };
            let effect = permit.unwrap().failure();
            effect.change().unwrap().wait.unwrap()
        };
        // The clock's entropy also where its reading is given.
        [None, Some(0)].map(|at| (0..20).map(|_| trip(at)).max().unwrap())
    };
    assert_eq!(waits(None, Settings::new()), [RESET; 2]);
    for longest in waits(Some(1), Settings::new()) {
        assert!(longest > RESET && longest < RESET + RESET / 10);
    }
    for longest in waits(None, Settings::new().jitter(1.0)) {
        assert!(longest > RESET && longest < RESET * 2);
    }
}

#[test]
fn how_long_a_call_took_is_read_from_the_exact_clock() {
    static CLOCK: Own = Own::new(None);
    let slow = Duration::from_millis(5);
    let settings = Settings::new()
        .failure_rate(1.0)
        .window(Window::calls(10))
        .min_calls(1)
        .slow(slow)
        .slow_rate(1.0);
    let pms = Breaker::<_, Sliding<1>>::by_rate_with_clock("pms", settings.must_rate(), &CLOCK);
    let pms = pms.unwrap();
    let permit = pms.admit().unwrap();
    CLOCK.coarse.advance(slow * 2);
    CLOCK.exact.advance(slow);
    assert_eq!(permit.success(), Effect::Counted, "not longer than that");
    pms.close();
    let permit = pms.admit().unwrap();
    CLOCK.exact.advance(slow + Duration::from_nanos(1));
    let Effect::Tripped(change) = permit.success() else {
        panic!("not slow");
    };
    assert_eq!(change.trigger, Trigger::SlowRate);

    pms.close();
    let given = pms.admit_at(0).unwrap();
    let effect = given.settle_at(Outcome::Success, 5_000_001);
    assert!(matches!(effect, Effect::Tripped(_)), "by the times given");
}
