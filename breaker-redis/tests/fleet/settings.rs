//! Addresses and settings that can't work are refused, with what to write instead.

#[cfg(feature = "cluster")]
#[path = "settings/nodes.rs"]
mod nodes;
#[path = "settings/times.rs"]
mod times;

use crate::support::ROOT;
use breaker_redis::{Fleet, FleetBuilder, FleetError};

#[test]
fn urls_and_settings_that_cannot_be_meant_are_refused_with_what_to_write_instead() {
    let refused = |fleet: FleetBuilder| fleet.start().unwrap_err().to_string();
    for password in ["hu#sh", "hu/sh", "hu?sh"] {
        let text = refused(Fleet::builder(format!("redis://somebody:{password}@redis")));
        assert!(text.contains("`%23`") && text.contains("`login`"), "{text}");
        assert!(!text.contains("hu") && !text.contains("somebody"), "{text}");
    }
    let plain = || Fleet::builder("redis://127.0.0.1:1");
    for (fleet, setting) in [
        (plain().root_certificates(ROOT), "root_certificates"),
        (
            plain().client_certificate(ROOT, "key"),
            "client_certificate",
        ),
    ] {
        let text = refused(fleet);
        assert!(
            text.starts_with(&format!("`{setting}` is for TLS")),
            "{text}"
        );
        assert!(text.contains("`rediss://host:6379`"), "{text}");
    }
    for (fleet, expected) in [
        (plain().prefix("my shop"), "`prefix` must be 1 to 64"),
        (plain().instance(""), "`instance` must be 1 to 40"),
    ] {
        let text = refused(fleet);
        assert!(text.starts_with(expected), "{text}");
    }
}

/// What the form of an address is said to be, where that is what is wrong.
const FORM: &str = "write `redis://host:6379`, `rediss://host:6379` for TLS, or `unix:///path";

#[test]
fn each_error_is_about_what_is_wrong_and_says_what_to_write() {
    type IsIt = fn(&FleetError) -> bool;
    let is_address: IsIt = |error| matches!(error, FleetError::Address(_));
    let of = |url: &str| Fleet::builder(url);
    let tls = cfg!(feature = "tls");
    let cluster = cfg!(feature = "cluster");
    let no_tls: (IsIt, &str) = (
        |error| matches!(error, FleetError::Feature { feature: "tls", .. }),
        "needs the feature `tls` of breaker-redis: add it in `Cargo.toml`",
    );
    let of_tls = |is_it: IsIt, text: &'static str| if tls { (is_it, text) } else { no_tls };
    let of_node: (IsIt, &str) = if cluster {
        (
            |error| {
                matches!(
                    error,
                    FleetError::Setting {
                        setting: "node",
                        ..
                    }
                )
            },
            "`node` is a node of a cluster, and each of them `redis://host:port`, or each",
        )
    } else {
        (
            |error| {
                matches!(
                    error,
                    FleetError::Feature {
                        feature: "cluster",
                        ..
                    }
                )
            },
            "needs the feature `cluster` of breaker-redis: add it in `Cargo.toml`",
        )
    };
    let is_certificate: IsIt = |error| matches!(error, FleetError::Certificate(_));
    let local = "redis://127.0.0.1:1";
    for (fleet, (is_it, text)) in [
        (
            of("127.0.0.1:6379"),
            (is_address, "it is no URL of a redis"),
        ),
        (
            of("http://127.0.0.1"),
            (is_address, "it is no URL of a redis"),
        ),
        (of("redis://"), (is_address, "can't be read (")),
        (
            of("redis://127.0.0.1/base"),
            (
                is_address,
                "what follows its host is no number of a database",
            ),
        ),
        // Without what follows, it would be another host, or another socket.
        (
            of("redis://host:12#34@redis"),
            (is_address, "there is a `#` in it"),
        ),
        (
            of("rediss://host:12#34@redis"),
            (is_address, "there is a `#` in it"),
        ),
        (
            of("unix:///tmp/redis#1.sock"),
            (is_address, "there is a `#` in it"),
        ),
        (
            of("rediss://127.0.0.1#insecure"),
            (
                |error| matches!(error, FleetError::Insecure),
                "the address ends in `#insecure`",
            ),
        ),
        (
            of("rediss://127.0.0.1").root_certificates("none"),
            of_tls(
                is_certificate,
                "TLS: the root certificates have none in PEM",
            ),
        ),
        (
            of("rediss://127.0.0.1")
                .root_certificates(ROOT)
                .client_certificate(ROOT, "key"),
            of_tls(
                is_certificate,
                "TLS: the key of the client certificate is no private key",
            ),
        ),
        (
            of("rediss://-_-").root_certificates(ROOT),
            of_tls(is_certificate, "TLS: the host in the address is no name"),
        ),
        (of(local).node("http://127.0.0.1"), of_node),
        (of(local).node("unix:///tmp/redis.sock"), of_node),
        (of(local).node("redis://host:12#34@redis"), of_node),
        (of("unix:///tmp/redis.sock").node(local), of_node),
        (
            of(local).prefix(""),
            (
                |error| {
                    matches!(
                        error,
                        FleetError::Setting {
                            setting: "prefix",
                            ..
                        }
                    )
                },
                "`prefix` must be 1 to 64 of ASCII's visible characters",
            ),
        ),
    ] {
        let error = fleet.start().expect_err(text);
        let said = error.to_string();
        assert!(is_it(&error), "{error:?}, not: {text}");
        assert!(said.contains(text), "{said}");
        assert_eq!(said.contains(FORM), is_address(&error), "{said}");
        assert!(!said.contains("34"), "a secret: {said}");
        // What is wrong, then what to write.
        let tells = [": write ", ": add ", ": leave ", ": give ", "such as "];
        assert!(
            tells.iter().any(|tell| said.contains(tell)) || is_address(&error),
            "{said}"
        );
    }
}

/// Each of these would otherwise be another address than what is written.
#[test]
fn what_an_address_says_is_never_ignored() {
    for (url, expected) in [
        ("redis://127.0.0.1:1?db=3", "`redis://host:6379/3`"),
        (
            "redis://127.0.0.1:1/3?user=somebody&pass=hush",
            "there is a `?` in it",
        ),
        ("unix:///tmp/redis.sock?database=3", "there is a `?` in it"),
        (
            "redis://127.0.0.1:1?protocol=resp2",
            "another protocol than RESP3",
        ),
        (
            "redis://127.0.0.1:1?protocol=hush",
            "another protocol than RESP3",
        ),
        ("redis://127.0.0.1:1/3/4", "no number of a database"),
        ("redis://127.0.0.1:1/somebody", "no number of a database"),
        (
            "redis://127.0.0.1:1/99999999999999999999",
            "no number of a database",
        ),
        ("unix:///tmp/redis.sock?db=hush", "parts that can't be read"),
        ("redis://0.0.0.0", "no host to connect to"),
        ("redis://somebody@127.0.0.1", "a user and no password"),
        ("redis://somebody:@127.0.0.1", "a user and no password"),
    ] {
        let error = Fleet::builder(url).start().unwrap_err();
        assert!(matches!(error, FleetError::Address(_)), "{url}: {error:?}");
        let said = error.to_string();
        assert!(said.contains(expected) && said.contains(FORM), "{said}");
        assert!(
            !said.contains("hush") && !said.contains("somebody"),
            "{said}"
        );
    }
    for url in [
        "redis://127.0.0.1/-1",
        "redis://127.0.0.1/2147483648",
        "redis://127.0.0.1/-9223372036854775808",
        "unix:///tmp/redis.sock?db=-1",
    ] {
        let error = Fleet::builder(url).start().unwrap_err();
        assert!(matches!(error, FleetError::Database(_)), "{url}: {error:?}");
        let said = error.to_string();
        assert!(
            said.contains("below 0") && said.contains(": write "),
            "{said}"
        );
        assert!(said.contains("`redis://host:6379/3`"), "{said}");
    }
    for works in [
        Fleet::builder("redis://127.0.0.1:1/3?protocol=resp3"),
        Fleet::builder("unix:///tmp/no-redis.sock?db=3&user=somebody&pass=hush"),
        Fleet::builder("redis://somebody@127.0.0.1:1").login("somebody", ""),
    ] {
        works.start().expect("a fleet");
    }
}
