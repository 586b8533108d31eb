//! What the addresses of a cluster's nodes say, and would be ignored.

use breaker_redis::{Fleet, FleetBuilder, FleetError};

/// Refused for what is said of a node, without anything of the address.
fn refused(fleet: FleetBuilder) -> String {
    let error = fleet.start().expect_err("to be refused");
    let is_node = matches!(
        error,
        FleetError::Setting {
            setting: "node",
            ..
        }
    );
    assert!(is_node, "{error:?}");
    let said = error.to_string();
    let secrets = ["hush", "somebody", "other", "127.0.0.1", "10.0.0"];
    for secret in secrets {
        assert!(!said.contains(secret), "{said}");
    }
    said
}

#[test]
fn a_cluster_has_one_database() {
    for (first, node) in [
        ("redis://127.0.0.1:1/3", "redis://127.0.0.1:1/3"),
        ("redis://127.0.0.1:1/3", "redis://127.0.0.1:2"),
    ] {
        let error = Fleet::builder(first).node(node).start().unwrap_err();
        assert!(matches!(error, FleetError::Database(_)), "{error:?}");
        let said = error.to_string();
        assert!(
            said.contains("a cluster") && said.contains("`node`") && said.contains("leave it out"),
            "{said}"
        );
    }
    for node in ["redis://127.0.0.1:2/3", "redis://127.0.0.1:2/-1"] {
        let said = refused(Fleet::builder("redis://127.0.0.1:1").node(node));
        assert!(
            said.contains("a cluster has 0 alone: leave it out"),
            "{said}"
        );
    }
    // A single Redis may have it, and 0 is what there is.
    for fleet in [
        Fleet::builder("redis://127.0.0.1:1/3"),
        Fleet::builder("redis://127.0.0.1:1/0").node("redis://127.0.0.1:2/0/"),
    ] {
        fleet.start().expect("a fleet");
    }
}

#[test]
fn a_login_that_would_be_ignored_is_refused() {
    let with = |who: &str, port: u16| format!("redis://{who}127.0.0.1:{port}");
    let first = |who: &str| Fleet::builder(with(who, 1));
    let (mine, none) = ("somebody:hush@", "");
    for (first_who, node_who) in [
        (none, mine),
        (mine, "other:hush@"),
        (mine, "somebody:hushed@"),
        (mine, ":hush@"),
        (mine, "somebody@"),
        (":hush@", mine),
        (":hush@", ":hushed@"),
    ] {
        let said = refused(first(first_who).node(with(node_who, 2)));
        assert!(
            said.contains("a login that is not that of the first"),
            "{said}"
        );
        assert!(
            said.contains("leave it out") && said.contains("`login`"),
            "{said}"
        );
        // Also after one that is right.
        refused(
            first(first_who)
                .node(with(first_who, 2))
                .node(with(node_who, 3)),
        );
    }
    refused(first(none).login("other", "hush").node(with(mine, 2)));
    for same in [
        first(mine).node(with(mine, 2)),
        first(mine).node(with(none, 2)),
        // As it is written in a URL doesn't matter.
        first(mine).node(with("%73omebody:h%75sh@", 2)),
        first(none).login("somebody", "hush").node(with(mine, 2)),
        first(mine).login("other", "hush").node(with(mine, 2)),
    ] {
        same.start().expect("a fleet");
    }
}

#[test]
fn nodes_are_reached_alike() {
    let (plain, tls) = ("redis://127.0.0.1:1", "rediss://127.0.0.1:1");
    let said = refused(Fleet::builder(plain).node(tls));
    assert!(
        said.contains("one with TLS") && said.contains("write `rediss://"),
        "{said}"
    );
    // Of whom TLS is asked for he never becomes plain.
    if cfg!(feature = "tls") {
        let said = refused(Fleet::builder(tls).node(plain));
        assert!(
            said.contains("one without TLS") && said.contains("write `rediss://"),
            "{said}"
        );
    }
    let said = refused(Fleet::builder(plain).node("redis://127.0.0.1:2?read=replicas"));
    assert!(said.contains("write all of them so"), "{said}");
    Fleet::builder(plain)
        .node("valkey://127.0.0.1:2")
        .start()
        .expect("a fleet");
}
