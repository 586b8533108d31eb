//! One instance by hand: what comes in between two of its steps, in which order threads are late.

#[path = "by_hand/alone.rs"]
mod alone;
#[path = "by_hand/asking.rs"]
mod asking;
#[path = "by_hand/census.rs"]
mod census;
#[path = "by_hand/declared.rs"]
mod declared;
#[path = "by_hand/farewell.rs"]
mod farewell;
#[path = "by_hand/following.rs"]
mod following;
#[path = "by_hand/lease.rs"]
mod lease;
#[path = "by_hand/missed.rs"]
mod missed;
#[path = "by_hand/probes.rs"]
mod probes;
#[path = "by_hand/quiet.rs"]
mod quiet;
#[path = "by_hand/telling.rs"]
mod telling;

use crate::node::CLOSED;
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Asked, Follow, Happened, Instance, Options, Step};
use breaker_redis::protocol::{Cause, Command, Counts, Reply, Shared, Told, Verdict, Version, Who};
use breakerbox::{Generation, State};
use std::sync::Arc;

pub(crate) const OPEN: Shared = Shared {
    state: State::Open,
    wait: 2 * SECOND,
    imposed: false,
    reopenings: 0,
};

pub(crate) const TRIAL: Shared = Shared {
    state: State::HalfOpen,
    wait: 0,
    ..OPEN
};

pub(crate) const TRIPPED: Cause = Cause::Tripped { failures: 2 };

pub(crate) fn generation(number: u32) -> Generation {
    Generation::from_number(number)
}

pub(crate) fn happened(number: u32, state: Shared, cause: impl Into<Option<Cause>>) -> Happened {
    Happened {
        generation: generation(number),
        state,
        cause: cause.into(),
        window: Counts::default(),
    }
}

pub(crate) fn with(options: Options) -> Instance {
    let mut instance = Instance::new(Arc::new(options), &happened(0, CLOSED, None), 0, 3);
    instance.found(0);
    instance
}

pub(crate) fn version(counter: u64) -> Version {
    Version { epoch: 7, counter }
}

pub(crate) fn told(counter: u64, shared: Shared, cause: Cause, by: &str) -> Told {
    Told {
        version: version(counter),
        shared,
        lease: None,
        cause,
        by: Who::new(by).expect("a name"),
        offered: None,
        census: None,
        operated: (cause == Cause::Operator).then_some(version(counter)),
        declared: None,
    }
}

pub(crate) fn done(told: Told) -> Reply {
    Reply {
        verdict: Verdict::Done,
        now: Some(told),
        listeners: None,
    }
}

pub(crate) fn refused(told: Told) -> Reply {
    Reply {
        verdict: Verdict::Refused,
        now: Some(told),
        listeners: None,
    }
}

/// The steps of one that goes by hand.
pub(crate) trait ByHand {
    fn asks(&mut self, now: u64) -> (Asked, Command);
    fn follows(&mut self, now: u64) -> Follow;
    fn waits(&mut self, now: u64) -> Option<u64>;
}

impl ByHand for Instance {
    fn asks(&mut self, now: u64) -> (Asked, Command) {
        match self.next(now) {
            Step::Ask(asked, command) => (asked, command),
            step => panic!("{step:?}"),
        }
    }

    fn follows(&mut self, now: u64) -> Follow {
        match self.next(now) {
            Step::Follow(follow) => follow,
            step => panic!("{step:?}"),
        }
    }

    fn waits(&mut self, now: u64) -> Option<u64> {
        match self.next(now) {
            Step::Wait(until) => until,
            step => panic!("{step:?}"),
        }
    }
}

/// One that has read how it stands.
pub(crate) fn at(shared: Shared) -> Instance {
    let mut instance = with(options(0));
    let (asked, command) = instance.asks(SECOND);
    assert_eq!(command, Command::Read { known: None });
    let told = told(4, shared, Cause::Recovered, "other");
    // Only now, so that calls aren't rare if there are some within a second.
    instance.heard(SECOND + MS, &told);
    instance.replied(SECOND + MS, asked, Ok(&done(told)));
    if shared.state != State::Closed {
        instance.follows(SECOND + MS);
        instance.followed(SECOND + MS, Ok(generation(1)));
    }
    instance.waits(SECOND + MS);
    instance
}
