//! Files that can't be opened, and what is done with them.

use super::*;
use breakerbox::last_good::Replaced;
use std::fs;

fn error(path: &Path) -> DiskError {
    Answers::open(path).unwrap_err()
}

#[test]
fn a_missing_directory() {
    let place = somewhere();
    let path = place.path.join("or not").join("answers.redb");
    let error = error(&path);
    assert!(matches!(&error, DiskError::MissingDirectory { path: found, .. } if *found == path));
    let expected = format!(
        "no directory for the last-good answers in `{}`: make it first",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(place.files().is_empty());
}

#[test]
fn a_directory() {
    let place = somewhere();
    let error = error(place.directory.path());
    assert!(matches!(error, DiskError::NotOurs { .. }), "{error}");
}

/// What the operating system says is an error's cause: who prints both says it once.
#[test]
fn a_directory_that_is_a_file_is_said_once() {
    let place = somewhere();
    fs::write(&place.path, "a file").unwrap();
    let error = error(&place.path.join("answers.redb"));
    assert!(matches!(error, DiskError::Io { .. }), "{error:?}");
    let cause = std::error::Error::source(&error)
        .expect("the system's")
        .to_string();
    assert!(
        !cause.is_empty() && !error.to_string().contains(&cause),
        "{error}: {cause}"
    );
}

#[test]
fn something_else_is_left_as_it_is() {
    let place = somewhere();
    for content in [
        "x",
        "rates = 120\n",
        &"a long text ".repeat(10_000),
        "redb",
        "redb\x1a\n\u{a9}\r\n",
    ] {
        fs::write(&place.path, content).unwrap();
        let why = error(&place.path);
        assert!(matches!(why, DiskError::NotOurs { .. }), "{why}");
        assert!(
            why.to_string()
                .ends_with("is no file of last-good answers: name another, or move it away")
        );
        let why = Answers::open_or_replace(&place.path, EACH).unwrap_err();
        assert!(matches!(why, DiskError::NotOurs { .. }), "{why}");
        assert!(fs::read_to_string(&place.path).unwrap() == content);
        assert_eq!(place.files(), ["answers.redb"]);
    }
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe() {
    let error = error(Path::new("/dev/null"));
    assert!(matches!(error, DiskError::NotOurs { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = somewhere();
    save(&open(&place.path), "key", &1).unwrap();
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o400)).unwrap();
    if fs::OpenOptions::new().write(true).open(&place.path).is_ok() {
        return; // this user may do everything
    }
    let error = error(&place.path);
    assert!(matches!(error, DiskError::Permission { .. }), "{error}");
}

#[test]
fn what_is_open_already() {
    let place = somewhere();
    let disk = open(&place.path);
    let in_use = error(&place.path);
    assert!(matches!(in_use, DiskError::InUse { .. }), "{in_use}");
    assert!(
        in_use
            .to_string()
            .ends_with("share one `Disk` by cloning it")
    );
    let in_use = Answers::open_or_replace(&place.path, EACH).unwrap_err();
    assert!(matches!(in_use, DiskError::InUse { .. }), "{in_use}");
    save(&disk, "key", &"still".to_owned()).unwrap();
    drop(disk);
    assert_eq!(text(&open(&place.path), "key").as_deref(), Some("still"));
}

#[test]
fn an_empty_file_is_a_new_one() {
    let place = somewhere();
    fs::write(&place.path, "").unwrap();
    let disk = open(&place.path);
    save(&disk, "key", &"value".to_owned()).unwrap();
    drop(disk);
    assert_eq!(text(&open(&place.path), "key").as_deref(), Some("value"));
    assert_eq!(place.files(), ["answers.redb"]);
}

#[test]
fn what_another_program_left_beside_it_is_no_matter() {
    let place = somewhere();
    fs::write(
        place.directory.path().join("answers.redb.breakerbox-new"),
        "rubbish",
    )
    .unwrap();
    save(&open(&place.path), "key", &"value".to_owned()).unwrap();
    assert_eq!(text(&open(&place.path), "key").as_deref(), Some("value"));
    assert_eq!(place.files(), ["answers.redb"]);
}

#[cfg(unix)]
#[test]
fn a_link_beside_it_leads_nowhere() {
    let place = somewhere();
    let victim = place.directory.path().join("victim");
    fs::write(&victim, "of somebody else").unwrap();
    let beside = place.directory.path().join("answers.redb.breakerbox-new");
    std::os::unix::fs::symlink(&victim, beside).unwrap();
    let error = error(&place.path);
    assert!(matches!(error, DiskError::NotOurs { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("answers.redb.breakerbox-new` is no file")
    );
    assert_eq!(fs::read_to_string(victim).unwrap(), "of somebody else");
}

#[test]
fn a_damaged_file_is_moved_aside_only_if_asked() {
    let place = somewhere();
    let zeros = vec![0; 100_000];
    fs::write(&place.path, &zeros).unwrap();
    let damaged = error(&place.path);
    assert!(matches!(damaged, DiskError::Corrupt { .. }), "{damaged}");
    assert!(
        damaged
            .to_string()
            .ends_with("`Disk::open_or_replace` moves the file aside and keeps what is undamaged")
    );
    assert!(fs::read(&place.path).unwrap() == zeros);

    for round in 1..=3 {
        fs::write(&place.path, &zeros).unwrap();
        let (disk, replaced) = Answers::open_or_replace(&place.path, EACH).unwrap();
        let Replaced { moved_to, why, .. } = replaced.unwrap();
        assert!(matches!(why, DiskError::Corrupt { .. }), "{why}");
        assert_eq!(moved_to.parent(), place.path.parent());
        let name = moved_to.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("answers.redb.damaged-"), "{name}");
        assert!(fs::read(&moved_to).unwrap() == zeros);
        assert_eq!(text(&disk, "key"), None);
        save(&disk, "key", &"value".to_owned()).unwrap();
        drop(disk);
        // None takes another's place.
        assert_eq!(place.files().len(), 1 + round);
        let (disk, replaced) = Answers::open_or_replace(&place.path, EACH).unwrap();
        assert!(replaced.is_none());
        assert_eq!(text(&disk, "key").as_deref(), Some("value"));
    }
}

#[test]
fn a_relative_path_without_a_directory() {
    let name = format!("last-good-{}.redb", std::process::id());
    let disk = open(Path::new(&name));
    save(&disk, "key", &"value".to_owned()).unwrap();
    assert_eq!(text(&disk, "key").as_deref(), Some("value"));
    drop(disk);
    fs::remove_file(name).unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_that_is_moved_or_removed_while_it_is_open() {
    for replaced in [false, true] {
        let place = somewhere();
        let disk = open(&place.path);
        save(&disk, "key", &"old".to_owned()).unwrap();
        let moved = place.path.with_extension("moved");
        fs::rename(&place.path, &moved).unwrap();
        if replaced {
            drop(open::<String>(&place.path));
        }
        for _ in 0..2 {
            // It would be lost.
            let error = save(&disk, "key", &"new".to_owned()).unwrap_err();
            assert!(matches!(error, DiskError::Gone { .. }), "{error}");
            assert!(
                error
                    .to_string()
                    .ends_with("while its last-good answers were in use: open it again")
            );
            assert_eq!(text(&disk, "key").as_deref(), Some("old"));
        }
        // Back in its place it is written again.
        fs::rename(&moved, &place.path).unwrap();
        save(&disk, "key", &"new".to_owned()).unwrap();
        drop(disk);
        assert_eq!(text(&open(&place.path), "key").as_deref(), Some("new"));
    }
}
