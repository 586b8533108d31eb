//! Every message, and every option that must compile: `tests/ui/`.
//!
//! What is in `fail/` is worded here, and compared everywhere. What is in `fail/rustc/` shows
//! the compiler's own words as well, and is compared only on the compiler that wrote it.
//! Renew both by `TRYBUILD=overwrite cargo test --test ui`, and read what changed.

use std::process::Command;

/// The compiler that wrote `fail/rustc/*.stderr`.
const WRITTEN_BY: &str = "rustc 1.95.0";

#[test]
fn ui() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/ui/pass/*.rs");
    tests.compile_fail("tests/ui/fail/*.rs");

    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    if version.starts_with(WRITTEN_BY) {
        tests.compile_fail("tests/ui/fail/rustc/*.rs");
    } else {
        println!(
            "skipped tests/ui/fail/rustc: written by {WRITTEN_BY}, this is {}",
            version.trim()
        );
    }
}
