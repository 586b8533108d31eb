//! Fleets whose Redis is a cluster: two nodes, each with half of the slots.

use crate::server::Server;
use crate::support::{LONG, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing, Trouble};
use breakerbox::{Breaker, KeyedBreakers, Settings, State};
use std::sync::Arc;
use std::time::Duration;

/// Two nodes that know each other, and have all slots. `None`: there is no `redis-server`.
fn cluster() -> Option<[Server; 2]> {
    let node = || Server::start_with_port(&["--cluster-enabled", "yes"]);
    let nodes = [node()?, node()?];
    for (node, slots) in nodes.iter().zip([(0, 8191), (8192, 16_383)]) {
        let mut add = redis::cmd("CLUSTER");
        add.arg("ADDSLOTSRANGE").arg(slots.0).arg(slots.1);
        add.query::<()>(&mut node.connect()).unwrap();
    }
    let mut meet = redis::cmd("CLUSTER");
    meet.arg("MEET").arg("127.0.0.1").arg(nodes[1].port());
    meet.query::<()>(&mut nodes[0].connect()).unwrap();
    until("the nodes to know each other", || {
        nodes.iter().all(|node| {
            let info = redis::cmd("CLUSTER")
                .arg("INFO")
                .query::<String>(&mut node.connect());
            let info = info.unwrap();
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:2")
        })
    });
    Some(nodes)
}

fn url(node: &Server) -> String {
    format!("redis://127.0.0.1:{}", node.port())
}

#[test]
fn circuits_are_on_all_nodes_of_a_cluster() {
    let Some([one, other]) = cluster() else {
        return;
    };
    let name = name("cluster");
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(60))
        .must();
    // Each begins at another node.
    let [a, b] = [[&one, &other], [&other, &one]].map(|[first, second]| {
        let fleet = Fleet::builder(url(first))
            .node(url(second))
            .start()
            .expect("a fleet");
        let breakers = Arc::new(KeyedBreakers::<u32>::new(name, config));
        let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
        for key in 0..16_u32 {
            drop(breakers.get(&key));
        }
        fleet.share_keyed(&breakers).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        (fleet, breakers)
    });
    for key in 0..16_u32 {
        let failed = a.1.get(&key).call_sync(|| Err::<(), _>("no answer"));
        assert!(failed.is_err());
        until("a key's trip", || b.1.get(&key).state() == State::Open);
    }
    let keys = |node: &Server| {
        redis::cmd("DBSIZE")
            .query::<u32>(&mut node.connect())
            .unwrap()
    };
    assert!(keys(&one) > 0 && keys(&other) > 0, "both have some of them");
    let status = b.0.status();
    assert_eq!(
        (status.lost, status.nonsense, status.circuits),
        (0, 0, 16),
        "{status:?}"
    );
    assert!(status.heard > 0, "{status:?}");
}

#[test]
fn a_connection_to_one_node_alone_says_what_it_is() {
    let Some([one, other]) = cluster() else {
        return;
    };
    let config = Settings::new().must();
    // Of several circuits, one or the other is not on this node.
    let fleet = Fleet::builder(url(&one)).start().expect("a fleet");
    let breakers: Vec<_> = (0..16)
        .map(|_| FleetBreaker::of(Arc::new(Breaker::new(name("lost"), config)), Sharing::new()))
        .collect();
    for breaker in &breakers {
        fleet.share(breaker).expect("to be shared");
    }
    until("it to be refused", || fleet.status().last_error.is_some());
    let error = fleet.status().last_error.unwrap();
    assert!(matches!(error.trouble, Trouble::Refuses(_)), "{error}");
    assert!(error.to_string().contains("a node of a cluster"), "{error}");
    drop(other);
}
