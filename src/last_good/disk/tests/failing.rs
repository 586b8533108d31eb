//! A disk that is full, or fails, at every operation in turn.

use super::*;
use std::io::ErrorKind;

/// Fails from one operation on, or that one alone, until it is healed.
struct Failing {
    /// Operations until then.
    left: Option<usize>,
    kind: ErrorKind,
    once: bool,
    /// Whether reading fails, too.
    reads: bool,
    /// Bytes of a write that get there before it fails.
    part: usize,
    failed: usize,
}

impl Failing {
    fn healthy(kind: ErrorKind) -> Self {
        Self {
            left: None,
            kind,
            once: false,
            reads: false,
            part: 0,
            failed: 0,
        }
    }
}

impl Watch for Failing {
    fn asked(&mut self, what: &Asked<'_>) -> Then {
        if matches!(what, Asked::Read) && !self.reads {
            return Then::Do;
        }
        let Some(left) = &mut self.left else {
            return Then::Do;
        };
        if *left > 0 {
            *left -= 1;
            return Then::Do;
        }
        self.failed += 1;
        if self.once {
            self.left = None;
        }
        let error = self.kind.into();
        match (what, self.part) {
            (Asked::Write(..), part) if part > 0 => Then::FailAfter(part, error),
            _ => Then::Fail(error),
        }
    }
}

/// Saves with a failure at each operation in turn, until there was none.
fn fail_everywhere(once: bool, part: usize, kind: ErrorKind, is: impl Fn(&DiskError) -> bool) {
    let (between, failing) = Between::new(Failing::healthy(kind));
    let new = "new".repeat(3_000);
    for at in 0.. {
        let place = somewhere();
        let disk = Disk::open_with(&place.path, watched(&between)).unwrap();
        save(&disk, 1, "old").unwrap();
        save(&disk, 2, "other").unwrap();
        {
            let mut failing = failing.lock().unwrap();
            failing.failed = 0;
            failing.left = Some(at);
            failing.once = once;
            failing.part = part;
        }
        let saved = save(&disk, 1, &new);
        if failing.lock().unwrap().failed == 0 {
            saved.unwrap();
            assert!(at > 5, "too few operations: {at}");
            return;
        }
        let error = saved.unwrap_err();
        assert!(is(&error), "operation {at}: {error}");

        // Read while the disk still fails.
        let found = load(&disk, 1).unwrap();
        let found = found.as_deref();
        assert!(
            found == Some("old") || found == Some(&new),
            "operation {at}"
        );
        assert_eq!(load(&disk, 2).unwrap().as_deref(), Some("other"));
        if !once {
            assert!(save(&disk, 2, "no room").is_err());
            assert_eq!(load(&disk, 2).unwrap().as_deref(), Some("other"));
        }

        // There is room again.
        failing.lock().unwrap().left = None;
        save(&disk, 3, "room again").unwrap();
        assert_eq!(load(&disk, 3).unwrap().as_deref(), Some("room again"));
        drop(disk);
        let disk = open(&place.path);
        let found = load(&disk, 1).unwrap();
        let found = found.as_deref();
        assert!(
            found == Some("old") || found == Some(&new),
            "operation {at}"
        );
        assert_eq!(load(&disk, 2).unwrap().as_deref(), Some("other"));
        assert_eq!(load(&disk, 3).unwrap().as_deref(), Some("room again"));
    }
}

fn is_full(error: &DiskError) -> bool {
    matches!(error, DiskError::Full { .. }) && error.to_string().starts_with("no room to save")
}

#[test]
fn a_full_disk_leaves_the_old_answer() {
    fail_everywhere(false, 0, ErrorKind::StorageFull, is_full);
}

#[test]
fn a_disk_that_is_full_for_one_write_leaves_the_old_answer() {
    fail_everywhere(true, 0, ErrorKind::StorageFull, is_full);
}

#[test]
fn a_disk_that_takes_a_part_of_a_write_leaves_the_old_answer() {
    fail_everywhere(false, 100, ErrorKind::StorageFull, is_full);
}

#[test]
fn a_failing_disk_leaves_the_old_answer() {
    let is_io = |error: &DiskError| matches!(error, DiskError::Io { .. });
    fail_everywhere(false, 0, ErrorKind::Other, is_io);
}

#[test]
fn what_cant_be_read_is_an_error_until_it_can() {
    let (between, failing) = Between::new(Failing::healthy(ErrorKind::Other));
    let place = somewhere();
    let long = "long".repeat(3_000_000);
    let disk = Disk::open_with(&place.path, watched(&between)).unwrap();
    // Longer than what the database keeps in memory.
    save(&disk, 1, &long).unwrap();
    {
        let mut failing = failing.lock().unwrap();
        failing.reads = true;
        failing.left = Some(0);
    }
    for _ in 0..2 {
        let error = load(&disk, 1).unwrap_err();
        assert!(matches!(error, DiskError::Io { .. }), "{error}");
    }
    failing.lock().unwrap().left = None;
    assert_eq!(load(&disk, 1).unwrap().as_ref(), Some(&long));
    save(&disk, 1, "new").unwrap();
    assert_eq!(load(&disk, 1).unwrap().as_deref(), Some("new"));
}

#[test]
fn a_disk_that_fails_is_asked_again_once_in_save_every() {
    let scope = crate::test::scope();
    let (between, failing) = Between::new(Failing::healthy(ErrorKind::StorageFull));
    let place = somewhere();
    let settings = watched(&between).save_every(Duration::from_secs(5));
    let disk = Disk::open_with(&place.path, settings).unwrap();
    save(&disk, 1, "old").unwrap();
    failing.lock().unwrap().left = Some(0);
    scope.advance(Duration::from_secs(5));
    let failed = || failing.lock().unwrap().failed;

    assert!(is_full(&save(&disk, 1, "new").unwrap_err()));
    let after_one = failed();
    for key in 0..100 {
        assert!(is_full(&save(&disk, key, "new").unwrap_err()));
    }
    assert_eq!(failed(), after_one, "the disk was not asked");

    failing.lock().unwrap().left = None;
    scope.advance(Duration::from_secs(5) - Duration::from_nanos(1));
    assert!(save(&disk, 1, "new").is_err());
    scope.advance(Duration::from_nanos(1));
    save(&disk, 1, "new").unwrap();
    save(&disk, 2, "new").unwrap();
    assert_eq!(load(&disk, 1).unwrap().as_deref(), Some("new"));
}

#[test]
fn making_a_file_on_a_full_disk_is_an_error_and_leaves_nothing() {
    let (between, failing) = Between::new(Failing::healthy(ErrorKind::StorageFull));
    for at in 0.. {
        let place = somewhere();
        {
            let mut failing = failing.lock().unwrap();
            failing.failed = 0;
            failing.left = Some(at);
        }
        let opened = Answers::open_with(&place.path, watched(&between));
        if failing.lock().unwrap().failed == 0 {
            opened.unwrap();
            assert!(at > 5, "too few operations: {at}");
            return;
        }
        assert!(is_full(&opened.unwrap_err()), "operation {at}");
        let there = std::fs::read_dir(place.directory.path()).unwrap().count();
        assert_eq!(there, 0, "operation {at}");
        save(&open(&place.path), 1, "there is room").unwrap();
    }
}
