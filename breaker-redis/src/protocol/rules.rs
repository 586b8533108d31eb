//! What becomes of what Redis holds when an instance asks something: the reference. The script in
//! `script/` does the same, and a test compares the two.

use super::record::CENSUS;
use super::version::LATEST;
use super::{
    Caller, Cause, Command, Counts, Known, Lease, Limits, Quorum, Record, Reply, Share, Shared,
    Stored, Verdict, Version,
};
use breakerbox::State;

/// What comes of a command, beside what is stored then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What the instance is told.
    pub reply: Reply,
    /// Whether all are told how it stands now: what the reply says of it.
    pub publish: bool,
}

/// What comes of a command that Redis gets at a reading of its clock, in microseconds (what is after the
/// year 2110 counts as that). Nothing here looks at all instances: it costs the same for ten as
/// for a hundred thousand.
///
/// ```
/// use breaker_redis::protocol::{Caller, Command, Stored, Verdict, Who, apply};
///
/// let caller = Caller { who: Who::new("web-1")?, alive: 15_000_000, present: false, longest_lease: 60_000_000, declared: None };
/// let mut nothing = Stored::default();
/// let applied = apply(&mut nothing, 1_000, &caller, &Command::Read { known: None });
/// assert_eq!(applied.reply.verdict, Verdict::Missing);
/// assert_eq!(nothing, Stored::default());
/// # Ok::<(), breaker_redis::protocol::NoName>(())
/// ```
pub fn apply(stored: &mut Stored, now: u64, caller: &Caller, command: &Command) -> Applied {
    let now = now.min(LATEST);
    let is_believed = |version: &Version| version.is_believed(now);
    if let Some(record) = &stored.record
        && !is_believed(&record.version)
    {
        stored.record = None;
        stored.members.begin_term();
    }
    if let Some(record) = &mut stored.record {
        record.pull(now);
    }
    let term = stored.record.as_ref().map(|record| record.version);
    match command {
        Command::Leave { .. } => stored.members.leave(now, caller, term),
        _ => stored.members.hear(now, caller, term),
    }
    let known = command.known().map(Version::bounded).filter(is_believed);
    let mut asked = Asked {
        standing: standing(stored.record.as_ref(), known),
        stored,
        now,
        caller,
        known,
        is_order: matches!(
            command,
            Command::Change { cause, .. } if *cause == Cause::Operator
        ),
        publish: false,
    };
    let verdict = asked.decide(command);
    let (record, publish) = (&asked.stored.record, asked.publish);
    Applied {
        reply: Reply {
            verdict,
            now: record.as_ref().map(|record| record.told(now, caller)),
            listeners: None,
        },
        publish,
    }
}

/// How what is stored stands to what an instance knew.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing is stored.
    Missing,
    /// An older version is stored.
    Behind,
    /// The instance knew this version; or nothing, where nothing has gone wrong yet.
    Current,
    /// A later version is stored.
    Ahead,
}

fn standing(record: Option<&Record>, known: Known) -> Standing {
    match (record, known) {
        (None, _) => Standing::Missing,
        (Some(record), Some(known)) if known > record.version => Standing::Behind,
        (Some(record), Some(known)) if known == record.version => Standing::Current,
        (Some(record), None) if record.shared.state == State::Closed => Standing::Current,
        _ => Standing::Ahead,
    }
}

struct Asked<'a> {
    stored: &'a mut Stored,
    now: u64,
    caller: &'a Caller,
    known: Known,
    standing: Standing,
    /// It is an operator's word, and no offer of what was one.
    is_order: bool,
    publish: bool,
}

impl Asked<'_> {
    fn decide(&mut self, command: &Command) -> Verdict {
        match *command {
            Command::Read { .. } | Command::Leave { .. } => match self.standing {
                Standing::Missing => Verdict::Missing,
                Standing::Behind => Verdict::Behind,
                Standing::Current | Standing::Ahead => Verdict::Done,
            },
            Command::Change {
                to, cause, again, ..
            } => {
                if self.may_change(cause, again) {
                    self.enter(to.bounded(), cause);
                    Verdict::Done
                } else {
                    Verdict::Refused
                }
            }
            Command::Lease { lasts, .. } => self.lease(lasts),
            Command::Renew { lasts, .. } => self.holding(|asked| {
                let (now, lasts) = (asked.now, asked.bounded_lease(lasts));
                if let Some(lease) = asked.lease_mut() {
                    (lease.since, lease.lasts) = (now, lasts);
                }
                // Else it would look like one that its holder made no use of.
                asked.publish = true;
            }),
            Command::Release { .. } => self.holding(|asked| {
                let reopenings = asked.shared().map_or(0, |shared| shared.reopenings);
                asked.enter(open_with_nothing_left(reopenings), Cause::Released);
            }),
            Command::Vote {
                open, to, quorum, ..
            } => self.counting(open, |asked, term| {
                let members = &mut asked.stored.members;
                members.say(asked.now, asked.caller, Some(term), |mut says| {
                    says.vote = open;
                    says
                });
                let votes = members.sums().votes;
                if open && members.reach(quorum, votes) {
                    let instances = as_number(votes);
                    asked.enter(to.bounded(), Cause::Voted { instances });
                }
            }),
            Command::Count {
                counts,
                limits,
                quorum,
                to,
                ..
            } => self.counting(counts.tell_of_failures(), |asked, term| {
                asked.count(term, counts, limits, quorum, to);
            }),
            Command::Offer { to, cause, .. } => self.offer(to.bounded(), cause),
        }
    }

    /// An operator always may. A trial is decided by who has its lease, and what an operator set is
    /// ended by an operator.
    fn may_change(&self, cause: Cause, again: bool) -> bool {
        let Some(record) = &self.stored.record else {
            return true;
        };
        if cause == Cause::Operator {
            let since = record.operated.filter(|_| again);
            return since.is_none_or(|operated| self.known >= Some(operated));
        }
        match self.standing {
            Standing::Missing | Standing::Behind => true,
            Standing::Ahead => false,
            Standing::Current => match record.shared.state {
                State::Closed | State::Open => true,
                State::HalfOpen => self.has_lease(record),
                State::ForcedOpen | State::Disabled | State::Shadow => false,
            },
        }
    }

    fn lease(&mut self, lasts: u64) -> Verdict {
        let Some(record) = &self.stored.record else {
            return Verdict::Missing;
        };
        let left = record.left(self.now, self.caller.longest_lease());
        let state = record.shared.state;
        let reopenings = record.shared.reopenings;
        let holds = self.has_lease(record) && left > 0;
        let now = self.now;
        let lasts = self.bounded_lease(lasts);
        if self.standing == Standing::Behind {
            return Verdict::Behind;
        }
        if holds {
            // It was asked before, and the answer was lost.
            if let Some(lease) = self.lease_mut() {
                (lease.since, lease.lasts) = (now, lasts);
            }
            return Verdict::Done;
        }
        let waits = matches!(state, State::Open | State::HalfOpen);
        if !(waits && left == 0 && self.standing == Standing::Current) {
            return Verdict::Refused;
        }
        let trial = Shared {
            state: State::HalfOpen,
            ..open_with_nothing_left(reopenings)
        };
        self.enter(trial, Cause::Leased);
        if let Some(record) = &mut self.stored.record {
            record.lease = Some(Lease {
                holder: self.caller.who.clone(),
                since: now,
                lasts,
            });
        }
        Verdict::Done
    }

    /// Done by who has the lease of this very trial, also after its time if nobody else has one.
    fn holding(&mut self, act: impl FnOnce(&mut Self)) -> Verdict {
        match (&self.stored.record, self.standing) {
            (None, _) => Verdict::Missing,
            (_, Standing::Behind) => Verdict::Behind,
            (Some(record), Standing::Current) if self.has_lease(record) => {
                act(self);
                Verdict::Done
            }
            _ => Verdict::Refused,
        }
    }

    /// Done while the circuit is closed; where nothing is stored, by who has something to say.
    fn counting(&mut self, worth_saying: bool, act: impl FnOnce(&mut Self, Version)) -> Verdict {
        match self.standing {
            Standing::Missing if worth_saying && self.known.is_none() => {
                self.enter(CLOSED, Cause::Founded);
            }
            Standing::Missing => return Verdict::Missing,
            Standing::Behind => return Verdict::Behind,
            Standing::Current | Standing::Ahead => {}
        }
        match &self.stored.record {
            Some(record)
                if self.standing != Standing::Ahead && record.shared.state == State::Closed =>
            {
                let term = record.version;
                act(self, term);
                Verdict::Done
            }
            _ => Verdict::Refused,
        }
    }

    fn count(&mut self, term: Version, counts: Counts, limits: Limits, quorum: Quorum, to: Shared) {
        let members = &mut self.stored.members;
        members.say(self.now, self.caller, Some(term), |mut says| {
            says.counts = counts;
            says
        });
        let sums = members.sums();
        let opens = match limits {
            Limits::Consecutive { threshold } => {
                sums.failures >= threshold.into() && members.reach(quorum, sums.failing)
            }
            Limits::Rate {
                failures,
                slow,
                min_calls,
            } => {
                // Over the limits, if those that were not heard of have seen no call, or just as many as
                // it takes.
                let least = u64::from(min_calls);
                let calls = sums.calls.max(least);
                let reached = |share: Option<Share>, part, instances| {
                    share.is_some_and(|share| share.reached(part, calls))
                        && members.reach(quorum, instances)
                };
                let may = reached(failures, sums.failures, sums.failing)
                    || reached(slow, sums.slow, sums.slowed);
                may && self.after_census() && sums.calls >= least
            }
        };
        if opens {
            let failures = as_number(sums.failures);
            self.enter(to.bounded(), Cause::Counted { failures });
        }
    }

    /// Whether all have been asked what their windows hold, and had the time to say it; if not, they are
    /// asked now. Those that have seen no failure say nothing of themselves.
    fn after_census(&mut self) -> bool {
        let now = self.now;
        let Some(record) = &mut self.stored.record else {
            return false;
        };
        let age = record.census(now);
        if age.is_none() {
            record.census = Some(now);
            record.declared = self.caller.declared();
            self.publish = true;
        }
        age.is_some_and(|age| age >= CENSUS)
    }

    fn offer(&mut self, to: Shared, cause: Cause) -> Verdict {
        let is_later = match (&self.stored.record, self.known) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(record), Some(known)) if known == record.version => return Verdict::Done,
            (Some(record), Some(known)) if known > record.version => true,
            // Somebody offered an older one, and nothing has happened since.
            (Some(record), Some(known)) => {
                let before = record.offered.is_some_and(|offered| known > offered);
                before && known.epoch < record.version.epoch
            }
        };
        if !is_later {
            return Verdict::Refused;
        }
        self.enter(to, cause);
        if let Some(record) = &mut self.stored.record {
            record.offered = self.known;
            record.declared = None;
            if cause == Cause::Operator {
                // The word is of then, and whoever has spoken since has the last one.
                record.operated = self.known;
            }
        }
        Verdict::Done
    }

    fn enter(&mut self, shared: Shared, cause: Cause) {
        let before = self.stored.record.as_ref();
        let goes_on = before.filter(|_| self.standing != Standing::Behind);
        let version = match goes_on {
            Some(record) if !self.is_order => record.version.next(),
            Some(record) => Version::founded(self.now, Some(record.version)),
            None => Version::founded(self.now, self.known),
        };
        let operated = match cause == Cause::Operator {
            true => Some(version),
            false => before.and_then(|record| record.operated),
        };
        self.stored.record = Some(Record {
            version,
            shared,
            since: self.now,
            cause,
            by: self.caller.who.clone(),
            lease: None,
            operated,
            offered: None,
            census: None,
            // An operator's program may know no more of the circuit than its name.
            declared: self.caller.declared().filter(|_| cause != Cause::Operator),
        });
        self.stored.members.begin_term();
        self.publish = true;
    }

    fn has_lease(&self, record: &Record) -> bool {
        let lease = record.lease.as_ref();
        lease.is_some_and(|lease| lease.holder == self.caller.who)
    }

    fn lease_mut(&mut self) -> Option<&mut Lease> {
        self.stored.record.as_mut()?.lease.as_mut()
    }

    fn bounded_lease(&self, lasts: u64) -> u64 {
        lasts.min(self.caller.longest_lease())
    }

    fn shared(&self) -> Option<Shared> {
        Some(self.stored.record.as_ref()?.shared)
    }
}

const CLOSED: Shared = Shared {
    state: State::Closed,
    wait: 0,
    imposed: false,
    reopenings: 0,
};

fn open_with_nothing_left(reopenings: u8) -> Shared {
    Shared {
        state: State::Open,
        wait: 0,
        imposed: false,
        reopenings,
    }
}

/// As a number of a [`Cause`].
fn as_number(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(u32::MAX)
}
