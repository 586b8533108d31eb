//! Events for the `tracing` crate.

use super::{
    FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left, Missed, Observer,
    Operated, ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost, SharingRestored,
    StateChange, WouldClose, WouldReject, WouldTrip,
};
use breaker_core::State;
use std::time::Duration;

/// Writes events to the [`tracing`] crate, and gives each guarded call a span.
///
/// ```
/// use breakerbox::observe::{self, TracingObserver};
///
/// observe::install(TracingObserver::new()).forever();
/// ```
///
/// # Events
/// Their target is `breakerbox`. The name of each is in its field `event`, and after `breaker.` in
/// its metadata; its message is what the event displays as. Names, levels and fields stay as they
/// are.
///
/// | `event` | level | what happened | fields beside the common ones |
/// | --- | --- | --- | --- |
/// | `opened` | warn | a circuit opened, or opened again | `from`, `to`, `trigger`, `failures`, `wait_seconds` |
/// | `half_open` | info | it probes | the same |
/// | `closed` | info | it closed | the same |
/// | `forced_open` | warn | an operator holds it open | the same |
/// | `disabled`, `shadow` | info | an operator set it so | the same |
/// | `would_open` | warn | in shadow: it would have opened | the same |
/// | `would_reject` | debug | it would have refused a call: told by a [`Rehearsal`](super::Rehearsal) | `reason`, `outcome` |
/// | `would_close` | info | it would have closed again: told by a [`Rehearsal`](super::Rehearsal) | `after_seconds`, `rejected`, `rejected_successes` |
/// | `rejected` | debug | a call was refused | `reason`, `retry_after_seconds`, `calls` (how many it stands for) |
/// | `fallback` | debug | a fallback was served | `in_place_of` |
/// | `late` | debug | a call ended too late to count | `outcome`, `current` (the generation now) |
/// | `probe_expired` | warn | probes never ended | |
/// | `reconfigured` | info | a configuration was changed at run time | `settings` (the names of those that have another value now) |
/// | `operated` | info | an operator did something on the status page: told after the change | `action`, `by` (if the guard said), `from`, `to`, `wait_seconds` |
/// | `key_evicted` | debug | a key was given up for a new one | |
/// | `keys_full` | warn | none could be given up | |
/// | `missed` | warn | told by [`InOrder`](super::InOrder) alone: events were missed | `changes`, `events` (how many) |
/// | `left` | debug | a shared breaker was dropped, or breakers by key were | |
/// | `sharing_lost` | warn | a fleet can't be reached: each process is on its own | `fleet`, `losses` (since it was told last), `error`; of a part, `circuits` and `of` |
/// | `sharing_restored` | info | it is reached again | `fleet`, `after_seconds` |
/// | `sharing_differs` | warn | another process of the fleet declares a breaker otherwise | `fleet`, `differences` |
/// | `last_good_failed` | warn | a last-good answer could not be stored or loaded | `step`, `error` |
///
/// Each has `sequence`, `breaker` (but of a fleet), and `generation` (but of keys, answers,
/// configurations, what left, and a fleet). `key` is there where the breaker is one of several by key, `wait_seconds` where the circuit is open now,
/// `retry_after_seconds` where it is known. What a field may be: `from` and `to` [`State::as_str`],
/// `trigger` [`Trigger::as_str`](crate::Trigger::as_str), `reason`
/// [`Reason::as_str`](crate::Reason::as_str), `in_place_of`
/// [`InPlaceOf::as_str`](crate::InPlaceOf::as_str), `outcome`
/// [`CallOutcome::as_str`](super::CallOutcome::as_str), `step`
/// [`LastGoodStep::as_str`](super::LastGoodStep::as_str).
///
/// # Spans
/// Each guarded call gets a span `breaker.call`, of the same target and the level info, with the
/// fields `breaker` and `key`, and at its end `outcome`
/// ([`CallOutcome::as_str`](super::CallOutcome::as_str)) and `took_seconds`. The call's body runs in
/// it, each time it is polled: so events of your own code are children of it, and so are those above
/// that the call's end brings about. It begins where the call is made and ends where it is settled,
/// which for `tower`'s `at_end_of_body` is the end of the body.
///
/// A refused call has no span, as there is nothing in it: its event `rejected` stands in the span of
/// the caller. Nor has what is asked for by [`Breaker::admit`](crate::Breaker::admit), which doesn't
/// say when it runs. What a cancelled call drops is dropped outside of it.
///
/// With the feature `tracing` a guarded future is larger by a pointer. Where an observer wants spans, a
/// call allocates its own; where none does, it costs no more than without the feature:
/// [`spans`](Self::spans).
#[derive(Clone, Copy, Debug)]
pub struct TracingObserver {
    spans: bool,
}

impl TracingObserver {
    /// Events, and a span for each call.
    #[must_use]
    pub const fn new() -> Self {
        Self { spans: true }
    }

    /// Whether each guarded call gets a span; without, no call is timed.
    ///
    /// ```
    /// use breakerbox::observe::TracingObserver;
    ///
    /// let events_alone = TracingObserver::new().spans(false);
    /// # drop(events_alone);
    /// ```
    #[must_use]
    pub const fn spans(self, spans: bool) -> Self {
        Self { spans }
    }
}

impl Default for TracingObserver {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! tell {
    ($level:ident, $name:literal, $event:ident, { $($fields:tt)* }) => {
        tracing::event!(
            name: concat!("breaker.", $name),
            target: "breakerbox",
            tracing::Level::$level,
            { event = $name, sequence = $event.sequence, $($fields)* },
            "{}",
            $event
        )
    };
}

/// An entry into a state: made, or, in shadow, not made.
macro_rules! tell_change {
    ($level:ident, $name:literal, $event:ident) => {
        tell!($level, $name, $event, {
            breaker = $event.breaker,
            key = $event.key.map(tracing::field::display),
            from = $event.change.from.as_str(),
            to = $event.change.to.as_str(),
            trigger = $event.change.trigger.as_str(),
            failures = $event.change.failures,
            wait_seconds = seconds($event.change.wait),
            generation = $event.change.generation.get(),
        })
    };
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.as_ref().map(Duration::as_secs_f64)
}

impl Observer for TracingObserver {
    /// Of a span, it says how the call ended.
    fn wants_calls(&self) -> bool {
        self.spans
    }

    fn wants_spans(&self) -> bool {
        self.spans
    }

    fn state_changed(&self, event: &StateChange<'_>) {
        match event.change.to {
            State::Open => tell_change!(WARN, "opened", event),
            State::HalfOpen => tell_change!(INFO, "half_open", event),
            State::Closed => tell_change!(INFO, "closed", event),
            State::ForcedOpen => tell_change!(WARN, "forced_open", event),
            State::Disabled => tell_change!(INFO, "disabled", event),
            State::Shadow => tell_change!(INFO, "shadow", event),
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        tell!(DEBUG, "rejected", event, {
            breaker = event.error.name(),
            key = event.error.key().map(tracing::field::display),
            reason = event.error.reason().as_str(),
            retry_after_seconds = seconds(event.error.retry_after()),
            calls = event.calls,
            generation = event.generation.get(),
        });
    }

    fn late_outcome(&self, event: &LateOutcome<'_>) {
        tell!(DEBUG, "late", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            outcome = event.outcome.as_str(),
            generation = event.generation.get(),
            current = event.current.get(),
        });
    }

    fn probe_expired(&self, event: &ProbeExpired<'_>) {
        tell!(WARN, "probe_expired", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            generation = event.generation.get(),
        });
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        tell!(DEBUG, "fallback", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            in_place_of = event.in_place_of.as_str(),
            generation = event.generation.get(),
        });
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        tell_change!(WARN, "would_open", event);
    }

    fn would_reject(&self, event: &WouldReject<'_>) {
        tell!(DEBUG, "would_reject", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            reason = event.reason.as_str(),
            outcome = event.outcome.as_str(),
            generation = event.generation.get(),
        });
    }

    fn would_close(&self, event: &WouldClose<'_>) {
        tell!(INFO, "would_close", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            after_seconds = event.after.as_secs_f64(),
            rejected = event.rejected,
            rejected_successes = event.rejected_successes,
            generation = event.generation.get(),
        });
    }

    fn reconfigured(&self, event: &Reconfigured<'_>) {
        let names = event.changed().map(|(setting, ..)| setting.name());
        let settings = Vec::from_iter(names).join(" ");
        tell!(INFO, "reconfigured", event, {
            breaker = event.breaker,
            settings,
        });
    }

    fn operated(&self, event: &Operated<'_>) {
        tell!(INFO, "operated", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            action = event.action,
            by = event.by,
            from = event.change.from.as_str(),
            to = event.change.to.as_str(),
            wait_seconds = seconds(event.change.wait),
            generation = event.change.generation.get(),
        });
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        tell!(DEBUG, "key_evicted", event, {
            breaker = event.breaker,
            key = tracing::field::display(event.key),
        });
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        tell!(WARN, "keys_full", event, {
            breaker = event.breaker,
            key = tracing::field::display(event.key),
        });
    }

    fn missed(&self, event: &Missed<'_>) {
        tell!(WARN, "missed", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            changes = event.changes,
            events = event.events,
            generation = event.generation.get(),
        });
    }

    fn left(&self, event: &Left<'_>) {
        tell!(DEBUG, "left", event, { breaker = event.breaker });
    }

    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        let differences = event.list();
        tell!(WARN, "sharing_differs", event, {
            fleet = event.fleet,
            breaker = event.breaker,
            differences = tracing::field::display(&differences),
        });
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        tell!(WARN, "sharing_lost", event, {
            fleet = event.fleet,
            losses = event.losses,
            circuits = event.part.map(|part| part.circuits),
            of = event.part.map(|part| part.of),
            error = event.error,
        });
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        tell!(INFO, "sharing_restored", event, {
            fleet = event.fleet,
            after_seconds = event.after.as_secs_f64(),
        });
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        tell!(WARN, "last_good_failed", event, {
            breaker = event.breaker,
            key = event.key.map(tracing::field::display),
            step = event.step.as_str(),
            error = event.error,
        });
    }
}
