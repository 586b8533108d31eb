//! What the windows of a fleet really held, for what opened it by their rate.

use crate::node::Node;
use crate::world::{SECOND, World};
use breaker_redis::protocol::Counts;
use breakerbox::State;

/// What an instance said is forgotten by then.
const FORGOTTEN: u64 = 6 * SECOND;

/// What the window of one process held, and when.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// By how many calls the failures are more than half, doubled.
    seen: Vec<(u64, i64)>,
    /// Until when what is sent to it, or by it, may not arrive in time.
    troubled_until: u64,
}

fn above_half(counts: Counts) -> i64 {
    2 * i64::from(counts.failures) - i64::from(counts.calls)
}

impl Windows {
    pub(crate) fn is_troubled_until(&mut self, until: u64) {
        self.troubled_until = self.troubled_until.max(until);
    }

    fn note(&mut self, now: u64, above: i64) {
        self.seen.retain(|(at, _)| at + 2 * FORGOTTEN > now);
        self.seen.push((now, above));
    }

    /// The most that it can have said between then and now.
    fn most(&self, since: u64) -> i64 {
        let before = self.seen.iter().rfind(|(at, _)| *at < since);
        let during = self.seen.iter().filter(|(at, _)| *at >= since);
        let said = before.into_iter().chain(during).map(|(_, above)| *above);
        said.max().unwrap_or(0)
    }
}

impl Node {
    pub(crate) fn note_window(&mut self, now: u64) {
        if self.state() == State::Closed {
            let above = above_half(self.counts(now));
            self.windows.note(now, above);
        }
    }

    /// While it is open it makes no calls. Where its own rate has opened it, they count as failed; where it
    /// was told of an overload, as none.
    pub(crate) fn note_trip(&mut self, now: u64, calls: u32) {
        self.windows.note(now, calls.into());
    }
}

impl World {
    pub(crate) fn trouble(&mut self, id: usize, time: u64) {
        let until = self.now.saturating_add(time);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.windows.is_troubled_until(until);
        }
    }

    /// Counts have opened the circuit, by a census that began then. Those that it reached have failed by
    /// half; of others, what they said before may count.
    pub(crate) fn judge(&mut self, began: u64) {
        let (now, mut sum) = (self.now, 0);
        let mut of = Vec::new();
        for (id, node) in &self.nodes {
            let windows = &node.windows;
            let is_reached = node.is_linked && windows.troubled_until < began;
            let most = if is_reached {
                windows.most(began)
            } else {
                windows.most(now.saturating_sub(FORGOTTEN)).max(0)
            };
            of.push((*id, is_reached, most));
            sum += most;
        }
        let gone = self.gone.iter();
        sum += gone
            .map(|windows| windows.most(now.saturating_sub(FORGOTTEN)).max(0))
            .sum::<i64>();
        assert!(sum >= 0, "opened by {sum} at {now}: {of:?}");
        self.judgements += 1;
    }
}
