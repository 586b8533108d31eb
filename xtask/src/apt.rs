//! Debian's packages, for what neither rustup nor npm has.

use std::process::Command;

use crate::tools::succeeds;

/// True if the packages are installed now.
pub(crate) fn install(packages: &[&str]) -> bool {
    println!("installing {}", packages.join(", "));
    let mut update = Command::new("apt-get");
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    succeeds(update.args(["update", "--quiet"]))
        && succeeds(install.args(["install", "--yes", "--quiet"]).args(packages))
}
