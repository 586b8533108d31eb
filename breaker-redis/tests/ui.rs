//! What the compiler says of mistakes with sharing.
//!
//! Renew by `TRYBUILD=overwrite cargo test -p breaker-redis --test ui`. The compiler's own words show as
//! well, so they are compared only on the compiler that wrote them.

#[path = "../../tests/ui/compiler.rs"]
mod compiler;

#[test]
fn what_is_wrong_is_named() {
    if compiler::wrote("tests/ui") {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
}
