//! When circuits want to be looked at by themselves.

use crate::circuit::{Circuit, NEVER};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// When circuits want to be looked at. What was set before for the same circuit holds no more.
#[derive(Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<Timer>>);

struct Timer {
    at: u64,
    circuit: Weak<Circuit>,
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl Timers {
    /// `None`: not by itself.
    pub(crate) fn set(&mut self, circuit: &Arc<Circuit>, at: Option<u64>) {
        let at = at.unwrap_or(NEVER);
        if circuit.due.swap(at, Ordering::Relaxed) != at && at != NEVER {
            let circuit = Arc::downgrade(circuit);
            self.0.push(Reverse(Timer { at, circuit }));
        }
    }

    /// When the first one is due.
    pub(crate) fn next(&mut self) -> Option<u64> {
        while let Some(Reverse(first)) = self.0.peek() {
            if first.holds().is_some() {
                return Some(first.at);
            }
            self.0.pop();
        }
        None
    }

    /// One that is due, which is then due no more.
    pub(crate) fn take(&mut self, now: u64) -> Option<Arc<Circuit>> {
        if self.next()? > now {
            return None;
        }
        let circuit = self.0.pop()?.0.holds()?;
        circuit.due.store(NEVER, Ordering::Relaxed);
        Some(circuit)
    }
}

impl Timer {
    /// Its circuit, if nothing was set since.
    fn holds(&self) -> Option<Arc<Circuit>> {
        let circuit = self.circuit.upgrade()?;
        (circuit.due.load(Ordering::Relaxed) == self.at).then_some(circuit)
    }
}
