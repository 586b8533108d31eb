//! A database that panics.

use super::*;

#[derive(Clone, Copy, PartialEq)]
enum Panicking {
    No,
    Always,
    /// Whenever the database writes: it does while it opens.
    Writing,
}

impl Watch for Panicking {
    fn asked(&mut self, what: &Asked<'_>) -> Then {
        let now = match self {
            Self::No => false,
            Self::Always => true,
            Self::Writing => matches!(what, Asked::Write(..)),
        };
        assert!(!now, "as the database does where it finds nonsense");
        Then::Do
    }
}

fn panicking(watch: &Arc<Mutex<Panicking>>, now: Panicking) {
    *watch.lock().unwrap_or_else(PoisonError::into_inner) = now;
}

fn gave_up(error: &DiskError) -> bool {
    matches!(error, DiskError::GaveUp { .. })
        && error
            .to_string()
            .ends_with("(as the database does where it finds nonsense): open it again")
}

#[test]
fn a_panic_of_the_database_is_an_error_and_the_handle_does_nothing_more() {
    for while_saving in [true, false] {
        let place = somewhere();
        let (between, watch) = Between::new(Panicking::No);
        let disk = Disk::open_with(&place.path, watched(&between)).unwrap();
        // Longer than what the database keeps in memory.
        let long = "long".repeat(3_000_000);
        save(&disk, 1, &long).unwrap();
        panicking(&watch, Panicking::Always);
        let error = if while_saving {
            save(&disk, 1, "new").unwrap_err()
        } else {
            load(&disk, 1).unwrap_err()
        };
        assert!(gave_up(&error), "{error}");

        panicking(&watch, Panicking::No);
        assert!(gave_up(&save(&disk, 1, "new").unwrap_err()));
        assert!(gave_up(&load(&disk, 1).unwrap_err()));
        assert!(gave_up(&disk.count().unwrap_err()));
        assert!(gave_up(&disk.clone().remove_now(&1_u32).unwrap_err()));

        // Nobody has it open, and nothing is lost.
        let again = open(&place.path);
        assert_eq!(load(&again, 1).unwrap(), Some(long));
        save(&again, 1, "new").unwrap();
        assert_eq!(load(&again, 1).unwrap().as_deref(), Some("new"));
        drop(disk);
    }
}

#[test]
fn a_panic_while_it_opens_is_a_damaged_file() {
    let place = somewhere();
    let (between, watch) = Between::new(Panicking::No);
    drop(Answers::open_with(&place.path, watched(&between)).unwrap());
    panicking(&watch, Panicking::Writing);
    let error = Answers::open_with(&place.path, watched(&between)).unwrap_err();
    assert!(matches!(error, DiskError::Corrupt { .. }), "{error}");
    drop(open(&place.path));
}
