//! What instances that share a circuit say to Redis, and hear.

use std::rc::Rc;
use std::sync::Arc;

use breaker_redis::instance::Asked;
use breaker_redis::protocol::{Command, Reply, Told, Who};

use super::{Event, Fleet};
use crate::clock::Moment;
use crate::draw::Draws;
use crate::link::{Link, Wants};
use crate::redis::{count_command, count_messages};
use crate::scenario::Scenario;

impl Fleet {
    /// Links all circuits, if the scenario wants it: as if the instances had been started long ago, each
    /// at a time of its own.
    pub(super) fn share(&mut self, scenario: Scenario, own: &mut Draws) {
        let instances = self.callers.len() as u32;
        for number in 0..instances {
            let Ok(me) = Who::new(&format!("instance-{number}")) else {
                continue; // never: it is a name
            };
            let Some(options) = scenario.sharing(me, instances) else {
                return;
            };
            let caller = &mut self.callers[number as usize];
            let poll = options.poll.as_micros() as u64;
            let ago = poll + (own.share() * poll as f64) as u64 / 2;
            let link = Link::begun(
                Arc::new(options),
                &caller.circuit,
                caller.clock.at(0),
                ago,
                own.number(),
                |who, command| self.redis.did(0, who, command),
            );
            caller.link = Some(Box::new(link));
        }
        for number in 0..instances {
            self.drive(number, 0);
        }
    }

    /// Does what an instance wants to be done.
    pub(super) fn drive(&mut self, instance: u32, now: Moment) {
        loop {
            let caller = &mut self.callers[instance as usize];
            let reading = caller.clock.at(now);
            let Some(link) = &mut caller.link else {
                return;
            };
            let (wants, followed) = link.wants(now, reading, &caller.circuit);
            if followed {
                self.has_changed(instance, now);
            }
            match wants {
                Wants::Asks(what) => {
                    let way = self.way();
                    self.events.after(way, Event::Asks { instance, what });
                }
                Wants::Wakes(at) => {
                    if !self.is_over {
                        self.events.at(at, Event::Wakes { instance });
                    }
                    return;
                }
                Wants::Nothing => return,
            }
        }
    }

    /// A command comes to Redis.
    pub(super) fn asks(&mut self, instance: u32, what: (Asked, Command), now: Moment) {
        let (asked, command) = what;
        let Some(link) = &self.callers[instance as usize].link else {
            return;
        };
        let waits = self.redis.waiting(now);
        let done = self.redis.does(now, 0, &link.caller(), &command);
        count_command(&mut self.figures, now);
        let longest = &mut self.figures.redis.longest_wait;
        *longest = waits.max(*longest);

        let reply = done.applied.reply;
        if let (true, Some(told)) = (done.applied.publish, &reply.now) {
            self.publish(&Rc::new(told.clone()), now);
        }
        let back = done.at + self.way();
        let what = Box::new((asked, reply));
        self.events.at(back, Event::Replied { instance, what });
    }

    fn publish(&mut self, told: &Rc<Told>, now: Moment) {
        let subscribers = self.callers.len() as u32;
        count_messages(&mut self.figures, now, subscribers);
        let leaves = self.redis.publishes(subscribers);
        for instance in 0..subscribers {
            let arrives = leaves(instance) + self.way();
            let told = Rc::clone(told);
            self.events.at(arrives, Event::Heard { instance, told });
        }
    }

    /// An instance gets Redis' answer.
    pub(super) fn replied(&mut self, instance: u32, what: &(Asked, Reply), now: Moment) {
        let (asked, reply) = what;
        let caller = &mut self.callers[instance as usize];
        let micros = caller.clock.at(now).micros();
        if let Some(link) = &mut caller.link {
            link.instance().replied(micros, *asked, Ok(reply));
        }
        self.drive(instance, now);
    }

    /// An instance gets a message.
    pub(super) fn heard(&mut self, instance: u32, told: &Told, now: Moment) {
        let caller = &mut self.callers[instance as usize];
        let micros = caller.clock.at(now).micros();
        if let Some(link) = &mut caller.link {
            link.instance().heard(micros, told);
        }
        self.drive(instance, now);
    }

    /// An instance wanted to be woken.
    pub(super) fn wakes(&mut self, instance: u32, now: Moment) {
        let link = self.callers[instance as usize].link.as_mut();
        if link.is_some_and(|link| link.is_woken(now)) {
            self.drive(instance, now);
        }
    }
}
