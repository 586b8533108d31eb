//! Instances with circuits, for some of whose calls something fails.

use std::rc::Rc;
use std::sync::Arc;

use breaker_core::{Circuit, ConfigError, Generation, Outcome as Ended, Policy, State};
use breaker_redis::instance::{Asked, Options};
use breaker_redis::protocol::{Command, Reply, Told, Who};

use super::{FAILS, Fails, Outcome};
use crate::clock::{MILLISECOND, Moment, OwnClock, SECOND};
use crate::draw::Draws;
use crate::events::Events;
use crate::link::Link;
use crate::redis::{Costs, Redis};

/// What is played.
pub struct Setup<'a, P> {
    /// How many instances there are.
    pub instances: u32,
    /// How many keys calls are for, one as often as the other.
    pub keys: u32,
    /// How many circuits an instance has: one for each key, or one for all.
    pub circuits: u32,
    /// A circuit that draws its jitter from a seed.
    pub circuit: &'a dyn Fn(u64) -> Result<Circuit<P>, ConfigError>,
    /// By what circuits are shared, if they are.
    pub options: Option<&'a dyn Fn(Who) -> Options>,
    /// What fails.
    pub fails: Fails,
    /// Calls that each instance makes, a second.
    pub calls_a_second: f64,
    /// How long it fails.
    pub lasts: Moment,
}

impl<P> std::fmt::Debug for Setup<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("instances", &self.instances)
            .field("keys", &self.keys)
            .field("fails", &self.fails)
            .finish_non_exhaustive()
    }
}

/// An instance.
#[derive(Debug)]
pub(super) struct Caller {
    calls: Draws,
    pub(super) clock: OwnClock,
}

/// A circuit of an instance.
#[derive(Debug)]
pub(super) struct Kept<P: Policy> {
    pub(super) circuit: Circuit<P>,
    pub(super) link: Option<Box<Link>>,
    is_closed: bool,
    /// Whether what fails is what it guards.
    is_hit: bool,
}

/// What happens. Circuits have numbers: all of the first instance, then those of the next one.
#[derive(Debug)]
pub(super) enum Event {
    /// An instance is to make a call.
    Call { instance: u32 },
    /// It learns how one ended.
    Ends {
        circuit: u32,
        generation: u32,
        fails: bool,
    },
    /// A command comes to Redis.
    Asks {
        circuit: u32,
        what: Box<(Asked, Command)>,
    },
    /// Redis' answer comes.
    Replied {
        circuit: u32,
        what: Box<(Asked, Reply)>,
    },
    /// A message comes.
    Heard { circuit: u32, told: Rc<Told> },
    /// It was to be woken.
    Wakes { circuit: u32 },
}

/// A fleet under way.
#[derive(Debug)]
pub struct World<'a, P: Policy> {
    pub(super) setup: Setup<'a, P>,
    pub(super) events: Events<Event>,
    pub(super) callers: Vec<Caller>,
    pub(super) circuits: Vec<Kept<P>>,
    pub(super) redis: Redis,
    ways: Draws,
    pub(super) outcome: Outcome,
    quiet_since: Moment,
    pub(super) is_over: bool,
}

/// The stream of what no instance has for itself.
const WAYS: u64 = 0;

/// What a message takes on its way at least, and so much more on average.
const WAY: (Moment, f64) = (200_000, 300_000.0);

/// What the dependency takes to answer.
const TAKES: Moment = 5 * MILLISECOND;

/// How long all circuits must have been closed until nothing more is expected, and when to look no longer.
const QUIET: Moment = 5 * SECOND;
const PATIENCE: Moment = 60 * SECOND;

impl<'a, P: Policy> World<'a, P> {
    /// All circuits are closed, and all is well.
    ///
    /// # Errors
    /// What making a circuit says.
    pub fn new(setup: Setup<'a, P>, seed: u64) -> Result<Self, ConfigError> {
        let mut own = Draws::new(seed, u64::MAX);
        let redis = Redis::new(Costs::MEASURED, setup.circuits);
        let mut world = Self {
            setup,
            events: Events::new(),
            callers: Vec::new(),
            circuits: Vec::new(),
            redis,
            ways: Draws::new(seed, WAYS),
            outcome: Outcome::default(),
            quiet_since: 0,
            is_over: false,
        };
        for instance in 0..world.setup.instances {
            world.begin(
                instance,
                Draws::new(seed, 1 + u64::from(instance)),
                &mut own,
            )?;
        }
        for circuit in 0..world.circuits.len() as u32 {
            world.drive(circuit, 0);
        }
        Ok(world)
    }

    /// An instance begins, as if it had been there for long.
    fn begin(
        &mut self,
        instance: u32,
        mut calls: Draws,
        own: &mut Draws,
    ) -> Result<(), ConfigError> {
        let first = until_next_call(&mut calls, self.setup.calls_a_second);
        self.events.at(first, Event::Call { instance });
        let clock = OwnClock::drawn(own);
        let me = Who::new(&format!("instance-{instance}")).ok();
        let options = self.setup.options.zip(me).map(|(of, me)| Arc::new(of(me)));
        for key in 0..self.setup.circuits {
            let circuit = (self.setup.circuit)(own.number())?;
            let link = options.as_ref().map(|options| {
                // For two or three polls: so they come evenly.
                let poll = options.poll.max(options.quiet).as_micros() as f64;
                let ago = (poll * (2.0 + own.share())) as u64;
                let redis = |who: &_, command: &_| self.redis.did(key, who, command);
                let (options, now) = (Arc::clone(options), clock.at(0));
                let link = Link::begun(options, &circuit, now, ago, own.number(), redis);
                Box::new(link)
            });
            let is_hit = self.is_hit(instance, key);
            self.outcome.part(is_hit).all += 1;
            self.circuits.push(Kept {
                circuit,
                link,
                is_closed: true,
                is_hit,
            });
        }
        self.callers.push(Caller { calls, clock });
        Ok(())
    }

    /// Each circuit had a call that was answered, before all begins.
    pub fn has_answered_all(&mut self) {
        for circuit in 0..self.circuits.len() as u32 {
            let generation = self.circuits[circuit as usize].circuit.generation();
            self.settle(circuit, generation, Ended::Success, 0);
        }
    }

    /// Plays it to its end.
    #[must_use]
    pub fn play(mut self) -> Outcome {
        while let Some(event) = self.events.next_event() {
            let now = self.events.now();
            match event {
                Event::Call { instance } => self.call(instance, now),
                Event::Ends {
                    circuit,
                    generation,
                    fails,
                } => {
                    let ended = if fails {
                        Ended::Failure
                    } else {
                        Ended::Success
                    };
                    let generation = Generation::from_number(generation);
                    self.settle(circuit, generation, ended, now);
                }
                Event::Asks { circuit, what } => self.asks(circuit, *what, now),
                Event::Replied { circuit, what } => self.replied(circuit, &what, now),
                Event::Heard { circuit, told } => self.heard(circuit, &told, now),
                Event::Wakes { circuit } => self.wakes(circuit, now),
            }
        }
        let is_closed = self.outcome.hit.now + self.outcome.others.now == 0;
        let after = self.quiet_since.saturating_sub(self.ends_at());
        self.outcome.figures.all_closed_after = is_closed.then_some(after);
        self.outcome
    }

    fn call(&mut self, instance: u32, now: Moment) {
        let is_quiet = self.outcome.hit.now + self.outcome.others.now == 0
            && now >= self.quiet_since.max(self.ends_at()) + QUIET;
        self.is_over = self.is_over || is_quiet || now >= self.ends_at() + PATIENCE;
        if self.is_over {
            return;
        }
        let caller = &mut self.callers[instance as usize];
        let next = until_next_call(&mut caller.calls, self.setup.calls_a_second);
        // Drawn in any case: so calls are the same, however circuits are kept.
        let key = (caller.calls.share() * f64::from(self.setup.keys)) as u32 % self.setup.keys;
        let luck = caller.calls.share();
        self.events.after(next, Event::Call { instance });
        self.outcome.figures.calls += 1;

        let fails = self.fails(instance, key, luck, now);
        let circuit = instance * self.setup.circuits + key % self.setup.circuits;
        let Some(generation) = self.admit(circuit, now) else {
            self.outcome.figures.fates.refused += 1;
            if !fails && self.is_failing(now) {
                self.outcome.refused_needlessly += 1;
            } else if now >= self.ends_at() {
                self.outcome.figures.refused_while_up += 1;
            }
            return;
        };
        if fails {
            self.outcome.figures.fates.failed += 1;
            let figures = &mut self.outcome.figures;
            match figures.all_open_after {
                None => figures.dead_until_open += 1,
                Some(_) => figures.dead_later += 1,
            }
        } else {
            self.outcome.figures.fates.answered += 1;
        }
        let takes = if fails { 0 } else { TAKES };
        let ends = self.way() + takes + self.way();
        let generation = generation.get();
        self.events.after(
            ends,
            Event::Ends {
                circuit,
                generation,
                fails,
            },
        );
    }

    fn ends_at(&self) -> Moment {
        FAILS + self.setup.lasts
    }

    fn is_failing(&self, now: Moment) -> bool {
        (FAILS..self.ends_at()).contains(&now)
    }

    fn fails(&self, instance: u32, key: u32, luck: f64, now: Moment) -> bool {
        self.is_failing(now)
            && match self.setup.fails {
                Fails::Shard(shards) => key.is_multiple_of(shards),
                Fails::Instances(share) => self.is_among(instance, share),
                Fails::Calls(share) => luck <= share,
            }
    }

    /// Whether what fails is what a circuit guards: not one for all shards.
    fn is_hit(&self, instance: u32, key: u32) -> bool {
        match self.setup.fails {
            Fails::Shard(shards) => {
                self.setup.circuits == self.setup.keys && key.is_multiple_of(shards)
            }
            Fails::Instances(share) => self.is_among(instance, share),
            Fails::Calls(_) => true,
        }
    }

    fn is_among(&self, instance: u32, share: f64) -> bool {
        f64::from(instance) < share * f64::from(self.setup.instances) - 1e-9
    }

    fn admit(&mut self, number: u32, now: Moment) -> Option<Generation> {
        let reading = self.reading(number, now);
        let Kept { circuit, link, .. } = &mut self.circuits[number as usize];
        let (admission, asked) = match link {
            Some(link) => link.admit(circuit, reading),
            None => (circuit.try_admit(&reading).ok(), false),
        };
        if asked {
            self.drive(number, now);
        }
        if asked || admission.as_ref().is_some_and(|it| it.change.is_some()) {
            self.has_changed(number, now);
        }
        Some(admission?.generation)
    }

    fn settle(&mut self, number: u32, generation: Generation, ended: Ended, now: Moment) {
        let reading = self.reading(number, now);
        let Kept { circuit, link, .. } = &mut self.circuits[number as usize];
        let is_common = circuit.by_ref().is_common(generation, &ended, 0);
        let effect = circuit.settle(generation, ended, &reading);
        if is_common {
            return; // nobody is told
        }
        if let Some(link) = link {
            link.ended(reading, generation, &effect, circuit);
            self.drive(number, now);
        }
        self.has_changed(number, now);
    }

    /// A circuit may have been opened or closed.
    pub(super) fn has_changed(&mut self, number: u32, now: Moment) {
        let is_failing = self.is_failing(now);
        let kept = &mut self.circuits[number as usize];
        let is_closed = kept.circuit.state() == State::Closed;
        if is_closed == kept.is_closed {
            return;
        }
        kept.is_closed = is_closed;
        self.quiet_since = now;
        let outcome = &mut self.outcome;
        let part = outcome.part(kept.is_hit);
        if is_closed {
            part.now -= 1;
            return;
        }
        part.now += 1;
        if is_failing {
            part.most = part.most.max(part.now);
        }
        let hit = outcome.hit;
        if hit.now == hit.all && is_failing && outcome.figures.all_open_after.is_none() {
            outcome.figures.all_open_after = Some(now - FAILS);
        }
    }

    /// What the clock of a circuit's instance reads.
    pub(super) fn reading(&self, circuit: u32, now: Moment) -> crate::clock::Reading {
        let instance = circuit / self.setup.circuits;
        self.callers[instance as usize].clock.at(now)
    }

    /// How long a message is on its way.
    pub(super) fn way(&mut self) -> Moment {
        WAY.0 + self.ways.exponential(WAY.1) as Moment
    }
}

fn until_next_call(calls: &mut Draws, a_second: f64) -> Moment {
    calls.exponential(SECOND as f64 / a_second) as Moment
}
