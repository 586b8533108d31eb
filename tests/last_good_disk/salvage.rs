//! What is kept of a damaged file.

use super::*;
use breakerbox::last_good::Replaced;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;
use std::{fmt, fs};

const HOUR: Duration = Duration::from_secs(3_600);
const KEYS: usize = 40;
const ROUNDS: usize = 3;

fn key(number: usize) -> String {
    format!("key {number}")
}

/// Of all lengths; the last round is the newest.
fn value(number: usize, round: usize) -> String {
    let length = [2, 80, 900, 9_000][(number * 7 + round) % 4];
    format!("{number} {round} {}", "v".repeat(length))
}

/// A file in which each key was saved three times, and some were given up since.
fn original(given_up: &[usize]) -> Vec<u8> {
    let place = somewhere();
    let disk = open(&place.path);
    for round in 0..ROUNDS {
        for number in 0..KEYS {
            save(&disk, &key(number), &value(number, round)).unwrap();
        }
    }
    for number in given_up {
        disk.remove_now(&key(*number)).unwrap();
    }
    drop(disk);
    fs::read(&place.path).unwrap()
}

/// Which round's answer each key has; None where the file is not damaged.
fn rounds_after(bytes: &[u8]) -> Option<BTreeMap<usize, usize>> {
    let place = somewhere();
    fs::write(&place.path, bytes).unwrap();
    let (disk, replaced) = Answers::open_or_replace(&place.path, EACH).unwrap();
    let Replaced { moved_to, kept, .. } = replaced?;
    assert!(fs::read(moved_to).unwrap() == bytes);
    let mut rounds = BTreeMap::new();
    for number in 0..KEYS {
        if let Some(found) = text(&disk, &key(number)) {
            let round = (0..ROUNDS).find(|round| found == value(number, *round));
            rounds.insert(number, round.expect("an answer that was never saved"));
        }
    }
    assert_eq!(rounds.len() as u64, kept);
    assert_eq!(disk.count().unwrap(), kept);
    drop(disk);
    assert_eq!(place.files().len(), 2);
    // It is a file like any other.
    let disk = open(&place.path);
    assert_eq!(disk.count().unwrap(), kept);
    save(&disk, &key(0), &"new".to_owned()).unwrap();
    assert_eq!(text(&disk, &key(0)).as_deref(), Some("new"));
    Some(rounds)
}

#[test]
fn a_flipped_bit_costs_one_answer_at_most() {
    let original = original(&[]);
    let mut chance = Chance(31);
    let mut seen = [0; 2];
    while seen.iter().sum::<usize>() < 12 {
        let mut bytes = original.clone();
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(8);
        if let Some(rounds) = rounds_after(&bytes) {
            let newest = rounds
                .values()
                .filter(|round| **round == ROUNDS - 1)
                .count();
            assert!(newest >= KEYS - 1, "bit in byte {at}: {rounds:?}");
            seen[KEYS - newest] += 1;
        }
    }
    assert!(seen[1] > 0, "{seen:?}");
}

#[test]
fn of_lost_pages_only_those_answers_are_lost_that_were_in_them() {
    let original = original(&[]);
    let mut chance = Chance(37);
    for page in (0..original.len() / 4_096).step_by(5) {
        let mut bytes = original.clone();
        let page = page * 4_096..(page + 1) * 4_096;
        if chance.below(2) == 0 {
            bytes[page].fill(0);
        } else {
            bytes[page].fill_with(|| chance.below(256) as u8);
        }
        if let Some(rounds) = rounds_after(&bytes) {
            let newest = rounds
                .values()
                .filter(|round| **round == ROUNDS - 1)
                .count();
            // A short answer takes 60 bytes of a page.
            assert!(newest > 0, "{rounds:?}");
            assert!(rounds.len() >= newest);
        }
    }
}

#[test]
fn half_a_file_has_its_answers() {
    let original = original(&[]);
    let rounds = rounds_after(&original[..original.len() / 2]).unwrap();
    assert!(!rounds.is_empty());
}

#[test]
fn what_was_given_up_stays_so() {
    let given_up = [3, 7, 11, 20];
    let original = original(&given_up);
    let mut bytes = original.clone();
    // Both states of the database are gone.
    bytes[64..320].fill(0xff);
    let rounds = rounds_after(&bytes).unwrap();
    assert_eq!(rounds.len(), KEYS - given_up.len());
    for number in 0..KEYS {
        let newest = rounds.get(&number) == Some(&(ROUNDS - 1));
        assert_eq!(newest, !given_up.contains(&number), "{number}");
    }
}

#[test]
fn ages_types_and_the_order_are_kept() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let disk = open::<u32>(&place.path);
    for number in 0..10 {
        save_aged(
            &disk,
            &key(number as usize),
            &number,
            Duration::from_secs(60),
        )
        .unwrap();
    }
    drop(disk);
    let mut bytes = fs::read(&place.path).unwrap();
    bytes[64..320].fill(0xff);
    fs::write(&place.path, bytes).unwrap();
    scope.advance(HOUR);
    let settings = EACH.max_answers(4);
    let (disk, replaced) = Disk::<String, u32>::open_or_replace(&place.path, settings).unwrap();
    assert_eq!(replaced.unwrap().kept, 4);
    for number in 0..10 {
        let found = disk.load_now(&key(number as usize)).unwrap();
        let there = found.map(|answer| (answer.value, answer.age));
        let age = HOUR + Duration::from_secs(60);
        assert_eq!(there, (number >= 6).then_some((number, age)));
    }
    save(&disk, "new", &1).unwrap();
    assert_eq!(load(&disk, &key(6)).unwrap(), None);
    assert_eq!(load(&disk, &key(7)).unwrap(), Some(7));
    drop(disk);
    // Of another type they still are.
    let error = load(&open::<u64>(&place.path), &key(7)).unwrap_err();
    assert!(matches!(error, DiskError::Decode { .. }), "{error}");
}

/// Written as they are.
#[derive(Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Any)
    }
}

#[test]
fn answers_that_are_made_of_records_are_answers() {
    let place = somewhere();
    let disk = open::<Bytes>(&place.path);
    save(&disk, "forged", &Bytes(b"forged".to_vec())).unwrap();
    drop(disk);
    let file = fs::read(&place.path).unwrap();

    // A server that answers with such a file. Its record is damaged, so that all of
    // what it consists of is looked at.
    let place = somewhere();
    let disk = open::<Bytes>(&place.path);
    let answer = Bytes(file);
    save(&disk, "answer", &answer).unwrap();
    assert_eq!(load(&disk, "answer").unwrap(), Some(answer));
    drop(disk);
    let mut bytes = fs::read(&place.path).unwrap();
    let windows = bytes.windows(6).enumerate();
    let starts = windows.filter(|(_, window)| *window == b"\xb2last\x0d");
    let starts: Vec<_> = starts.map(|(start, _)| start).collect();
    for start in starts {
        bytes[start + 20] ^= 1;
    }
    // Both states of the database are gone.
    bytes[64..320].fill(0xff);
    fs::write(&place.path, bytes).unwrap();
    let (disk, replaced) = Disk::<String, Bytes>::open_or_replace(&place.path, EACH).unwrap();
    assert_eq!(replaced.unwrap().kept, 0);
    assert_eq!(load(&disk, "forged").unwrap(), None);
}
