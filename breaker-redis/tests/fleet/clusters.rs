//! Fleets whose Redis is a cluster.

#[path = "clusters/hostile.rs"]
mod hostile;
#[path = "clusters/maps.rs"]
mod maps;
#[path = "clusters/moves.rs"]
mod moves;
#[path = "clusters/nodes.rs"]
mod nodes;
#[path = "clusters/outages.rs"]
mod outages;

use crate::support::{LONG, name, until};
use breaker_redis::{
    Fleet, FleetBreaker, FleetKeyedBreakers, FleetStatus, SharedFleetBreaker,
    SharedFleetKeyedBreakers, Sharing, Trouble,
};
use breakerbox::{AnyBreaker, Breaker, Config, KeyedBreakers, Settings, State};
use nodes::Cluster;
use std::sync::Arc;
use std::time::Duration;

/// A circuit for each of some nodes, and some by key, in one instance of a fleet.
pub(crate) struct Member {
    pub(crate) fleet: Fleet,
    pub(crate) circuits: Vec<Arc<SharedFleetBreaker>>,
    pub(crate) keyed: Arc<SharedFleetKeyedBreakers<u32>>,
}

/// Trips by one failure, and stays open.
fn config() -> Config {
    Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(600))
        .must()
}

impl Member {
    /// Shares circuits of these names, and of so many keys of this name.
    pub(crate) fn new(
        fleet: breaker_redis::FleetBuilder,
        names: &[&'static str],
        keyed: (&'static str, u32),
    ) -> Self {
        let member = Self::unready(fleet, names, keyed);
        member.fleet.ready(LONG).expect("to be ready");
        member
    }

    /// The same, which has perhaps not reached anybody.
    pub(crate) fn unready(
        fleet: breaker_redis::FleetBuilder,
        names: &[&'static str],
        (keyed, keys): (&'static str, u32),
    ) -> Self {
        let fleet = fleet.start().expect("a fleet");
        let circuits = names.iter().map(|name| {
            // By hand: in the registry, names of one process differ.
            let breaker = Arc::new(Breaker::new(name, config()));
            let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
            fleet.share(&breaker).expect("to be shared");
            breaker
        });
        let circuits = circuits.collect();
        let breakers = Arc::new(KeyedBreakers::<u32>::new(keyed, config()));
        let keyed = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
        fleet.share_keyed(&keyed).expect("to be shared");
        for key in 0..keys {
            drop(keyed.get(&key));
        }
        Self {
            fleet,
            circuits,
            keyed,
        }
    }

    pub(crate) fn fail(&self, circuit: usize) {
        let failed = self.circuits[circuit].call_sync(|| Err::<(), _>("no answer"));
        assert!(failed.is_err());
    }

    pub(crate) fn state(&self, circuit: usize) -> State {
        self.circuits[circuit].state()
    }

    pub(crate) fn fail_key(&self, key: u32) {
        let failed = self.keyed.get(&key).call_sync(|| Err::<(), _>("no answer"));
        assert!(failed.is_err());
    }

    pub(crate) fn state_of_key(&self, key: u32) -> State {
        self.keyed.get(&key).state()
    }

    pub(crate) fn status(&self) -> FleetStatus {
        self.fleet.status()
    }
}

/// The channel of all keys of a name, which comes from a node as if it were a key.
fn channel_of(prefix: &str, name: &str) -> String {
    format!("{prefix}:{name}[")
}

/// Where a key of a keyed breaker of this name is, in a fleet with this prefix.
fn key_of(prefix: &str, name: &str, key: u32) -> String {
    format!("{prefix}:{name}[{key}]")
}

/// A node knows its own listeners alone, and the same messages are heard from other nodes.
#[test]
fn that_nobody_hears_an_operator_is_not_said_where_it_is_not_known() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let names = [cluster.name_at(0), cluster.name_at(1)];
    let member = Member::new(cluster.builder(), &names, (name("keys"), 4));
    for circuit in &member.circuits {
        circuit.force_open();
    }
    for key in 0..4_u32 {
        member.keyed.get(&key).force_open();
    }
    member.fleet.ready(LONG).expect("to be told");
    assert_eq!(member.status().unheard, 0);
}

#[test]
fn a_connection_to_one_node_alone_says_what_it_is() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    // Of several circuits, one or the other is not on this node.
    let fleet = Fleet::builder(cluster.url(0)).start().expect("a fleet");
    let breakers: Vec<_> = (0..16)
        .map(|_| {
            FleetBreaker::of(
                Arc::new(Breaker::new(name("lost"), config())),
                Sharing::new(),
            )
        })
        .collect();
    for breaker in &breakers {
        fleet.share(breaker).expect("to be shared");
    }
    until("it to be refused", || fleet.status().last_error.is_some());
    let error = fleet.status().last_error.unwrap();
    assert!(matches!(error.trouble, Trouble::Refuses(_)), "{error}");
    let text = error.to_string();
    for told in [
        "a node of a cluster",
        "`FleetBuilder::node(url)`",
        "the feature `cluster`",
    ] {
        assert!(text.contains(told), "{text}");
    }
}
