//! What is counted.

use crate::clock::{MILLISECOND, Moment};

/// Figures over time are kept for each of these.
pub const TICK: Moment = 100 * MILLISECOND;

/// What became of the calls. Each has one fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// Answered in time.
    pub answered: u64,
    /// Refused by the instance's own circuit.
    pub refused: u64,
    /// Nobody was there, or the service fell over before it answered.
    pub failed: u64,
    /// Given up by the caller, before there was an answer.
    pub timed_out: u64,
}

impl Fates {
    /// All calls that have a fate.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.answered + self.refused + self.failed + self.timed_out
    }
}

/// What happened within a [`TICK`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Requests that came to the service, probes too.
    pub requests: u32,
    /// Probes that came to the service.
    pub probes: u32,
    /// Calls that were answered in time.
    pub answered: u32,
    /// Commands that came to Redis.
    pub commands: u32,
    /// Messages that Redis sent, one to each subscriber.
    pub messages: u32,
}

/// What Redis had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedisLoad {
    /// Commands.
    pub commands: u64,
    /// Changes that were published.
    pub published: u64,
    /// Messages, one to each subscriber.
    pub messages: u64,
    /// The longest that a command waited for those before it.
    pub longest_wait: Moment,
}

/// What a fleet did in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Calls that were made.
    pub calls: u64,
    /// What became of them.
    pub fates: Fates,
    /// How long after the failure no circuit was closed any more.
    pub all_open_after: Option<Moment>,
    /// Requests that the dead service got until then.
    pub dead_until_open: u64,
    /// Requests that the dead service got later.
    pub dead_later: u64,
    /// Requests in the first seconds after the service came back.
    pub first_requests: u64,
    /// Probes among them.
    pub first_probes: u64,
    /// How often it was knocked over.
    pub knocked_over: u32,
    /// How long after the service came back the last circuit was closed for good.
    pub all_closed_after: Option<Moment>,
    /// Calls that were refused while the service was up again.
    pub refused_while_up: u64,
    /// What Redis had to do.
    pub redis: RedisLoad,
    /// Over time, from the beginning.
    pub ticks: Vec<Tick>,
}

impl Figures {
    /// The tick that a moment belongs to.
    pub fn tick(&mut self, now: Moment) -> &mut Tick {
        let at = (now / TICK) as usize;
        if at >= self.ticks.len() {
            self.ticks.resize(at + 1, Tick::default());
        }
        &mut self.ticks[at]
    }

    /// The most that a tick had of something, from a moment on.
    #[must_use]
    pub fn peak(&self, from: Moment, of: impl Fn(&Tick) -> u32) -> u32 {
        let ticks = self.ticks.iter().skip((from / TICK) as usize);
        ticks.map(of).max().unwrap_or(0)
    }
}

impl Figures {
    /// How long the run lasted, in seconds; at least a tick.
    #[must_use]
    pub fn lasted_seconds(&self) -> f64 {
        (self.ticks.len().max(1) as u64 * TICK) as f64 / 1e9
    }

    /// The most that a second had of something.
    #[must_use]
    pub fn peak_second(&self, of: impl Fn(&Tick) -> u32) -> u64 {
        let second = |ticks: &[Tick]| ticks.iter().map(|tick| u64::from(of(tick))).sum();
        let seconds = self.ticks.chunks(10).map(second);
        seconds.max().unwrap_or(0)
    }
}
