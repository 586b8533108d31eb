//! An observer that writes down all that it hears.

use breakerbox::observe::{
    self, CallEnded, CallOutcome, CircuitId, FallbackServed, Installed, KeyEvicted, KeysFull,
    LastGoodFailed, LateOutcome, Observer, ProbeExpired, Rejection, StateChange, WouldTrip,
};
use breakerbox::{Config, Settings};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Never trips by itself.
pub(crate) const PATIENT: Config = Settings::new().threshold(1_000).must();

/// How each call ended, and how long it took.
#[derive(Default)]
pub(crate) struct Ends(Mutex<Vec<(CallOutcome, Duration)>>);

impl Ends {
    pub(crate) fn take(&self) -> Vec<(CallOutcome, Duration)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Ends {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        self.0.lock().unwrap().push((event.outcome, event.took));
    }
}

/// Installed, and what it hears.
pub(crate) fn ends() -> (Arc<Ends>, Installed) {
    let ends = Arc::new(Ends::default());
    let installed = observe::install(Arc::clone(&ends));
    (ends, installed)
}

/// Every event as its line, with the circuit that it is of and its number.
#[derive(Default)]
pub(crate) struct Everything(Mutex<Vec<(CircuitId, u64, String)>>);

/// Installed, and what it hears.
pub(crate) fn listen() -> (Arc<Everything>, Installed) {
    let everything = Arc::new(Everything::default());
    let installed = observe::install(Arc::clone(&everything));
    (everything, installed)
}

impl Everything {
    /// The lines since it was last asked. Their numbers must grow.
    pub(crate) fn take(&self) -> Vec<String> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        assert!(
            heard.windows(2).all(|pair| pair[0].1 < pair[1].1),
            "sequence grows: {heard:?}"
        );
        heard.into_iter().map(|(_, _, line)| line).collect()
    }

    /// [`take`](Self::take), where other threads tell too.
    pub(crate) fn take_unnumbered(&self) -> Vec<String> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        heard.into_iter().map(|(_, _, line)| line).collect()
    }

    /// The circuits that the lines since it was last asked are of, one for each.
    pub(crate) fn take_circuits(&self) -> Vec<CircuitId> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        heard.into_iter().map(|(circuit, _, _)| circuit).collect()
    }
}

macro_rules! hears {
    ($($method:ident: $event:ident),+ $(,)?) => {
        impl Observer for Everything {
            fn wants_calls(&self) -> bool {
                true
            }

            $(fn $method(&self, event: &$event<'_>) {
                let heard = (event.circuit, event.sequence, event.to_string());
                self.0.lock().unwrap().push(heard);
            })+
        }
    };
}

hears! {
    state_changed: StateChange,
    rejected: Rejection,
    call_ended: CallEnded,
    late_outcome: LateOutcome,
    probe_expired: ProbeExpired,
    fallback_served: FallbackServed,
    would_trip: WouldTrip,
    key_evicted: KeyEvicted,
    keys_full: KeysFull,
    last_good_failed: LastGoodFailed,
}
