//! Which compiler's own words are expected.

use std::process::Command;

/// The compiler that wrote them.
const WRITTEN_BY: &str = "rustc 1.95.0";

/// Whether it is this one; if not, says what is skipped.
pub(crate) fn wrote(what: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let wrote = version.starts_with(WRITTEN_BY);
    if !wrote {
        println!(
            "skipped {what}: written by {WRITTEN_BY}, this is {}",
            version.trim()
        );
    }
    wrote
}
