//! A process that is killed while it saves.
#![cfg(unix)]

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const KEYS: u64 = 4;
/// The file, in the killed process's environment.
const FILE: &str = "LAST_GOOD_DISK_KILLED";

fn key(number: u64) -> String {
    format!("key {}", number % KEYS)
}

/// The process that is killed: this test, started again.
#[test]
fn saves_until_it_is_killed() {
    let Some(path) = std::env::var_os(FILE) else {
        return;
    };
    let disk = Disk::<String, (u64, String)>::open_with(path, EACH.max_answers(10)).unwrap();
    let last = (0..KEYS).filter_map(|number| load(&disk, &key(number)).unwrap());
    let first = last.map(|(number, _)| number + 1).max().unwrap_or(0);
    let mut said = std::io::stdout();
    for number in first.. {
        let filler = "f".repeat((number as usize * 977) % 20_000);
        save(&disk, &key(number), &(number, filler)).unwrap();
        // Makes room again and again.
        save(
            &disk,
            &format!("other {}", number % 9),
            &(number, String::new()),
        )
        .unwrap();
        writeln!(said, "saved {number}").unwrap();
        said.flush().unwrap();
    }
}

#[test]
fn what_was_saved_is_there_after_a_kill() {
    let place = somewhere();
    let mut chance = Chance(5);
    let mut saved = [None; KEYS as usize];
    for round in 0..25 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::saves_until_it_is_killed", "--nocapture"])
            .env(FILE, &place.path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut note = |line: String| {
            // The first one follows what the test program says itself.
            if let Some((_, number)) = line.rsplit_once("saved ")
                && let Ok(number) = number.parse::<u64>()
            {
                saved[(number % KEYS) as usize] = Some(number);
                true
            } else {
                false
            }
        };
        let mut heard = 1 + chance.below(12);
        while heard > 0 {
            let line = lines.next().expect("it ended by itself").unwrap();
            heard -= usize::from(note(line));
        }
        // It is saving the next one now.
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said until then; the last line may be a part of one.
        lines.map_while(Result::ok).for_each(|line| {
            note(line);
        });

        let disk =
            Disk::<String, (u64, String)>::open_with(&place.path, EACH.max_answers(10)).unwrap();
        for (number, saved) in saved.iter_mut().enumerate() {
            let found = load(&disk, &key(number as u64))
                .unwrap()
                .map(|(number, filler)| {
                    assert_eq!(filler.len(), (number as usize * 977) % 20_000);
                    number
                });
            // Or the one that was being saved.
            assert!(
                found == *saved
                    || found == saved.map(|saved| saved + KEYS)
                    || (saved.is_none() && found < Some(KEYS)),
                "round {round}: {found:?} after {saved:?}"
            );
            // That one was perhaps not told of.
            *saved = found;
        }
        assert!(disk.count().unwrap() <= 10);
    }
    assert!(saved.iter().all(Option::is_some));
}
