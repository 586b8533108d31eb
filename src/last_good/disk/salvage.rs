//! What can still be read of a damaged file.
//!
//! The database refuses a file of which one page is damaged. Its other pages have
//! records, which say themselves what they are of, and have checksums of their own.
//! There are older ones among them, in pages that are not in use any more: of each
//! key the one that was saved last counts, also if that is that it was given up.

use super::record::{self, HEAD, Record, START};
use redb::StorageBackend;
use std::collections::HashMap;
use std::io;

/// A record of the damaged file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    number: u64,
    is_forgotten: bool,
    offset: u64,
    length: usize,
}

/// Bytes that are looked at in one go.
const STEP: usize = 256 << 10;

/// What was found, from the one that was saved first to the last.
pub(super) fn find(file: &dyn StorageBackend) -> io::Result<Vec<Found>> {
    let end = file.len()?;
    let mut newest: HashMap<Vec<u8>, Found> = HashMap::new();
    let mut bytes = Vec::new();
    let mut offset = 0;
    while offset < end {
        let left = end - offset;
        let step = usize::try_from(left).map_or(STEP, |left| left.min(STEP));
        bytes.resize(step, 0);
        // What can't be read is lost; what follows may not be.
        if file.read(offset, &mut bytes).is_err() {
            offset += step as u64;
            continue;
        }
        let mut at = 0;
        while let Some(next) = bytes.get(at..).and_then(record::find_start) {
            at += next;
            // Within a record there is no start: the next one is behind it, or, if
            // this one is damaged, anywhere.
            match look(file, offset + at as u64, end) {
                Some((key, found)) => {
                    at += found.length;
                    let known = newest.get(&key);
                    if known.is_none_or(|known| known.number <= found.number) {
                        newest.insert(key, found);
                    }
                }
                None => at += 1,
            }
        }
        // A start may stand on the border.
        let looked_at = if step as u64 == left {
            step
        } else {
            step + 1 - START.len()
        };
        offset += looked_at.max(at) as u64;
    }
    let mut found: Vec<_> = newest
        .into_values()
        .filter(|found| !found.is_forgotten)
        .collect();
    found.sort_by_key(|found| found.number);
    Ok(found)
}

impl Found {
    /// The record's bytes.
    pub(super) fn read(&self, file: &dyn StorageBackend) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        file.read(self.offset, &mut bytes)?;
        Ok(bytes)
    }
}

/// The record that begins there, if it is whole.
fn look(file: &dyn StorageBackend, offset: u64, end: u64) -> Option<(Vec<u8>, Found)> {
    let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
    let mut head = [0; HEAD];
    file.read(offset, head.get_mut(..HEAD.min(left))?).ok()?;
    let length = record::length(&head).filter(|length| *length <= left)?;
    let mut found = Found {
        number: 0,
        is_forgotten: false,
        offset,
        length,
    };
    let bytes = found.read(file).ok()?;
    let record = Record::from_bytes(&bytes).ok()?;
    found.number = record.number;
    found.is_forgotten = record.is_forgotten;
    Some((record.key(), found))
}

#[cfg(test)]
mod tests {
    use super::super::record::Parts;
    use super::*;
    use redb::backends::InMemoryBackend;

    fn record(number: u64, key: &str, answer: Option<&[u8]>) -> Vec<u8> {
        let key = key.as_bytes();
        let parts = Parts {
            types: 1,
            number,
            time: 2,
            key,
            answer,
        };
        parts.to_bytes()
    }

    /// Keys of what is found, in that order, each with the number of its save.
    fn found(parts: &[(usize, Vec<u8>)]) -> Vec<(String, u64)> {
        let file = InMemoryBackend::new();
        let end = parts.iter().map(|(at, bytes)| at + bytes.len()).max();
        file.set_len(end.unwrap_or(0) as u64).unwrap();
        for (at, bytes) in parts {
            file.write(*at as u64, bytes).unwrap();
        }
        let found = find(&file).unwrap();
        let read = found.iter().map(|found| {
            let bytes = found.read(&file).unwrap();
            let record = Record::from_bytes(&bytes).unwrap();
            (String::from_utf8(record.key()).unwrap(), record.number)
        });
        read.collect()
    }

    fn one(key: &str, number: u64) -> (String, u64) {
        (key.to_owned(), number)
    }

    #[test]
    fn a_record_is_found_wherever_it_stands() {
        let bytes = record(7, "key", Some(b"answer"));
        for at in (0..3).chain(STEP - bytes.len() - 2..STEP + 3) {
            assert_eq!(found(&[(at, bytes.clone())]), [one("key", 7)], "{at}");
            // Also at the end of more.
            let more = (at + bytes.len(), vec![7; 100]);
            assert_eq!(found(&[(at, bytes.clone()), more]), [one("key", 7)], "{at}");
        }
    }

    #[test]
    fn records_are_found_behind_long_ones_and_damaged_ones() {
        let long = record(1, "long", Some(&vec![3; 2 * STEP + 5]));
        let next = record(2, "next", Some(b"answer"));
        let behind = long.len();
        let both = [(0, long.clone()), (behind, next.clone())];
        assert_eq!(found(&both), [one("long", 1), one("next", 2)]);

        let mut damaged = long;
        damaged[50] ^= 1;
        // One that was put into the middle of it.
        let within = (STEP + 100, record(3, "within", Some(b"answer")));
        let all = [(0, damaged), within, (behind, next)];
        assert_eq!(found(&all), [one("next", 2), one("within", 3)]);
    }

    #[test]
    fn the_last_one_of_a_key_counts() {
        let old = record(1, "key", Some(b"old"));
        let new = record(2, "key", Some(b"new"));
        let given_up = record(3, "key", None);
        assert_eq!(
            found(&[(0, old.clone()), (200, new.clone())]),
            [one("key", 2)]
        );
        assert_eq!(
            found(&[(0, new.clone()), (200, old.clone())]),
            [one("key", 2)]
        );
        assert_eq!(found(&[(0, new.clone()), (200, given_up.clone())]), []);
        assert_eq!(found(&[(0, given_up), (200, new)]), []);
        let again = record(4, "key", Some(b"again"));
        assert_eq!(found(&[(0, again), (200, old)]), [one("key", 4)]);
    }

    #[test]
    fn what_is_cut_off_or_says_nonsense_is_none() {
        let bytes = record(1, "key", Some(b"answer"));
        for length in 0..bytes.len() {
            assert_eq!(found(&[(10, bytes[..length].to_vec())]), [], "{length}");
        }
        // Lengths of which one is beyond the file.
        for at in [32..36, 36..40] {
            let mut huge = bytes.clone();
            huge[at].fill(0xfe);
            assert_eq!(found(&[(0, huge)]), []);
        }
        assert_eq!(found(&[]), []);
    }
}
