//! A call's way: asked for, and settled.

use crate::single::{self, State};
use crate::time::{Moment, duration, millis, nanos};
use breaker_core::{Effect, Generation, Outcome, Reason};
use wasm_bindgen::prelude::wasm_bindgen;

/// Admits a call of a closed breaker: the common case, without a clock. Gives
/// its generation; below 0: [`admit`] it.
#[wasm_bindgen]
pub fn admit_if_closed(number: u32) -> i32 {
    single::with(|module| {
        let breaker = module.slab.get(number);
        let admitted = breaker.and_then(|breaker| breaker.by_ref().admit_if_closed());
        admitted.map_or(-1, as_number)
    })
}

/// Asks whether a call may be made. Gives its generation; below 0, and not
/// admitted: the reason. The report has how long until a call may be admitted, or
/// -1 where only an operator can tell. The call may be the first probe of a trial;
/// then the report has the change, else -1. `withheld`: no probe may be made, for
/// want of another's grant; where nothing else is in its way, none is left to wait.
#[wasm_bindgen]
pub fn admit(number: u32, now: f64, withheld: bool) -> i32 {
    single::with(|module| {
        module.report.clear();
        let Some(breaker) = module.slab.get(number) else {
            return reason(Reason::ForcedOpen);
        };
        let clock = breaker.moment(now);
        match breaker
            .by_ref()
            .try_admit_slowly_if_granted(&clock, || !withheld)
        {
            Ok(admission) => {
                if let Some(change) = admission.change {
                    module.report.say_change(&change);
                }
                as_number(admission.generation)
            }
            Err(rejected) => {
                module
                    .report
                    .say_left(rejected.retry_after.map_or(-1.0, millis));
                reason(rejected.reason)
            }
        }
    })
}

/// Settles a success, if it takes no more than a look or a number. `false`: nothing
/// was done, so [`settle`] it. Where there is neither a window of time nor `slow`,
/// neither `took` nor `now` is looked at.
#[wasm_bindgen]
pub fn succeed(number: u32, generation: u32, took: f64, now: f64) -> bool {
    single::with(|module| {
        let Some(breaker) = module.slab.get(number) else {
            return false;
        };
        let clock = breaker.moment(now);
        let generation = Generation::from_number(generation);
        breaker
            .by_ref()
            .count_at_once(generation, nanos(took), &clock)
    })
}

/// Settles a call. `outcome`: see `js/module.ts`; `wait` is an overload's, `took`
/// matters where `slow` is set. Gives what that did; the report has the change, if
/// there is one.
#[wasm_bindgen]
pub fn settle(
    number: u32,
    generation: u32,
    outcome: u32,
    wait: f64,
    took: f64,
    now: f64,
    random: f64,
) -> u32 {
    single::with(|module| {
        module.report.clear();
        let Some(breaker) = module.slab.get(number) else {
            return LATE;
        };
        let clock = Moment {
            random,
            ..breaker.moment(now)
        };
        let outcome = match outcome {
            0 => Outcome::Success,
            1 => Outcome::Failure,
            2 => Outcome::Ignored,
            3 => Outcome::Dropped,
            _ => Outcome::Overloaded(duration(wait)),
        };
        let generation = Generation::from_number(generation);
        let circuit = breaker.by_ref();
        let effect = circuit.settle_slowly(generation, outcome, nanos(took), &clock);
        report_effect(module, &effect)
    })
}

fn report_effect(module: &mut State, effect: &Effect) -> u32 {
    let (number, change) = match effect {
        Effect::Counted => (0, None),
        Effect::Neutral => (1, None),
        Effect::Tripped(change) => (3, Some(change)),
        Effect::Closed(change) => (4, Some(change)),
        Effect::WouldTrip(change) => (5, Some(change)),
        _ => (LATE, None),
    };
    if let Some(change) = change {
        module.report.say_change(change);
    }
    number
}

const LATE: u32 = 2;

const fn reason(reason: Reason) -> i32 {
    match reason {
        Reason::Open => -1,
        Reason::HalfOpenFull => -2,
        _ => -3,
    }
}

/// A generation has 26 bits.
fn as_number(generation: Generation) -> i32 {
    generation.get().cast_signed()
}
