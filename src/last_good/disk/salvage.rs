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

/// What was found, from the one that was saved first to the last.
pub(super) fn find(file: &dyn StorageBackend) -> io::Result<Vec<Found>> {
    const STEP: usize = 256 << 10;
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
