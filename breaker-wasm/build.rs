//! How the module is linked, whoever builds it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let family = std::env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default();
    if family != "wasm" {
        return;
    }
    let arguments = [
        // Nothing here recurses.
        "-zstack-size=16384",
        // The standard library says that it uses reference types, which nothing of
        // it does that is linked here; wasm-bindgen would answer with imports.
        "--no-check-features",
        "--features=bulk-memory,multivalue,mutable-globals,nontrapping-fptoint,sign-ext",
    ];
    for argument in arguments {
        println!("cargo::rustc-link-arg-cdylib={argument}");
    }
}
