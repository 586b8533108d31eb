//! Any event, as it is told.

use super::Observer;
use super::event::{
    CallEnded, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome,
    Missed, Operated, ProbeExpired, Reconfigured, Rejection, StateChange, WouldClose, WouldReject,
    WouldTrip,
};
use crate::name::KeyLabel;
use breaker_core::Generation;
use std::fmt;

macro_rules! any_event {
    ($($event:ident, $method:ident;)+) => {
        /// Any event that observers are told. Displays as the line of a log.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each is the event of that name")]
        pub enum AnyEvent<'a> {
            $($event($event<'a>),)+
        }

        $(impl<'a> From<&$event<'a>> for AnyEvent<'a> {
            fn from(event: &$event<'a>) -> Self {
                Self::$event(*event)
            }
        })+

        impl AnyEvent<'_> {
            /// The breaker's name.
            #[must_use]
            pub fn breaker(&self) -> &str {
                match self {
                    $(Self::$event(event) => event.breaker(),)+
                }
            }

            /// The key, if the breaker is one of several by key.
            #[must_use]
            pub fn key(&self) -> Option<KeyLabel<'_>> {
                match self {
                    $(Self::$event(event) => event.key(),)+
                }
            }

            /// Which circuit.
            #[must_use]
            pub fn circuit(&self) -> CircuitId {
                match self {
                    $(Self::$event(event) => event.circuit,)+
                }
            }

            /// Its number: grows with every event of the process.
            #[must_use]
            pub fn sequence(&self) -> u64 {
                match self {
                    $(Self::$event(event) => event.sequence,)+
                }
            }

            /// Tells an observer.
            pub fn tell(&self, observer: &(impl Observer + ?Sized)) {
                match self {
                    $(Self::$event(event) => observer.$method(event),)+
                }
            }
        }

        impl fmt::Display for AnyEvent<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$event(event) => event.fmt(f),)+
                }
            }
        }
    };
}

any_event! {
    StateChange, state_changed;
    Rejection, rejected;
    CallEnded, call_ended;
    LateOutcome, late_outcome;
    ProbeExpired, probe_expired;
    FallbackServed, fallback_served;
    WouldTrip, would_trip;
    WouldReject, would_reject;
    WouldClose, would_close;
    Reconfigured, reconfigured;
    Operated, operated;
    KeyEvicted, key_evicted;
    KeysFull, keys_full;
    LastGoodFailed, last_good_failed;
    Missed, missed;
}

/// Where an event says what it is of.
trait Of {
    fn breaker(&self) -> &str;
    fn key(&self) -> Option<KeyLabel<'_>>;
}

macro_rules! of {
    ($($event:ident)+) => {$(
        impl Of for $event<'_> {
            fn breaker(&self) -> &str {
                self.breaker
            }

            fn key(&self) -> Option<KeyLabel<'_>> {
                self.key
            }
        }
    )+};
}

of! {
    StateChange CallEnded LateOutcome ProbeExpired FallbackServed WouldTrip WouldReject WouldClose
    Reconfigured Operated LastGoodFailed Missed
}

macro_rules! of_a_key {
    ($($event:ident)+) => {$(
        impl Of for $event<'_> {
            fn breaker(&self) -> &str {
                self.breaker
            }

            fn key(&self) -> Option<KeyLabel<'_>> {
                Some(self.key)
            }
        }
    )+};
}

of_a_key! { KeyEvicted KeysFull }

impl Of for Rejection<'_> {
    fn breaker(&self) -> &str {
        self.error.name()
    }

    fn key(&self) -> Option<KeyLabel<'_>> {
        self.error.key()
    }
}

impl AnyEvent<'_> {
    /// The generation that it belongs to: of a late outcome that in which it came. `None`: that
    /// of a key that is gone, of a configuration, or of an answer.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        match self {
            Self::StateChange(event) => Some(event.change.generation),
            Self::Rejection(event) => Some(event.generation),
            Self::CallEnded(event) => Some(event.generation),
            Self::LateOutcome(event) => Some(event.current),
            Self::ProbeExpired(event) => Some(event.generation),
            Self::FallbackServed(event) => Some(event.generation),
            Self::WouldTrip(event) => Some(event.change.generation),
            Self::WouldReject(event) => Some(event.generation),
            Self::WouldClose(event) => Some(event.generation),
            Self::Operated(event) => Some(event.change.generation),
            Self::Missed(event) => Some(event.generation),
            Self::Reconfigured(_)
            | Self::KeyEvicted(_)
            | Self::KeysFull(_)
            | Self::LastGoodFailed(_) => None,
        }
    }
}
