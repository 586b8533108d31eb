//! Times that can't work, each by itself or beside others.

use super::FleetBuilder;
use crate::error::FleetError;
use crate::sharing::{MAX_LEASE, MIN_LEASE};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Within what a time can work.
struct Bounds {
    setting: &'static str,
    value: Duration,
    least: Duration,
    /// Why it can't be less, and what to write.
    short: &'static str,
    most: Duration,
    /// Why it can't be more, and what to write.
    long: &'static str,
}

impl Bounds {
    fn check(&self) -> Result<(), FleetError> {
        let Self {
            setting,
            value,
            least,
            short,
            most,
            long,
        } = *self;
        if value < least {
            return Err(FleetError::TooShort {
                setting,
                value,
                least,
                why: short,
            });
        }
        if value > most {
            return Err(FleetError::TooLong {
                setting,
                value,
                most,
                why: long,
            });
        }
        Ok(())
    }
}

pub(super) fn check(of: &FleetBuilder) -> Result<(), FleetError> {
    let milliseconds = Duration::from_millis;
    let each = [
        Bounds {
            setting: "poll",
            value: of.poll,
            least: milliseconds(100),
            short: "instances would ask all the time, so set some seconds",
            most: HOUR,
            long: "a message that was missed would stay unknown for as long, so set some seconds, or minutes \
                   in a large fleet",
        },
        Bounds {
            setting: "alive",
            value: of.alive,
            least: milliseconds(300),
            short: "instances that are well would come and go, so set three times `poll`",
            most: HOUR * 24,
            long: "those that are gone would count for as long, so set three times `poll`",
        },
        Bounds {
            setting: "batch",
            value: of.batch,
            least: milliseconds(1),
            short: "each failure would be a command of its own, so set some milliseconds",
            most: SECOND,
            long: "the circuit of all would open later by as much, so set some milliseconds",
        },
        Bounds {
            setting: "lease",
            value: of.lease,
            least: MIN_LEASE,
            short: "it could be over before its holder has heard of it, so set some seconds",
            most: MAX_LEASE,
            long: "nobody would probe for as long where an instance crashes, so set some seconds: it is \
                   renewed while probes run",
        },
        Bounds {
            setting: "answer",
            value: of.answer,
            least: milliseconds(10),
            short: "a Redis that is well would count as gone, so set about a second",
            most: MINUTE,
            long: "a Redis that is gone would be waited for, so set about a second",
        },
        Bounds {
            setting: "connect",
            value: of.connect,
            least: milliseconds(10),
            short: "a Redis that is well could not be reached, so set some seconds",
            most: MINUTE,
            long: "one that doesn't answer would not be tried again for as long, so set some seconds",
        },
    ];
    each.iter().try_for_each(Bounds::check)?;
    beside_others(of)
}

/// Each by itself can work.
fn beside_others(of: &FleetBuilder) -> Result<(), FleetError> {
    let twice = of.poll * 2;
    if of.alive < twice {
        return Err(FleetError::TooShort {
            setting: "alive",
            value: of.alive,
            least: twice,
            why: "that is twice `poll`, and instances are heard of once in a `poll`, so set three times `poll`",
        });
    }
    let (batch, answer) = (("batch", of.batch), ("answer", of.answer));
    for ((setting, value), most, why) in [
        (
            batch,
            of.poll,
            "that is `poll`, at which all is told anyway, so set some milliseconds",
        ),
        (
            answer,
            of.lease,
            "that is `lease`, which could be over before it is known who has it, so set about a second, or a \
             longer `lease`",
        ),
    ] {
        if value > most {
            return Err(FleetError::TooLong {
                setting,
                value,
                most,
                why,
            });
        }
    }
    Ok(())
}
