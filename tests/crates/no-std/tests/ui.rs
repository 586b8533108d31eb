//! What can't be had without std. The compiler's own words show as well.

#[path = "../../../ui/compiler.rs"]
mod compiler;

#[test]
fn ui() {
    if compiler::wrote("tests/ui") {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
}
