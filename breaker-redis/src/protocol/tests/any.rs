//! Any commands, states and texts.

use super::super::record::{CENSUS_HOLDS, LONGEST_WAIT};
use super::super::version::MAX_NUMBER;
use super::super::{
    Caller, Cause, Command, Counts, Declared, Known, Lease, Limits, Quorum, Record, Share, Shared,
    Told, Version, Who,
};
use breakerbox::State;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::Union;

/// Numbers up to `most`, the small and the greatest more often.
pub(super) fn number(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![0..=most.min(9), (most - most.min(2))..=most, 0..=most]
}

pub(super) fn version() -> impl Strategy<Value = Version> {
    (number(MAX_NUMBER), number(MAX_NUMBER)).prop_map(|(epoch, counter)| Version { epoch, counter })
}

pub(super) fn who() -> impl Strategy<Value = Who> {
    proptest::collection::vec(0x21_u8..=0x7e, 1..=64)
        .prop_map(|bytes| bytes.into_iter().map(char::from).collect::<String>())
        .prop_filter_map("no name", |name| Who::new(&name).ok())
}

/// As a breaker may say it, also beyond what can be told.
pub(super) fn shared() -> impl Strategy<Value = Shared> {
    let wait = prop_oneof![
        0..3_u64,
        1_000..1_000_000_u64,
        Just(LONGEST_WAIT),
        Just(u64::MAX)
    ];
    let state = prop_oneof![
        2 => Just(State::Open),
        1 => proptest::sample::select(&State::ALL[..])
    ];
    (state, wait, any::<bool>(), any::<u8>()).prop_map(|(state, wait, imposed, reopenings)| {
        Shared {
            state,
            wait,
            imposed,
            reopenings,
        }
    })
}

pub(super) fn cause() -> impl Strategy<Value = Cause> {
    let count = prop_oneof![0..9_u32, Just(u32::MAX)];
    prop_oneof![
        count
            .clone()
            .prop_map(|failures| Cause::Tripped { failures }),
        count
            .clone()
            .prop_map(|failures| Cause::Counted { failures }),
        count.prop_map(|instances| Cause::Voted { instances }),
        Just(Cause::Founded),
        Just(Cause::Overloaded),
        Just(Cause::Leased),
        Just(Cause::Released),
        Just(Cause::Recovered),
        Just(Cause::Operator),
    ]
}

pub(super) fn told() -> impl Strategy<Value = Told> {
    let lease = (who(), number(LONGEST_WAIT));
    (
        version(),
        shared(),
        lease,
        cause(),
        who(),
        option::of(version()),
        option::of(number(CENSUS_HOLDS)),
        (option::of(version()), declared()),
    )
        .prop_map(
            |(version, shared, lease, cause, by, offered, census, last)| {
                let (operated, declared) = last;
                let offered = offered.filter(|offered| *offered < version);
                let is_trial = shared.state == State::HalfOpen;
                let bounded = shared.bounded();
                Told {
                    version,
                    shared: Shared {
                        state: shared.state,
                        ..bounded
                    },
                    lease: is_trial.then_some(lease),
                    cause,
                    by,
                    offered,
                    census: census.filter(|_| shared.state == State::Closed),
                    operated: operated.filter(|operated| *operated <= version),
                    declared,
                }
            },
        )
}

/// What somebody may have written, of the kind that the script writes.
pub(super) fn record() -> impl Strategy<Value = Record> {
    let lease = (number(MAX_NUMBER), number(LONGEST_WAIT));
    (told(), number(MAX_NUMBER), lease).prop_map(|(told, since, (given, lasts))| Record {
        version: told.version,
        shared: told.shared,
        since,
        cause: told.cause,
        by: told.by,
        lease: told.lease.map(|(holder, _)| Lease {
            holder,
            since: given,
            lasts,
        }),
        operated: told.operated,
        offered: told.offered,
        census: told.census.map(|_| since),
        declared: told.declared,
    })
}

pub(super) fn quorum() -> impl Strategy<Value = Quorum> {
    prop_oneof![
        3 => (0..4_u32).prop_map(Quorum::Instances),
        2 => proptest::sample::select(vec![0.07, 0.3, 0.5, 1.0])
            .prop_filter_map("a share", Share::new)
            .prop_map(Quorum::Share),
    ]
}

pub(super) fn limits() -> impl Strategy<Value = Limits> {
    let share = || {
        option::weighted(0.7, proptest::sample::select(vec![0.07, 0.5, 1.0]))
            .prop_map(|share| share.and_then(Share::new))
    };
    prop_oneof![
        prop_oneof![0..8_u32, 8..40_u32].prop_map(|threshold| Limits::Consecutive { threshold }),
        (share(), share(), 0..20_u32).prop_map(|(failures, slow, min_calls)| Limits::Rate {
            failures,
            slow,
            min_calls,
        }),
    ]
}

/// What somebody may declare; `reset` within what can be told.
pub(super) fn declared() -> impl Strategy<Value = Option<Declared>> {
    let all = (limits(), number(LONGEST_WAIT), any::<bool>(), quorum());
    option::of(all.prop_map(|(opens, reset, counting, quorum)| Declared {
        opens,
        reset,
        counting,
        quorum,
    }))
}

pub(super) fn counts() -> impl Strategy<Value = Counts> {
    let count = || prop_oneof![4 => 0..4_u32, 2 => 0..30_u32, 1 => Just(u32::MAX)];
    (count(), count(), count()).prop_map(|(calls, failures, slow)| Counts {
        calls,
        failures,
        slow,
    })
}

/// Any command of somebody who knew this.
pub(super) fn command(known: Known) -> impl Strategy<Value = Command> {
    let lasts = || prop_oneof![4 => 1..2_000_u64, 2 => Just(5_000_000_u64), 1 => Just(u64::MAX)];
    let some = known.unwrap_or(Version {
        epoch: 0,
        counter: 0,
    });
    // None of these is a strategy of its own type.
    Union::new_weighted(vec![
        (2, Just(Command::Read { known }).boxed()),
        (
            4,
            (shared(), cause(), any::<bool>())
                .prop_map(move |(to, cause, again)| Command::Change {
                    known,
                    to,
                    cause,
                    again,
                })
                .boxed(),
        ),
        (
            4,
            lasts()
                .prop_map(move |lasts| Command::Lease { known, lasts })
                .boxed(),
        ),
        (
            1,
            lasts()
                .prop_map(move |lasts| Command::Renew { known, lasts })
                .boxed(),
        ),
        (1, Just(Command::Release { known }).boxed()),
        (1, Just(Command::Leave { known }).boxed()),
        (
            4,
            (prop::bool::weighted(0.8), shared(), quorum())
                .prop_map(move |(open, to, quorum)| Command::Vote {
                    known,
                    open,
                    to,
                    quorum,
                })
                .boxed(),
        ),
        (
            4,
            (counts(), limits(), quorum(), shared())
                .prop_map(move |(counts, limits, quorum, to)| Command::Count {
                    known,
                    counts,
                    limits,
                    quorum,
                    to,
                })
                .boxed(),
        ),
        (
            2,
            (shared(), cause())
                .prop_map(move |(to, cause)| Command::Offer {
                    known: some,
                    to,
                    cause,
                })
                .boxed(),
        ),
    ])
}

/// One of a few instances.
pub(super) fn caller() -> impl Strategy<Value = Caller> {
    let alive = prop_oneof![
        4 => Just(400_000_u64),
        1 => 0..800_000_u64,
        1 => Just(u64::MAX)
    ];
    let longest = prop_oneof![
        4 => Just(60_000_000_u64),
        1 => 0..300_000_u64,
        1 => Just(u64::MAX)
    ];
    let all = (0..4_u8, alive, any::<bool>(), longest, declared());
    all.prop_map(|(number, alive, present, longest_lease, declared)| Caller {
        who: Who::new(&format!("web-{number}")).expect("a name"),
        alive,
        present,
        longest_lease,
        declared,
    })
}
