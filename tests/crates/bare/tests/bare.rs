//! Options that need a feature of breakerbox, without it: the message says which.
//!
//! Renew by `TRYBUILD=overwrite cargo test -p test-bare`. The compiler's own words show as well,
//! so they are compared only on the compiler that wrote them.

use std::process::Command;

const WRITTEN_BY: &str = "rustc 1.95.0";

#[test]
fn the_missing_feature_is_named() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    if version.starts_with(WRITTEN_BY) {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    } else {
        println!(
            "skipped: written by {WRITTEN_BY}, this is {}",
            version.trim()
        );
    }
}
