//! Many threads, one file.

use super::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[test]
fn threads_save_and_load_side_by_side() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 40;
    let place = somewhere();
    let disk = open::<(usize, usize)>(&place.path);
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (disk, barrier) = (disk.clone(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..ROUNDS {
                    save(&disk, &format!("own {thread}"), &(thread, round)).unwrap();
                    save(&disk, "shared", &(thread, round)).unwrap();
                    let own = load(&disk, &format!("own {thread}")).unwrap();
                    assert_eq!(own, Some((thread, round)));
                    let (other, its) = load(&disk, "shared").unwrap().unwrap();
                    assert!(other < THREADS && its < ROUNDS);
                }
            });
        }
    });
    assert_eq!(disk.count().unwrap(), THREADS as u64 + 1);
    drop(disk);
    let disk = open::<(usize, usize)>(&place.path);
    for thread in 0..THREADS {
        let own = load(&disk, &format!("own {thread}")).unwrap();
        assert_eq!(own, Some((thread, ROUNDS - 1)));
    }
}

#[test]
fn what_was_saved_is_loaded_by_every_thread_from_then_on() {
    let place = somewhere();
    let disk = open::<u64>(&place.path);
    let saved = AtomicU64::new(0);
    save(&disk, "key", &0).unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let before = saved.load(Ordering::Acquire);
                    let found = load(&disk, "key").unwrap().unwrap();
                    assert!(found >= before, "{found} after {before}");
                    if before == 100 {
                        return;
                    }
                }
            });
        }
        for number in 1..=100 {
            save(&disk, "key", &number).unwrap();
            saved.store(number, Ordering::Release);
        }
    });
}

#[test]
fn one_handle_at_a_time_has_the_file() {
    let place = somewhere();
    drop(open::<u64>(&place.path));
    let opened = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    match Disk::<String, u64>::open_with(&place.path, EACH) {
                        Ok(disk) => {
                            let number = load(&disk, "opened").unwrap().unwrap_or(0) + 1;
                            save(&disk, "opened", &number).unwrap();
                            opened.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(DiskError::InUse { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let disk = open::<u64>(&place.path);
    assert_eq!(load(&disk, "opened").unwrap(), Some(opened.into_inner()));
}

#[test]
fn of_those_who_make_the_file_at_once_one_does() {
    for _ in 0..20 {
        let place = somewhere();
        let barrier = Barrier::new(4);
        let disks: Vec<_> = thread::scope(|scope| {
            let open = || {
                barrier.wait();
                Disk::<String, u64>::open_with(&place.path, EACH)
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let mut made = 0;
        for disk in &disks {
            match disk {
                Ok(disk) => {
                    made += 1;
                    save(disk, "key", &made).unwrap();
                }
                Err(DiskError::InUse { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(made, 1);
        drop(disks);
        assert_eq!(place.files(), ["answers.redb"]);
        assert_eq!(load(&open::<u64>(&place.path), "key").unwrap(), Some(1));
    }
}

/// How often: `ROUNDS=3000` for more.
fn rounds() -> u64 {
    let given = std::env::var("ROUNDS").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(100)
}

/// The next answer is not taken for one that was written a moment ago.
#[test]
fn what_is_forgotten_while_it_is_saved_can_be_saved_again() {
    let place = somewhere();
    let settings = DiskSettings::new().save_every(Duration::from_secs(3_600));
    let disk = Disk::<String, u64>::open_with(&place.path, settings).unwrap();
    for round in 0..rounds() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                save(&disk, "key", &round).unwrap();
            });
            barrier.wait();
            disk.remove_now("key").unwrap();
        });
        save(&disk, "key", &round).unwrap();
        assert_eq!(load(&disk, "key").unwrap(), Some(round));
        disk.remove_now("key").unwrap();
    }
}
