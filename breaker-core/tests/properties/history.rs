//! What happens to a breaker, step by step, and how that is drawn.

use crate::overrides::overrides;
use crate::rules::{HOUR, MICRO, MILLI, Rules, SECOND};
use breaker_core::{Outcome, Overrides, Snapshot, State};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

/// A breaker, its life, and then the next breaker's, which is another process:
/// it can restore the snapshots that were taken in the lives before.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) rules: Rules,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) time: Move,
    pub(crate) act: Act,
}

/// What the clock does before the act. Nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Stay,
    On(u64),
    Back(u64),
    To(u64),
    /// To where the last answer of the breaker said that something becomes due,
    /// and so many of the history's grains beyond it.
    Due(i64),
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Asks, and holds the permit.
    Acquire,
    /// Asks, and forgets the permit: it is never settled.
    Leak,
    /// Settles one of the permits that are held.
    Settle(usize, Outcome),
    /// Drops one of the permits that are held.
    Drop(usize),
    /// One whole call that takes so long by the clock.
    Call(Outcome, u64),
    /// So many whole calls without a permit, that took no time by the clock and
    /// so long by the caller's word.
    Calls(u32, Outcome, Duration),
    /// One whole call that may be a probe if this is granted.
    CallIf(bool, Outcome),
    Operate(Operator),
    /// Lays these over the settings; where the breaker refuses some, the others.
    Reconfigure(Box<Overrides>),
    /// Takes a snapshot and keeps it.
    Snapshot,
    /// Restores one of the snapshots that were kept.
    Restore(usize),
    /// Restores this.
    RestoreThis(Snapshot),
    /// Follows this, in whatever generation it is, in the present one, or only in one so many before.
    Follow(Snapshot, Option<u32>),
    /// Asks what it has counted.
    Count,
}

impl Act {
    /// Whole calls that take no time.
    pub(crate) const fn calls(times: u32, outcome: Outcome) -> Self {
        Self::Calls(times, outcome, Duration::ZERO)
    }

    /// Without moving the clock.
    pub(crate) const fn at_once(self) -> Step {
        Step {
            time: Move::Stay,
            act: self,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    Close,
    Clear,
    ForceOpen,
    Disable,
    Shadow,
    OpenFor(Duration),
}

/// How finely the times of a history are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Readings in whole multiples of 10 us: the breaker rounds the instants it
    /// keeps up to these, so with them it must be exact.
    TenMicros,
    /// Any reading.
    Nano,
}

impl Grain {
    pub(crate) const fn nanos(self) -> u64 {
        match self {
            Self::TenMicros => 10 * MICRO,
            Self::Nano => 1,
        }
    }

    /// The reading, or the nearest before it that the grain allows.
    pub(crate) const fn floor(self, reading: u64) -> u64 {
        reading - reading % self.nanos()
    }
}

fn moves() -> BoxedStrategy<Move> {
    let unit = select(vec![10 * MICRO, MILLI, 10 * MILLI, SECOND]);
    let amount = (unit, 1..=12_u64).prop_map(|(unit, times)| unit * times);
    let far = select(vec![HOUR, 30 * 24 * HOUR, 1 << 61]);
    let edges = select(vec![
        0,
        1,
        10 * MICRO,
        1 << 53,
        (1 << 63) + 1,
        u64::MAX - SECOND,
        u64::MAX - 1,
        u64::MAX,
    ]);
    prop_oneof![
        12 => Just(Move::Stay),
        8 => amount.clone().prop_map(Move::On),
        2 => (1..=30_000_u64).prop_map(Move::On),
        8 => select(vec![-1, 0, 0, 1]).prop_map(Move::Due),
        2 => amount.prop_map(Move::Back),
        1 => far.clone().prop_map(Move::On),
        1 => prop_oneof![far.prop_map(Move::Back), edges.prop_map(Move::To), any::<u64>().prop_map(Move::To)],
    ].boxed()
}

/// Waits that an overload or an operator imposes.
fn waits() -> BoxedStrategy<Duration> {
    let millis = |millis: u64| Duration::from_millis(millis);
    prop_oneof![
        8 => select(vec![1, 5, 500, 7_777, 33_000_000]).prop_map(millis),
        1 => select(vec![
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_nanos(MILLI + 1),
            Duration::from_secs(24 * 3_600),
            Duration::from_secs(200 * 24 * 3_600),
            Duration::from_secs(33_555),
            Duration::from_nanos(u64::MAX),
            Duration::MAX,
        ]),
    ]
    .boxed()
}

fn outcomes() -> BoxedStrategy<Outcome> {
    prop_oneof![
        9 => Just(Outcome::Success),
        12 => Just(Outcome::Failure),
        2 => Just(Outcome::Ignored),
        2 => Just(Outcome::Dropped),
        2 => Just(Outcome::Panicked),
        2 => waits().prop_map(Outcome::Overloaded),
    ]
    .boxed()
}

fn operators() -> BoxedStrategy<Operator> {
    prop_oneof![
        4 => Just(Operator::Close),
        1 => Just(Operator::Clear),
        1 => Just(Operator::ForceOpen),
        1 => Just(Operator::Disable),
        2 => Just(Operator::Shadow),
        3 => waits().prop_map(Operator::OpenFor),
    ]
    .boxed()
}

/// Snapshots as a file may hold them, sense or nonsense.
fn odd_snapshots() -> BoxedStrategy<Snapshot> {
    let state = select(vec![
        State::Closed,
        State::Closed,
        State::Open,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::Shadow,
    ]);
    let left = prop_oneof![2 => Just(Duration::ZERO), 2 => waits()];
    let consecutive = prop_oneof![
        6 => 0..=4_u32,
        1 => select(vec![breaker_core::MAX_THRESHOLD - 1, u32::MAX]),
    ];
    let reopenings = prop_oneof![6 => 0..=4_u8, 1 => select(vec![30, 254, 255])];
    (state, left, any::<bool>(), consecutive, reopenings)
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

fn acts() -> BoxedStrategy<Act> {
    let took = prop_oneof![
        2 => Just(0),
        2 => select(vec![10 * MICRO, MILLI, MILLI + 1, SECOND, SECOND + 1, 20 * SECOND]),
    ];
    let told = prop_oneof![
        4 => Just(Duration::ZERO),
        1 => select(vec![Duration::from_nanos(1), Duration::from_nanos(MILLI),
            Duration::from_nanos(MILLI + 1), Duration::from_nanos(u64::MAX), Duration::MAX]),
    ];
    let many = prop_oneof![
        8 => 1..=6_u32,
        2 => 7..=45_u32,
    ];
    prop_oneof![
        10 => Just(Act::Acquire),
        1 => Just(Act::Leak),
        8 => (0..8_usize, outcomes()).prop_map(|(which, outcome)| Act::Settle(which, outcome)),
        1 => (0..8_usize).prop_map(Act::Drop),
        8 => (outcomes(), took).prop_map(|(outcome, took)| Act::Call(outcome, took)),
        5 => (many, outcomes(), told)
            .prop_map(|(times, outcome, took)| Act::Calls(times, outcome, took)),
        3 => (any::<bool>(), outcomes())
            .prop_map(|(granted, outcome)| Act::CallIf(granted, outcome)),
        3 => operators().prop_map(Act::Operate),
        2 => Just(Act::Snapshot),
        1 => (0..4_usize).prop_map(Act::Restore),
        1 => odd_snapshots().prop_map(Act::RestoreThis),
        1 => (odd_snapshots(), select(vec![None, Some(0), Some(0), Some(1), Some(7)]))
            .prop_map(|(snapshot, before)| Act::Follow(snapshot, before)),
        3 => Just(Act::Count),
    ]
    .boxed()
}

/// Up to `most` steps.
pub(crate) fn steps(most: usize) -> BoxedStrategy<Vec<Step>> {
    vec(
        (moves(), acts()).prop_map(|(time, act)| Step { time, act }),
        1..=most,
    )
    .boxed()
}

/// The same, of a breaker that an operator reconfigures now and then.
pub(crate) fn reconfigured(most: usize) -> BoxedStrategy<Vec<Step>> {
    let act = prop_oneof![
        8 => acts(),
        1 => overrides().prop_map(|overrides| Act::Reconfigure(Box::new(overrides))),
        1 => Just(Act::Operate(Operator::Clear)),
    ];
    vec(
        (moves(), act).prop_map(|(time, act)| Step { time, act }),
        1..=most,
    )
    .boxed()
}

/// Calls alone, of which most are well, around the borders of milliseconds.
pub(crate) fn calls(most: usize) -> BoxedStrategy<Vec<Step>> {
    let millis = prop_oneof![
        8 => Just(0),
        8 => 0..=12_u64,
        1 => 125..=260_u64,
    ];
    let amount = (millis, -1..=1_i64)
        .prop_map(|(millis, nanos)| (millis * MILLI).saturating_add_signed(nanos));
    let time = prop_oneof![
        12 => amount.clone().prop_map(Move::On),
        1 => amount.prop_map(Move::Back),
    ];
    let outcome = prop_oneof![
        5 => Just(Outcome::Success),
        2 => Just(Outcome::Failure),
    ];
    let told = select(vec![0, 0, MILLI, MILLI + 1, MILLI + 1]).prop_map(Duration::from_nanos);
    let calls = (1..=4_u32, outcome, told)
        .prop_map(|(times, outcome, took)| Act::Calls(times, outcome, took));
    let act = prop_oneof![4 => calls, 1 => Just(Act::Count)];
    vec(
        (time, act).prop_map(|(time, act)| Step { time, act }),
        1..=most,
    )
    .boxed()
}

/// One life, or two.
pub(crate) fn lives(rules: BoxedStrategy<Rules>, most: usize) -> BoxedStrategy<Vec<Life>> {
    let life = (rules, steps(most)).prop_map(|(rules, steps)| Life { rules, steps });
    prop_oneof![
        6 => life.clone().prop_map(|life| vec![life]),
        1 => (life.clone(), life).prop_map(|(first, second)| vec![first, second]),
    ]
    .boxed()
}
