//! Configurations: as the model reads them, as the breaker is told them, and
//! how they are drawn.

use breaker_core::{
    Chosen, Circuit, MAX_PROBES, MAX_PROBES_BY_RATE, MAX_THRESHOLD, OnCancel, Settings, Sliding,
    Slot, Window,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

/// Enough for every window.
pub(crate) type Widest = Sliding<{ Window::calls(breaker_core::MAX_WINDOW_CALLS).slots() }>;

pub(crate) const MICRO: u64 = 1_000;
pub(crate) const MILLI: u64 = 1_000 * MICRO;
pub(crate) const SECOND: u64 = 1_000 * MILLI;
pub(crate) const HOUR: u64 = 3_600 * SECOND;

/// Everything a breaker is told. Times are nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) trip: Trip,
    pub(crate) reset: u64,
    pub(crate) backoff: Factor,
    pub(crate) max_reset: Option<u64>,
    pub(crate) jitter: Jitter,
    pub(crate) probes: u32,
    pub(crate) close: Close,
    pub(crate) probe_timeout: Option<u64>,
    pub(crate) cancelled_is_failure: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Trip {
    /// So many failures in a row.
    InARow(u32),
    Rate(Rate),
}

#[derive(Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) failures: Share,
    pub(crate) span: Span,
    pub(crate) min_calls: u32,
    pub(crate) slow: Option<Slow>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    Calls(u32),
    Time { bucket: u64, buckets: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slow {
    /// A call that took longer than this.
    pub(crate) than: u64,
    pub(crate) share: Share,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Close {
    /// As many successes as `probes`.
    Default,
    After(u32),
    Rate(Share),
}

/// A ratio in ten-thousandths, which is what its decimals say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(pub(crate) u32);

/// A factor as a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) over: u32,
    pub(crate) under: u32,
}

/// The jitter in hundredths, and what fixes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter {
    pub(crate) hundredths: u32,
    pub(crate) seed: Option<u64>,
}

impl Share {
    fn as_f64(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// Whether `part` of `whole` is at least this share.
    pub(crate) fn is_reached(self, part: usize, whole: usize) -> bool {
        part as u128 * 10_000 >= whole as u128 * u128::from(self.0)
    }
}

impl Rules {
    /// The larger of `reset` and a minute where none was set.
    pub(crate) fn probe_timeout(&self) -> u64 {
        self.probe_timeout.unwrap_or(self.reset.max(60 * SECOND))
    }

    /// Successes that close a trial; `None` where a rate decides.
    pub(crate) fn close_after(&self) -> Option<u32> {
        match self.close {
            Close::Default => Some(self.probes),
            Close::After(successes) => Some(successes),
            Close::Rate(_) => None,
        }
    }

    /// The most probes that a trial admits that fails none and gives none back.
    pub(crate) fn close_takes(&self) -> u32 {
        self.close_after().unwrap_or(self.probes)
    }

    /// Open for a second; one probe decides.
    pub(crate) fn of_a_second(trip: Trip) -> Self {
        Self {
            trip,
            reset: SECOND,
            backoff: Factor { over: 1, under: 1 },
            max_reset: None,
            jitter: Jitter::NONE,
            probes: 1,
            close: Close::Default,
            probe_timeout: None,
            cancelled_is_failure: false,
        }
    }

    fn common(&self) -> Settings {
        let nanos = Duration::from_nanos;
        let mut settings = Settings::new()
            .reset(nanos(self.reset))
            .backoff(f64::from(self.backoff.over) / f64::from(self.backoff.under))
            .jitter(f64::from(self.jitter.hundredths) / 100.0)
            .probes(self.probes);
        if let Some(most) = self.max_reset {
            settings = settings.max_reset(nanos(most));
        }
        if let Some(seed) = self.jitter.seed {
            settings = settings.jitter_seed(seed);
        }
        if let Some(after) = self.probe_timeout {
            settings = settings.probe_timeout(nanos(after));
        }
        if self.cancelled_is_failure {
            settings = settings.on_cancel(OnCancel::Failure);
        }
        match self.close {
            Close::Default => settings,
            Close::After(successes) => settings.close_after(successes),
            Close::Rate(failures) => settings.close_rate(failures.as_f64()),
        }
    }

    /// A new breaker.
    pub(crate) fn build(&self) -> Built {
        let settings = self.settings();
        match &self.trip {
            Trip::InARow(_) => {
                let config = settings.build().expect("sound");
                Built::InARow(Box::new(Circuit::new(config)))
            }
            Trip::Rate(_) => {
                let config = settings.build_rate().expect("sound");
                Built::Rate(Box::new(Circuit::by_rate(config).expect("wide enough")))
            }
        }
    }

    /// The same breaker, by a policy that is chosen at run time.
    pub(crate) fn choose(&self) -> Circuit<Chosen<Box<[Slot]>>> {
        Circuit::chosen(self.settings()).expect("sound")
    }

    fn settings(&self) -> Settings {
        match &self.trip {
            Trip::InARow(threshold) => self.common().threshold(*threshold),
            Trip::Rate(rate) => {
                let window = match rate.span {
                    Span::Calls(calls) => Window::calls(calls),
                    Span::Time { bucket, buckets } => {
                        Window::time(Duration::from_nanos(bucket * u64::from(buckets)))
                            .buckets(buckets)
                    }
                };
                let mut settings = self
                    .common()
                    .failure_rate(rate.failures.as_f64())
                    .window(window)
                    .min_calls(rate.min_calls);
                if let Some(slow) = rate.slow {
                    settings = settings
                        .slow(Duration::from_nanos(slow.than))
                        .slow_rate(slow.share.as_f64());
                }
                settings
            }
        }
    }
}

/// A breaker by either policy.
#[derive(Debug)]
pub(crate) enum Built {
    InARow(Box<Circuit>),
    Rate(Box<Circuit<Widest>>),
}

pub(crate) fn shares() -> BoxedStrategy<Share> {
    prop_oneof![
        6 => select(vec![1, 700, 2_500, 3_333, 3_334, 5_000, 6_667, 7_500, 9_999, 10_000]),
        1 => 1..=10_000_u32,
    ]
    .prop_map(Share)
    .boxed()
}

/// Waits and timeouts, mostly short ones.
fn times() -> BoxedStrategy<u64> {
    prop_oneof![
        8 => (select(vec![10 * MICRO, MILLI, 10 * MILLI, SECOND]), 1..=20_u64)
            .prop_map(|(unit, times)| unit * times),
        2 => select(vec![
            1,
            9_999,
            30 * SECOND,
            HOUR,
            30 * 24 * HOUR,
            (1 << 53) + 1,
            u64::MAX / 3,
            u64::MAX - 12_345,
            u64::MAX,
        ]),
    ]
    .boxed()
}

fn factors() -> BoxedStrategy<Factor> {
    select(vec![
        (1, 1),
        (1, 1),
        (2, 1),
        (2, 1),
        (3, 2),
        (5, 4),
        (3, 1),
        (11, 10),
        (10, 1),
        (65_536, 1),
        (u32::MAX, 1),
    ])
    .prop_map(|(over, under)| Factor { over, under })
    .boxed()
}

fn spans() -> BoxedStrategy<Span> {
    let calls = prop_oneof![
        4 => 1..=6_u32,
        4 => select(vec![1, 2, 13, 14, 15, 18, 19, 20, 28, 29, 38, 39, 57, 100]),
        1 => select(vec![500, 4_095]),
    ];
    let bucket = prop_oneof![
        8 => select(vec![MILLI, 10 * MILLI, SECOND]),
        1 => select(vec![MILLI + 1, HOUR, u64::MAX / 128]),
    ];
    let buckets = prop_oneof![
        8 => 1..=10_u32,
        1 => select(vec![11, 60, 127, 128]),
    ];
    prop_oneof![
        calls.prop_map(Span::Calls),
        (bucket, buckets).prop_map(|(bucket, buckets)| Span::Time { bucket, buckets }),
    ]
    .boxed()
}

fn rates() -> BoxedStrategy<Rate> {
    let than = select(vec![0, 10 * MICRO, MILLI, SECOND, SECOND + 1, u64::MAX]);
    let slow = (than, shares()).prop_map(|(than, share)| Slow { than, share });
    let min_calls = prop_oneof![8 => 1..=6_u32, 2 => 7..=60_u32, 1 => 61..=5_000_u32];
    let slow = proptest::option::of(slow);
    (shares(), spans(), min_calls, slow)
        .prop_map(|(failures, span, min_calls, slow)| Rate {
            failures,
            span,
            min_calls: match span {
                Span::Calls(calls) => min_calls.min(calls),
                Span::Time { .. } => min_calls,
            },
            slow,
        })
        .boxed()
}

/// Failures in a row.
pub(crate) fn in_a_row() -> BoxedStrategy<Trip> {
    prop_oneof![
        12 => 1..=5_u32,
        1 => select(vec![20, MAX_THRESHOLD - 1, MAX_THRESHOLD]),
    ]
    .prop_map(Trip::InARow)
    .boxed()
}

/// By rate.
pub(crate) fn by_rate() -> BoxedStrategy<Trip> {
    rates().prop_map(Trip::Rate).boxed()
}

/// By rates that much has to go wrong for, so that a window fills and slides.
pub(crate) fn windows() -> BoxedStrategy<Rules> {
    let shares = || select(vec![3_334, 5_000, 6_667, 7_500, 9_999, 10_000]).prop_map(Share);
    let sizes = prop_oneof![
        4 => 1..=6_u32,
        2 => select(vec![13, 14, 15, 18, 19, 20, 28, 29, 30]),
    ];
    let buckets = prop_oneof![
        8 => 1..=6_u32,
        1 => select(vec![127, 128]),
    ];
    let spans = prop_oneof![
        sizes.prop_map(Span::Calls),
        (1..=2_u64, buckets).prop_map(|(millis, buckets)| Span::Time {
            bucket: millis * MILLI,
            buckets,
        }),
    ];
    (shares(), shares(), spans, 1..=20_u32)
        .prop_map(|(failures, share, span, min_calls)| {
            let min_calls = match span {
                Span::Calls(calls) => min_calls.min(calls),
                Span::Time { .. } => min_calls,
            };
            let slow = Some(Slow { than: MILLI, share });
            Rules {
                reset: MILLI,
                ..Rules::of_a_second(Trip::Rate(Rate {
                    failures,
                    span,
                    min_calls,
                    slow,
                }))
            }
        })
        .boxed()
}

/// No jitter: every wait is what the contract says to the nanosecond.
pub(crate) fn plain(trip: BoxedStrategy<Trip>) -> BoxedStrategy<Rules> {
    rules(trip, Just(Jitter::NONE).boxed())
}

/// With jitter, or without.
pub(crate) fn jittered(trip: BoxedStrategy<Trip>) -> BoxedStrategy<Rules> {
    let some = (
        select(vec![1, 10, 50, 100]),
        proptest::option::of(any::<u64>()),
    );
    let some = some.prop_map(|(hundredths, seed)| Jitter { hundredths, seed });
    rules(trip, prop_oneof![Just(Jitter::NONE), some].boxed())
}

impl Jitter {
    pub(crate) const NONE: Self = Self {
        hundredths: 0,
        seed: None,
    };
}

fn rules(trip: BoxedStrategy<Trip>, jitter: BoxedStrategy<Jitter>) -> BoxedStrategy<Rules> {
    let probes = prop_oneof![
        6 => 1..=4_u32,
        1 => select(vec![20, MAX_PROBES - 1, MAX_PROBES]),
    ];
    let close = prop_oneof![
        2 => Just(Close::Default),
        2 => (1..=5_u32).prop_map(Close::After),
        2 => shares().prop_map(Close::Rate),
        1 => select(vec![20, MAX_PROBES]).prop_map(Close::After),
    ];
    let max_reset = proptest::option::of(select(vec![1, 2, 5, 100, u64::MAX]));
    let probe_timeout = proptest::option::weighted(0.8, times());
    (
        (trip, times(), factors(), max_reset, jitter),
        (probes, close, probe_timeout, any::<bool>()),
    )
        .prop_map(
            |(
                (trip, reset, backoff, max_reset, jitter),
                (probes, close, probe_timeout, on_cancel),
            )| {
                let probes = match close {
                    Close::Rate(_) => probes.min(MAX_PROBES_BY_RATE),
                    _ => probes,
                };
                Rules {
                    trip,
                    reset,
                    backoff,
                    max_reset: max_reset.map(|times: u64| reset.saturating_mul(times)),
                    jitter,
                    probes,
                    close,
                    probe_timeout,
                    cancelled_is_failure: on_cancel,
                }
            },
        )
        .boxed()
}
