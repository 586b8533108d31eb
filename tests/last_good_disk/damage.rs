//! Files in which bits were flipped, pages lost or put elsewhere, the end cut off:
//! an error or the right answer, and never a panic.

use super::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::panic;
use std::sync::{LazyLock, Once};

/// Of each kind. `DAMAGES=100000` for more.
fn damages() -> u64 {
    let given = std::env::var("DAMAGES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(60)
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Panics of the database, which are caught, would fill the screen with traces.
fn quietly<T>(run: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = run();
    QUIET.set(false);
    result
}

/// A file, and what was saved in it: of each key what may be found.
struct Original {
    bytes: Vec<u8>,
    answers: BTreeMap<String, Vec<String>>,
}

fn original() -> &'static Original {
    static MADE: LazyLock<Original> = LazyLock::new(make);
    &MADE
}

fn make() -> Original {
    let place = somewhere();
    let disk = open(&place.path);
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut chance = Chance(11);
    for round in 0..3 {
        for number in 0..40 {
            let key = format!("key {number}");
            let length = [2, 80, 900, 9_000][chance.below(4)];
            let value = format!("{key} {round} {}", "v".repeat(length));
            save(&disk, &key, &value).unwrap();
            answers.insert(key, vec![value]);
        }
    }
    // If the last write is damaged, the state before it may be found.
    let last = "last of all".to_owned();
    answers.get_mut("key 7").unwrap().push(last.clone());
    save(&disk, "key 7", &last).unwrap();
    drop(disk);
    let bytes = fs::read(&place.path).unwrap();
    Original { bytes, answers }
}

/// Opens a damaged file; whether it could be opened, and gave all answers.
fn check(original: &Original, bytes: &[u8], what: &str) -> (bool, bool) {
    let place = somewhere();
    fs::write(&place.path, bytes).unwrap();
    let disk = match quietly(|| Answers::open_with(&place.path, EACH)) {
        Ok(disk) => disk,
        Err(DiskError::Corrupt { .. } | DiskError::NotOurs { .. }) => return (false, false),
        Err(error) => panic!("{what}: {error}"),
    };
    let mut all = true;
    for (key, allowed) in &original.answers {
        match quietly(|| load(&disk, key)) {
            Ok(Some(found)) => assert!(allowed.contains(&found), "{what}: {key} gives {found:?}"),
            Ok(None) => panic!("{what}: {key} is gone"),
            Err(_) => all = false,
        }
    }
    // It may fail, but not otherwise.
    let new = "new".to_owned();
    if quietly(|| save(&disk, "key 1", &new)).is_ok() {
        assert_eq!(
            quietly(|| load(&disk, "key 1")).unwrap(),
            Some(new),
            "{what}"
        );
    }
    (true, all)
}

/// Damages that many copies; some can be opened and some can't.
fn damaged(kind: &str, damage: impl Fn(&mut Vec<u8>, &mut Chance)) -> [u64; 3] {
    let original = original();
    let mut seen = [0; 3];
    for seed in 0..damages() {
        let mut bytes = original.bytes.clone();
        damage(&mut bytes, &mut Chance(seed * 1_000_003 + 1));
        let (opened, all) = check(original, &bytes, &format!("{kind}, seed {seed}"));
        seen[usize::from(opened) + usize::from(all)] += 1;
    }
    eprintln!("{kind}: refused, opened with errors, whole: {seen:?}");
    seen
}

#[test]
fn an_undamaged_copy_has_everything() {
    let original = original();
    assert_eq!(check(original, &original.bytes, "a copy"), (true, true));
}

#[test]
fn flipped_bits() {
    let [refused, _, whole] = damaged("one bit", |bytes, chance| {
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(8);
    });
    assert!(refused > 0 && whole > 0);
}

#[test]
fn flipped_bits_where_the_file_begins() {
    damaged("one bit of the header", |bytes, chance| {
        let at = chance.below(320);
        bytes[at] ^= 1 << chance.below(8);
    });
    damaged("bytes of the header", |bytes, chance| {
        for _ in 0..=chance.below(8) {
            bytes[chance.below(64)] = chance.below(256) as u8;
        }
    });
}

#[test]
fn many_flipped_bits() {
    let [refused, _, whole] = damaged("many bits", |bytes, chance| {
        for _ in 0..64 {
            let at = chance.below(bytes.len());
            bytes[at] ^= 1 << chance.below(8);
        }
    });
    assert!(refused > whole);
}

#[test]
fn lost_sectors() {
    for length in [512, 4_096, 65_536] {
        damaged(&format!("{length} zeros"), |bytes, chance| {
            let start = chance.below(bytes.len() / length) * length;
            bytes[start..start + length].fill(0);
        });
    }
}

#[test]
fn pages_that_stand_elsewhere() {
    damaged("a page over another", |bytes, chance| {
        let pages = bytes.len() / 4_096;
        let (from, to) = (chance.below(pages) * 4_096, chance.below(pages) * 4_096);
        bytes.copy_within(from..from + 4_096, to);
    });
}

#[test]
fn a_file_that_was_cut_short() {
    damaged("cut short", |bytes, chance| {
        let length = 1 + chance.below(bytes.len() - 1);
        bytes.truncate(length);
    });
}

#[test]
fn a_file_that_goes_on() {
    damaged("longer", |bytes, chance| {
        for _ in 0..1 + chance.below(9_000) {
            bytes.push(chance.below(256) as u8);
        }
    });
}

#[test]
fn rubbish_that_begins_like_a_file() {
    damaged("rubbish", |bytes, chance| {
        let kept = [9, 64, 320, 4_096][chance.below(4)];
        for byte in &mut bytes[kept..] {
            *byte = chance.below(256) as u8;
        }
    });
}

/// Where records begin.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    const START: &[u8] = b"\xb2last\x0d\x1a\x01";
    let windows = bytes.windows(START.len()).enumerate();
    windows.filter_map(|(at, window)| (window == START).then_some(at))
}

/// More than is kept in memory, so that it is read from the file again.
#[test]
fn damage_while_it_is_open() {
    const ANSWERS: usize = 30;
    let place = somewhere();
    let disk = open(&place.path);
    let value = |number: usize| format!("{number} ").repeat(100_000);
    for number in 0..ANSWERS {
        save(&disk, &format!("key {number}"), &value(number)).unwrap();
    }
    let bytes = fs::read(&place.path).unwrap();
    let starts: Vec<_> = starts(&bytes).collect();
    assert_eq!(starts.len(), ANSWERS);
    let mut chance = Chance(23);
    for start in starts {
        // Somewhere in one of the answers.
        let at = start + 44 + chance.below(200_000);
        let mut file = fs::OpenOptions::new()
            .write(true)
            .open(&place.path)
            .unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[bytes[at] ^ (1 << chance.below(8))])
            .unwrap();
    }
    let mut damaged = 0;
    for number in 0..ANSWERS {
        match load(&disk, &format!("key {number}")) {
            Ok(found) => assert!(found == Some(value(number)), "{number}"),
            Err(DiskError::Damaged { .. }) => damaged += 1,
            Err(error) => panic!("{error}"),
        }
    }
    // Some are in memory still.
    assert!(damaged > ANSWERS / 3, "{damaged}");
    // The next answer takes its place.
    for number in 0..ANSWERS {
        save_aged(
            &disk,
            &format!("key {number}"),
            &"new".to_owned(),
            Duration::from_secs(9),
        )
        .unwrap();
    }
    for number in 0..ANSWERS {
        let found = text(&disk, &format!("key {number}")).unwrap();
        assert!(found == "new" || found == value(number));
    }
    assert_eq!(disk.count().unwrap(), ANSWERS as u64);
}
