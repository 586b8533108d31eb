//! Saves at the same time, which wait for the disk together.

use super::super::file::lock;
use super::*;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Holds up the first write of the next transaction until it is told to go on.
#[derive(Default)]
struct Held {
    next: Option<(Sender<()>, Receiver<()>)>,
    syncs: usize,
    full: bool,
}

impl Watch for Held {
    fn asked(&mut self, what: &Asked<'_>) -> Then {
        match what {
            Asked::Write(..) => {
                if let Some((reached, go_on)) = self.next.take() {
                    reached.send(()).unwrap();
                    go_on.recv().unwrap();
                }
                if self.full {
                    return Then::Fail(ErrorKind::StorageFull.into());
                }
            }
            Asked::Sync => self.syncs += 1,
            _ => {}
        }
        Then::Do
    }
}

/// Saves one answer, and, while that is being written, 20 others. How those ended,
/// and how often the disk was waited for.
fn save_together(full: bool) -> (Answers, Vec<Result<(), DiskError>>, usize, Somewhere) {
    let place = somewhere();
    let (between, held) = Between::new(Held::default());
    let disk = Disk::open_with(&place.path, watched(&between)).unwrap();
    save(&disk, 0, "old").unwrap();
    let (reached, is_reached) = channel();
    let (go_on, goes_on) = channel();
    {
        let mut held = held.lock().unwrap();
        held.next = Some((reached, goes_on));
        held.full = full;
        held.syncs = 0;
    }
    let ended = thread::scope(|scope| {
        let first = scope.spawn(|| save(&disk, 0, "first"));
        is_reached.recv().unwrap();
        let disk = &disk;
        let others: Vec<_> = (1..=20)
            .map(|key| scope.spawn(move || save(disk, key, "together")))
            .collect();
        while lock(&disk.shared.file.queue).len() < 20 {
            thread::yield_now();
        }
        go_on.send(()).unwrap();
        let first = first.join().unwrap();
        assert_eq!(first.is_err(), full);
        others
            .into_iter()
            .map(|other| other.join().unwrap())
            .collect()
    });
    let syncs = held.lock().unwrap().syncs;
    held.lock().unwrap().full = false;
    (disk, ended, syncs, place)
}

#[test]
fn they_wait_once() {
    let (disk, ended, syncs, place) = save_together(false);
    assert!(ended.iter().all(Result::is_ok));
    // One for the first, one for the others.
    assert_eq!(syncs, 2);
    drop(disk);
    let disk = open(&place.path);
    for key in 1..=20 {
        assert_eq!(load(&disk, key).unwrap().as_deref(), Some("together"));
    }
}

#[test]
fn each_hears_that_it_failed() {
    let (disk, ended, _, _place) = save_together(true);
    for error in ended {
        assert!(matches!(error, Err(DiskError::Full { .. })), "{error:?}");
    }
    assert_eq!(load(&disk, 0).unwrap().as_deref(), Some("old"));
    assert_eq!(load(&disk, 7).unwrap(), None);
    save(&disk, 7, "room again").unwrap();
    assert_eq!(load(&disk, 7).unwrap().as_deref(), Some("room again"));
}
