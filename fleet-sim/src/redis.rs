//! Redis: the real rules of what it holds, behind one thread that takes its time.

use breaker_redis::protocol::{Applied, Caller, Command, Reply, Stored, apply};

use crate::clock::Moment;
use crate::figures::Figures;

/// What Redis takes for what it is asked, on its one processor. Its commands are done one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A poll of a circuit of which nothing is stored.
    pub poll_of_nothing: Moment,
    /// A poll of one of which something is.
    pub poll: Moment,
    /// A poll that also says that its instance is there, as where a share of them is a quorum.
    pub presence: Moment,
    /// A change, a lease, and what else changes how the circuit stands.
    pub change: Moment,
    /// What an instance has counted, or its vote.
    pub count: Moment,
    /// A message to one subscriber.
    pub message: Moment,
}

impl Costs {
    /// As `cargo xtask fleet redis-costs` measures them: each command comes on a connection of its own,
    /// and a message goes to 5,000 of them.
    pub const MEASURED: Self = Self {
        poll_of_nothing: 15_000,
        poll: 28_000,
        presence: 42_000,
        change: 39_000,
        count: 65_000,
        message: 5_000,
    };

    fn of(&self, caller: &Caller, command: &Command, is_stored: bool) -> Moment {
        match command {
            Command::Read { .. } if caller.present => self.presence,
            Command::Read { .. } if !is_stored => self.poll_of_nothing,
            Command::Read { .. } => self.poll,
            Command::Count { .. } | Command::Vote { .. } => self.count,
            _ => self.change,
        }
    }
}

/// The Redis of a fleet, with the record of each circuit.
#[derive(Debug)]
pub struct Redis {
    costs: Costs,
    stored: Vec<Stored>,
    busy_until: Moment,
}

/// What comes of a command.
#[derive(Debug)]
pub struct Done {
    /// What the rules say.
    pub applied: Applied,
    /// When it is done, and the first message leaves.
    pub at: Moment,
}

/// Its clock, which is nobody else's, when the simulation begins: microseconds.
const CLOCK: u64 = 1_700_000_000_000_000;

/// So long before, the instances had asked it the last time.
const BEFORE: u64 = 10_000_000;

impl Redis {
    /// One that holds nothing of so many circuits.
    #[must_use]
    pub fn new(costs: Costs, circuits: u32) -> Self {
        Self {
            costs,
            stored: vec![Stored::default(); circuits as usize],
            busy_until: 0,
        }
    }

    /// Does a command that comes now, of the circuit of that number, when all that came before are done.
    pub fn does(&mut self, now: Moment, of: u32, caller: &Caller, command: &Command) -> Done {
        let begins = self.busy_until.max(now);
        let stored = &mut self.stored[of as usize];
        let is_stored = stored.record.is_some();
        let at = begins + self.costs.of(caller, command, is_stored);
        self.busy_until = at;
        let applied = apply(stored, CLOCK + begins / 1_000, caller, command);
        Done { applied, at }
    }

    /// What it did before the simulation began.
    pub fn did(&mut self, of: u32, caller: &Caller, command: &Command) -> Reply {
        let stored = &mut self.stored[of as usize];
        apply(stored, CLOCK - BEFORE, caller, command).reply
    }

    /// Tells so many subscribers. When the message to the one of that number leaves.
    pub fn publishes(&mut self, subscribers: u32) -> impl Fn(u32) -> Moment + use<> {
        let (begins, each) = (self.busy_until, self.costs.message);
        self.busy_until += each * u64::from(subscribers);
        move |number| begins + each * u64::from(number + 1)
    }

    /// How long a command would wait that came now.
    #[must_use]
    pub fn waiting(&self, now: Moment) -> Moment {
        self.busy_until.saturating_sub(now)
    }
}

/// Notes what Redis does.
pub(crate) fn count_command(figures: &mut Figures, now: Moment) {
    figures.redis.commands += 1;
    figures.tick(now).commands += 1;
}

/// Notes a message to so many.
pub(crate) fn count_messages(figures: &mut Figures, now: Moment, subscribers: u32) {
    figures.redis.published += 1;
    figures.redis.messages += u64::from(subscribers);
    figures.tick(now).messages += subscribers;
}
