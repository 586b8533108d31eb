//! When circuits want to be looked at by themselves.

use crate::circuit::{Circuit, NEVER};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// So many are never worth clearing up.
const FEW: usize = 1024;

/// When circuits want to be looked at. What was set before for the same circuit holds no more.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Timer>>,
    /// How many held when those that don't were cleared away last.
    held: usize,
}

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
            self.heap.push(Reverse(Timer { at, circuit }));
            self.clear_up();
        }
    }

    /// What holds no more would stay until its time: of a circuit that is busy and polled rarely that is
    /// thousands.
    fn clear_up(&mut self) {
        if self.heap.len() >= FEW + 2 * self.held {
            self.heap.retain(|Reverse(timer)| timer.holds().is_some());
            self.held = self.heap.len();
        }
    }

    /// When the first one is due.
    pub(crate) fn next(&mut self) -> Option<u64> {
        while let Some(Reverse(first)) = self.heap.peek() {
            if first.holds().is_some() {
                return Some(first.at);
            }
            self.heap.pop();
        }
        None
    }

    /// One that is due, which is then due no more.
    pub(crate) fn take(&mut self, now: u64) -> Option<Arc<Circuit>> {
        if self.next()? > now {
            return None;
        }
        let circuit = self.heap.pop()?.0.holds()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Reach, begun};
    use crate::instance::Options;
    use crate::protocol::{Place, Prefix, Who};
    use breakerbox::{Breaker, Config};
    use std::sync::Weak;

    static PMS: Breaker = Breaker::new("timed", Config::DEFAULT);

    fn circuit() -> Arc<Circuit> {
        let options = Options::new(Who::new("me").expect("a name"));
        let instance = begun(&Arc::new(options), &PMS, 0);
        let place = Place::new(&Prefix::default(), "timed", None);
        let reach = Reach::Static(&PMS);
        Arc::new(Circuit::new(Weak::new(), reach, place, None, instance))
    }

    #[test]
    fn what_was_set_last_holds_and_all_else_takes_no_room() {
        let (busy, quiet) = (circuit(), circuit());
        let mut timers = Timers::default();
        timers.set(&quiet, Some(5_000_000));
        for round in 0..100_000 {
            timers.set(&busy, Some(3_600_000_000 + round));
            assert!(timers.heap.len() <= FEW + 4, "{}", timers.heap.len());
        }
        let many: Vec<_> = (0..10_000).map(|_| circuit()).collect();
        for (at, one) in (7_000_000_u64..).zip(&many) {
            timers.set(one, Some(at));
        }
        timers.set(&many[0], None);
        drop(many);
        assert_eq!(timers.next(), Some(5_000_000));
        assert!(timers.take(4_999_999).is_none());
        let first = timers.take(5_000_000).expect("it is due");
        assert!(Arc::ptr_eq(&first, &quiet));
        assert_eq!(timers.next(), Some(3_600_099_999));
        timers.set(&busy, None);
        assert_eq!(timers.next(), None);
    }
}
