//! What breakers in shadow would have done.

mod model;

pub(crate) use model::{Model, Moment};

use super::Observer;
use super::event::{CircuitId, KeyEvicted, Left};
use super::tell::Source;
use crate::lock::lock;
use breaker_core::{Change, Effect, Generation, Outcome, Overrides, Reason, State};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Plays on what breakers in [shadow](crate::Breaker::shadow) would have done: when they would have
/// opened, again and again, which calls they would have refused, and what became of those in fact. No
/// call is touched.
///
/// ```
/// use breakerbox::observe::{self, Rehearsal};
/// use breakerbox::{Breaker, Settings};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// # let scope = breakerbox::test::scope();
/// let rehearsal = Arc::new(Rehearsal::new());
/// let _installed = observe::install(Arc::clone(&rehearsal));
///
/// let pms = Breaker::new("pms", Settings::new().threshold(2).reset(Duration::from_secs(30)).must());
/// pms.shadow();
/// let call = |answer: Result<u32, &'static str>| pms.call_sync(|| answer);
/// for answer in [Err("down"), Err("down"), Err("down"), Ok(7)] {
///     let _ = call(answer); // it is made, whatever became of the last ones
/// }
/// # scope.advance(Duration::from_secs(30));
/// // 30 seconds later
/// let _ = call(Ok(7));
///
/// let report = &rehearsal.report()[0];
/// assert_eq!(report.breaker, "pms");
/// assert_eq!((report.calls, report.openings), (5, 1));
/// assert_eq!((report.rejected, report.rejected_successes), (2, 1)); // one false alarm
/// assert_eq!(report.open_for, Duration::from_secs(30));
/// ```
///
/// Install it beside the observers that are to hear of it: they are told of each opening that would
/// have been ([`would_trip`](Observer::would_trip), which without a rehearsal is told once for each
/// entry into shadow), each call that would have been refused
/// ([`would_reject`](Observer::would_reject)), and each outage that would have been over
/// ([`would_close`](Observer::would_close)). One is enough: of several, the first counts.
///
/// # What it knows
/// A call is played when it has ended, with the times at which it began and ended, on a circuit of the
/// breaker's own settings and policy: window, backoff, probes and all, and as they are changed at run
/// time ([`Breaker::reconfigure`](crate::Breaker::reconfigure)). Where calls follow one another
/// that is what a live breaker would have done, to the call. Where they overlap it may differ in which
/// call is the probe: the first to end after the wait, not the first to begin. And a dependency that
/// is left alone may recover sooner than one that is not, which nothing can rehearse.
///
/// Calls of the two-step form are played too. Those that were admitted before the breaker was in
/// shadow are not.
///
/// # What it costs
/// Calls of breakers in shadow take a lock, each circuit its own turn; others read a word. Of each
/// circuit a few hundred bytes are kept, of at most 10,000
/// ([`max_circuits`](Self::max_circuits)).
pub struct Rehearsal {
    shards: [Mutex<HashMap<CircuitId, Part>>; SHARDS],
    circuits: AtomicUsize,
    max_circuits: usize,
}

const SHARDS: usize = 16;
const MAX_CIRCUITS: usize = 10_000;

/// What a breaker in shadow would have done so far. From [`Rehearsal::report`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rehearsed {
    /// The breaker's name.
    pub breaker: String,
    /// The key, if the breaker is one of several by key.
    pub key: Option<String>,
    /// Calls that were played.
    pub calls: u64,
    /// How often it would have opened, or opened again.
    pub openings: u64,
    /// Calls that it would have refused.
    pub rejected: u64,
    /// Those of them that succeeded in fact: false alarms.
    pub rejected_successes: u64,
    /// How long it would have been open or probing, in outages that are over.
    pub open_for: Duration,
    /// It would be open or probing now, as far as the last call shows.
    pub is_open: bool,
}

/// A circuit's part in it.
struct Part {
    rehearsed: Rehearsed,
    /// That of its entry into shadow.
    generation: Generation,
    model: Box<dyn Model>,
    /// Those that the model has.
    overrides: Overrides,
    outage: Option<Outage>,
}

/// The last outage, in nanoseconds of the exact clock.
#[derive(Clone, Copy)]
struct Outage {
    opened: u64,
    closed: Option<u64>,
    rejected: u64,
    rejected_successes: u64,
}

/// A call that ended.
#[derive(Clone, Copy)]
pub(crate) struct Played {
    /// The one that admitted it.
    pub(crate) generation: Generation,
    pub(crate) began: Moment,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
    /// The circuit's, as they are now.
    pub(crate) overrides: Overrides,
}

/// What a circuit would have done with it.
#[derive(Clone, Copy)]
pub(crate) enum Would {
    /// Counted it, or not even that.
    Nothing,
    Reject(Reason),
    /// The change is of shadow's generation.
    Trip(Change),
    Close {
        after: Duration,
        rejected: u64,
        rejected_successes: u64,
    },
}

impl Rehearsal {
    /// Of at most 10,000 circuits.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            circuits: AtomicUsize::new(0),
            max_circuits: MAX_CIRCUITS,
        }
    }

    /// Of at most so many circuits, each key's being one; those that come later are not played.
    #[must_use]
    pub fn max_circuits(self, max_circuits: usize) -> Self {
        Self {
            max_circuits,
            ..self
        }
    }

    /// What each breaker that was in shadow would have done so far, by name and key. Shared ones that
    /// are dropped and keys that are given up leave the report.
    #[must_use]
    pub fn report(&self) -> Vec<Rehearsed> {
        let mut report = Vec::new();
        for shard in &self.shards {
            report.extend(lock(shard).values().map(|part| part.rehearsed.clone()));
        }
        report.sort_by(|one, other| (&one.breaker, &one.key).cmp(&(&other.breaker, &other.key)));
        report
    }

    /// Plays a call of a breaker in shadow, by a model that `fresh` makes at its first one.
    pub(crate) fn play(
        &self,
        of: &Source<'_>,
        call: Played,
        fresh: impl FnOnce() -> Box<dyn Model>,
    ) -> Would {
        if of.name.key().is_some_and(|key| !key.is_kept()) {
            return Would::Nothing;
        }
        let shard = &self.shards[shard_of(of.circuit)];
        let is_played = |part: &Part| {
            part.generation == call.generation && part.rehearsed.breaker == of.name.as_str()
        };
        if let Some(part) = lock(shard).get_mut(&of.circuit)
            && is_played(part)
        {
            return part.play(call);
        }
        // A key's label is users' code: made where nothing is locked.
        let part = Part {
            rehearsed: Rehearsed {
                breaker: of.name.as_str().to_owned(),
                key: of.name.key().map(|key| key.to_string()),
                calls: 0,
                openings: 0,
                rejected: 0,
                rejected_successes: 0,
                open_for: Duration::ZERO,
                is_open: false,
            },
            generation: call.generation,
            model: fresh(),
            overrides: Overrides::new(),
            outage: None,
        };
        match lock(shard).entry(of.circuit) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                if is_played(known) {
                    // Another thread was quicker.
                } else if known.is_of_another(&part) || call.generation.is_after(known.generation) {
                    known.begin_anew(part);
                } else {
                    return Would::Nothing;
                }
                known.play(call)
            }
            Entry::Vacant(free) => {
                let one_more = |circuits| (circuits < self.max_circuits).then_some(circuits + 1);
                let place =
                    self.circuits
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
                if place.is_err() {
                    return Would::Nothing;
                }
                free.insert(part).play(call)
            }
        }
    }
}

impl Part {
    /// Of a circuit that is gone, whose place is another's now.
    fn is_of_another(&self, next: &Self) -> bool {
        self.rehearsed.breaker != next.rehearsed.breaker
    }

    /// Shadow was entered again, or the circuit's number is another's now.
    fn begin_anew(&mut self, next: Self) {
        let Rehearsed { breaker, key, .. } = &next.rehearsed;
        let is_same = self.rehearsed.breaker == *breaker && self.rehearsed.key == *key;
        let before = std::mem::replace(self, next);
        if is_same {
            self.rehearsed = before.rehearsed;
            self.rehearsed.is_open = false;
        }
    }

    fn play(&mut self, call: Played) -> Would {
        self.rehearsed.calls += 1;
        if self.overrides != call.overrides {
            self.overrides = call.overrides;
            self.model.follow(&call.overrides);
        }
        let began = call.began.nanos;
        match self.outage {
            // It was under way when the circuit would have opened, so what became of it is late.
            Some(outage) if began < outage.opened => return Would::Nothing,
            Some(Outage {
                closed: Some(closed),
                ..
            }) if began < closed => return self.reject(call, Reason::Open),
            _ => {}
        }
        match self.model.ask(call.began) {
            Ok(admitted) => {
                let ended = call.began.after(call.took);
                let effect = self.model.settle(admitted, call.outcome, call.took, ended);
                self.changed(&effect, ended.nanos)
            }
            Err(reason) => self.reject(call, reason),
        }
    }

    fn reject(&mut self, call: Played, reason: Reason) -> Would {
        let success = u64::from(call.outcome == Outcome::Success);
        self.rehearsed.rejected += 1;
        self.rehearsed.rejected_successes += success;
        if let Some(outage) = &mut self.outage {
            outage.rejected += 1;
            outage.rejected_successes += success;
        }
        Would::Reject(reason)
    }

    fn changed(&mut self, effect: &Effect, now: u64) -> Would {
        match *effect {
            Effect::Tripped(mut change) => {
                self.rehearsed.openings += 1;
                self.rehearsed.is_open = true;
                change.generation = self.generation;
                if change.from == State::Closed {
                    change.from = State::Shadow;
                    self.outage = Some(Outage {
                        opened: now,
                        closed: None,
                        rejected: 0,
                        rejected_successes: 0,
                    });
                }
                Would::Trip(change)
            }
            Effect::Closed(_) => {
                self.rehearsed.is_open = false;
                let Some(outage) = &mut self.outage else {
                    return Would::Nothing;
                };
                outage.closed = Some(now);
                let after = Duration::from_nanos(now.saturating_sub(outage.opened));
                self.rehearsed.open_for += after;
                Would::Close {
                    after,
                    rejected: outage.rejected,
                    rejected_successes: outage.rejected_successes,
                }
            }
            _ => Would::Nothing,
        }
    }
}

/// A call can't be played before it has ended.
impl Observer for Rehearsal {
    fn wants_calls(&self) -> bool {
        true
    }

    fn rehearsal(&self) -> Option<&Rehearsal> {
        Some(self)
    }

    /// The key's circuit is gone, and its number may be the next key's.
    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        let gone = lock(&self.shards[shard_of(event.circuit)]).remove(&event.circuit);
        self.circuits
            .fetch_sub(gone.iter().len(), Ordering::Relaxed);
    }

    /// What is kept of it is given up, so that clients which come and go leave nothing.
    fn left(&self, event: &Left<'_>) {
        for shard in &self.shards {
            let is_gone = |_: &CircuitId, part: &mut Part| part.rehearsed.breaker == event.breaker;
            let gone: Vec<_> = lock(shard).extract_if(is_gone).collect();
            self.circuits.fetch_sub(gone.len(), Ordering::Relaxed);
        }
    }
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal")
            .field("circuits", &self.circuits)
            .field("max_circuits", &self.max_circuits)
            .finish_non_exhaustive()
    }
}

/// A circuit's number is where it stands, whose last bits are always the same.
fn shard_of(circuit: CircuitId) -> usize {
    (circuit.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as usize % SHARDS
}
