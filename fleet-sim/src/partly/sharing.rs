//! What circuits that are shared say to Redis, and hear.

use std::rc::Rc;

use breaker_core::Policy;
use breaker_redis::instance::Asked;
use breaker_redis::protocol::{Command, Reply, Told};

use super::world::{Event, Kept, World};
use crate::clock::Moment;
use crate::link::Wants;
use crate::redis::{count_command, count_messages};

impl<P: Policy> World<'_, P> {
    /// Does what an instance wants to be done for one of its circuits.
    pub(super) fn drive(&mut self, number: u32, now: Moment) {
        loop {
            let reading = self.reading(number, now);
            let Kept { circuit, link, .. } = &mut self.circuits[number as usize];
            let Some(link) = link else {
                return;
            };
            let (wants, followed) = link.wants(now, reading, circuit);
            if followed {
                self.has_changed(number, now);
            }
            match wants {
                Wants::Asks(what) => {
                    let way = self.way();
                    let asks = Event::Asks {
                        circuit: number,
                        what,
                    };
                    self.events.after(way, asks);
                }
                Wants::Wakes(at) if !self.is_over => {
                    self.events.at(at, Event::Wakes { circuit: number });
                    return;
                }
                _ => return,
            }
        }
    }

    /// A command comes to Redis, which tells all instances of a change.
    pub(super) fn asks(&mut self, number: u32, what: (Asked, Command), now: Moment) {
        let (asked, command) = what;
        let Some(link) = &self.circuits[number as usize].link else {
            return;
        };
        let key = number % self.setup.circuits;
        let waits = self.redis.waiting(now);
        let done = self.redis.does(now, key, &link.caller(), &command);
        let figures = &mut self.outcome.figures;
        count_command(figures, now);
        figures.redis.longest_wait = figures.redis.longest_wait.max(waits);

        let reply = done.applied.reply;
        if let (true, Some(told)) = (done.applied.publish, &reply.now) {
            let told = Rc::new(told.clone());
            let subscribers = self.setup.instances;
            count_messages(&mut self.outcome.figures, now, subscribers);
            let leaves = self.redis.publishes(subscribers);
            for instance in 0..subscribers {
                let circuit = instance * self.setup.circuits + key;
                let arrives = leaves(instance) + self.way();
                let told = Rc::clone(&told);
                self.events.at(arrives, Event::Heard { circuit, told });
            }
        }
        let back = done.at + self.way();
        let what = Box::new((asked, reply));
        let replied = Event::Replied {
            circuit: number,
            what,
        };
        self.events.at(back, replied);
    }

    /// Redis' answer comes.
    pub(super) fn replied(&mut self, number: u32, what: &(Asked, Reply), now: Moment) {
        let (asked, reply) = what;
        let micros = self.reading(number, now).micros();
        if let Some(link) = &mut self.circuits[number as usize].link {
            link.instance().replied(micros, *asked, Ok(reply));
        }
        self.drive(number, now);
    }

    /// A message comes.
    pub(super) fn heard(&mut self, number: u32, told: &Told, now: Moment) {
        let micros = self.reading(number, now).micros();
        if let Some(link) = &mut self.circuits[number as usize].link {
            link.instance().heard(micros, told);
        }
        self.drive(number, now);
    }

    /// It was to be woken.
    pub(super) fn wakes(&mut self, number: u32, now: Moment) {
        let link = self.circuits[number as usize].link.as_mut();
        if link.is_some_and(|link| link.is_woken(now)) {
            self.drive(number, now);
        }
    }
}
