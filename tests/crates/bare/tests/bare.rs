//! Options that need a feature of breakerbox, without it: the message says which.
//!
//! Renew by `TRYBUILD=overwrite cargo test -p test-bare`. The compiler's own words show as well,
//! so they are compared only on the compiler that wrote them.

#[path = "../../../ui/compiler.rs"]
mod compiler;

#[test]
fn the_missing_feature_is_named() {
    if compiler::wrote("tests/ui") {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
}
