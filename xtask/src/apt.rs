//! Debian's packages, for what neither rustup nor npm has.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
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

/// True if the package's files are in the folder now. It is not installed: nothing in it is started,
/// and nothing it depends on is fetched.
pub(crate) fn unpack(package: &str, into: &Path) -> bool {
    println!("fetching {package}");
    if fs::create_dir_all(into).is_err() {
        return false;
    }
    let fetch = || {
        let mut download = Command::new("apt-get");
        download.args(["download", "--quiet", package]);
        succeeds(download.current_dir(into))
    };
    let update = || succeeds(Command::new("apt-get").args(["update", "--quiet"]));
    let fetched = fetch() || (update() && fetch());
    match archives(into).ok().filter(|_| fetched) {
        Some(archives) => archives.iter().all(|archive| {
            succeeds(Command::new("dpkg").arg("-x").arg(archive).arg(into))
                && fs::remove_file(archive).is_ok()
        }),
        None => false,
    }
}

fn archives(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut archives = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("deb")) {
            archives.push(path);
        }
    }
    Ok(archives)
}
