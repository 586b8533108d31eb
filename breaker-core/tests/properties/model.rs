//! The breaker as the contract describes it, for one thread, as plainly as it
//! can be written: nothing is packed, nothing is clever, and everything that a
//! window holds is kept in a list.
//!
//! Where the breaker's words round (lib.rs, "What the words can hold"), the
//! model gives bounds: an instant may be kept up to 10 us too late, and an
//! imposed wait may be lengthened by up to its unit. How long an opening lasts
//! the breaker announces; the model holds it to that, once it was found to be
//! within the bounds ([`Model::announced`]).

use crate::rules::{Close, HOUR, MICRO, MILLI, Rate, Rules, SECOND, Span, Trip};
use breaker_core::{Outcome, Overrides, Reason, Snapshot, State, Trigger};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

const DAY: u128 = 24 * HOUR as u128;

/// Nanoseconds, from the least to the most that they may be.
pub(crate) type Bounds = RangeInclusive<u128>;

#[derive(Debug)]
pub(crate) struct Model {
    declared: Rules,
    /// What holds now.
    rules: Rules,
    /// The clock's: added to every wait.
    resolution: u64,
    pub(crate) state: State,
    /// How many entries into states there were.
    pub(crate) generation: u64,
    reopenings: u8,

    /// Failures in a row, while closed or in shadow.
    in_a_row: u32,
    window: Window,
    /// In shadow: it was said that it would have tripped.
    reported: bool,

    /// How long an opening lasts.
    wait: Bounds,
    imposed: bool,
    /// It is what the configuration says, whatever that says by now.
    configured: bool,
    /// What a snapshot had left of it, which the configuration may cut.
    restored: Option<Bounds>,
    /// When it opened, or the last probe was admitted.
    anchor: u64,

    in_flight: u32,
    successes: u32,
    failures: u32,
}

/// What a call that asks may be told. Either, if both are there.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) may_admit: bool,
    pub(crate) may_refuse: Option<Refusal>,
}

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) reason: Reason,
    /// Where it is known.
    pub(crate) retry_after: Option<Bounds>,
}

/// What an outcome does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Did {
    Late,
    Neutral,
    Counted,
    Opened(Opened),
    Closed {
        failures: u32,
    },
    WouldTrip {
        failures: Option<u32>,
    },
    /// The contract leaves it open.
    NothingToSee,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opened {
    /// Any of these.
    pub(crate) triggers: Vec<Trigger>,
    /// Where the contract and the documentation say.
    pub(crate) failures: Option<u32>,
}

/// The rule for snapshots that was broken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nonsense;

impl Model {
    pub(crate) fn new(rules: Rules, resolution: u64) -> Self {
        Self {
            declared: rules.clone(),
            rules,
            resolution,
            state: State::Closed,
            generation: 0,
            reopenings: 0,
            in_a_row: 0,
            window: Window::default(),
            reported: false,
            wait: 0..=0,
            imposed: false,
            configured: false,
            restored: None,
            anchor: 0,
            in_flight: 0,
            successes: 0,
            failures: 0,
        }
    }

    /// A call asks. The anchor may move; admitted it is by [`Self::admit`].
    pub(crate) fn ask(&mut self, now: u64) -> Answer {
        match self.state {
            State::Closed | State::Disabled | State::Shadow => Answer::ADMIT,
            State::ForcedOpen => Answer {
                may_admit: false,
                may_refuse: Some(Refusal {
                    reason: Reason::ForcedOpen,
                    retry_after: None,
                }),
            },
            State::Open => self.ask_whether_over(now, Reason::Open, self.wait.clone()),
            State::HalfOpen if self.is_full() => {
                let timeout = u128::from(self.rules.probe_timeout());
                self.ask_whether_over(now, Reason::HalfOpenFull, timeout..=timeout)
            }
            State::HalfOpen => Answer::ADMIT,
        }
    }

    fn ask_whether_over(&mut self, now: u64, reason: Reason, wait: Bounds) -> Answer {
        if now < self.anchor {
            self.anchor = now;
        }
        let left = self.left(now, wait, self.resolution);
        Answer {
            may_admit: *left.start() == 0,
            may_refuse: (*left.end() > 0).then(|| Refusal {
                reason,
                // Whoever is refused is told to wait for something.
                retry_after: Some((*left.start()).max(1)..=*left.end()),
            }),
        }
    }

    /// What is left of a wait since the anchor, which may be kept up to 10 us
    /// too late, by a clock that may lag. No wait is none.
    fn left(&self, now: u64, wait: Bounds, lag: u64) -> Bounds {
        let now = u128::from(now);
        let earliest = u128::from(self.anchor);
        let latest = earliest.next_multiple_of(u128::from(10 * MICRO));
        let lag = u128::from(lag);
        // What doesn't fit into a `u64` of nanoseconds is for ever anyway.
        let lengthened = |wait: u128| match wait {
            0 => 0,
            wait => (wait + lag).min(u128::from(u64::MAX)),
        };
        let least = lengthened(*wait.start()).saturating_sub(now.saturating_sub(earliest));
        let most = lengthened(*wait.end()).saturating_sub(now.saturating_sub(latest));
        least..=most
    }

    /// A trial waits for those in flight. One that waits for none takes a probe, also where its
    /// results were enough already when an operator asked for fewer.
    fn is_full(&self) -> bool {
        if self.in_flight == 0 {
            return false;
        }
        match self.rules.close_after() {
            Some(close_after) => {
                self.in_flight >= self.rules.probes
                    || self.in_flight + self.successes >= close_after
            }
            None => self.in_flight + self.successes + self.failures >= self.rules.probes,
        }
    }

    /// The call that asked is admitted. Gives what brought a new trial about.
    pub(crate) fn admit(&mut self, now: u64) -> Option<Trigger> {
        let trigger = match self.state {
            State::Open => Trigger::WaitOver,
            State::HalfOpen if self.is_full() => Trigger::ProbeTimedOut,
            State::HalfOpen => {
                self.in_flight += 1;
                self.anchor = now;
                return None;
            }
            _ => return None,
        };
        self.enter(State::HalfOpen);
        self.in_flight = 1;
        self.anchor = now;
        Some(trigger)
    }

    /// A call ends that `generation` admitted.
    pub(crate) fn settle(
        &mut self,
        generation: u64,
        outcome: Outcome,
        took: u128,
        now: u64,
    ) -> Did {
        if self.state == State::Disabled {
            return Did::NothingToSee;
        }
        if generation != self.generation {
            return Did::Late;
        }
        // Time is a `u64` of nanoseconds: nothing takes longer.
        let took = took.min(u128::from(u64::MAX));
        let counted = match outcome {
            Outcome::Success => Counted::Success,
            Outcome::Failure | Outcome::Panicked => Counted::Failure,
            Outcome::Dropped if self.rules.cancelled_is_failure => Counted::Failure,
            Outcome::Overloaded(wait) => Counted::Overloaded(wait.as_nanos()),
            _ => Counted::Neither,
        };
        match self.state {
            State::Closed => self.settle_closed(counted, took, now),
            State::Shadow => self.settle_shadow(counted, took, now),
            State::HalfOpen => self.settle_probe(counted, now),
            State::Open | State::ForcedOpen | State::Disabled => {
                unreachable!("no call is admitted in these states, or nothing recorded")
            }
        }
    }

    fn settle_closed(&mut self, counted: Counted, took: u128, now: u64) -> Did {
        match self.count(counted, took, now) {
            Tally::Nothing => Did::Neutral,
            Tally::Counted => Did::Counted,
            Tally::Trips { triggers, failures } => {
                match counted {
                    Counted::Overloaded(wait) => self.open_imposed(wait, now),
                    _ => self.open(now),
                }
                Did::Opened(Opened { triggers, failures })
            }
        }
    }

    fn settle_shadow(&mut self, counted: Counted, took: u128, now: u64) -> Did {
        match self.count(counted, took, now) {
            Tally::Nothing => Did::Neutral,
            Tally::Counted => Did::Counted,
            Tally::Trips { .. } if self.reported => Did::Counted,
            Tally::Trips { failures, .. } => {
                self.reported = true;
                Did::WouldTrip { failures }
            }
        }
    }

    fn count(&mut self, counted: Counted, took: u128, now: u64) -> Tally {
        let failed = match counted {
            Counted::Neither => return Tally::Nothing,
            Counted::Overloaded(_) => {
                return Tally::Trips {
                    triggers: vec![Trigger::Overloaded],
                    failures: None,
                };
            }
            Counted::Success => false,
            Counted::Failure => true,
        };
        match &self.rules.trip {
            Trip::InARow(threshold) => {
                self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
                if self.in_a_row < *threshold {
                    return Tally::Counted;
                }
                Tally::Trips {
                    triggers: vec![Trigger::Failures],
                    failures: Some(self.in_a_row),
                }
            }
            Trip::Rate(rate) => {
                let slow = rate.slow.is_some_and(|slow| took > u128::from(slow.than));
                self.window.add(rate.span, failed, slow, now);
                self.window.judge(rate)
            }
        }
    }

    fn settle_probe(&mut self, counted: Counted, now: u64) -> Did {
        self.in_flight -= 1;
        match counted {
            Counted::Neither => return Did::Neutral,
            Counted::Overloaded(wait) => {
                self.reopened();
                self.open_imposed(wait, now);
                return Did::Opened(Opened {
                    triggers: vec![Trigger::Overloaded],
                    failures: None,
                });
            }
            Counted::Success => self.successes += 1,
            Counted::Failure => self.failures += 1,
        }
        let failures = self.failures;
        let fails = match self.rules.close {
            Close::Rate(share) => {
                let results = self.successes + failures;
                if results < self.rules.probes {
                    return Did::Counted;
                }
                share.is_reached(failures as usize, results as usize)
            }
            _ => {
                if failures == 0 && self.rules.close_after() > Some(self.successes) {
                    return Did::Counted;
                }
                failures > 0
            }
        };
        if fails {
            self.reopened();
            self.open(now);
            Did::Opened(Opened {
                triggers: vec![Trigger::FailedProbe],
                failures: Some(failures),
            })
        } else {
            self.close();
            Did::Closed { failures }
        }
    }

    fn reopened(&mut self) {
        self.reopenings = self.reopenings.saturating_add(1);
    }

    /// Every entry into a state starts from nothing.
    fn enter(&mut self, state: State) {
        self.state = state;
        self.generation += 1;
        self.in_a_row = 0;
        self.window = Window::default();
        self.reported = false;
        self.imposed = false;
        self.configured = false;
        self.restored = None;
        self.in_flight = 0;
        self.successes = 0;
        self.failures = 0;
    }

    /// For as long as the configuration says.
    fn open(&mut self, now: u64) {
        self.enter(State::Open);
        self.anchor = now;
        self.configured = true;
        self.wait_as_configured();
    }

    fn wait_as_configured(&mut self) {
        let plain = self.configured_wait(self.reopenings);
        let jitter = *plain.end() * u128::from(self.rules.jitter.hundredths) / 100;
        let most = (*plain.end() + jitter).min(u128::from(u64::MAX));
        self.wait = *plain.start()..=most;
    }

    fn open_imposed(&mut self, wait: u128, now: u64) {
        self.enter(State::Open);
        self.imposed = true;
        self.anchor = now;
        self.wait = rounded_up(wait);
    }

    /// `reset`, times `backoff` for each reopening, at most `max_reset`.
    fn configured_wait(&self, reopenings: u8) -> Bounds {
        const FRACTION: u32 = 32;
        let cap = u128::from(self.rules.max_reset.unwrap_or(u64::MAX));
        let (over, under) = (self.rules.backoff.over, self.rules.backoff.under);
        let (mut least, mut most) = (
            u128::from(self.rules.reset) << FRACTION,
            u128::from(self.rules.reset) << FRACTION,
        );
        for _ in 0..reopenings {
            if least >= cap << FRACTION {
                break;
            }
            least = least * u128::from(over) / u128::from(under);
            most = (most * u128::from(over)).div_ceil(u128::from(under));
        }
        // A factor is a float: its powers are exact where it is a sum of halves
        // and quarters, what comes out is whole, and 52 bits hold it
        // (a 53rd is taken by what rounds it).
        let whole = least % (1 << FRACTION) == 0;
        let (mut least, mut most) = (least >> FRACTION, most.div_ceil(1 << FRACTION));
        let exact = under.is_power_of_two() && whole && most <= 1 << 52;
        if reopenings > 0 && !exact {
            least -= (least >> 45) + 1;
            most += (most >> 45) + 1;
        }
        least.min(cap)..=most.min(cap)
    }

    /// A trial's or an operator's.
    pub(crate) fn close(&mut self) {
        self.enter(State::Closed);
        self.reopenings = 0;
    }

    /// An operator's: as it was declared.
    pub(crate) fn clear(&mut self) {
        self.rules = self.declared.clone();
        self.close();
    }

    /// An operator lays these over what was declared; the breaker took them.
    pub(crate) fn reconfigure(&mut self, overrides: &Overrides) {
        self.rules = self.declared.under(overrides);
        if self.configured {
            self.wait_as_configured();
        }
        if let Some(left) = &self.restored {
            let longest = self.configured_wait(self.reopenings);
            self.wait = *left.start().min(longest.start())..=*left.end().min(longest.end());
        }
    }

    /// `ForcedOpen`, `Disabled` or `Shadow`.
    pub(crate) fn force(&mut self, state: State) {
        self.enter(state);
    }

    pub(crate) fn open_for(&mut self, wait: u128, now: u64) {
        self.open_imposed(wait, now);
    }

    /// The breaker said how long it is open: within the bounds, it is that.
    pub(crate) fn announced(&mut self, wait: u128) -> bool {
        let allowed = self.state == State::Open && self.wait.contains(&wait);
        if allowed {
            self.wait = wait..=wait;
            self.restored = self.restored.take().map(|_| rounded_up(wait));
        }
        allowed
    }

    /// The bounds of the wait, while open.
    pub(crate) fn wait(&self) -> Option<&Bounds> {
        (self.state == State::Open).then_some(&self.wait)
    }

    /// How long until a probe may be admitted, while open. Reading it moves
    /// nothing.
    pub(crate) fn time_left(&self, now: u64) -> Bounds {
        match self.state {
            // The lag is added again where the snapshot is restored.
            State::Open => self.left(now, self.wait.clone(), 0),
            _ => 0..=0,
        }
    }

    pub(crate) fn is_imposed(&self) -> bool {
        self.imposed
    }

    pub(crate) fn reopenings(&self) -> u8 {
        self.reopenings
    }

    /// Failures in a row, where they are what is counted.
    pub(crate) fn consecutive(&self) -> Option<u32> {
        let Trip::InARow(threshold) = self.rules.trip else {
            return None;
        };
        // As many as don't trip, where an operator has lowered the threshold.
        let failures = self.in_a_row.min(threshold - 1);
        (self.state == State::Closed).then_some(failures)
    }

    /// What is counted, while closed.
    pub(crate) fn counted(&mut self, now: u64) -> breaker_core::Counted {
        let mut counted = breaker_core::Counted::default();
        if self.state != State::Closed {
            return counted;
        }
        match &self.rules.trip {
            Trip::InARow(_) => counted.failures = self.in_a_row,
            Trip::Rate(rate) => {
                let samples = self.window.at(rate.span, now);
                let count = |is: fn(&Sample) -> bool| {
                    samples.iter().filter(|sample| is(sample)).count() as u32
                };
                counted.calls = count(|_| true);
                counted.failures = count(|sample| sample.failed);
                counted.slow = count(|sample| sample.slow);
            }
        }
        counted
    }

    pub(crate) fn makes_sense(&self, snapshot: &Snapshot) -> bool {
        let trips = match self.rules.trip {
            Trip::InARow(threshold) => snapshot.consecutive >= threshold,
            Trip::Rate(_) => false,
        };
        snapshot.state != State::Closed || (snapshot.time_left.is_zero() && !trips)
    }

    pub(crate) fn restore(&mut self, snapshot: &Snapshot, now: u64) -> Result<(), Nonsense> {
        if !self.makes_sense(snapshot) {
            return Err(Nonsense);
        }
        let state = match snapshot.state {
            State::HalfOpen => State::Open,
            state => state,
        };
        self.enter(state);
        self.reopenings = snapshot.reopenings;
        if state == State::Closed {
            self.in_a_row = snapshot.consecutive;
            // They are those since the last close.
            self.reopenings = 0;
        }
        if state == State::Open {
            self.anchor = now;
            self.imposed = snapshot.imposed && snapshot.state == State::Open;
            let left = match snapshot.state {
                State::Open => snapshot.time_left.as_nanos(),
                _ => 0,
            };
            self.wait = if self.imposed {
                rounded_up(left.min(DAY))
            } else {
                let longest = self.configured_wait(self.reopenings);
                let least = left.min(*longest.start());
                // Rounded up, but never above what it is clamped to.
                let most = (*rounded_up(left).end()).min(*longest.end());
                self.restored = Some(least..=*rounded_up(most).end());
                least..=most
            };
        }
        Ok(())
    }
}

impl Answer {
    const ADMIT: Self = Self {
        may_admit: true,
        may_refuse: None,
    };
}

/// An imposed wait is kept in units of 10 us up to 83 s, in whole milliseconds up
/// to 9.3 h, whole seconds up to 194 days and whole hours above, rounded up; 584
/// years are the most.
fn rounded_up(wait: u128) -> Bounds {
    let most = u128::from(u64::MAX);
    let wait = wait.min(most);
    let unit = if wait <= 83 * u128::from(SECOND) {
        MILLI / 100
    } else if wait <= 93 * u128::from(HOUR) / 10 {
        MILLI
    } else if wait <= 194 * DAY {
        SECOND
    } else {
        HOUR
    };
    wait..=wait.next_multiple_of(u128::from(unit)).min(most)
}

#[derive(Clone, Copy, Debug)]
enum Counted {
    Success,
    Failure,
    Overloaded(u128),
    Neither,
}

#[derive(Debug)]
enum Tally {
    Nothing,
    Counted,
    Trips {
        triggers: Vec<Trigger>,
        failures: Option<u32>,
    },
}

/// The calls of which a rate is taken.
#[derive(Debug, Default)]
struct Window {
    samples: VecDeque<Sample>,
    newest: Option<Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    failed: bool,
    slow: bool,
    /// The turn of the bucket that it went into.
    turn: u128,
}

/// The newest bucket. Its turn counts up, whatever the clock does; its number
/// is the clock's.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    turn: u128,
    number: u64,
}

impl Window {
    fn add(&mut self, span: Span, failed: bool, slow: bool, now: u64) {
        self.at(span, now);
        let turn = self.newest.map_or(0, |newest| newest.turn);
        self.samples.push_back(Sample { failed, slow, turn });
        if let Span::Calls(most) = span {
            while self.samples.len() > most as usize {
                self.samples.pop_front();
            }
        }
    }

    /// What it holds at this moment.
    fn at(&mut self, span: Span, now: u64) -> &VecDeque<Sample> {
        if let Span::Time { bucket, buckets } = span {
            let turn = self.turn(now / bucket);
            // The newest bucket, and so many before it.
            let before = u128::from(buckets) - 1;
            self.samples.retain(|sample| sample.turn + before >= turn);
        }
        &self.samples
    }

    fn turn(&mut self, number: u64) -> u128 {
        let turn = match self.newest {
            None => 0,
            // The clock stepped back: the newest bucket it stays.
            Some(newest) if number < newest.number => newest.turn,
            Some(newest) => newest.turn + u128::from(number - newest.number),
        };
        self.newest = Some(Bucket { turn, number });
        turn
    }

    fn judge(&self, rate: &Rate) -> Tally {
        let calls = self.samples.len();
        if calls < rate.min_calls as usize {
            return Tally::Counted;
        }
        let failures = self.samples.iter().filter(|sample| sample.failed).count();
        let slow = self.samples.iter().filter(|sample| sample.slow).count();
        let mut triggers = Vec::new();
        if rate.failures.is_reached(failures, calls) {
            triggers.push(Trigger::FailureRate);
        }
        if rate
            .slow
            .is_some_and(|rule| rule.share.is_reached(slow, calls))
        {
            triggers.push(Trigger::SlowRate);
        }
        if triggers.is_empty() {
            return Tally::Counted;
        }
        Tally::Trips {
            triggers,
            failures: u32::try_from(failures).ok(),
        }
    }
}
