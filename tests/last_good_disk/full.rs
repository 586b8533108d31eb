//! Disks that are full: a limit of the operating system, and a small file system.
#![cfg(target_os = "linux")]

use super::*;
use std::process::{Command, Output};

/// The file, in the environment of the process that has no room.
const FILE: &str = "LAST_GOOD_DISK_FULL";

/// The process that has no room: this test, started again.
#[test]
fn saves_until_there_is_no_room() {
    let Some(path) = std::env::var_os(FILE) else {
        return;
    };
    let disk = open::<String>(Path::new(&path));
    let old = "old".to_owned();
    save(&disk, "key", &old).unwrap();
    // Others have their part of the disk, and give some of it back each time.
    let others = |round| Path::new(&path).with_extension(format!("other{round}"));
    for round in 0..5 {
        std::fs::write(others(round), vec![1; 100_000]).unwrap();
    }
    for round in 0..5 {
        let mut error = None;
        let mut saved = 0;
        for number in 0..100 {
            let long = format!("{round} {number} {}", "v".repeat(100_000));
            match save(&disk, &format!("long {number}"), &long) {
                Ok(()) => saved += 1,
                Err(full) => {
                    error = Some(full);
                    break;
                }
            }
        }
        let error = error.expect("there was room for 10 MB");
        assert!(matches!(error, DiskError::Full { .. }), "{error}");
        assert!(saved > 0);
        // What was there is there still, and can be read again and again.
        assert_eq!(text(&disk, "key"), Some(old.clone()));
        for number in 0..saved {
            let found = text(&disk, &format!("long {number}")).unwrap();
            assert!(found.starts_with(&format!("{round} {number} ")));
        }
        // The next one that is as long fails, too, and takes nothing away.
        let long = "v".repeat(3_000_000);
        assert!(matches!(
            save(&disk, "key", &long),
            Err(DiskError::Full { .. })
        ));
        assert_eq!(text(&disk, "key"), Some(old.clone()));
        // Room is made.
        std::fs::remove_file(others(round)).unwrap();
        for number in 0..saved {
            disk.remove_now(&format!("long {number}")).unwrap();
        }
        save(&disk, "round", &round.to_string()).unwrap();
    }
    drop(disk);
    let disk = open::<String>(Path::new(&path));
    assert_eq!(text(&disk, "key"), Some(old));
    assert_eq!(text(&disk, "round").as_deref(), Some("4"));
    println!("{FILE}: all is well");
}

/// Runs it under that shell script, in which `"$@"` is the process.
fn run(script: &str, place: &Somewhere) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "full::saves_until_there_is_no_room",
        "--nocapture",
    ]);
    command.env(FILE, &place.path);
    command.env("DIRECTORY", place.directory.path());
    command.output().unwrap()
}

fn assert_well(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("all is well"), "{said}\n{errors}");
    assert!(output.status.success(), "{said}\n{errors}");
}

#[test]
fn a_file_that_may_not_grow() {
    let place = somewhere();
    // 4096 half kilobytes. The signal would end the process.
    let output = run("trap '' XFSZ; ulimit -f 4096; exec \"$@\"", &place);
    assert_well(&output);
    assert_eq!(text(&open(&place.path), "key").as_deref(), Some("old"));
}

#[test]
fn a_file_system_without_room() {
    let place = somewhere();
    let mount = "mount -t tmpfs -o size=2m none \"$DIRECTORY\"";
    let may = Command::new("unshare")
        .args(["-m", "sh", "-c", mount])
        .env("DIRECTORY", place.directory.path())
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        return; // this user may not mount one
    }
    let script = format!("exec unshare -m sh -c '{mount} && exec \"$@\"' sh \"$@\"");
    assert_well(&run(&script, &place));
}
