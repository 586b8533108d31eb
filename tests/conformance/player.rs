//! Plays a case on a breaker under a clock that is set by hand.

use std::collections::HashMap;

use breakerbox::{
    Breaker, CircuitOpenError, Effect, MAX_WINDOW_CALLS, ManualClock, Outcome, Permit, Policy,
    Sliding, Snapshot, Window,
};

use crate::case::{Case, Step};
use crate::config::{self, Accepted};
use crate::expect::{self, Got};

type Clock = &'static ManualClock;

/// The clock of every case: they are played one after the other.
static CLOCK: ManualClock = ManualClock::new(0);

/// Plays a case to its end or to its first mismatch, and describes that.
pub(crate) fn play(case: &Case) -> Result<(), String> {
    CLOCK.set(0);
    let mut config = match &case.config {
        Some(raw) => Some(
            config::build(raw)
                .map_err(|refusal| format!("config: expected accepted, got {refusal}"))?,
        ),
        None => None,
    };
    let mut rest = Rest {
        case,
        next: 0,
        snapshots: HashMap::new(),
        built_by: None,
    };
    // From the building of one breaker to that of the next.
    loop {
        config = match config {
            None => rest.play::<Sliding<0>>(None)?,
            Some(Accepted::Consecutive(config)) => {
                rest.play(Some(&Breaker::with_clock("case", config, &CLOCK)))?
            }
            Some(Accepted::Rate(config)) => {
                let breaker =
                    Breaker::<Clock, Sliding<SLOTS>>::by_rate_with_clock("case", config, &CLOCK);
                rest.play(Some(&breaker.map_err(|error| error.to_string())?))?
            }
        };
        if config.is_none() {
            return Ok(());
        }
    }
}

/// Enough for the largest window of either kind.
const SLOTS: usize = Window::calls(MAX_WINDOW_CALLS).slots();

/// What is still to be played.
struct Rest<'c> {
    case: &'c Case,
    next: usize,
    snapshots: HashMap<String, Snapshot>,
    built_by: Option<Place<'c>>,
}

impl<'c> Rest<'c> {
    /// Plays on one breaker. Gives the configuration of the next one; `None` at the end.
    fn play<P>(&mut self, breaker: Option<&Breaker<Clock, P>>) -> Result<Option<Accepted>, String>
    where
        P: Policy + Send + Sync + 'static,
    {
        let mut player = Player {
            breaker,
            kept: HashMap::new(),
            unnamed: Vec::new(),
            snapshots: std::mem::take(&mut self.snapshots),
        };
        if let Some(place) = self.built_by.take() {
            place.describe(player.compare(place.step, &Got::default()))?;
        }
        let count = self.case.steps.len();
        while let Some(step) = self.case.steps.get(self.next) {
            let place = Place {
                index: self.next,
                count,
                step,
            };
            self.next += 1;
            CLOCK.set(step.at_ms.nanos());
            if step.op == "build" {
                if let Some(accepted) = place.describe(player.build(step))? {
                    self.snapshots = player.leave();
                    self.built_by = Some(place);
                    return Ok(Some(accepted));
                }
            } else {
                place.describe(player.perform(step))?;
            }
        }
        Ok(None)
    }
}

/// Where in a case something went wrong.
#[derive(Clone, Copy)]
struct Place<'c> {
    index: usize,
    count: usize,
    step: &'c Step,
}

impl Place<'_> {
    fn describe<T>(self, result: Result<T, String>) -> Result<T, String> {
        let Self { index, count, step } = self;
        result.map_err(|mismatch| {
            let (number, op, at) = (index + 1, &step.op, step.at_ms);
            format!("step {number} of {count} ({op} at {at}): {mismatch}")
        })
    }
}

/// What plays a case from the building of a breaker to that of the next.
struct Player<'b, P>
where
    P: Policy + Send + Sync + 'static,
{
    /// `None` before the first one is built.
    breaker: Option<&'b Breaker<Clock, P>>,
    kept: HashMap<String, Permit<&'b Breaker<Clock, P>>>,
    /// Permits that no later step names.
    unnamed: Vec<Permit<&'b Breaker<Clock, P>>>,
    snapshots: HashMap<String, Snapshot>,
}

impl<'b, P> Player<'b, P>
where
    P: Policy + Send + Sync + 'static,
{
    /// Lets all permits go without settling them; gives what the next breaker's player needs.
    fn leave(self) -> HashMap<String, Snapshot> {
        self.unnamed.into_iter().for_each(std::mem::forget);
        self.kept.into_values().for_each(std::mem::forget);
        self.snapshots
    }

    fn breaker(&self) -> Result<&'b Breaker<Clock, P>, String> {
        self.breaker
            .ok_or_else(|| "there is no breaker yet".to_owned())
    }

    /// `None`: refused, as expected.
    fn build(&self, step: &Step) -> Result<Option<Accepted>, String> {
        let raw = step.config.as_ref().ok_or("`build` needs `config`")?;
        let expected = step.expect.error.as_deref();
        match (expected, config::build(raw)) {
            (None, Ok(config)) => Ok(Some(config)),
            (Some(rule), Err(refusal)) if refusal.is_for(rule) => {
                if self.breaker.is_some() {
                    self.compare(step, &Got::default())?;
                }
                Ok(None)
            }
            (expected, built) => Err(format!(
                "error: expected {}, got {}",
                expected.unwrap_or("none"),
                built.map_or_else(|refusal| refusal.to_string(), |_| "accepted".to_owned())
            )),
        }
    }

    fn perform(&mut self, step: &Step) -> Result<(), String> {
        let mut got = Got::default();
        for _ in 0..step.n.unwrap_or(1) {
            got = self.perform_once(step)?;
            if let Some(admission) = &got.admission {
                expect::admitted(&step.expect, admission)?;
            }
        }
        self.compare(step, &got)
    }

    fn compare(&self, step: &Step, got: &Got) -> Result<(), String> {
        expect::all(&step.expect, got, self.breaker()?.state())
    }

    fn perform_once(&mut self, step: &Step) -> Result<Got, String> {
        let breaker = self.breaker()?;
        let mut got = Got::default();
        match step.op.as_str() {
            "acquire" => got.admission = Some(self.acquire(breaker, step.id.as_ref())),
            "success" | "failure" | "ignored" | "cancel" | "panic" | "overloaded" => {
                got = self.call(breaker, step)?;
            }
            "state" => {}
            "snapshot" => {
                let snapshot = breaker.snapshot();
                if let Some(id) = &step.id {
                    self.snapshots.insert(id.clone(), snapshot);
                }
                got.snapshot = Some(snapshot);
            }
            "restore" => self.restore(breaker, step)?,
            "force_open" => {
                breaker.force_open();
            }
            "disable" => {
                breaker.disable();
            }
            "shadow" => {
                breaker.shadow();
            }
            "close" => {
                breaker.close();
            }
            "reset" => {
                breaker.clear();
            }
            "open_for" => {
                breaker.open_for(time_given(step)?);
            }
            unknown => return Err(format!("unknown op `{unknown}`")),
        }
        Ok(got)
    }

    fn acquire(
        &mut self,
        breaker: &'b Breaker<Clock, P>,
        id: Option<&String>,
    ) -> Result<(), CircuitOpenError> {
        let permit = breaker.admit()?;
        let unnamed = match id {
            // A permit of the same name before it stays in flight.
            Some(id) => self.kept.insert(id.clone(), permit),
            None => Some(permit),
        };
        self.unnamed.extend(unnamed);
        Ok(())
    }

    /// Settles the permit that the step names, or makes a whole call.
    fn call(&mut self, breaker: &'b Breaker<Clock, P>, step: &Step) -> Result<Got, String> {
        if let Some(id) = &step.of {
            let permit = self.kept.remove(id);
            let permit = permit.ok_or_else(|| format!("no permit `{id}` is in flight"))?;
            return Ok(Got {
                effect: settle(permit, step)?,
                ..Got::default()
            });
        }
        match breaker.admit() {
            Ok(permit) => {
                if let Some(took) = step.took_ms {
                    CLOCK.set(step.at_ms.nanos().saturating_add(took.nanos()));
                }
                Ok(Got {
                    admission: Some(Ok(())),
                    effect: settle(permit, step)?,
                    ..Got::default()
                })
            }
            Err(refused) => Ok(Got {
                admission: Some(Err(refused)),
                ..Got::default()
            }),
        }
    }

    fn restore(&self, breaker: &Breaker<Clock, P>, step: &Step) -> Result<(), String> {
        let snapshot = match (&step.of, &step.from) {
            (Some(id), _) => {
                let kept = self.snapshots.get(id).copied();
                Some(kept.ok_or_else(|| format!("no snapshot `{id}`"))?)
            }
            (None, Some(literal)) => config::snapshot(literal),
            (None, None) => return Err("`restore` needs `of` or `from`".to_owned()),
        };
        let accepted = snapshot.is_some_and(|snapshot| breaker.restore(&snapshot).is_ok());
        match step.expect.error.as_deref() {
            None if !accepted => Err("error: expected none, got snapshot".to_owned()),
            Some(error) if accepted || error != "snapshot" => {
                let got = if accepted { "none" } else { "snapshot" };
                Err(format!("error: expected {error}, got {got}"))
            }
            _ => Ok(()),
        }
    }
}

/// `None` where the permit was dropped: that says nothing.
fn settle<P>(permit: Permit<&Breaker<Clock, P>>, step: &Step) -> Result<Option<Effect>, String>
where
    P: Policy + Send + Sync + 'static,
{
    let outcome = match step.op.as_str() {
        "success" => Outcome::Success,
        "failure" => Outcome::Failure,
        "ignored" => Outcome::Ignored,
        "panic" => Outcome::Panicked,
        "overloaded" => Outcome::Overloaded(time_given(step)?),
        _ => {
            let expect = &step.expect;
            if expect.late.is_none() && expect.tripped.is_none() {
                drop(permit);
                return Ok(None);
            }
            Outcome::Dropped
        }
    };
    Ok(Some(permit.settle(outcome)))
}

fn time_given(step: &Step) -> Result<std::time::Duration, String> {
    let given = step
        .for_ms
        .ok_or_else(|| format!("`{}` needs `for_ms`", step.op))?;
    Ok(given.duration().unwrap_or(std::time::Duration::MAX))
}
