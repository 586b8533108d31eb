//! Files that are databases, but not of last-good answers, or not of this format.

use super::super::opening::Place;
use super::super::tables::FORMAT;
use super::*;
use redb::{Database, TableDefinition};
use std::fs;

/// A database that was closed as usual.
fn database(path: &Path, name: &str, key: &str, value: u64) {
    let database = Database::create(path).unwrap();
    let transaction = database.begin_write().unwrap();
    let table: TableDefinition<'_, &str, u64> = TableDefinition::new(name);
    transaction
        .open_table(table)
        .unwrap()
        .insert(key, value)
        .unwrap();
    transaction.commit().unwrap();
}

#[test]
fn somebody_elses_database_is_left_as_it_is() {
    let place = somewhere();
    database(&place.path, "users", "count", 7);
    let before = fs::read(&place.path).unwrap();
    let error = Answers::open(&place.path).unwrap_err();
    assert!(matches!(error, DiskError::NotOurs { .. }), "{error}");
    let error = Answers::open_or_replace(&place.path, each()).unwrap_err();
    assert!(matches!(error, DiskError::NotOurs { .. }), "{error}");
    assert!(fs::read(&place.path).unwrap() == before);
}

#[test]
fn another_format_is_named() {
    let place = somewhere();
    database(
        &place.path,
        "breakerbox.last_good.format",
        "format",
        FORMAT + 1,
    );
    let error = Answers::open(&place.path).unwrap_err();
    assert!(
        matches!(error, DiskError::Format { found, .. } if found == FORMAT + 1),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("have format 2, this version knows 1: use"),
        "{error}"
    );
    let error = Answers::open_or_replace(&place.path, each()).unwrap_err();
    assert!(matches!(error, DiskError::Format { .. }), "{error}");
    assert!(place.path.exists());
}

#[test]
fn a_file_without_tables_or_format_is_damaged() {
    for name in [
        "breakerbox.last_good.format",
        "breakerbox.last_good.answers",
    ] {
        let place = somewhere();
        database(&place.path, name, "something else", 1);
        let error = Answers::open(&place.path).unwrap_err();
        let damaged = matches!(error, DiskError::Corrupt { .. } | DiskError::NotOurs { .. });
        assert!(damaged, "{error}");
    }
}

#[test]
fn what_a_file_is_is_known_wherever_the_mark_stands() {
    use super::super::opening::is_ours;
    use super::super::tables::MARK;
    const STEP: usize = 64 << 10;
    let place = somewhere();
    for at in [0, 1, STEP - MARK.len(), STEP - 1, STEP, 3 * STEP - 7] {
        let mut bytes = vec![b'b'; 4 * STEP];
        bytes[at..at + MARK.len()].copy_from_slice(MARK.as_bytes());
        fs::write(&place.path, &bytes).unwrap();
        let file = FileBackend::new(fs::File::open(&place.path).unwrap()).unwrap();
        assert!(is_ours(&file).unwrap(), "{at}");
        bytes[at] = b'B';
        drop(file);
        fs::write(&place.path, &bytes).unwrap();
        let file = FileBackend::new(fs::File::open(&place.path).unwrap()).unwrap();
        assert!(!is_ours(&file).unwrap(), "{at}");
    }
}

#[test]
fn who_comes_late_to_make_a_file_leaves_the_one_that_was_made() {
    let place = somewhere();
    save(&open(&place.path), 1, "one").unwrap();
    let late = Place {
        path: place.path.clone(),
        settings: each(),
    };
    assert!(late.create().unwrap().is_none());
    assert_eq!(load(&open(&place.path), 1).unwrap().as_deref(), Some("one"));
    assert_eq!(fs::read_dir(place.directory.path()).unwrap().count(), 1);
}
