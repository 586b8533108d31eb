//! What is in the file, and in memory beside it.

use super::*;
use crate::last_good::moment::{Given, Moment};
use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};
use std::fs;

#[test]
fn what_is_kept_of_what_was_written_is_bounded() {
    let place = somewhere();
    let settings = each().max_answers(10);
    let disk = Answers::open_with(&place.path, settings).unwrap();
    for key in 0..100 {
        save(&disk, key, "answer").unwrap();
    }
    assert_eq!(disk.count().unwrap(), 10);
    assert_eq!(disk.shared.pace.len(), 10);
    disk.remove_now(&99_u32).unwrap();
    assert_eq!(disk.shared.pace.len(), 9);
}

#[test]
fn an_answer_that_is_saved_again_leaves_nothing_behind() {
    let place = somewhere();
    let disk = open(&place.path);
    for round in 0..30 {
        save(&disk, round % 3, "answer").unwrap();
    }
    disk.remove_now(&2_u32).unwrap();
    drop(disk);
    let database = Database::open(&place.path).unwrap();
    let transaction = database.begin_read().unwrap();
    let order: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("breakerbox.last_good.order");
    let answers: TableDefinition<'_, &[u8], &[u8]> =
        TableDefinition::new("breakerbox.last_good.answers");
    assert_eq!(transaction.open_table(answers).unwrap().len().unwrap(), 2);
    assert_eq!(transaction.open_table(order).unwrap().len().unwrap(), 2);
}

#[test]
fn what_is_kept_of_what_was_given_up_is_bounded() {
    let place = somewhere();
    let disk = Answers::open_with(&place.path, each().max_answers(5)).unwrap();
    for key in 0..20 {
        save(&disk, key, "answer").unwrap();
        disk.remove_now(&key).unwrap();
        // Of what is not there nothing is kept.
        disk.remove_now(&(key + 100)).unwrap();
    }
    assert_eq!(disk.count().unwrap(), 0);
    drop(disk);
    let database = Database::open(&place.path).unwrap();
    let transaction = database.begin_read().unwrap();
    let forgotten: TableDefinition<'_, u64, &[u8]> =
        TableDefinition::new("breakerbox.last_good.forgotten");
    let forgotten = transaction.open_table(forgotten).unwrap();
    assert_eq!(forgotten.len().unwrap(), 5);
}

#[test]
fn letting_a_file_go_writes_nothing() {
    let place = somewhere();
    let disk = open(&place.path);
    save(&disk, 1, "one").unwrap();
    let before = fs::read(&place.path).unwrap();
    drop(disk);
    assert!(fs::read(&place.path).unwrap() == before);
}

#[test]
fn within_a_process_a_clock_that_was_set_back_makes_no_answer_younger() {
    const SECOND: u64 = 1_000_000_000;
    let place = somewhere();
    let disk = open(&place.path);
    let scope = crate::test::scope();
    save(&disk, 1, "one").unwrap();
    let now = Moment::now();
    let later = Moment::at(
        now.monotonic() + 90 * SECOND,
        now.wall() - i128::from(60 * SECOND),
    );
    let key = disk.shared.key(&1_u32).unwrap();
    let age = |disk: &Answers, now| disk.shared.load::<String>(&key, now).unwrap().unwrap().age;
    assert_eq!(age(&disk, later), Duration::from_secs(90));
    assert_eq!(
        Given::new(now, Duration::ZERO).age(later),
        Duration::from_secs(90)
    );
    // One by the wall clock alone.
    drop(disk);
    let disk = open(&place.path);
    assert_eq!(age(&disk, later), Duration::ZERO);
    scope.advance(Duration::from_secs(5));
    assert_eq!(age(&disk, Moment::now()), Duration::from_secs(5));
}
