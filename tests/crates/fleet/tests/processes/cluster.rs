//! A cluster whose nodes speak nothing but TLS, ask who connects for a certificate, and let a user do just
//! what is needed.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use breaker_redis::{
    Fleet, FleetBuilder, FleetKeyedBreakers, SharedFleetKeyedBreakers, Sharing, Trouble,
};
use breakerbox::{KeyedBreakers, Settings, State};
use tempfile::TempDir;
use test_fleet::certificates::{Authority, Files, Good};
use test_fleet::server::{self, Server};
use test_fleet::wait;

use crate::users::RIGHTS;

const HOST: &str = "127.0.0.1";
const USER: &str = "fleet-of-shop";
const PASSWORD: &str = "sesame-4c7e";

/// What a user of a cluster needs besides.
const OF_CLUSTER: [&str; 2] = ["+cluster|slots", "+asking"];

/// A node with these slots, which the user can use.
fn node(files: &Files, slots: (u16, u16)) -> Server {
    let lines = [
        ("cluster-enabled", "yes"),
        ("tls-cluster", "yes"),
        ("cluster-require-full-coverage", "no"),
    ];
    let node = Server::with(server::Settings {
        tls: Some(files.clone()),
        asks_clients: true,
        lines: lines
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..server::Settings::default()
    });
    let (first, last) = (slots.0.to_string(), slots.1.to_string());
    node.say(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
    let user = ["ACL", "SETUSER", USER, "reset", "on", ">sesame-4c7e"];
    let may = ["~shop:*", "&shop:*"];
    node.say(&[&user[..], &may, &RIGHTS, &OF_CLUSTER].concat());
    node
}

/// Two that know each other.
fn cluster(files: &Files) -> [Server; 2] {
    let nodes = [node(files, (0, 8191)), node(files, (8192, 16_383))];
    let port = nodes[1].address().port().to_string();
    nodes[0].say(&["CLUSTER", "MEET", HOST, &port]);
    wait::until_so("nodes that know each other", || {
        nodes.iter().all(|node| {
            let info: String = node.ask(redis::cmd("CLUSTER").arg("INFO"));
            info.contains("cluster_state:ok") && info.contains("cluster_slots_assigned:16384")
        })
    });
    nodes
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file of the test's")
}

/// A fleet that begins at this node.
fn of(node: &Server, authority: &Path) -> FleetBuilder {
    let url = format!("rediss://{}", node.address());
    Fleet::builder(&url)
        .node(url)
        .prefix("shop")
        .login(USER, PASSWORD)
        .lease(wait::LIMIT)
        .answer(wait::LIMIT)
        .root_certificates(read(authority))
}

/// Shares sixteen keys.
fn share(fleet: &Fleet, name: &'static str) -> Arc<SharedFleetKeyedBreakers<u32>> {
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(600))
        .must();
    let breakers = Arc::new(KeyedBreakers::<u32>::new(name, config));
    let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
    for key in 0..16_u32 {
        drop(breakers.get(&key));
    }
    fleet.share_keyed(&breakers).expect("to be shared");
    breakers
}

#[test]
fn a_cluster_over_tls_is_shared_by_who_has_a_certificate_and_may_do_what_is_needed() {
    let (folder, authority) = (TempDir::new().expect("a folder"), Authority::new());
    let files = authority.sign(folder.path(), "node", &[HOST], Good::Now);
    let mine = authority.sign(folder.path(), "shop", &["shop.example"], Good::Now);
    let nodes = cluster(&files);
    let members = nodes.each_ref().map(|node| {
        let fleet = of(node, &files.authority);
        let fleet = fleet.client_certificate(read(&mine.certificate), read(&mine.key));
        let fleet = fleet.start().expect("a fleet");
        let breakers = share(&fleet, "keys-over-tls");
        fleet.ready(wait::LIMIT).expect("to be ready");
        (fleet, breakers)
    });
    let [(_, a), (_, b)] = &members;
    for key in 0..16_u32 {
        let failed = a.get(&key).call_sync(|| Err::<(), _>("no answer"));
        assert!(failed.is_err());
        wait::until_so("a key's trip", || b.get(&key).state() == State::Open);
    }
    for node in &nodes {
        assert!(!node.keys().is_empty(), "each node has some");
    }
    for (fleet, _) in &members {
        let status = fleet.status();
        assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
        assert!(status.is_connected && status.cut_off == 0, "{status:?}");
    }

    // Who has none, or trusts others, is told so, and by no node.
    let stranger = Authority::new().sign(folder.path(), "stranger", &[HOST], Good::Now);
    for (authority, client, is_tls) in [
        (&files.authority, None, true),
        (&stranger.authority, Some(&mine), true),
        (&files.authority, Some(&mine), false),
    ] {
        let mut fleet = of(&nodes[0], authority);
        if let Some(client) = client {
            fleet = fleet.client_certificate(read(&client.certificate), read(&client.key));
        }
        if !is_tls {
            fleet = fleet.login(USER, "sesame");
        }
        let fleet = fleet.start().expect("a fleet");
        let error = wait::within(wait::LIMIT, || fleet.status().last_error);
        let error = error.expect("an error");
        let text = error.to_string();
        match error.trouble {
            Trouble::Login(_) => assert!(!is_tls, "{text}"),
            // What refuses a client without one says so at its own time.
            _ => assert!(is_tls && !fleet.status().is_connected, "{text}"),
        }
        assert!(!text.contains(USER) && !text.contains("sesame"), "{text}");
    }
}

#[test]
fn nodes_are_spoken_to_in_one_way() {
    let wrong = Fleet::builder("rediss://10.0.0.1")
        .node("redis://10.0.0.2")
        .start();
    let text = wrong.expect_err("TLS with one of them").to_string();
    assert!(
        text.contains("write `rediss://host:port` for each"),
        "{text}"
    );
}
