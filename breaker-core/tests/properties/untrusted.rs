//! Settings and snapshots from values that nobody has checked.

use breaker_core::{
    ConfigError, MAX_BUCKETS, MAX_MIN_CALLS, MAX_PROBES, MAX_PROBES_BY_RATE, MAX_THRESHOLD,
    MAX_WINDOW_CALLS, OnCancel, Overrides, Setting, Settings, Snapshot, State, Window,
};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

/// Settings as a file may hold them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    threshold: Option<u32>,
    failure_rate: Option<f64>,
    window: Option<RawWindow>,
    min_calls: Option<u32>,
    slow: Option<Duration>,
    slow_rate: Option<f64>,
    reset: Option<Duration>,
    backoff: Option<f64>,
    max_reset: Option<Duration>,
    jitter: Option<f64>,
    seed: Option<u64>,
    probes: Option<u32>,
    close_after: Option<u32>,
    close_rate: Option<f64>,
    probe_timeout: Option<Duration>,
    cancelled_is_failure: bool,
    timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
enum RawWindow {
    Calls(u32),
    Time(Duration, u32),
}

impl Raw {
    pub(crate) fn settings(&self) -> Settings {
        // Builders take a value, not an `Option`: what is absent isn't said.
        macro_rules! say {
            ($settings:ident, $($setting:ident)*) => {
                $(if let Some(value) = self.$setting {
                    $settings = $settings.$setting(value);
                })*
            };
        }
        let mut settings = Settings::new();
        say!(settings, threshold failure_rate min_calls slow slow_rate reset backoff max_reset);
        say!(settings, jitter probes close_after close_rate probe_timeout timeout);
        if let Some(seed) = self.seed {
            settings = settings.jitter_seed(seed);
        }
        settings = match self.window {
            None => settings,
            Some(RawWindow::Calls(calls)) => settings.window(Window::calls(calls)),
            Some(RawWindow::Time(length, buckets)) => {
                settings.window(Window::time(length).buckets(buckets))
            }
        };
        if self.cancelled_is_failure {
            settings = settings.on_cancel(OnCancel::Failure);
        }
        settings
    }

    /// Those that can be set at run time.
    pub(crate) fn overrides(&self) -> Overrides {
        macro_rules! say {
            ($overrides:ident, $($setting:ident)*) => {
                $(if let Some(value) = self.$setting {
                    $overrides = $overrides.$setting(value);
                })*
            };
        }
        let mut overrides = Overrides::new();
        say!(overrides, threshold failure_rate min_calls slow slow_rate reset backoff max_reset);
        say!(overrides, jitter probes close_after close_rate probe_timeout);
        if self.cancelled_is_failure {
            overrides = overrides.on_cancel(OnCancel::Failure);
        }
        overrides
    }

    /// As if what is set at run time had been declared.
    pub(crate) fn with_declared(&self, over: &Self) -> Self {
        Self {
            threshold: over.threshold.or(self.threshold),
            failure_rate: over.failure_rate.or(self.failure_rate),
            min_calls: over.min_calls.or(self.min_calls),
            slow: over.slow.or(self.slow),
            slow_rate: over.slow_rate.or(self.slow_rate),
            reset: over.reset.or(self.reset),
            backoff: over.backoff.or(self.backoff),
            max_reset: over.max_reset.or(self.max_reset),
            jitter: over.jitter.or(self.jitter),
            probes: over.probes.or(self.probes),
            close_after: over.close_after.or(self.close_after),
            close_rate: over.close_rate.or(self.close_rate),
            probe_timeout: over.probe_timeout.or(self.probe_timeout),
            cancelled_is_failure: over.cancelled_is_failure || self.cancelled_is_failure,
            window: self.window,
            seed: self.seed,
            timeout: self.timeout,
        }
    }

    /// The rules that these settings break as those of a breaker that counts
    /// failures in a row.
    pub(crate) fn broken(&self) -> Vec<ConfigError> {
        let mut broken = self.broken_anyway();
        let rate = self.failure_rate.is_some()
            || self.window.is_some()
            || self.min_calls.is_some()
            || self.slow.is_some()
            || self.slow_rate.is_some();
        let mut check = |bad: bool, error| {
            if bad {
                broken.push(error)
            }
        };
        check(rate, ConfigError::RateNotWanted);
        check(self.threshold == Some(0), ConfigError::ZeroThreshold);
        check(
            self.threshold > Some(MAX_THRESHOLD),
            ConfigError::TooLarge(Setting::Threshold),
        );
        broken
    }

    /// The rules that these settings break as those of a breaker by rate.
    pub(crate) fn broken_by_rate(&self) -> Vec<ConfigError> {
        let mut broken = self.broken_anyway();
        let mut check = |bad: bool, error| {
            if bad {
                broken.push(error)
            }
        };
        check(
            self.threshold.is_some(),
            ConfigError::ThresholdWithFailureRate,
        );
        check(self.failure_rate.is_none(), ConfigError::NoFailureRate);
        let failure_rate = ConfigError::Ratio(Setting::FailureRate);
        check(!is_ratio(self.failure_rate), failure_rate);
        check(self.min_calls == Some(0), ConfigError::ZeroMinCalls);
        match self.window.unwrap_or(RawWindow::Calls(100)) {
            RawWindow::Calls(calls) => {
                check(calls == 0, ConfigError::ZeroWindow);
                let too_large = ConfigError::TooLarge(Setting::Window);
                check(calls > MAX_WINDOW_CALLS, too_large);
                let above = self.min_calls > Some(calls);
                check(above, ConfigError::MinCallsAboveWindow);
            }
            RawWindow::Time(length, buckets) => {
                check(
                    overflows(Some(length)),
                    ConfigError::Overflow(Setting::Window),
                );
                check(length.is_zero(), ConfigError::ZeroWindow);
                check(buckets == 0, ConfigError::ZeroBuckets);
                let too_many = ConfigError::TooLarge(Setting::Buckets);
                check(buckets > MAX_BUCKETS, too_many);
                let least = MILLI.saturating_mul(buckets);
                check(length < least, ConfigError::BucketTooShort);
                let too_large = ConfigError::TooLarge(Setting::MinCalls);
                check(self.min_calls > Some(MAX_MIN_CALLS), too_large);
            }
        }
        check(overflows(self.slow), ConfigError::Overflow(Setting::Slow));
        check(
            !is_ratio(self.slow_rate),
            ConfigError::Ratio(Setting::SlowRate),
        );
        let (slow, rate) = (self.slow.is_some(), self.slow_rate.is_some());
        check(slow && !rate, ConfigError::SlowWithoutSlowRate);
        check(rate && !slow, ConfigError::SlowRateWithoutSlow);
        broken
    }

    fn broken_anyway(&self) -> Vec<ConfigError> {
        let mut broken = Vec::new();
        let mut check = |bad: bool, error| {
            if bad {
                broken.push(error)
            }
        };
        for (value, setting) in [
            (self.reset, Setting::Reset),
            (self.max_reset, Setting::MaxReset),
            (self.probe_timeout, Setting::ProbeTimeout),
            (self.timeout, Setting::Timeout),
        ] {
            check(overflows(value), ConfigError::Overflow(setting));
        }
        let zero = Some(Duration::ZERO);
        check(self.reset == zero, ConfigError::ZeroReset);
        check(self.probe_timeout == zero, ConfigError::ZeroProbeTimeout);
        check(self.timeout == zero, ConfigError::ZeroTimeout);
        let reset = self.reset.unwrap_or(Duration::from_secs(30));
        let max_reset = self.max_reset.unwrap_or(reset);
        check(max_reset < reset, ConfigError::MaxResetBelowReset);
        let default_timeout = reset.max(Duration::from_secs(60));
        let probe_timeout = self.probe_timeout.unwrap_or(default_timeout);
        let too_late = self.timeout > Some(probe_timeout);
        check(too_late, ConfigError::TimeoutAboveProbeTimeout);

        let backoff = self.backoff.unwrap_or(1.0);
        check(!backoff.is_finite() || backoff < 1.0, ConfigError::Backoff);
        let jitter = self.jitter.unwrap_or(0.0);
        check(!(0.0..=1.0).contains(&jitter), ConfigError::Jitter);

        check(self.probes == Some(0), ConfigError::ZeroProbes);
        let too_many = ConfigError::TooLarge(Setting::Probes);
        check(self.probes > Some(MAX_PROBES), too_many);
        let too_many = ConfigError::TooLarge(Setting::ProbesByRate);
        let by_rate = self.close_rate.is_some();
        check(by_rate && self.probes > Some(MAX_PROBES_BY_RATE), too_many);
        check(self.close_after == Some(0), ConfigError::ZeroCloseAfter);
        let too_many = ConfigError::TooLarge(Setting::CloseAfter);
        check(self.close_after > Some(MAX_PROBES), too_many);
        let both = self.close_after.is_some() && self.close_rate.is_some();
        check(both, ConfigError::CloseAfterWithCloseRate);
        check(
            !is_ratio(self.close_rate),
            ConfigError::Ratio(Setting::CloseRate),
        );
        broken
    }
}

fn is_ratio(value: Option<f64>) -> bool {
    value.is_none_or(|value| value > 0.0 && value <= 1.0)
}

fn overflows(value: Option<Duration>) -> bool {
    value.is_some_and(|value| value.as_nanos() > u128::from(u64::MAX))
}

/// Mostly sound, so that what is accepted is reached too.
pub(crate) fn settings() -> BoxedStrategy<Raw> {
    let counts = |most: u32| {
        let edges = vec![0, 1, most - 1, most, most + 1, u32::MAX];
        weighted(
            0.5,
            prop_oneof![30 => 1..=5_u32, 1 => select(edges), 1 => any::<u32>()],
        )
    };
    let ratios = |often: f64| {
        let odd = vec![
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            0.0,
            -1.0,
            1.000_001,
            f64::MAX,
        ];
        let even = vec![f64::MIN_POSITIVE, 1e-12, 0.07, 0.5, 0.999_999_999_9, 1.0];
        let share = prop_oneof![30 => select(even), 2 => select(odd), 1 => any::<f64>()];
        weighted(often, share)
    };
    let times = |often: f64| {
        let odd = vec![
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_nanos(u64::MAX),
            Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
            Duration::MAX,
        ];
        let even = (1..=200_u64).prop_map(Duration::from_millis);
        let time = prop_oneof![30 => even, 2 => select(odd), 1 => any::<Duration>()];
        weighted(often, time)
    };
    let factors = prop_oneof![
        20 => select(vec![1.0, 1.5, 2.0, 1e9, f64::MAX]),
        2 => select(vec![f64::NAN, f64::INFINITY, 0.0, 0.999_999, -2.0]),
        1 => any::<f64>(),
    ];
    let window = prop_oneof![
        2 => (1..=MAX_BUCKETS, select(vec![300, 600, 900, 1_000]))
            .prop_map(|(buckets, micros)| RawWindow::Time(Duration::from_micros(micros) * buckets, buckets)),
        10 => (1..=100_u32).prop_map(RawWindow::Calls),
        1 => select(vec![0, 4_095, 4_096, u32::MAX]).prop_map(RawWindow::Calls),
        10 => (10..=100_u64, 1..=10_u32)
            .prop_map(|(millis, buckets)| RawWindow::Time(Duration::from_millis(millis), buckets)),
        1 => (select(vec![Duration::ZERO, MILLI, Duration::from_nanos(u64::MAX), Duration::MAX]),
            select(vec![0, 1, 127, 128, 129, u32::MAX]))
            .prop_map(|(length, buckets)| RawWindow::Time(length, buckets)),
    ];
    let threshold = prop_oneof![
        9 => 1..=5_u32,
        1 => any::<u32>(),
        1 => select(vec![0, MAX_THRESHOLD, MAX_THRESHOLD + 1, u32::MAX]),
    ];
    let rate = (
        ratios(0.9),
        weighted(0.4, window),
        counts(MAX_MIN_CALLS),
        times(0.2),
        ratios(0.2),
    );
    // Mostly one of the two.
    let trips = (
        any::<bool>(),
        weighted(0.1, Just(())),
        weighted(0.7, threshold),
        rate,
    );
    (
        trips,
        (
            times(0.7),
            weighted(0.4, factors),
            times(0.1),
            ratios(0.3),
            any::<Option<u64>>(),
        ),
        (
            counts(MAX_PROBES),
            counts(MAX_PROBES),
            ratios(0.2),
            times(0.5),
            any::<bool>(),
            times(0.1),
        ),
    )
        .prop_map(|(trip, open, trial)| {
            let (by_rate, both, threshold, rate) = trip;
            let threshold = threshold.filter(|_| !by_rate || both.is_some());
            let (failure_rate, window, min_calls, slow, slow_rate) = if by_rate || both.is_some() {
                rate
            } else {
                (None, None, None, None, None)
            };
            let (reset, backoff, max_reset, jitter, seed) = open;
            let (probes, close_after, close_rate, probe_timeout, cancelled_is_failure, timeout) =
                trial;
            Raw {
                threshold,
                failure_rate,
                window,
                min_calls,
                slow,
                slow_rate,
                reset,
                backoff,
                max_reset,
                jitter,
                seed,
                probes,
                close_after,
                close_rate,
                probe_timeout,
                cancelled_is_failure,
                timeout,
            }
        })
        .boxed()
}

/// Any snapshot at all.
pub(crate) fn snapshots() -> BoxedStrategy<Snapshot> {
    let state = select(vec![
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::Shadow,
    ]);
    let left = prop_oneof![
        2 => Just(Duration::ZERO),
        2 => any::<u64>().prop_map(Duration::from_nanos),
        1 => any::<Duration>(),
        1 => Just(Duration::MAX),
    ];
    let consecutive = prop_oneof![0..=5_u32, any::<u32>(), Just(u32::MAX)];
    (state, left, any::<bool>(), consecutive, any::<u8>())
        .prop_map(
            |(state, time_left, imposed, consecutive, reopenings)| Snapshot {
                state,
                time_left,
                imposed,
                consecutive,
                reopenings,
            },
        )
        .boxed()
}
