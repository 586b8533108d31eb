//! Circuits that go from node to node.

use super::nodes::Cluster;
use super::{Member, key_of};
use crate::support::{LONG, Lines, name, until};
use crate::users::NEEDED;
use breakerbox::State;

#[test]
fn a_circuit_that_is_moved_to_another_node_is_lost_by_nobody() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let prefix = name("moved");
    let lines = Lines::of(prefix);
    let circuit = cluster.name_with(0, |name| format!("{prefix}:{name}"));
    let keyed = name("keys");
    // Who may what the docs say needs no more, also while a circuit is on its way.
    let needed: Vec<_> = NEEDED.split_whitespace().collect();
    let (keys, channels) = (format!("~{prefix}:*"), format!("&{prefix}:*"));
    let user = ["ACL", "SETUSER", "shop", "on", ">hush", &keys, &channels];
    for node in &cluster.nodes {
        node.order(&[&user, &needed[..], &["+cluster|slots", "+asking"]].concat());
    }
    // Each begins at another node.
    let fleets = [cluster.builder(), cluster.builder_from(1)]
        .map(|fleet| fleet.lease(LONG).answer(LONG).login("shop", "hush"));
    let [a, b] = fleets.map(|fleet| Member::new(fleet.prefix(prefix), &[circuit], (keyed, 16)));
    for key in 0..16 {
        a.fail_key(key);
    }
    for key in 0..16 {
        until("a key's trip", || b.state_of_key(key) == State::Open);
    }
    let nodes = (0..16).map(|key| cluster.node_of(&key_of(prefix, keyed, key)));
    assert_eq!(nodes.max(), Some(1), "both have some of them");
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    // It is on its way: the old node has it no more, and the new one answers only who was sent there.
    let key = format!("{prefix}:{circuit}");
    let slot = cluster.slot(&key).to_string();
    let [old, new] = [0, 1].map(|at| cluster.id(at));
    let set = |at: usize, what: &[&str]| {
        cluster.nodes[at].order(&[&["CLUSTER", "SETSLOT", &slot], what].concat());
    };
    set(1, &["IMPORTING", &old]);
    set(0, &["MIGRATING", &new]);
    let port = cluster.nodes[1].port().to_string();
    cluster.nodes[0].order(&["MIGRATE", "127.0.0.1", &port, &key, "0", "5000"]);
    b.circuits[0].force_open();
    until("an operator's word", || a.state(0) == State::ForcedOpen);
    a.circuits[0].close();
    until("another", || b.state(0) == State::Closed);
    // It has arrived.
    set(1, &["NODE", &new]);
    set(0, &["NODE", &new]);
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    b.circuits[0].close();
    until("an operator's word", || a.state(0) == State::Closed);
    for member in [&a, &b] {
        let status = member.status();
        assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
        assert_eq!((status.cut_off, status.circuits), (0, 17), "{status:?}");
        assert!(
            status.is_connected && status.last_error.is_none(),
            "{status:?}"
        );
    }
    assert_eq!(lines.all(), [""; 0]);
}

#[test]
fn a_replica_that_takes_over_has_the_circuits_of_its_primary() {
    let Some(mut cluster) = Cluster::start(3, 1) else {
        return;
    };
    let prefix = name("failover");
    let lines = Lines::of(prefix);
    let circuits = [0, 1].map(|at| cluster.name_with(at, |name| format!("{prefix}:{name}")));
    let keyed = name("keys");
    let [a, b] = [(); 2].map(|()| {
        Member::new(
            cluster.builder().prefix(prefix).lease(LONG).answer(LONG),
            &circuits,
            (keyed, 0),
        )
    });
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    // Both are well: nothing is lost. Asked for it, the others would have a say, and take their time.
    cluster.nodes[3].order(&["CLUSTER", "FAILOVER", "TAKEOVER"]);
    until("the replica to be the primary", || {
        cluster.nodes[3]
            .ask(&["INFO", "replication"])
            .contains("role:master")
    });
    a.circuits[0].close();
    until("an operator's word", || b.state(0) == State::Closed);
    b.fail(0);
    until("a trip", || a.state(0) == State::Open);
    for member in [&a, &b] {
        let status = member.status();
        assert_eq!((status.lost, status.cut_off), (0, 0), "{status:?}");
    }
    assert_eq!(lines.all(), [""; 0]);
    // And back because the other was killed.
    until("the old primary to be a replica that has all", || {
        let info = cluster.nodes[0].ask(&["INFO", "replication"]);
        info.contains("role:slave") && info.contains("master_link_status:up")
    });
    cluster.nodes[3].kill();
    cluster.nodes[0].order(&["CLUSTER", "FAILOVER", "TAKEOVER"]);
    a.circuits[0].close();
    until("an operator's word", || b.state(0) == State::Closed);
    b.fail(0);
    b.fail(1);
    until("trips", || {
        [0, 1].iter().all(|at| a.state(*at) == State::Open)
    });
    until("all to be had", || {
        let mut members = [&a, &b].into_iter();
        members.all(|member| member.status().is_connected && member.status().cut_off == 0)
    });
    // Who knew of the new primary before it saw the end of the old one has lost nothing.
    let lost: u64 = [&a, &b].iter().map(|member| member.status().lost).sum();
    assert!(lost <= 2, "each at most once: {lost}");
    let told = lines.all();
    let restored = told.iter().filter(|line| *line == "restored").count();
    assert_eq!(restored * 2, told.len(), "{told:?}");
    assert!(told.len() <= 4, "{told:?}");
}
