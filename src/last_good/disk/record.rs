//! An answer as it stands in the file.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 | format of the record, 1 |
//! | 1..5 | CRC-32 of the key's length, the key, and all else of the record |
//! | 5..9 | which type and version the answer is of |
//! | 9..17 | number of the save: the larger, the later |
//! | 17..25 | when it was a success, in nanoseconds since 1970 |
//! | 25.. | the answer, in MessagePack |
//!
//! Numbers are little-endian. The database has checksums of its own, but looks
//! at them only while it opens a file.

const FORMAT: u8 = 1;
const CHECKSUM: usize = 1;
const TYPES: usize = 5;
const NUMBER: usize = 9;
const TIME: usize = 17;
const ANSWER: usize = 25;

/// An answer as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Which type and version the answer is of.
    pub(super) types: u32,
    /// The larger, the later it was saved.
    pub(super) number: u64,
    /// Nanoseconds since 1970, before it negative.
    pub(super) time: i64,
    pub(super) answer: &'a [u8],
}

/// The bytes are not what was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged;

impl<'a> Record<'a> {
    pub(super) fn to_bytes(self, key: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ANSWER + self.answer.len());
        bytes.push(FORMAT);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.types.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(self.answer);
        let checksum = checksum(key, &bytes);
        bytes[CHECKSUM..TYPES].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(key: &[u8], bytes: &'a [u8]) -> Result<Self, Damaged> {
        let fits = bytes.first() == Some(&FORMAT)
            && four(bytes, CHECKSUM)? == checksum(key, bytes)
            && bytes.len() >= ANSWER;
        if !fits {
            return Err(Damaged);
        }
        Ok(Self {
            types: four(bytes, TYPES)?,
            number: eight(bytes, NUMBER)?,
            time: eight(bytes, TIME)?.cast_signed(),
            answer: bytes.get(ANSWER..).ok_or(Damaged)?,
        })
    }
}

/// Of everything but the checksum itself. The key's length comes first, so that
/// no byte can move from the key to the answer.
fn checksum(key: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(&bytes[..CHECKSUM.min(bytes.len())]);
    hasher.update(bytes.get(TYPES..).unwrap_or_default());
    hasher.finalize()
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

    const RECORD: Record<'_> = Record {
        types: 0x1122_3344,
        number: 7,
        time: 1_796_000_000_000_000_000,
        answer: b"an answer",
    };

    #[test]
    fn is_read_back_as_it_was() {
        let bytes = RECORD.to_bytes(b"key");
        assert_eq!(Record::from_bytes(b"key", &bytes), Ok(RECORD));
        assert_eq!(bytes.len(), ANSWER + 9);
    }

    #[test]
    fn a_flipped_bit_is_found_wherever_it_is() {
        let bytes = RECORD.to_bytes(b"key");
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::from_bytes(b"key", &flipped), Err(Damaged), "{bit}");
        }
    }

    #[test]
    fn one_that_was_cut_short_or_got_longer_is_damaged() {
        let bytes = RECORD.to_bytes(b"key");
        for length in 0..bytes.len() {
            assert_eq!(Record::from_bytes(b"key", &bytes[..length]), Err(Damaged));
        }
        for more in [0, 1, 0xff] {
            let mut longer = bytes.clone();
            longer.push(more);
            assert_eq!(Record::from_bytes(b"key", &longer), Err(Damaged));
        }
    }

    #[test]
    fn a_record_under_another_key_is_damaged() {
        let bytes = RECORD.to_bytes(b"key");
        for other in [&b"kez"[..], b"ke", b"key\0", b""] {
            assert_eq!(Record::from_bytes(other, &bytes), Err(Damaged));
        }
    }

    #[test]
    fn no_byte_moves_from_the_record_to_its_key() {
        // What follows the format, and what is hashed after it, begins alike.
        let record = Record {
            types: 0x0101_0101,
            ..RECORD
        };
        let bytes = record.to_bytes(b"key");
        let mut moved = bytes[..TYPES].to_vec();
        moved.extend_from_slice(&bytes[TYPES + 1..]);
        assert_eq!(Record::from_bytes(b"key\x01", &moved), Err(Damaged));
    }

    #[test]
    fn an_empty_answer_is_one() {
        let empty = Record {
            answer: b"",
            ..RECORD
        };
        assert_eq!(Record::from_bytes(b"", &empty.to_bytes(b"")), Ok(empty));
    }
}
