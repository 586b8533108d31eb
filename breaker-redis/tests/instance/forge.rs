//! What somebody makes up who may write to Redis, or publish there.

use crate::network::Event;
use crate::world::{SECOND, World};
use breaker_redis::protocol::{Cause, Lease, Record, Shared, Stored, Told, Version, Who};
use breakerbox::State;
use proptest::prelude::*;

/// The largest number that can be told.
const MAX: u64 = 1 << 52;

/// As far as an epoch may be ahead of Redis' clock.
pub(crate) const AHEAD: u64 = 366 * 86_400 * SECOND;

pub(crate) const DAY: u64 = 86_400 * SECOND;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Forged {
    pub(crate) epoch: Epoch,
    pub(crate) counter: u64,
    pub(crate) state: State,
    pub(crate) wait: u64,
    pub(crate) lease: u64,
    pub(crate) cause: Cause,
    /// Which of the nodes says it, or somebody else.
    pub(crate) by: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Epoch {
    /// That which is stored.
    Same,
    /// More, or less, than what is believed at the most.
    Edge(i64),
    At(u64),
}

/// Waits are short, so that all is over soon; leases are not.
pub(crate) fn forged() -> impl Strategy<Value = Forged> {
    let epoch = prop_oneof![
        Just(Epoch::Same),
        (-2..3_i64).prop_map(Epoch::Edge),
        prop_oneof![Just(0), Just(MAX), 0..MAX].prop_map(Epoch::At),
    ];
    let counter = prop_oneof![0..9_u64, Just(MAX - 1), Just(MAX)];
    let cause = prop_oneof![
        Just(Cause::Operator),
        Just(Cause::Recovered),
        Just(Cause::Founded),
        Just(Cause::Tripped { failures: 5 }),
    ];
    let state = proptest::sample::select(&State::ALL[..]);
    let times = (0..3 * SECOND, prop_oneof![Just(DAY), 0..DAY]);
    (epoch, counter, state, times, cause, 0..9_usize).prop_map(
        |(epoch, counter, state, (wait, lease), cause, by)| Forged {
            epoch,
            counter,
            state,
            wait,
            lease,
            cause,
            by,
        },
    )
}

impl World {
    fn forge(&self, forged: Forged) -> Record {
        let now = self.now.saturating_add(self.ahead);
        let stored = self.stored.record.as_ref();
        let epoch = match forged.epoch {
            Epoch::Same => stored.map_or(now, |record| record.version.epoch),
            Epoch::Edge(by) => (now + AHEAD).saturating_add_signed(by),
            Epoch::At(epoch) => epoch,
        };
        let is_trial = forged.state == State::HalfOpen;
        let holder = Who::new("somebody").expect("a name");
        Record {
            version: Version {
                epoch,
                counter: forged.counter,
            },
            shared: Shared {
                state: forged.state,
                wait: if forged.state == State::Open {
                    forged.wait
                } else {
                    0
                },
                imposed: false,
                reopenings: 0,
            },
            // Ahead of the clock.
            since: now + DAY,
            cause: forged.cause,
            by: Who::new(&format!("node-{}", forged.by)).expect("a name"),
            lease: is_trial.then_some(Lease {
                holder,
                since: now + DAY,
                lasts: forged.lease,
            }),
            operated: None,
            offered: None,
            census: None,
            declared: None,
        }
    }

    pub(crate) fn write(&mut self, forged: Forged) {
        self.note(|| format!("somebody writes {forged:?}"));
        self.stored = Stored {
            record: Some(self.forge(forged)),
            ..Stored::default()
        };
    }

    pub(crate) fn publish(&mut self, forged: Forged) {
        self.note(|| format!("somebody publishes {forged:?}"));
        let record = self.forge(forged);
        let lease = record.lease.map(|lease| (lease.holder, lease.lasts));
        let told = Told {
            version: record.version,
            shared: record.shared,
            lease,
            cause: record.cause,
            by: record.by,
            offered: None,
            census: None,
            operated: None,
            declared: None,
        };
        for id in self.ids() {
            if self.nodes[&id].is_linked {
                self.push(id, 0, Event::Message(told.clone()));
            }
        }
    }
}
