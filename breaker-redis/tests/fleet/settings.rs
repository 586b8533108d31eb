//! Addresses and settings that can't work are refused, with what to write instead.

use crate::support::ROOT;
use breaker_redis::{Fleet, FleetBuilder};
use std::time::Duration;

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
        (plain().poll(Duration::ZERO), "`poll` is below 100 ms"),
        (plain().alive(Duration::ZERO), "`alive` is below 300 ms"),
        (plain().batch(Duration::ZERO), "`batch` is below 1 ms"),
        (
            plain().lease(Duration::from_millis(99)),
            "`lease` is below 100 ms",
        ),
        (plain().answer(Duration::ZERO), "`answer` is below 10 ms"),
        (plain().connect(Duration::ZERO), "`connect` is below 10 ms"),
        (plain().prefix("my shop"), "`prefix` must be 1 to 64"),
        (plain().instance(""), "`instance` must be 1 to 40"),
    ] {
        let text = refused(fleet);
        assert!(text.starts_with(expected), "{text}");
    }
}
