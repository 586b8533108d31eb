//! Each race by its name, between real circuits.

#[path = "races/counting.rs"]
mod counting;
#[path = "races/cut_off.rs"]
mod cut_off;
#[path = "races/forged.rs"]
mod forged;
#[path = "races/lease.rs"]
mod lease;
#[path = "races/news.rs"]
mod news;
#[path = "races/orders.rs"]
mod orders;
#[path = "races/overloads.rs"]
mod overloads;
#[path = "races/quorum.rs"]
mod quorum;
#[path = "races/rates.rs"]
mod rates;
#[path = "races/redis.rs"]
mod redis;

use crate::node::Node;
use crate::world::{MS, SECOND, World};
use breaker_core::{Outcome, Settings};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Told, Who};
use breakerbox::State;
use std::time::Duration;

pub(crate) fn options(id: usize) -> Options {
    Options {
        lease: Duration::from_secs(1),
        ..Options::new(Who::new(&format!("node-{id}")).expect("a name"))
    }
}

pub(crate) fn config() -> Settings {
    Settings::new()
        .threshold(2)
        .reset(Duration::from_secs(2))
        .jitter(0.0)
}

pub(crate) fn world_of(instances: usize, options: impl Fn(usize) -> Options) -> World {
    let mut world = World::new(config(), 7);
    for _ in 0..instances {
        world.join(&options);
    }
    world.run(SECOND);
    world
}

pub(crate) fn world(instances: usize) -> World {
    world_of(instances, options)
}

/// So many that wait for a trial: the wait is over.
pub(crate) fn waiting(instances: usize) -> World {
    let mut world = world(instances);
    world.trip(0);
    world.run(2_100 * MS);
    world
}

impl World {
    pub(crate) fn states(&self) -> Vec<State> {
        self.nodes.values().map(Node::state).collect()
    }

    pub(crate) fn trip(&mut self, id: usize) {
        for _ in 0..2 {
            assert!(self.call(id, Outcome::Failure));
        }
        self.run(3 * MS);
        assert_eq!(self.nodes[&id].state(), State::Open);
        self.run(7 * MS);
    }

    /// A call that gets the lease for those that come after it.
    pub(crate) fn lease(&mut self, id: usize) {
        assert!(!self.call(id, Outcome::Success));
        self.run(5 * MS);
        assert!(self.has_lease(id));
    }

    pub(crate) fn has_lease(&self, id: usize) -> bool {
        let node = &self.nodes[&id];
        node.instance.has_lease(node.local(self.now))
    }

    pub(crate) fn probes(&self) -> u64 {
        self.nodes.values().map(|node| node.probes).sum()
    }

    pub(crate) fn asks(&self) -> u64 {
        self.nodes.values().map(|node| node.asks).sum()
    }

    pub(crate) fn stands(&self) -> Told {
        self.told().expect("something is stored")
    }

    pub(crate) fn retry_after(&mut self, id: usize) -> Duration {
        let now = self.now;
        let node = self.nodes.get_mut(&id).expect("it is there");
        let local = node.local(now);
        crate::node::probes(&mut node.instance, local).expect_err("not now")
    }
}
