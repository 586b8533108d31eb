//! What instances do with their circuits.

use breaker_core::{Admission, Generation, Outcome, State};

use super::Fleet;
use crate::clock::Moment;

impl Fleet {
    /// Whether an instance's circuit lets a call through.
    pub(super) fn admit(&mut self, instance: u32, now: Moment) -> Option<Admission> {
        let caller = &mut self.callers[instance as usize];
        let reading = caller.clock.at(now);
        let circuit = &caller.circuit;
        let Some(link) = &mut caller.link else {
            let admission = circuit.try_admit(&reading).ok()?;
            if admission.change.is_some() {
                self.has_changed(instance, now);
            }
            return Some(admission);
        };
        let (admission, asked) = link.admit(circuit, reading);
        if asked {
            self.has_changed(instance, now);
            self.drive(instance, now);
        }
        admission
    }

    /// An instance learns how a call ended.
    pub(super) fn settle(
        &mut self,
        instance: u32,
        generation: Generation,
        outcome: Outcome,
        now: Moment,
    ) {
        let caller = &mut self.callers[instance as usize];
        let reading = caller.clock.at(now);
        let circuit = &caller.circuit;
        if circuit.by_ref().is_counted(generation, &outcome) {
            return; // the common success: nobody is told
        }
        let effect = circuit.settle(generation, outcome, &reading);
        if let Some(link) = &mut caller.link {
            link.ended(reading, generation, &effect, circuit);
            self.drive(instance, now);
        }
        self.has_changed(instance, now);
    }

    /// A circuit may have been opened or closed.
    pub(super) fn has_changed(&mut self, instance: u32, now: Moment) {
        let caller = &mut self.callers[instance as usize];
        let is_closed = caller.circuit.state() == State::Closed;
        if is_closed == caller.is_closed {
            return;
        }
        caller.is_closed = is_closed;
        if is_closed {
            self.closed += 1;
        } else {
            self.closed -= 1;
        }
        let all = self.callers.len();
        self.quiet_since = (self.closed == all).then_some(now);
        if self.closed == 0 && self.figures.all_open_after.is_none() {
            let after = now.saturating_sub(self.conditions.fails);
            self.figures.all_open_after = Some(after);
        }
    }
}
