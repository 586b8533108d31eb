//! Every message, and every option that must compile: `tests/ui/`.
//!
//! What is in `fail/` is worded here, and compared everywhere. What is in `fail/rustc/` shows
//! the compiler's own words as well, and is compared only on the compiler that wrote it.
//! Renew both by `TRYBUILD=overwrite cargo test --test ui`, and read what changed.

#[path = "ui/compiler.rs"]
mod compiler;

#[test]
fn ui() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/ui/pass/*.rs");
    tests.compile_fail("tests/ui/fail/*.rs");
    if compiler::wrote("tests/ui/fail/rustc") {
        tests.compile_fail("tests/ui/fail/rustc/*.rs");
    }
}
