//! What is left to say in the end.

use super::Instance;
use super::step::Topic;
use crate::protocol::{Command, Counts};

impl Instance {
    /// Nobody will ask it for anything any more: what is left to say, in this order. What is on its way may
    /// never arrive, and is said again.
    pub fn farewell(&mut self, now: u64) -> Vec<Command> {
        self.pass(now);
        let may_count = self.may_count_there();
        let last_word = self.last_word();
        // What an instance votes that is gone by then counts for nothing.
        let last_word =
            last_word.filter(|word| !(may_count && matches!(word, Command::Vote { .. })));
        let known = self.known();
        let leaves = may_count.then_some(Command::Leave { known });
        last_word.into_iter().chain(leaves).collect()
    }

    /// Whether Redis may hold anything of this instance that counts.
    fn may_count_there(&self) -> bool {
        let is_counted = |topic| self.common.is_some_and(|asked| asked.topic == topic);
        self.options.caller().present
            || self.votes
            || self.news.is_some_and(|news| news.is_vote())
            || self.said != Some(Counts::default())
            || is_counted(Topic::Count)
    }

    fn last_word(&mut self) -> Option<Command> {
        let now = self.now;
        if self.has_lease(now) {
            let known = self.known();
            return Some(Command::Release { known });
        }
        let leased = self.lease_on_its_way();
        self.ground();
        if let (Some(_), None) = (leased, self.news) {
            return Some(Command::Release { known: leased });
        }
        self.send_news(self.number.wrapping_add(1))
    }
}
