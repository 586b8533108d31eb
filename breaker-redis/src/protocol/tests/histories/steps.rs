//! What happens in a history: as it can be shrunk.

use super::super::super::version::{AHEAD, MAX_NUMBER};
use super::super::super::{Caller, Command, Counts, Limits, Quorum, Record, Share, Version};
use super::super::any;
use super::super::script::{CHANGE, CLOSE};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// What an instance knows when it asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Knows {
    Nothing,
    /// What it was told last.
    WhatItWasTold,
    /// What is stored.
    All,
    /// So many more than what is stored.
    More(u64),
    /// Something of before.
    Less(u64),
    /// A life after that which is stored.
    LaterLife(u64),
    EarlierLife(u64),
    Any(Version),
    /// So much more than what is believed just now.
    Future(i64, u64),
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Asks(Caller, Knows, Command),
    /// The instance that has the lease, if one has.
    HolderAsks(Caller, Command),
    Passes(u64),
    SetBack(u64),
    /// Until exactly when what is stored, wait or lease, is over; or so many microseconds before.
    UntilOver(u64),
    Emptied,
    /// Somebody wrote this, of a version that is so much more than what is believed, or of its own.
    Forged(Record, Option<i64>),
    /// As it was so many steps ago.
    RolledBack(usize),
}

fn knows() -> impl Strategy<Value = Knows> {
    prop_oneof![
        3 => Just(Knows::Nothing),
        6 => Just(Knows::WhatItWasTold),
        12 => Just(Knows::All),
        1 => (1..4_u64).prop_map(Knows::More),
        1 => (1..4_u64).prop_map(Knows::Less),
        1 => (1..4_u64).prop_map(Knows::LaterLife),
        1 => (1..4_u64).prop_map(Knows::EarlierLife),
        1 => any::version().prop_map(Knows::Any),
        1 => (-3..3_i64, any::number(MAX_NUMBER)).prop_map(|(by, counter)| Knows::Future(by, counter)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let asks = (any::caller(), knows(), any::command(None))
        .prop_map(|(caller, knows, command)| Step::Asks(caller, knows, command));
    let passes = prop_oneof![
        Just(1_u64),
        0..3_000_u64,
        90_000..110_000_u64,
        Just(100_000_u64),
        400_000..600_000_u64,
        Just(3_600_000_000_u64),
        Just(AHEAD),
    ];
    prop_oneof![
        30 => asks,
        // Else it would be open most of the time, and nothing counted.
        4 => any::caller().prop_map(|caller| Step::Asks(caller, Knows::All, CLOSE)),
        8 => (any::caller(), any::command(None))
            .prop_map(|(caller, command)| Step::HolderAsks(caller, command)),
        6 => passes.prop_map(Step::Passes),
        6 => (0..3_u64).prop_map(Step::UntilOver),
        1 => (0..200_000_u64).prop_map(Step::SetBack),
        1 => Just(Step::SetBack(3_600_000_000)),
        // Never to the very microsecond in which something was founded.
        1 => (3_600_000_000..7_200_000_000_u64).prop_map(|time| Step::SetBack(AHEAD + time)),
        2 => Just(Step::Emptied),
        2 => (any::record(), option::of(-3..3_i64)).prop_map(|(record, by)| Step::Forged(record, by)),
        1 => (1..20_usize).prop_map(Step::RolledBack),
    ]
}

/// What seldom comes about by chance: a trial, and something that its holder asks.
fn trial() -> impl Strategy<Value = Vec<Step>> {
    let asks = (any::caller(), any::command(None));
    (any::caller(), asks, 0..3_u64).prop_map(|(caller, (asks_as, asks), before)| {
        let known = None;
        let lasts = 5_000_000;
        vec![
            Step::Asks(caller.clone(), Knows::All, CHANGE),
            Step::UntilOver(before),
            Step::Asks(caller, Knows::All, Command::Lease { known, lasts }),
            Step::HolderAsks(asks_as, asks),
        ]
    })
}

/// Several instances count together, by the same limits.
fn counting() -> impl Strategy<Value = Vec<Step>> {
    let counts = (any::caller(), any::counts());
    let counted = vec(counts, 2..8);
    let all = (
        any::caller(),
        counted,
        any::limits(),
        any::quorum(),
        any::shared(),
    );
    all.prop_map(|(caller, counted, limits, quorum, to)| {
        let known = None;
        let count = |(caller, counts)| {
            let count = Command::Count {
                known,
                counts,
                limits,
                quorum,
                to,
            };
            Step::Asks(caller, Knows::All, count)
        };
        let closes = Step::Asks(caller, Knows::All, CLOSE);
        [closes]
            .into_iter()
            .chain(counted.into_iter().map(count))
            .collect()
    })
}

/// Counts by a rate that is mostly reached, and that a census decides on, or another does.
fn census() -> impl Strategy<Value = Vec<Step>> {
    let counts = (0..4_u32, 0..4_u32, 0..4_u32).prop_map(|(well, failures, slow)| Counts {
        calls: well + failures.max(slow),
        failures,
        slow,
    });
    let passes = prop_oneof![
        4 => Just(0_u64),
        2 => 0..300_000_u64,
        2 => 199_998..200_003_u64,
        1 => 799_998..800_003_u64,
        1 => 999_998..1_000_003_u64,
    ];
    let counted = vec((any::caller(), counts, passes), 2..10);
    let share = || {
        let share = option::weighted(0.8, prop::sample::select(vec![0.07, 0.5, 1.0]));
        share.prop_map(|share| share.and_then(Share::new))
    };
    let limits =
        (share(), share(), 1..12_u32).prop_map(|(failures, slow, min_calls)| Limits::Rate {
            failures,
            slow,
            min_calls,
        });
    let quorum = prop_oneof![3 => Just(Quorum::Instances(1)), 1 => any::quorum()];
    let all = (any::caller(), counted, limits, quorum, any::shared());
    all.prop_map(|(caller, counted, limits, quorum, to)| {
        let count = |(mut caller, counts, passes): (Caller, Counts, u64)| {
            // Else whoever spoke is forgotten before it is decided.
            caller.alive = 15_000_000;
            let count = Command::Count {
                known: None,
                counts,
                limits,
                quorum,
                to,
            };
            [Step::Asks(caller, Knows::All, count), Step::Passes(passes)]
        };
        let closes = Step::Asks(caller, Knows::All, CLOSE);
        [closes]
            .into_iter()
            .chain(counted.into_iter().flat_map(count))
            .collect()
    })
}

/// Redis was emptied, and several offer what they knew.
fn offering() -> impl Strategy<Value = Vec<Step>> {
    let knows = prop_oneof![
        any::version().prop_map(Knows::Any),
        Just(Knows::WhatItWasTold),
        Just(Knows::Less(1)),
        Just(Knows::EarlierLife(1)),
    ];
    let offer = (any::caller(), knows, any::shared(), any::cause());
    vec(offer, 2..6).prop_map(|offers| {
        let offer = |(caller, knows, to, cause)| {
            let known = Version {
                epoch: 1,
                counter: 1,
            };
            Step::Asks(caller, knows, Command::Offer { known, to, cause })
        };
        [Step::Emptied]
            .into_iter()
            .chain(offers.into_iter().map(offer))
            .collect()
    })
}

pub(super) fn history() -> impl Strategy<Value = Vec<Step>> {
    let steps = prop_oneof![
        30 => step().prop_map(|step| vec![step]),
        2 => trial(),
        2 => counting(),
        2 => census(),
        2 => offering(),
    ];
    vec(steps, 1..60).prop_map(|steps| steps.concat())
}
