//! Clocks: the operating system's, and one of one's own behind a breaker.

use breakerbox::{
    Breaker, Clock, Effect, ExactClock, ManualClock, Outcome, Settings, Sliding, SystemClock,
    Trigger, Window,
};
use std::sync::atomic::{AtomicU32, Ordering};
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

/// Counts its readings.
#[derive(Default)]
struct Counting {
    clock: ManualClock,
    readings: AtomicU32,
    exact_readings: AtomicU32,
}

impl Counting {
    fn readings(&self) -> (u32, u32) {
        let taken = |readings: &AtomicU32| readings.swap(0, Ordering::Relaxed);
        (taken(&self.readings), taken(&self.exact_readings))
    }
}

impl Clock for Counting {
    fn now(&self) -> u64 {
        self.readings.fetch_add(1, Ordering::Relaxed);
        self.clock.now()
    }

    fn exact(&self) -> u64 {
        self.exact_readings.fetch_add(1, Ordering::Relaxed);
        self.clock.now()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// More than a turn of a window of 4, with a failure in between, and with what isn't
/// counted.
const CALLS: [Outcome; 14] = {
    use Outcome::{Dropped, Failure, Ignored, Success};
    [
        Success, Success, Success, Success, Success, Failure, Success, Ignored, Success, Dropped,
        Success, Success, Success, Success,
    ]
};

/// What a call costs is mostly how often it reads a clock.
#[test]
fn no_clock_is_read_more_often_than_it_must() {
    let windows = [
        (0, Window::calls(4)),
        (1, Window::time(Duration::from_secs(2)).buckets(2)),
    ];
    for ((of_window, window), is_slow_asked) in windows
        .into_iter()
        .flat_map(|window| [(window, false), (window, true)])
    {
        let settings = Settings::new()
            .failure_rate(1.0)
            .window(window)
            .min_calls(3);
        let settings = if is_slow_asked {
            settings.slow(RESET).slow_rate(1.0)
        } else {
            settings
        };
        let exact = u32::from(is_slow_asked);
        let clock = &*Box::leak(Box::new(Counting::default()));
        let config = settings.reset(RESET).must_rate();
        let pms = Breaker::<_, Sliding<2>>::by_rate_with_clock("pms", config, clock).unwrap();
        for turn in 0..2 {
            for (at, outcome) in CALLS.into_iter().enumerate() {
                let call = format!("{window:?} {is_slow_asked} {turn} {at} {outcome:?}");
                let permit = pms.admit().unwrap();
                assert_eq!(clock.readings(), (0, exact), "{call} asks");
                assert_ne!(permit.settle(outcome), Effect::Late);
                let of_window = match outcome {
                    Outcome::Success | Outcome::Failure => of_window,
                    _ => 0,
                };
                assert_eq!(clock.readings(), (of_window, exact), "{call} ends");
            }
            clock.clock.advance(Duration::from_secs(1));
            let _ = pms.admit().unwrap().failure();
            let (readings, exact_readings) = clock.readings();
            assert!(readings <= 2 * of_window, "a new bucket: {readings}");
            assert_eq!(exact_readings, 2 * exact, "a new bucket");
        }
        pms.open_for(RESET);
        let _ = clock.readings();
        assert!(pms.admit().is_err());
        assert_eq!(clock.readings(), (1, 0), "is refused");
        clock.clock.advance(RESET);
        let probe = pms.admit().unwrap();
        let (readings, exact_readings) = clock.readings();
        assert!(readings <= 2, "asks for a probe: {readings}");
        assert_eq!(exact_readings, exact);
        assert!(pms.admit().is_err());
        assert_eq!(clock.readings(), (1, 0), "is refused while probing");
        assert!(matches!(probe.success(), Effect::Closed(_)));
        assert_eq!(clock.readings(), (1, exact), "a probe closes");
    }
}
