//! Any event, as it is kept.

use super::Observer;
use super::any::AnyEvent;
use super::event::{
    CallEnded, CallOutcome, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed,
    LastGoodStep, LateOutcome, Missed, Operated, ProbeExpired, Reconfigured, Rejection,
    StateChange, WouldClose, WouldReject, WouldTrip,
};
use crate::error::CircuitOpenError;
use crate::name::Name;
use crate::notify::InPlaceOf;
use breaker_core::{Change, Generation, Reason, Reconfiguration};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

impl AnyEvent<'_> {
    /// The same, to be kept for any time. It keeps nothing of a breaker: a key may be given up
    /// meanwhile.
    #[must_use]
    pub fn to_event(&self) -> Event {
        let what = match *self {
            Self::StateChange(event) => What::Changed(*event.change),
            Self::Rejection(event) => What::Rejected {
                error: event.error.detached(),
                calls: event.calls,
                generation: event.generation,
            },
            Self::CallEnded(event) => What::Ended {
                outcome: event.outcome,
                took: event.took,
                generation: event.generation,
            },
            Self::LateOutcome(event) => What::Late {
                outcome: event.outcome,
                generation: event.generation,
                current: event.current,
            },
            Self::ProbeExpired(event) => What::ProbeExpired(event.generation),
            Self::FallbackServed(event) => What::Served {
                in_place_of: event.in_place_of,
                generation: event.generation,
            },
            Self::WouldTrip(event) => What::WouldTrip(*event.change),
            Self::WouldReject(event) => What::WouldReject {
                reason: event.reason,
                outcome: event.outcome,
                generation: event.generation,
            },
            Self::WouldClose(event) => What::WouldClose {
                after: event.after,
                rejected: event.rejected,
                rejected_successes: event.rejected_successes,
                generation: event.generation,
            },
            Self::Reconfigured(event) => What::Reconfigured(Box::new(*event.change)),
            Self::Operated(event) => What::Operated {
                action: event.action.into(),
                by: event.by.map(Into::into),
                change: *event.change,
            },
            Self::KeyEvicted(_) => What::Evicted,
            Self::KeysFull(_) => What::Full,
            Self::LastGoodFailed(event) => What::LastGoodFailed {
                step: event.step,
                error: KeptError::of(event.error),
            },
            Self::Missed(event) => What::Missed {
                changes: event.changes,
                events: event.events,
                generation: event.generation,
            },
        };
        let name = match &what {
            What::Rejected { error, .. } => error.full_name().clone(),
            _ => Name::detached(self.breaker(), self.key()),
        };
        Event {
            name,
            circuit: self.circuit(),
            sequence: self.sequence(),
            what,
        }
    }
}

/// An event that is kept, to be told later or on another thread. Displays as the line of a log.
///
/// ```
/// use breakerbox::observe::{self, AnyEvent, Event, Observer, StateChange};
/// use breakerbox::{Breaker, Config};
/// use std::sync::mpsc::{Sender, channel};
///
/// /// Hands on to a thread that may take its time.
/// struct HandsOn(Sender<Event>);
/// impl Observer for HandsOn {
///     fn state_changed(&self, event: &StateChange<'_>) {
///         let _ = self.0.send(AnyEvent::from(event).to_event());
///     }
/// }
///
/// # let _scope = breakerbox::test::scope();
/// let (sender, receiver) = channel();
/// let _installed = observe::install(HandsOn(sender));
/// Breaker::new("pms", Config::DEFAULT).force_open();
/// let event = receiver.recv()?;
/// assert_eq!(event.to_string(), "circuit `pms` was set by an operator: forced_open");
/// # Ok::<(), std::sync::mpsc::RecvError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Event {
    name: Name,
    circuit: CircuitId,
    sequence: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Changed(Change),
    Rejected {
        error: CircuitOpenError,
        calls: u64,
        generation: Generation,
    },
    Ended {
        outcome: CallOutcome,
        took: Duration,
        generation: Generation,
    },
    Late {
        outcome: CallOutcome,
        generation: Generation,
        current: Generation,
    },
    ProbeExpired(Generation),
    Served {
        in_place_of: InPlaceOf,
        generation: Generation,
    },
    WouldTrip(Change),
    WouldReject {
        reason: Reason,
        outcome: CallOutcome,
        generation: Generation,
    },
    WouldClose {
        after: Duration,
        rejected: u64,
        rejected_successes: u64,
        generation: Generation,
    },
    Reconfigured(Box<Reconfiguration>),
    Operated {
        action: Arc<str>,
        by: Option<Arc<str>>,
        change: Change,
    },
    Evicted,
    Full,
    LastGoodFailed {
        step: LastGoodStep,
        error: KeptError,
    },
    Missed {
        changes: u64,
        events: u64,
        generation: Generation,
    },
}

impl Event {
    /// The event, as it is told.
    #[must_use]
    pub fn as_any(&self) -> AnyEvent<'_> {
        let (breaker, circuit, sequence) = (self.name.as_str(), self.circuit, self.sequence);
        let key = self.name.key();
        match (&self.what, key) {
            (What::Changed(change), key) => AnyEvent::StateChange(StateChange {
                breaker,
                key,
                circuit,
                change,
                sequence,
            }),
            (
                What::Rejected {
                    error,
                    calls,
                    generation,
                },
                _,
            ) => AnyEvent::Rejection(Rejection {
                error,
                circuit,
                calls: *calls,
                generation: *generation,
                sequence,
            }),
            (
                What::Ended {
                    outcome,
                    took,
                    generation,
                },
                key,
            ) => AnyEvent::CallEnded(CallEnded {
                breaker,
                key,
                circuit,
                outcome: *outcome,
                took: *took,
                generation: *generation,
                sequence,
            }),
            (
                What::Late {
                    outcome,
                    generation,
                    current,
                },
                key,
            ) => AnyEvent::LateOutcome(LateOutcome {
                breaker,
                key,
                circuit,
                outcome: *outcome,
                generation: *generation,
                current: *current,
                sequence,
            }),
            (What::ProbeExpired(generation), key) => AnyEvent::ProbeExpired(ProbeExpired {
                breaker,
                key,
                circuit,
                generation: *generation,
                sequence,
            }),
            (
                What::Served {
                    in_place_of,
                    generation,
                },
                key,
            ) => AnyEvent::FallbackServed(FallbackServed {
                breaker,
                key,
                circuit,
                in_place_of: *in_place_of,
                generation: *generation,
                sequence,
            }),
            (What::WouldTrip(change), key) => AnyEvent::WouldTrip(WouldTrip {
                breaker,
                key,
                circuit,
                change,
                sequence,
            }),
            (
                What::WouldReject {
                    reason,
                    outcome,
                    generation,
                },
                key,
            ) => AnyEvent::WouldReject(WouldReject {
                breaker,
                key,
                circuit,
                reason: *reason,
                outcome: *outcome,
                generation: *generation,
                sequence,
            }),
            (
                What::WouldClose {
                    after,
                    rejected,
                    rejected_successes,
                    generation,
                },
                key,
            ) => AnyEvent::WouldClose(WouldClose {
                breaker,
                key,
                circuit,
                after: *after,
                rejected: *rejected,
                rejected_successes: *rejected_successes,
                generation: *generation,
                sequence,
            }),
            (What::Reconfigured(change), key) => AnyEvent::Reconfigured(Reconfigured {
                breaker,
                key,
                circuit,
                change,
                sequence,
            }),
            (What::Operated { action, by, change }, key) => AnyEvent::Operated(Operated {
                breaker,
                key,
                circuit,
                action,
                by: by.as_deref(),
                change,
                sequence,
            }),
            (What::Evicted, Some(key)) => AnyEvent::KeyEvicted(KeyEvicted {
                breaker,
                key,
                circuit,
                sequence,
            }),
            (What::Full, Some(key)) => AnyEvent::KeysFull(KeysFull {
                breaker,
                key,
                circuit,
                sequence,
            }),
            (What::Evicted | What::Full, None) => unreachable!("made of an event of a key"),
            (What::LastGoodFailed { step, error }, key) => {
                AnyEvent::LastGoodFailed(LastGoodFailed {
                    breaker,
                    key,
                    circuit,
                    step: *step,
                    error,
                    sequence,
                })
            }
            (
                What::Missed {
                    changes,
                    events,
                    generation,
                },
                key,
            ) => AnyEvent::Missed(Missed {
                breaker,
                key,
                circuit,
                changes: *changes,
                events: *events,
                generation: *generation,
                sequence,
            }),
        }
    }

    /// Tells an observer.
    pub fn tell(&self, observer: &(impl Observer + ?Sized)) {
        self.as_any().tell(observer);
    }

    /// How many refused calls it stands for.
    pub(super) fn calls(&self) -> u64 {
        match self.what {
            What::Rejected { calls, .. } => calls,
            _ => 0,
        }
    }

    /// A refused call after it is this one too.
    pub(super) fn count(&mut self, next: &Rejection<'_>) {
        if let What::Rejected { error, calls, .. } = &mut self.what {
            error.goes_on(next.error);
            *calls = calls.saturating_add(next.calls);
            self.sequence = next.sequence;
        }
    }

    /// That so much was missed, of the same circuit, beside this.
    pub(super) fn missed_beside(&self, changes: u64, events: u64) -> Self {
        let generation = self.as_any().generation().unwrap_or(Generation::NONE);
        Self {
            name: self.name.clone(),
            circuit: self.circuit,
            sequence: self.sequence,
            what: What::Missed {
                changes,
                events,
                generation,
            },
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_any().fmt(f)
    }
}

/// What an error and its causes said.
#[derive(Clone, Debug)]
struct KeptError {
    text: Arc<str>,
    cause: Option<Arc<KeptError>>,
}

impl KeptError {
    fn of(error: &(dyn Error + 'static)) -> Self {
        Self {
            text: error.to_string().into(),
            cause: error.source().map(|cause| Arc::new(Self::of(cause))),
        }
    }
}

impl fmt::Display for KeptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for KeptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.cause.as_deref()?)
    }
}

#[cfg(test)]
mod tests;
