//! TLS that can't be spoken: each way in which it fails says what is to be done.

use std::fs;
use std::path::Path;

use breaker_redis::{Fleet, FleetBuilder, Trouble};
use tempfile::TempDir;
use test_fleet::certificates::{Authority, Files, Good};
use test_fleet::server::{self, Server};
use test_fleet::wait;

const HOST: &str = "127.0.0.1";

fn with_tls(files: &Files, asks_clients: bool) -> Server {
    Server::with(server::Settings {
        tls: Some(files.clone()),
        asks_clients,
        ..server::Settings::default()
    })
}

/// Over TLS.
fn to(server: &Server, authority: &Path) -> FleetBuilder {
    let url = format!("rediss://{}", server.address());
    Fleet::builder(url).root_certificates(fs::read(authority).unwrap())
}

/// What is told of a fleet that doesn't come to its Redis.
fn told(fleet: FleetBuilder) -> (Trouble, String) {
    let fleet = fleet.login("shop", "sesame").start().expect("a fleet");
    let error = wait::until("trouble", || fleet.status().last_error);
    let text = error.to_string();
    eprintln!("{text}");
    assert!(!text.contains("sesame") && !text.contains("shop"), "{text}");
    (error.trouble, text)
}

#[test]
fn a_port_that_speaks_tls_is_to_be_written_so() {
    let folder = TempDir::new().unwrap();
    let files = Authority::new().sign(folder.path(), "redis", &[HOST], Good::Now);
    let server = with_tls(&files, false);
    let (trouble, text) = told(Fleet::builder(format!("redis://{}", server.address())));
    let is_it = matches!(trouble, Trouble::SpeaksTls | Trouble::Ended(_));
    assert!(is_it && text.contains("write `rediss://`"), "{text}");
}

#[test]
fn a_port_without_tls_is_to_be_written_so() {
    let folder = TempDir::new().unwrap();
    let files = Authority::new().sign(folder.path(), "redis", &[HOST], Good::Now);
    let server = Server::start();
    // What a handshake is to a Redis depends on its random bytes: a line, or not yet one.
    for _ in 0..3 {
        let short = std::time::Duration::from_millis(200);
        let (trouble, text) = told(to(&server, &files.authority).connect(short));
        assert!(matches!(trouble, Trouble::Tls(_)), "{text}");
        let what = ": if this port is one without TLS, write `redis://`";
        assert!(text.ends_with(what), "{text}");
    }
}

#[test]
fn a_certificate_that_is_not_good_says_what_to_give() {
    let folder = TempDir::new().unwrap();
    let (ours, others) = (Authority::new(), Authority::new());
    let sign = |name: &str, host: &str, good| ours.sign(folder.path(), name, &[host], good);
    let good = sign("good", HOST, Good::Now);
    let strange = others.sign(folder.path(), "strange", &[HOST], Good::Now);
    let its_own = Authority::sign_itself(folder.path(), "its-own", &[HOST]);
    for (files, authority, says) in [
        (
            &good,
            &strange.authority,
            [
                "is not trusted, as nobody known vouches for it: give who does by",
                "`FleetBuilder::root_certificates`",
            ],
        ),
        (
            &sign("expired", HOST, Good::Expired),
            &good.authority,
            ["has expired: give redis a new one", "clock"],
        ),
        (
            &sign("another", "redis.example", Good::Now),
            &good.authority,
            [
                "is another host's: write a host that it is for in the address",
                "give redis one that is for this host",
            ],
        ),
        (
            &its_own,
            &its_own.authority,
            ["can't be trusted", "`FleetBuilder::root_certificates`"],
        ),
    ] {
        let server = with_tls(files, false);
        let (trouble, text) = told(to(&server, authority));
        assert!(matches!(trouble, Trouble::Tls(_)), "{text}");
        for says in says {
            assert!(text.contains(says), "{text}");
        }
    }
}

#[test]
fn a_server_that_asks_who_this_is_says_what_to_give() {
    let folder = TempDir::new().unwrap();
    let ours = Authority::new();
    let sign = |name: &str, good| ours.sign(folder.path(), name, &[HOST], good);
    let files = sign("redis", Good::Now);
    let server = with_tls(&files, true);
    let expired = sign("expired", Good::Expired);
    let read = |path: &Path| fs::read(path).unwrap();
    let late = (read(&expired.certificate), read(&expired.key));
    for (who, says) in [
        (None, "the other side asks for a client certificate"),
        (Some(late), "the client certificate has expired"),
    ] {
        let mut fleet = to(&server, &files.authority);
        if let Some((certificate, key)) = who {
            fleet = fleet.client_certificate(certificate, key);
        }
        let (trouble, text) = told(fleet);
        assert!(matches!(trouble, Trouble::Tls(_)), "{text}");
        assert!(text.contains(says), "{text}");
        assert!(
            text.ends_with(": give one that it trusts by `FleetBuilder::client_certificate`"),
            "{text}"
        );
    }
}
