//! A circuit of one process, as far as it is shared: what to ask Redis, what the breaker is to follow,
//! and whether a call may probe.
//!
//! An [`Instance`] has no connection, no clock, no lock, and no breaker: it is told what its breaker did
//! and what Redis said, and gives out what to do next. `now` is in microseconds of any monotonic clock of
//! this process; a reading that is smaller than an earlier one counts as that.

mod answers;
mod census;
mod counting;
mod farewell;
mod here;
mod learn;
mod news;
mod options;
mod probing;
mod step;
mod work;

use crate::protocol::{Caller, Cause, Counts, Declared, Known, Reply, Shared, Told, Version};
use breakerbox::{Generation, State};
use census::Census;
use counting::A_PROBE;
use here::{Here, There};
use learn::By;
use news::News;
pub use options::Options;
pub(crate) use options::micros;
use probing::{Answer, Lease, Trial};
use std::sync::Arc;
use std::time::Duration;
use step::Topic;
pub use step::{Asked, Follow, Happened, Settled, Step, Unanswered};
use work::Work;

/// A circuit of one process, as far as it is shared.
///
/// After something was put in, [`next`](Self::next) is called until it says to wait; [`due`](Self::due)
/// tells whether that is worth waking anybody for. It begins as [`lost`](Self::lost): by itself, until
/// Redis is [`found`](Self::found).
#[derive(Debug)]
pub struct Instance {
    options: Arc<Options>,
    now: u64,
    random: u64,
    here: Here,
    there: Option<Box<There>>,
    course: Course,
    news: Option<News>,
    /// When the breaker is to follow, if it is to.
    follow_at: u64,
    /// Open by itself, for want of a quorum or of a rate that all have: its own probes decide.
    alone: bool,
    /// Until when it doesn't probe by itself, after an opening that others told of.
    alone_at: u64,
    /// So many polls more say what it counts and votes, also where that is nothing.
    repeats: u8,
    /// It is a vote for the fleet's to open.
    votes: bool,
    /// Redis holds an older state than what is known, or none.
    offering: bool,

    lease: Option<Lease>,
    /// The trial before the one that is known came to nothing.
    comes_of_nothing: bool,
    trial: Trial,
    /// A call asked to probe, and the lease was not yet asked for.
    wanted: bool,
    lease_after: u64,
    /// When a call last asked to probe.
    last_wanted: u64,

    /// What was counted, what was told of it last (`None`: that isn't known), and what is on its way.
    counts: Counts,
    said: Option<Counts>,
    saying: Counts,
    count_after: u64,
    is_to_look: bool,
    /// It has looked at its window for the poll that is due.
    has_looked: bool,
    census: Census,

    /// Calls have failed or asked to probe: it is no operator's program.
    is_used: bool,

    /// The number of the last question, and those on their way: one that somebody waits for, and one
    /// that is a matter of routine.
    number: u32,
    urgent: Option<Asked>,
    common: Option<Asked>,
    is_reachable: bool,
    /// There was an answer since Redis was found.
    is_answered: bool,
    /// Questions without an answer since the last one.
    silences: u8,
    retry_at: u64,
    poll_at: u64,
    round_trip: u64,
}

/// Whether the breaker stands as the fleet does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Course {
    /// As far as is known, or what happened here is about to be told.
    Settled,
    /// It is to follow.
    Astray,
    /// It is being told to.
    Following {
        version: Version,
        only_in: Generation,
        to: Shared,
        /// What happened since.
        meanwhile: Option<Cause>,
    },
    /// It was told to, and had moved on to this generation.
    Stuck(Generation),
}

const CLOSED: Shared = Shared {
    state: State::Closed,
    wait: 0,
    imposed: false,
    reopenings: 0,
};

/// Until the first answer, a round trip is guessed to be a millisecond.
const ROUND_TRIP: u64 = 1_000;

/// What was sent on a connection that ended may arrive after what was sent since: a network that was down
/// for a while delivers it when it tries again, which is up to twice as long. By then it has been said that it
/// is no longer so.
const REPEATS: u8 = 6;

/// When Redis was found again, the circuits of a process ask within so many microseconds, not at once.
const ALL_ASKED: u64 = 500_000;

impl Instance {
    /// Of a breaker that is in this state. `seed`: a number of its own for each instance, which spreads
    /// its polls.
    #[must_use]
    pub fn new(options: Arc<Options>, begun: &Happened, now: u64, seed: u64) -> Self {
        let here = Here {
            generation: begun.generation,
            shared: CLOSED,
            since: now,
            followed: false,
        };
        let mut instance = Self {
            options,
            now,
            random: seed,
            here,
            there: None,
            course: Course::Settled,
            news: None,
            follow_at: now,
            alone: false,
            alone_at: 0,
            repeats: 0,
            votes: false,
            offering: false,
            lease: None,
            comes_of_nothing: false,
            trial: Trial::NONE,
            wanted: false,
            lease_after: 0,
            last_wanted: 0,
            counts: Counts::default(),
            said: Some(Counts::default()),
            saying: Counts::default(),
            count_after: 0,
            is_to_look: false,
            has_looked: false,
            census: Census::NONE,
            is_used: false,
            number: 0,
            urgent: None,
            common: None,
            is_reachable: false,
            is_answered: false,
            silences: 0,
            retry_at: 0,
            poll_at: now,
            round_trip: ROUND_TRIP,
        };
        instance.happened(begun);
        instance
    }

    /// From now on it goes by these: the breaker was given other settings.
    pub fn set_options(&mut self, options: Arc<Options>) {
        self.options = options;
    }

    /// The breaker entered a state, by what happened in this process; not by what it was told to follow.
    pub fn changed(&mut self, now: u64, happened: &Happened) {
        self.pass(now);
        self.is_used |= happened.cause.is_some_and(|cause| cause != Cause::Operator);
        self.happened(happened);
    }

    /// A call ended.
    pub fn settled(&mut self, now: u64, settled: &Settled) {
        self.pass(now);
        self.is_used = true;
        if settled.generation == self.here.generation {
            self.count(settled.counts);
            self.probe_ended(settled);
        }
    }

    /// A call asks to probe. What it wants, it says in [`next`](Self::next).
    ///
    /// # Errors
    /// Not now: after what time to ask again. Until an opening's wait is over, that is what is left of it.
    /// While another instance probes, nobody knows when its result comes: then it is what is left of
    /// its lease, and at most the breaker's `reset`.
    pub fn probe_wanted(&mut self, now: u64) -> Result<(), Duration> {
        self.pass(now);
        self.is_used = true;
        self.ask_to_probe()
    }

    /// How long it takes until [`probe_wanted`](Self::probe_wanted) may allow it, as far as is known. Zero
    /// also where it is yet to be asked for.
    pub fn time_left(&mut self, now: u64) -> Duration {
        self.pass(now);
        match self.answer_to_a_probe() {
            Answer::Later(left) => left,
            Answer::Now | Answer::AskFirst => Duration::ZERO,
        }
    }

    /// A call probes all the same, since nobody has answered for too long.
    pub fn probe_alone(&mut self, now: u64) {
        self.pass(now);
        self.let_through();
    }

    /// What [`probe_wanted`](Self::probe_wanted) allowed, or [`probe_alone`](Self::probe_alone) said, came
    /// to nothing: no probe was let through by it.
    pub fn probe_withdrawn(&mut self, now: u64) {
        self.pass(now);
        self.withdraw();
    }

    /// What the breaker has counted, after [`Step::Look`].
    pub fn counted(&mut self, now: u64, counts: Counts) {
        self.pass(now);
        self.count(counts);
    }

    /// What came of what was asked; also what came late, or twice.
    pub fn replied(&mut self, now: u64, asked: Asked, reply: Result<&Reply, Unanswered>) {
        self.pass(now);
        match reply {
            Ok(reply) => self.answered(asked, reply),
            Err(why) => self.unanswered(asked, why),
        }
    }

    /// A message arrived.
    pub fn heard(&mut self, now: u64, told: &Told) {
        self.pass(now);
        self.learn(told, By::Message);
    }

    /// Redis can't be had: what was asked won't be answered, and the circuit is one by itself.
    pub fn lost(&mut self, now: u64) {
        self.pass(now);
        self.is_reachable = false;
        self.silences = 0;
        self.ground();
    }

    /// Redis is there (again), and messages arrive.
    pub fn found(&mut self, now: u64) {
        self.pass(now);
        self.is_reachable = true;
        self.is_answered = false;
        self.silences = 0;
        self.poll_at = self.now.saturating_add(self.draw() % ALL_ASKED);
        self.say_again();
    }

    /// It asks at once: it is new, and not one of many that have found Redis at the same moment.
    pub fn hasten(&mut self, now: u64) {
        self.pass(now);
        self.poll_at = self.now;
    }

    /// Whether it has nothing to do that anybody waits for: it may ask how things stand, and that may
    /// take its time.
    pub fn can_wait(&mut self, now: u64) -> bool {
        self.pass(now);
        let only_asks = matches!(self.work(), Work::Ask(Topic::Read) | Work::Wait(_));
        only_asks && self.silences == 0
    }

    /// What came of [`Step::Follow`]: the generation that it started, or, where it was not done, the one
    /// that the breaker is in.
    pub fn followed(&mut self, now: u64, outcome: Result<Generation, Generation>) {
        self.pass(now);
        let Course::Following {
            version,
            only_in,
            to,
            meanwhile,
        } = self.course
        else {
            return;
        };
        let is_mine = |there: &There| there.told.by == self.options.me;
        self.course = if self.there.as_deref().is_some_and(is_mine) && self.agrees() {
            // What this instance did itself was later.
            Course::Settled
        } else {
            Course::Astray
        };
        match outcome {
            Ok(generation) => {
                let went_on = self.here.generation.is_after(generation);
                if !went_on {
                    self.enter(generation, to, true);
                }
                if self.known() != Some(version) {
                    return;
                }
                self.course = Course::Settled;
                if let (true, Some(cause), None) = (went_on, meanwhile, self.news) {
                    self.tell_what_calls_did(to.state, cause);
                }
                if self.news.is_none() {
                    self.go_astray();
                }
            }
            // What happened is about to be told, or it can't follow.
            Err(generation) if self.here.generation == only_in => {
                self.course = Course::Stuck(generation);
            }
            Err(_) => {}
        }
    }

    /// Whether all that happened here has been told.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.news.is_none() && !self.offering
    }

    /// Whether an operator's word is yet to be told, or wasn't answered yet.
    #[must_use]
    pub fn has_order(&self) -> bool {
        self.is_ordered()
    }

    /// Who asks, as it goes with each command.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.options.caller()
    }

    /// What is to be done.
    pub fn next(&mut self, now: u64) -> Step {
        self.pass(now);
        self.step()
    }

    /// Whether calls of this process have failed, or asked to probe: what it declares is then of effect, where
    /// that of an operator's program, which may know no more of a circuit than its name, never is.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// What another instance declares that has just said this, if it is not as here. Of what is told as an
    /// answer only where it is later than what is known: what stood there before may be of a process that is
    /// long gone. Asked before it is [`heard`](Self::heard), or [`replied`](Self::replied).
    #[must_use]
    pub fn declared_otherwise(&self, told: &Told, by_message: bool) -> Option<Declared> {
        let (known, version) = (self.known(), Some(told.version));
        let is_new = match by_message {
            true => known <= version,
            false => known.is_some() && known < version,
        };
        // What this one said itself, perhaps before its settings were changed; a census is of whoever began it.
        let is_mine = told.by == self.options.me && told.census.is_none();
        let here = self.options.declared();
        told.declared
            .filter(|there| is_new && !is_mine && *there != here)
    }

    /// What the breaker is to follow, if that is what [`next`](Self::next) would say: for where nothing can be
    /// asked for now, of which that is no matter.
    pub fn next_to_follow(&mut self, now: u64) -> Option<Follow> {
        self.pass(now);
        match self.work() {
            Work::Follow => self.follow(),
            _ => None,
        }
    }

    /// When [`next`](Self::next) has something to do, a time that is over for at once. `None`: not by
    /// itself.
    #[must_use]
    pub fn due(&self, now: u64) -> Option<u64> {
        match self.work() {
            Work::Wait(until) => until,
            _ => Some(now),
        }
    }

    /// The version of the fleet's state that it knows.
    #[must_use]
    pub fn known(&self) -> Known {
        self.there.as_ref().map(|there| there.told.version)
    }

    /// Whether it may probe for all.
    #[must_use]
    pub fn has_lease(&self, now: u64) -> bool {
        self.lapses_at().is_some_and(|until| now < until)
    }

    fn pass(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    fn enter(&mut self, generation: Generation, shared: Shared, followed: bool) {
        self.here = Here {
            generation,
            shared,
            since: self.now,
            followed,
        };
        self.alone_at = match shared.state {
            State::Open if followed => self.alone_after(shared.wait),
            _ => 0,
        };
        self.counts = match shared.state {
            State::HalfOpen if self.counts_as_failing() => self.counts,
            State::Open if self.counts_as_failing() => A_PROBE,
            _ => Counts::default(),
        };
        if shared.state != State::HalfOpen {
            self.trial = Trial::NONE;
        }
    }

    /// In about so many microseconds: a quarter earlier or later.
    fn spread(&mut self, wait: u64) -> u64 {
        let most = wait / 2;
        let drawn = self.draw() % most.saturating_add(1);
        self.now
            .saturating_add(wait - wait / 4)
            .saturating_add(drawn)
    }

    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
