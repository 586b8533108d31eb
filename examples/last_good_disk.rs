//! What last-good answers in a file cost on the disk at hand.
//!
//! ```sh
//! cargo run --release --example last_good_disk --features last-good-disk
//! cargo run --release --example last_good_disk --features last-good-disk -- /var/lib/me
//! ```
//!
//! The file is made in the directory that is named, or in the current one, and removed
//! at the end.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use breakerbox::LastGood;
use breakerbox::last_good::{Disk, DiskError, DiskSettings};

type Answers = LastGood<u32, String, Disk<u32, String>>;

const ANSWERS: u32 = 10_000;
const THREADS: u32 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args_os()
        .nth(1)
        .map_or(PathBuf::from("."), PathBuf::from);
    let path = directory.join(format!("last-good-{}.redb", process::id()));
    let measured = measure(&path);
    fs::remove_file(&path)?;
    Ok(measured?)
}

fn measure(path: &Path) -> Result<(), DiskError> {
    let answers = open(path, Duration::ZERO)?;
    let answer = "a last good answer of one kilobyte ".repeat(30);
    println!("answers of {} bytes", answer.len());

    let rounds = 200;
    let started = Instant::now();
    for _ in 0..rounds {
        answers.store_now(&1_u32, &answer)?;
    }
    row("save", started.elapsed() / rounds);

    let started = Instant::now();
    thread::scope(|scope| {
        let save = |thread| {
            let (answers, answer) = (&answers, &answer);
            scope.spawn(move || (0..rounds).try_for_each(|_| answers.store_now(&thread, answer)))
        };
        let threads: Vec<_> = (0..THREADS).map(save).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    row(
        "save, of 16 threads at once",
        started.elapsed() / (rounds * THREADS),
    );

    let started = Instant::now();
    for _ in 0..100 * rounds {
        answers.load_now(&1_u32)?;
    }
    row("load", started.elapsed() / (100 * rounds));

    drop(answers);
    let answers = open(path, Duration::from_secs(3600))?;
    answers.store_now(&1_u32, &answer)?;
    let started = Instant::now();
    for _ in 0..1_000 * rounds {
        answers.store_now(&1_u32, &answer)?;
    }
    row(
        "save within `save_every`",
        started.elapsed() / (1_000 * rounds),
    );

    thread::scope(|scope| {
        let answers = &answers;
        let answer = &answer;
        let fill = |thread| {
            let keys = (0..ANSWERS).filter(move |key| key % THREADS == thread);
            scope.spawn(move || {
                keys.into_iter()
                    .try_for_each(|key| answers.store_now(&key, answer))
            })
        };
        let threads: Vec<_> = (0..THREADS).map(fill).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    drop(answers);
    let started = Instant::now();
    let answers = open(path, Duration::ZERO)?;
    row("open a file of 10,000", started.elapsed());
    assert_eq!(answers.backend().count()?, u64::from(ANSWERS));
    Ok(())
}

fn open(path: &Path, save_every: Duration) -> Result<Answers, DiskError> {
    let settings = DiskSettings::new().save_every(save_every);
    LastGood::on_disk_with(path, Duration::from_secs(3600), settings)
}

fn row(what: &str, time: Duration) {
    println!("{what:30} {time:>12.2?}");
}
