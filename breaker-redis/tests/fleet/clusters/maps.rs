//! What a cluster's map says: of many nodes, and of some that are none of ours.

use super::hostile::{Answer, Node};
use crate::support::until;
use breaker_redis::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::{Breaker, Settings};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// What a node says of another, with all that Redis 7 may say.
fn said_of(id: usize, host: &str, port: u16) -> String {
    let (length, ip) = (host.len(), format!("10.20.{}.{}", id / 250, id % 250));
    let announced = format!(
        "*4\r\n$2\r\nip\r\n${}\r\n{ip}\r\n$8\r\nhostname\r\n${length}\r\n{host}\r\n",
        ip.len()
    );
    format!("*4\r\n${length}\r\n{host}\r\n:{port}\r\n$40\r\n{id:040x}\r\n{announced}")
}

/// A slot, or some, of such a node and two replicas.
fn said_of_piece(first: u16, last: u16, own: Option<u16>) -> String {
    // A third of a thousand nodes.
    let shard = usize::from(first) % 333;
    let host = |of: usize| format!("shop-{of:04}.abc123.0001.euw1.cache.example.com");
    let primary = match own {
        Some(port) => said_of(shard, "127.0.0.1", port),
        None => said_of(shard, &host(shard), 6379),
    };
    let replicas = [1, 2].map(|of| said_of(shard + of * 333, &host(shard + of * 333), 6379));
    format!(
        "*5\r\n:{first}\r\n:{last}\r\n{primary}{}",
        replicas.concat()
    )
}

const TOLD: &str = "of-a-large-cluster";

/// An operator's word that is to be told.
fn told(node: &Node) -> (Fleet, Arc<SharedFleetBreaker>) {
    let fleet = node.fleet().start().expect("a fleet");
    let breaker = Arc::new(Breaker::new(TOLD, Settings::new().must()));
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    fleet.share(&breaker).expect("to be shared");
    breaker.force_open();
    (fleet, breaker)
}

fn slot_of_told() -> u16 {
    let key = format!("breakerbox:{TOLD}");
    crc16::State::<crc16::XMODEM>::calculate(key.as_bytes()) % 16_384
}

/// Each slot is a piece by itself: where slots were moved by ones.
fn in_single_slots(port: u16) -> String {
    let is_own = |slot: &u16| (*slot == slot_of_told()).then_some(port);
    let pieces = (0..16_384).map(|slot| said_of_piece(slot, slot, is_own(&slot)));
    format!("*16384\r\n{}", pieces.collect::<String>())
}

/// 333 pieces.
fn in_large_pieces(port: u16) -> String {
    let slots = |at: u16| u16::try_from(u32::from(at) * 16_384 / 333).unwrap();
    let pieces = (0..333).map(|at| {
        let (first, last) = (slots(at), slots(at + 1) - 1);
        let own = (first..=last).contains(&slot_of_told()).then_some(port);
        said_of_piece(first, last, own)
    });
    format!("*333\r\n{}", pieces.collect::<String>())
}

/// A thousand nodes, two thirds of them replicas.
#[test]
fn the_map_of_the_largest_cluster_is_read() {
    type Map = fn(u16) -> String;
    let maps: [(Map, _); 2] = [
        (in_large_pieces, 150_000..300_000),
        (in_single_slots, 8_000_000..12_000_000),
    ];
    for (map, bytes) in maps {
        assert!(bytes.contains(&map(1).len()), "{}", map(1).len());
        let node = Node::that(move |command| match command[0] == "CLUSTER" {
            true => Answer::Map(map),
            false => Answer::Usual,
        });
        let (fleet, breaker) = told(&node);
        // The one node that has it, of all.
        until("it to be asked for", || node.count("EVALSHA") > 0);
        let (lost, lookups) = (fleet.status().lost, node.count("CLUSTER"));
        assert_eq!(lost, 0, "{lookups} maps");
        drop(breaker);
    }
}

/// Of those that a map names, whoever they are.
#[test]
fn nodes_without_circuits_of_ours_never_hear_of_us() {
    static STRANGER: AtomicU16 = AtomicU16::new(0);
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let port = stranger.local_addr().unwrap().port();
    STRANGER.store(port, Ordering::Relaxed);
    let node = Node::that(|command| match command[0] == "CLUSTER" {
        true => Answer::Map(|own| {
            let at = |port: u16| said_of(1, "127.0.0.1", port);
            let mine = slot_of_told();
            let stranger = STRANGER.load(Ordering::Relaxed);
            let pieces = [
                (0, mine - 1, stranger),
                (mine, mine, own),
                (mine + 1, 16_383, stranger),
            ];
            let piece = |(first, last, port)| format!("*3\r\n:{first}\r\n:{last}\r\n{}", at(port));
            format!("*3\r\n{}", pieces.map(piece).concat())
        }),
        false => Answer::Usual,
    });
    let (fleet, breaker) = told(&node);
    until("it to be asked for", || node.count("EVALSHA") > 0);
    let came = stranger.accept().err().map(|error| error.kind());
    assert_eq!(came, Some(std::io::ErrorKind::WouldBlock));
    drop((fleet, breaker));
    let came = stranger.accept().err().map(|error| error.kind());
    assert_eq!(came, Some(std::io::ErrorKind::WouldBlock));
}
