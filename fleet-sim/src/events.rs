//! What is yet to happen, in order.

use radix_heap::RadixHeapMap;
use std::cmp::Reverse;
use std::fmt;

use crate::clock::Moment;

/// Events by the time at which they happen; of those at the same time, that which was said first comes
/// first, so that the order never depends on anything else.
pub struct Events<E> {
    // Time never goes back, which this heap makes use of.
    queue: RadixHeapMap<Reverse<(Moment, u64)>, E>,
    said: u64,
    now: Moment,
}

impl<E> Events<E> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            queue: RadixHeapMap::new(),
            said: 0,
            now: 0,
        }
    }

    /// When the event happened that came last.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.now
    }

    /// An event that is to happen then; what would lie in the past happens now.
    pub fn at(&mut self, time: Moment, event: E) {
        self.said += 1;
        let key = Reverse((time.max(self.now), self.said));
        self.queue.push(key, event);
    }

    /// An event that is to happen so much later.
    pub fn after(&mut self, wait: Moment, event: E) {
        self.at(self.now.saturating_add(wait), event);
    }

    /// The next event; it is then that late.
    pub fn next_event(&mut self) -> Option<E> {
        let (Reverse((time, _)), event) = self.queue.pop()?;
        self.now = time;
        Some(event)
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("now", &self.now)
            .field("waiting", &self.queue.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_come_in_the_order_of_their_times_and_then_as_they_were_said() {
        let mut events = Events::new();
        for (time, name) in [(30, "d"), (10, "a"), (20, "b"), (20, "c"), (30, "e")] {
            events.at(time, name);
        }
        let order: String = std::iter::from_fn(|| events.next_event()).collect();
        assert_eq!(order, "abcde");
        assert_eq!(events.now(), 30);
    }

    #[test]
    fn nothing_happens_in_the_past() {
        let mut events = Events::new();
        events.at(10, 'a');
        assert_eq!(events.next_event(), Some('a'));
        events.at(3, 'b');
        events.after(5, 'c');
        assert_eq!((events.next_event(), events.now()), (Some('b'), 10));
        assert_eq!((events.next_event(), events.now()), (Some('c'), 15));
        assert_eq!(events.next_event(), None);
    }
}
