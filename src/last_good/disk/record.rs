//! An answer as it stands in the file.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..8 | [`START`], which stands nowhere else in a record; its last byte is the format, 1 |
//! | 8..12 | CRC-32 of all that follows |
//! | 12..16 | which type and version the answer is of |
//! | 16..24 | number of the save: the larger, the later |
//! | 24..32 | when it was a success, in nanoseconds since 1970 |
//! | 32..36 | bytes of the key |
//! | 36..40 | bytes of the answer; [`FORGOTTEN`] of one that was given up |
//! | 40..44 | what key and answer are masked with |
//! | 44.. | key and answer, in MessagePack, masked |
//!
//! Numbers are little-endian. The database has checksums of its own, but looks at
//! them only while it opens a file. It finds a damaged page, and then nothing of the
//! file is of use to it; but the records in other pages can be found by where they
//! start ([`salvage`](super::salvage)). The mask sees to it that no answer is taken
//! for a record by what it consists of, which is not up to this program.

use core::ops::Range;
use std::hash::{BuildHasher, RandomState};

/// How each record begins.
pub(super) const START: [u8; 8] = [0xb2, b'l', b'a', b's', b't', 0x0d, 0x1a, 1];

/// As the length of an answer: there is none any more.
const FORGOTTEN: u32 = u32::MAX;

const CHECKSUM: Range<usize> = 8..12;
const TYPES: usize = 12;
const NUMBER: usize = 16;
const TIME: usize = 24;
const KEY_LENGTH: usize = 32;
const ANSWER_LENGTH: usize = 36;
const MASK: usize = 40;
/// Bytes of a record before the key.
pub(super) const HEAD: usize = 44;

/// An answer as it stands in the file, or that it was given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Which type and version the answer is of.
    pub(super) types: u32,
    /// The larger, the later it was saved.
    pub(super) number: u64,
    /// Nanoseconds since 1970, before it negative.
    pub(super) time: i64,
    pub(super) is_forgotten: bool,
    key_length: usize,
    mask: u32,
    /// Masked.
    key_and_answer: &'a [u8],
}

/// The bytes are not what was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// What a record is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) types: u32,
    pub(super) number: u64,
    pub(super) time: i64,
    pub(super) key: &'a [u8],
    /// None: it was given up.
    pub(super) answer: Option<&'a [u8]>,
}

impl Parts<'_> {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        // By chance, so that nobody who knows this program makes it try for long.
        self.masked_from(RandomState::new().hash_one(self.number) as u32)
    }

    /// With the first mask under which there is no start within.
    fn masked_from(self, mut mask: u32) -> Vec<u8> {
        loop {
            let bytes = self.masked(mask);
            if find_start(&bytes[1..]).is_none() {
                return bytes;
            }
            mask = mask.wrapping_add(1);
        }
    }

    fn masked(&self, mask: u32) -> Vec<u8> {
        let answer = self.answer.unwrap_or_default();
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(FORGOTTEN - 1);
        let answer_length = self.answer.map_or(FORGOTTEN, length);
        let mut bytes = Vec::with_capacity(HEAD + self.key.len() + answer.len());
        bytes.extend_from_slice(&START);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.types.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(&length(self.key).to_le_bytes());
        bytes.extend_from_slice(&answer_length.to_le_bytes());
        bytes.extend_from_slice(&mask.to_le_bytes());
        bytes.extend_from_slice(self.key);
        bytes.extend_from_slice(answer);
        apply(mask, &mut bytes[HEAD..]);
        let checksum = crc32fast::hash(&bytes[CHECKSUM.end..]);
        bytes[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

impl<'a> Record<'a> {
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let fits = length(bytes) == Some(bytes.len())
            && four(bytes, CHECKSUM.start)? == crc32fast::hash(&bytes[CHECKSUM.end..]);
        if !fits {
            return Err(Damaged);
        }
        Ok(Self {
            types: four(bytes, TYPES)?,
            number: eight(bytes, NUMBER)?,
            time: eight(bytes, TIME)?.cast_signed(),
            is_forgotten: four(bytes, ANSWER_LENGTH)? == FORGOTTEN,
            key_length: four(bytes, KEY_LENGTH)? as usize,
            mask: four(bytes, MASK)?,
            key_and_answer: &bytes[HEAD..],
        })
    }

    /// The record under that key.
    pub(super) fn of_key(key: &[u8], bytes: &'a [u8]) -> Result<Self, Damaged> {
        let record = Self::from_bytes(bytes)?;
        if record.key() == key {
            Ok(record)
        } else {
            Err(Damaged)
        }
    }

    pub(super) fn key(&self) -> Vec<u8> {
        let mut bytes = self.key_and_answer[..self.key_length].to_vec();
        apply(self.mask, &mut bytes);
        bytes
    }

    pub(super) fn answer(&self) -> Vec<u8> {
        let mut bytes = self.key_and_answer.to_vec();
        apply(self.mask, &mut bytes);
        bytes.split_off(self.key_length)
    }
}

/// How long a record is that begins there, by what it says itself. None, if none does.
pub(super) fn length(head: &[u8]) -> Option<usize> {
    if !head.starts_with(&START) {
        return None;
    }
    let answer = match four(head, ANSWER_LENGTH).ok()? {
        FORGOTTEN => 0,
        answer => answer as usize,
    };
    let key = four(head, KEY_LENGTH).ok()? as usize;
    HEAD.checked_add(key)?.checked_add(answer)
}

/// Where the first record begins in these bytes.
pub(super) fn find_start(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        from += bytes[from..].iter().position(|byte| *byte == START[0])?;
        if bytes[from..].starts_with(&START) {
            return Some(from);
        }
        from += 1;
    }
}

/// Masks bytes, or takes the mask off.
fn apply(mask: u32, bytes: &mut [u8]) {
    let mut state = u64::from(mask);
    for eight in bytes.chunks_mut(8) {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        for (byte, mask) in eight.iter_mut().zip(bits.to_le_bytes()) {
            *byte ^= mask;
        }
    }
}

fn four(bytes: &[u8], at: usize) -> Result<u32, Damaged> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map(|four| u32::from_le_bytes(*four)).ok_or(Damaged)
}

fn eight(bytes: &[u8], at: usize) -> Result<u64, Damaged> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map(|eight| u64::from_le_bytes(*eight)).ok_or(Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: Parts<'_> = Parts {
        types: 0x1122_3344,
        number: 7,
        time: -1_796_000_000_000_000_000,
        key: b"key",
        answer: Some(b"an answer"),
    };

    fn damaged(key: &[u8], bytes: &[u8]) -> bool {
        Record::of_key(key, bytes).is_err()
    }

    #[test]
    fn is_read_back_as_it_was() {
        for answer in [Some(&b"an answer"[..]), Some(b""), None] {
            for key in [&b"key"[..], b"", b"a longer key"] {
                let bytes = Parts {
                    key,
                    answer,
                    ..PARTS
                }
                .to_bytes();
                let record = Record::of_key(key, &bytes).unwrap();
                assert_eq!(record.types, PARTS.types);
                assert_eq!(record.number, PARTS.number);
                assert_eq!(record.time, PARTS.time);
                assert_eq!(record.key(), key);
                assert_eq!(record.is_forgotten, answer.is_none());
                assert_eq!(record.answer(), answer.unwrap_or_default());
                assert_eq!(length(&bytes[..HEAD]), Some(bytes.len()));
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_found_wherever_it_is() {
        let bytes = PARTS.to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(damaged(b"key", &flipped), "{bit}");
        }
    }

    #[test]
    fn one_that_was_cut_short_or_got_longer_is_damaged() {
        let bytes = PARTS.to_bytes();
        for length in 0..bytes.len() {
            assert!(damaged(b"key", &bytes[..length]));
        }
        for more in [0, 1, 0xff] {
            let mut longer = bytes.clone();
            longer.push(more);
            assert!(damaged(b"key", &longer));
        }
    }

    #[test]
    fn a_record_under_another_key_is_damaged() {
        let bytes = PARTS.to_bytes();
        for other in [&b"kez"[..], b"ke", b"key\0", b"keya", b""] {
            assert!(damaged(other, &bytes));
        }
    }

    /// An answer is somebody else's: it may be made of records.
    #[test]
    fn no_record_stands_within_another() {
        let inner = PARTS.to_bytes();
        let forged = inner.repeat(50);
        for round in 0..50 {
            let number = round;
            let answer = Some(forged.as_slice());
            let bytes = Parts {
                number,
                answer,
                ..PARTS
            }
            .to_bytes();
            assert_eq!(find_start(&bytes), Some(0));
            assert_eq!(find_start(&bytes[1..]), None);
        }
        // One that knows what would be the mask: another is taken.
        let mask = 17;
        let mut answer = START.to_vec();
        let mut hidden = vec![0; 3];
        hidden.append(&mut answer);
        apply(mask, &mut hidden);
        let parts = Parts {
            answer: Some(&hidden[3..]),
            ..PARTS
        };
        assert_eq!(find_start(&parts.masked(mask)[1..]), Some(HEAD + 3 - 1));
        let bytes = parts.masked_from(mask);
        assert_eq!(find_start(&bytes[1..]), None);
        let record = Record::of_key(b"key", &bytes).unwrap();
        assert_eq!(record.answer(), &hidden[3..]);
    }

    #[test]
    fn a_start_is_found_wherever_it_is() {
        for at in 0..20 {
            let mut bytes = vec![START[0]; 40];
            bytes[at..at + 8].copy_from_slice(&START);
            assert_eq!(find_start(&bytes), Some(at));
            bytes[at + 7] = 2;
            assert_eq!(find_start(&bytes), None);
        }
        assert_eq!(find_start(&START[..7]), None);
        assert_eq!(find_start(b""), None);
    }
}
