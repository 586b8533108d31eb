//! What happened here that others have to hear.

use super::step::Happened;
use super::{Course, Instance, REPEATS};
use crate::protocol::{Cause, Command, Known, Shared, Told};
use breakerbox::State;

/// What others have to hear.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    kind: Kind,
    cause: Cause,
    /// The question that tells it, while it is on its way.
    sent: Option<u32>,
    /// It was told before, and perhaps it arrived.
    again: bool,
    /// An operator's word.
    order: Option<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The breaker stands as it does.
    Change,
    Vote,
    Release,
}

/// What an operator did. Unlike all else it is told as it was, whatever came of it since.
#[derive(Clone, Copy, Debug)]
struct Order {
    to: Shared,
    since: u64,
    /// What was known when it was told first.
    first: Known,
    /// It followed on another one that may have been done: what was an operator's since may be this
    /// one's predecessor.
    is_second: bool,
    /// What calls have brought about since: the state that they found, and the last cause.
    then: Option<(State, Cause)>,
}

impl News {
    fn new(kind: Kind, cause: Cause) -> Self {
        Self {
            kind,
            cause,
            sent: None,
            again: false,
            order: None,
        }
    }

    pub(super) fn is_vote(&self) -> bool {
        self.kind == Kind::Vote
    }

    /// It may have arrived, for all that is known.
    fn may_have_arrived(&self) -> bool {
        self.again || self.sent.is_some()
    }
}

impl Instance {
    pub(super) fn happened(&mut self, happened: &Happened) {
        let is_late = self.here.generation.is_after(happened.generation);
        if is_late && self.here.followed && happened.cause != Some(Cause::Operator) {
            // It was followed over.
            return;
        }
        // What comes late was a trip that is over, if it is worth anything.
        let found = match is_late {
            true => State::Closed,
            false => self.here.shared.state,
        };
        if !is_late {
            self.enter(happened.generation, happened.state, false);
        }
        self.count_as_failing(happened.window);
        if let Course::Stuck(_) = self.course {
            self.course = Course::Astray;
        }
        match happened.cause {
            Some(Cause::Leased) if is_late => {}
            Some(Cause::Leased) => self.trial_began(happened.generation),
            Some(Cause::Operator) => self.ordered(happened, is_late),
            Some(cause) => self.brought_about(found, cause),
            None => {
                self.lease = None;
                if self.news.is_none() {
                    self.go_astray();
                }
            }
        }
    }

    fn ordered(&mut self, happened: &Happened, is_late: bool) {
        if is_late && self.is_ordered() {
            return;
        }
        self.lease = None;
        self.alone = false;
        let then = self.news.filter(|_| is_late);
        self.order(happened.state);
        if let (Some(then), Some(order)) = (then, self.order_mut()) {
            order.then = Some((happened.state.state, then.cause));
        }
    }

    /// An operator's word: also to set again what was known, where an earlier one came late.
    pub(super) fn order(&mut self, to: Shared) {
        let before = self.news;
        let order = Order {
            to,
            since: self.now,
            first: None,
            is_second: before.is_some_and(|news| {
                let before = news.order.map(|order| order.is_second);
                before.is_some_and(|is_second| is_second || news.may_have_arrived())
            }),
            then: None,
        };
        self.news = Some(News {
            order: Some(order),
            ..News::new(Kind::Change, Cause::Operator)
        });
    }

    fn order_mut(&mut self) -> Option<&mut Order> {
        self.news.as_mut()?.order.as_mut()
    }

    /// Whether an order of this instance's that came late stands over the one that is told.
    pub(super) fn is_overtaken(&self) -> bool {
        let order = self.news.and_then(|news| news.order);
        order
            .zip(self.there.as_ref())
            .is_some_and(|(order, there)| {
                let is_order = there.told.cause == Cause::Operator && there.told.offered.is_none();
                is_order && there.told.by == self.options.me && !there.is(order.to.state)
            })
    }

    /// The order is told as one that never was told before.
    pub(super) fn order_afresh(&mut self) {
        if let Some(news) = &mut self.news {
            (news.sent, news.again) = (None, false);
        }
    }

    /// Calls brought it about, other than a probe that was let through.
    fn brought_about(&mut self, found: State, cause: Cause) {
        self.lease = None;
        if let Some(order) = self.order_mut() {
            let found = order.then.map_or(found, |(found, _)| found);
            order.then = Some((found, cause));
            return;
        }
        match &mut self.course {
            // Whether it happened before or after that, will be known in a moment.
            Course::Following { meanwhile, .. } => *meanwhile = Some(cause),
            // Others were first: it happened without knowing of them.
            Course::Astray | Course::Stuck(_) => {}
            Course::Settled => self.tell_what_calls_did(found, cause),
        }
    }

    /// Of calls that were made in knowledge of what others did.
    pub(super) fn tell_what_calls_did(&mut self, found: State, cause: Cause) {
        let is_open_there = self.there.as_ref().is_some_and(|there| there.waits());
        let tripped = found == State::Closed && self.here.waits();
        let one_is_enough = self.options.one_is_enough();
        // What its own calls say of the rate of all, counts say better than a vote.
        let by_rate = self.counts_by_rate() && matches!(cause, Cause::Tripped { .. });
        if tripped && !is_open_there && (by_rate || !one_is_enough) {
            self.alone = true;
            self.votes = !by_rate;
            self.count_trip(cause);
        }
        if self.alone && self.here.waits() && cause == Cause::Overloaded {
            // That is said to all, whatever led to the trip before.
            self.alone = !one_is_enough;
            self.votes = true;
        }
        if self.alone {
            self.alone = !self.here.is(State::Closed);
            if self.votes || self.news.is_some_and(|news| news.is_vote()) {
                self.tell(News::new(Kind::Vote, cause));
            } else {
                self.news = None;
            }
            return;
        }
        let arrived = self.news.is_some_and(|news| news.may_have_arrived());
        if self.here.is(State::Closed) && self.is_closed_there() && !arrived {
            // It opened and closed without anybody knowing.
            self.news = None;
            return;
        }
        self.tell(News::new(Kind::Change, cause));
    }

    fn tell(&mut self, news: News) {
        let again = self.news.is_some_and(|news| news.may_have_arrived());
        self.news = Some(News { again, ..news });
    }

    /// The trial came to nothing.
    pub(super) fn release(&mut self) {
        self.lease = None;
        if self.news.is_none() {
            self.news = Some(News::new(Kind::Release, Cause::Released));
        }
    }

    /// The vote counts no more, and the breaker is still open by itself.
    pub(super) fn vote_again(&mut self) {
        if self.alone && self.votes && self.news.is_none() {
            self.news = Some(News::new(Kind::Vote, Cause::Tripped { failures: 0 }));
        }
    }

    /// What a poll asks of one whose vote was told: for all it knows Redis has forgotten it, having heard of
    /// nobody for long, by a clock that was set forward; and of those alive it may be enough by now. One that
    /// was taken back may have come once more, and late.
    pub(super) fn vote_once_more(&self) -> Option<Command> {
        let open = self.alone && self.here.waits();
        let is_taken_back = self.here.is(State::Closed) && self.repeats > 0;
        let is_told = self.news.is_none() && self.course == Course::Settled;
        let votes = self.votes && (open || is_taken_back);
        (votes && is_told && self.is_closed_there()).then(|| Command::Vote {
            known: self.known(),
            open,
            to: self.here.told(self.now),
            quorum: self.options.quorum,
        })
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.news.is_some_and(|news| news.order.is_some())
    }

    pub(super) fn is_release(&self) -> bool {
        self.news.is_some_and(|news| news.kind == Kind::Release)
    }

    /// What an operator did is told anyway; all else counts for nothing where others were first.
    pub(super) fn drop_news(&mut self) {
        if !self.is_ordered() {
            self.news = None;
        }
    }

    /// Whether a change of this instance's is what the news say.
    pub(super) fn is_told_by(&self, told: &Told) -> bool {
        self.news.is_some_and(|news| {
            let says = news
                .order
                .map_or(self.here.told(self.now), |order| order.to);
            news.may_have_arrived()
                && news.order.is_some() == (told.cause == Cause::Operator)
                && says.state == told.shared.state
        })
    }

    /// All have heard. What calls did since an operator's word is what they hear next.
    pub(super) fn arrived(&mut self) {
        let news = self.news.take();
        let order = news.and_then(|news| news.order);
        if let Some((found, cause)) = order.and_then(|order| order.then) {
            self.tell_what_calls_did(found, cause);
        }
    }

    /// What was told before has arrived: what is to be told now came of it.
    pub(super) fn went_on_since(&mut self) {
        if let Some(news) = self.news.as_mut().filter(|news| news.order.is_none()) {
            news.again = news.sent.is_some();
        }
    }

    /// Whether the news that this question told is all that there is.
    pub(super) fn is_sent_as(&self, number: u32) -> bool {
        self.news.is_some_and(|news| news.sent == Some(number))
    }

    pub(super) fn is_change_sent_as(&self, number: u32) -> bool {
        let is_change = |news: &News| news.kind == Kind::Change;
        self.is_sent_as(number) && self.news.as_ref().is_some_and(is_change)
    }

    pub(super) fn news_unanswered(&mut self, number: u32, perhaps_arrived: bool) {
        if let Some(news) = self.news.as_mut().filter(|news| news.sent == Some(number)) {
            news.sent = None;
            news.again |= perhaps_arrived;
        }
    }

    /// What is to be asked to tell the news, which then is on its way.
    pub(super) fn send_news(&mut self, number: u32) -> Option<Command> {
        let (known, now) = (self.known(), self.now);
        let to = self.here.told(now);
        let open = self.here.waits() && self.votes;
        let quorum = self.options.quorum;
        let news = self.news.as_mut()?;
        news.sent = Some(number);
        if news.is_vote() {
            self.repeats = REPEATS;
        }
        let (cause, again) = (news.cause, news.again);
        Some(match (news.kind, &mut news.order) {
            (_, Some(order)) => {
                if !again {
                    order.first = known;
                }
                Command::Change {
                    // Whoever was an operator since is later.
                    known: order.first,
                    to: order.to.after(now.saturating_sub(order.since)),
                    cause,
                    again: again && !order.is_second,
                }
            }
            (Kind::Release, None) => Command::Release { known },
            (Kind::Vote, None) => Command::Vote {
                known,
                open,
                to,
                quorum,
            },
            (Kind::Change, None) => Command::Change {
                known,
                to,
                cause,
                again,
            },
        })
    }
}
