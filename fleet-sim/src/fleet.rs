//! A fleet, its service, and what happens between them.

mod circuits;
mod sharing;

use std::rc::Rc;

use breaker_core::{Circuit, Generation, Outcome, State};
use breaker_redis::instance::Asked;
use breaker_redis::protocol::{Command, Reply, Told};

use crate::clock::{Moment, OwnClock, SECOND};
use crate::draw::Draws;
use crate::events::Events;
use crate::figures::Figures;
use crate::link::Link;
use crate::redis::Redis;
use crate::scenario::{Conditions, Scenario};
use crate::service::{Service, Taken};

/// An instance of the fleet: its circuit is the real one.
// Of a hundred thousand none is in a cache when its turn comes: what each call looks at, the circuit's two
// words too, stands in one line of it.
#[derive(Debug)]
#[repr(C, align(64))]
struct Caller {
    calls: Draws,
    clock: OwnClock,
    link: Option<Box<Link>>,
    is_closed: bool,
    circuit: Circuit,
}

/// What happens.
#[derive(Debug)]
enum Event {
    /// An instance is to make a call.
    Call { instance: u32 },
    /// A request comes to the service.
    Arrives { instance: u32, call: Sent },
    /// An instance learns how its call ended.
    Ends { instance: u32, call: Sent, end: End },
    /// The service fails.
    Fails,
    /// A command comes to Redis.
    Asks {
        instance: u32,
        what: Box<(Asked, Command)>,
    },
    /// An instance gets Redis' answer.
    Replied {
        instance: u32,
        what: Box<(Asked, Reply)>,
    },
    /// An instance gets a message.
    Heard { instance: u32, told: Rc<Told> },
    /// An instance wanted to be woken.
    Wakes { instance: u32 },
}

/// A call that was let through.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Moment,
    generation: u32,
    is_probe: bool,
}

/// How a call ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// By an answer, if the service is still in that life.
    Answer { life: u32 },
    /// The service is not there.
    Failure,
    /// The instance gives it up.
    TimedOut,
}

/// A fleet under way.
#[derive(Debug)]
pub struct Fleet {
    conditions: Conditions,
    events: Events<Event>,
    callers: Vec<Caller>,
    closed: usize,
    /// Since when all circuits have been closed.
    quiet_since: Option<Moment>,
    service: Service,
    redis: Redis,
    ways: Draws,
    figures: Figures,
    is_over: bool,
}

/// The stream of what no instance has for itself.
const WAYS: u64 = 0;

impl Fleet {
    /// All circuits are closed, and the service is well.
    #[must_use]
    pub fn new(instances: u32, scenario: Scenario, conditions: Conditions, seed: u64) -> Self {
        let mut events = Events::new();
        let mut own = Draws::new(seed, u64::MAX);
        let mut callers = Vec::with_capacity(instances as usize);
        for instance in 0..instances {
            let mut calls = Draws::new(seed, 1 + u64::from(instance));
            let first = until_next_call(&mut calls, &conditions);
            let circuit = Circuit::new(scenario.config(own.number()));
            callers.push(Caller {
                circuit,
                clock: OwnClock::drawn(&mut own),
                calls,
                is_closed: true,
                link: None,
            });
            events.at(first, Event::Call { instance });
        }
        events.at(conditions.fails, Event::Fails);
        let usual = f64::from(instances) * conditions.calls_a_second;
        let mut fleet = Self {
            conditions,
            events,
            closed: callers.len(),
            callers,
            quiet_since: None,
            service: Service::warm(conditions.capacity, usual),
            redis: Redis::new(conditions.redis, 1),
            ways: Draws::new(seed, WAYS),
            figures: Figures::default(),
            is_over: false,
        };
        fleet.share(scenario, &mut own);
        fleet
    }

    /// Plays it to its end, and says now and then how far it is.
    #[must_use]
    pub fn play(mut self, mut says: impl FnMut(Moment)) -> Figures {
        let mut said = 0;
        while let Some(event) = self.events.next_event() {
            let now = self.events.now();
            if now >= said + SECOND {
                said = now;
                says(now);
            }
            match event {
                Event::Call { instance } => self.call(instance, now),
                Event::Arrives { instance, call } => self.arrives(instance, call, now),
                Event::Ends {
                    instance,
                    call,
                    end,
                } => self.ends(instance, call, end, now),
                Event::Fails => self.service.fails(self.conditions.comes_back),
                Event::Asks { instance, what } => self.asks(instance, *what, now),
                Event::Replied { instance, what } => self.replied(instance, &what, now),
                Event::Heard { instance, told } => self.heard(instance, &told, now),
                Event::Wakes { instance } => self.wakes(instance, now),
            }
        }
        if let Some(since) = self.quiet_since {
            let after = since.saturating_sub(self.conditions.comes_back);
            self.figures.all_closed_after = Some(after);
        }
        self.figures.knocked_over = self.service.fell_over();
        self.figures
    }

    fn call(&mut self, instance: u32, now: Moment) {
        self.is_over = self.is_over || self.has_ended(now);
        if self.is_over {
            return;
        }
        let caller = &mut self.callers[instance as usize];
        let next = until_next_call(&mut caller.calls, &self.conditions);
        self.events.after(next, Event::Call { instance });
        self.figures.calls += 1;

        let Some(admission) = self.admit(instance, now) else {
            self.figures.fates.refused += 1;
            if self.has_come_back(now) && self.service.is_up(now) {
                self.figures.refused_while_up += 1;
            }
            return;
        };
        let caller = &self.callers[instance as usize];
        let call = Sent {
            at: now,
            generation: admission.generation.get(),
            is_probe: caller.circuit.state() == State::HalfOpen,
        };
        let way = self.way();
        self.events.after(way, Event::Arrives { instance, call });
    }

    fn arrives(&mut self, instance: u32, call: Sent, now: Moment) {
        let back = self.way();
        let taken = self.service.take(now);
        self.count_request(call, taken, now);
        let (time, end) = match taken {
            Taken::Refused => (now + back, End::Failure),
            Taken::AnsweredAt { time, life } => (time + back, End::Answer { life }),
        };
        let deadline = call.at + self.conditions.timeout;
        let (time, end) = if time > deadline {
            (deadline, End::TimedOut)
        } else {
            (time, end)
        };
        self.events.at(
            time,
            Event::Ends {
                instance,
                call,
                end,
            },
        );
    }

    fn ends(&mut self, instance: u32, call: Sent, end: End, now: Moment) {
        let fates = &mut self.figures.fates;
        let outcome = match end {
            End::Answer { life } if self.service.answers(life) => {
                fates.answered += 1;
                self.figures.tick(now).answered += 1;
                Outcome::Success
            }
            End::Answer { .. } | End::Failure => {
                fates.failed += 1;
                Outcome::Failure
            }
            End::TimedOut => {
                fates.timed_out += 1;
                Outcome::Failure
            }
        };
        let generation = Generation::from_number(call.generation);
        self.settle(instance, generation, outcome, now);
    }

    fn count_request(&mut self, call: Sent, taken: Taken, now: Moment) {
        let tick = self.figures.tick(now);
        tick.requests += 1;
        tick.probes += u32::from(call.is_probe);
        let figures = &mut self.figures;
        if now >= self.conditions.comes_back {
            if now < self.conditions.comes_back + self.conditions.first {
                figures.first_requests += 1;
                figures.first_probes += u64::from(call.is_probe);
            }
        } else if taken == Taken::Refused {
            if figures.all_open_after.is_none() {
                figures.dead_until_open += 1;
            } else {
                figures.dead_later += 1;
            }
        }
    }

    fn has_come_back(&self, now: Moment) -> bool {
        now >= self.conditions.comes_back
    }

    /// Whether all has been well for long enough, or will never be.
    fn has_ended(&mut self, now: Moment) -> bool {
        let Conditions {
            comes_back,
            quiet,
            patience,
            ..
        } = self.conditions;
        let is_well = self.quiet_since.is_some_and(|since| now >= since + quiet);
        (now >= comes_back && is_well && self.service.waiting(now) < 0.5)
            || now >= comes_back + patience
    }

    /// How long a message is on its way.
    fn way(&mut self) -> Moment {
        let (least, more) = self.conditions.way;
        least + self.ways.exponential(more as f64) as Moment
    }
}

fn until_next_call(calls: &mut Draws, conditions: &Conditions) -> Moment {
    calls.exponential(SECOND as f64 / conditions.calls_a_second) as Moment
}
