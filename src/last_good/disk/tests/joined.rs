//! Saves at the same time, which wait for the disk together.

use super::super::file::lock;
use super::*;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What changes as it goes on: nobody else can change it while it is held up.
type GoOn = Box<dyn FnOnce(&mut Held) + Send>;

/// Holds up the first write of the next transaction until it is told to go on.
#[derive(Default)]
struct Held {
    next: Option<(Sender<()>, Receiver<GoOn>)>,
    /// Not before so many syncs.
    after: usize,
    syncs: usize,
    full: bool,
}

impl Watch for Held {
    fn asked(&mut self, what: &Asked<'_>) -> Then {
        match what {
            Asked::Write(..) => {
                if self.syncs >= self.after
                    && let Some((reached, go_on)) = self.next.take()
                {
                    let _ = reached.send(());
                    if let Ok(go_on) = go_on.recv() {
                        go_on(self);
                    }
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
    let (go_on, goes_on) = channel::<GoOn>();
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
        while lock(&disk.shared.file.queue).waiting.len() < 20 {
            thread::yield_now();
        }
        go_on.send(Box::new(|_| ())).unwrap();
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

/// Else those who save again and again would each wait for all the others.
#[test]
fn who_is_done_doesnt_wait_for_the_next_write() {
    let place = somewhere();
    let (between, held) = Between::new(Held::default());
    let disk = Disk::open_with(&place.path, watched(&between)).unwrap();
    let (reached, first_reached) = channel();
    let (first, goes_on) = channel::<GoOn>();
    {
        let mut held = held.lock().unwrap();
        held.syncs = 0;
        held.next = Some((reached, goes_on));
    }
    let (ended, has_ended) = channel();
    thread::scope(|scope| {
        let disk = &disk;
        scope.spawn(|| save(disk, 0, "first").unwrap());
        first_reached.recv().unwrap();
        for key in 1..=8 {
            let ended = ended.clone();
            scope.spawn(move || {
                save(disk, key, "together").unwrap();
                ended.send(()).unwrap();
            });
        }
        while lock(&disk.shared.file.queue).waiting.len() < 8 {
            thread::yield_now();
        }
        // The file is in use by the first one, which is held up: so is this.
        let (last_reached, go_on_last) = (channel(), channel::<GoOn>());
        let next = (last_reached.0, go_on_last.1);
        first
            .send(Box::new(move |held: &mut Held| {
                held.next = Some(next);
                // The first one's, and that of the eight.
                held.after = 2;
            }))
            .unwrap();
        while lock(&disk.shared.file.queue).waiting.len() == 8 {
            thread::yield_now();
        }
        scope.spawn(|| save(disk, 9, "the next").unwrap());
        for _ in 0..8 {
            let within = Duration::from_secs(60);
            has_ended.recv_timeout(within).expect("they are done");
        }
        // If it was held up, and not written with the eight.
        let _ = go_on_last.0.send(Box::new(|_| ()));
    });
    assert_eq!(load(&disk, 9).unwrap().as_deref(), Some("the next"));
    assert_eq!(load(&disk, 8).unwrap().as_deref(), Some("together"));
}

#[test]
fn one_that_is_hardly_younger_than_the_one_being_written_waits_for_nothing() {
    let place = somewhere();
    let (between, held) = Between::new(Held::default());
    let settings = watched(&between).save_every(Duration::from_secs(3_600));
    let disk = Disk::open_with(&place.path, settings).unwrap();
    let (reached, is_reached) = channel();
    let (go_on, goes_on) = channel::<GoOn>();
    held.lock().unwrap().next = Some((reached, goes_on));
    thread::scope(|scope| {
        let first = scope.spawn(|| save(&disk, 0, "first"));
        is_reached.recv().unwrap();
        save(&disk, 0, "second").unwrap();
        go_on.send(Box::new(|_| ())).unwrap();
        first.join().unwrap().unwrap();
    });
    assert_eq!(load(&disk, 0).unwrap().as_deref(), Some("first"));
}
