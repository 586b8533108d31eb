//! From keys and answers to bytes, and back.
//!
//! Answers are MessagePack with the names of fields: a field that was added,
//! renamed or put elsewhere between two versions of a program is found by its
//! name or is an error, never another field's value; and types of which only the
//! bytes say what they are (`serde(flatten)`, `serde(untagged)`, a
//! `serde_json::Value`) can be read.

use super::lossless;
use crate::Key;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::type_name;
use std::sync::Arc;

/// Why something can't be written, or read.
#[derive(Debug)]
pub(super) struct Unfit(pub(super) Arc<str>);

impl Unfit {
    fn new(why: impl ToString) -> Self {
        Self(why.to_string().into())
    }
}

/// A key as bytes, of which no other key has the same: what is read back from
/// them is that key.
pub(super) fn key_to_bytes<Q>(key: &Q) -> Result<Vec<u8>, Unfit>
where
    Q: Key + ?Sized,
    Q::Owned: Serialize + DeserializeOwned,
{
    let bytes = rmp_serde::to_vec_named(&key.to_key()).map_err(Unfit::new)?;
    let read = read::<Q::Owned>(&bytes)
        .map_err(|unfit| Unfit::new(format!("read back it is none ({})", unfit.0)))?;
    if key.is(&read) {
        Ok(bytes)
    } else {
        Err(Unfit::new("read back it is another key"))
    }
}

/// An answer as bytes that can be read back. If it could not, an older one
/// that can would have to make room for it.
pub(super) fn answer_to_bytes<V>(answer: &V) -> Result<Vec<u8>, Unfit>
where
    V: Serialize + DeserializeOwned,
{
    lossless::check(answer).map_err(Unfit::new)?;
    let bytes = rmp_serde::to_vec_named(answer).map_err(Unfit::new)?;
    match read::<V>(&bytes) {
        Ok(_) => Ok(bytes),
        Err(unfit) => Err(Unfit::new(format!("it can't be read back ({})", unfit.0))),
    }
}

/// What was written as that type.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unfit> {
    let mut left = bytes;
    let read = rmp_serde::from_read(&mut left).map_err(Unfit::new)?;
    if left.is_empty() {
        Ok(read)
    } else {
        Err(Unfit::new("there is more than one value"))
    }
}

/// Which type and version answers are of, in short. Paths are left out, so that
/// a type may move to another module.
pub(super) fn types<V>(version: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for word in words(type_name::<V>()) {
        hasher.update(word.as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(&version.to_le_bytes());
    hasher.finalize()
}

/// A type's name without paths: `Vec`, `<`, `Price`, `>` of `alloc::vec::Vec<prices::Price>`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let in_a_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let mut left = name;
    core::iter::from_fn(move || {
        let first = left.chars().next()?;
        let end = if in_a_path(first) {
            left.find(|letter| !in_a_path(letter)).unwrap_or(left.len())
        } else {
            first.len_utf8()
        };
        let (word, rest) = left.split_at(end);
        left = rest;
        Some(word.rsplit("::").next().unwrap_or(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;
    use std::hash::Hash;

    #[test]
    fn names_of_types_are_without_paths() {
        let words = |name| words(name).collect::<Vec<_>>().concat();
        assert_eq!(words("u32"), "u32");
        assert_eq!(words("alloc::vec::Vec<a::b::Price>"), "Vec<Price>");
        assert_eq!(words("(a::X, [b::Y; 3])"), "(X, [Y; 3])");
        assert_eq!(words("<a::B as c::D>::E"), "<B as D>E");
        assert_eq!(words(""), "");
    }

    #[test]
    fn types_and_versions_are_told_apart() {
        let all = [
            types::<u32>(0),
            types::<u32>(1),
            types::<u64>(0),
            types::<Vec<u32>>(0),
            types::<Option<u32>>(0),
            types::<(u32, u32)>(0),
            types::<String>(0),
        ];
        for (one, types) in all.iter().enumerate() {
            assert!(!all[..one].contains(types), "{one}");
        }
        mod moved {
            #[derive(Debug)]
            pub(super) struct Price;
            pub(super) mod deeper {
                #[derive(Debug)]
                pub(in super::super) struct Price;
            }
        }
        assert_eq!(types::<moved::Price>(0), types::<moved::deeper::Price>(0));
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Everything {
        text: String,
        numbers: (u8, i64, u128, i128, f32, f64),
        letter: char,
        maybe: Option<Box<Everything>>,
        list: Vec<Choice>,
        map: BTreeMap<(u8, String), Vec<u8>>,
        anything: serde_json::Value,
        #[serde(flatten)]
        rest: BTreeMap<String, u32>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    enum Choice {
        Unit,
        New(u32),
        Tuple(u32, String),
        Struct { field: bool },
    }

    fn everything() -> Everything {
        let one = Everything {
            text: "één\0".into(),
            numbers: (255, i64::MIN, u128::MAX, i128::MIN, -0.0, f64::INFINITY),
            letter: '∞',
            maybe: None,
            list: vec![
                Choice::Unit,
                Choice::New(1),
                Choice::Tuple(2, "two".into()),
                Choice::Struct { field: true },
            ],
            map: BTreeMap::from([((1, "a".into()), vec![0, 255])]),
            anything: serde_json::json!({ "a": [1, null, { "b": -2.5 }], "c": "d" }),
            rest: BTreeMap::from([("more".into(), 3)]),
        };
        Everything {
            maybe: Some(Box::new(one.clone())),
            ..one
        }
    }

    #[test]
    fn everything_that_serde_has_is_read_back() {
        let bytes = answer_to_bytes(&everything()).unwrap();
        assert_eq!(read::<Everything>(&bytes).unwrap(), everything());
    }

    #[test]
    fn what_would_be_read_back_as_something_else_is_refused() {
        assert!(answer_to_bytes(&Some(3)).is_ok());
        assert!(answer_to_bytes(&None::<u32>).is_ok());
        assert!(answer_to_bytes(&()).is_ok());
        let why = answer_to_bytes(&Some(None::<u32>)).unwrap_err().0;
        assert_eq!(&*why, "`Some(None)` would be read back as `None`");
        for refused in [
            answer_to_bytes(&Some(())),
            answer_to_bytes(&vec![Some(None::<u32>)]),
            answer_to_bytes(&BTreeMap::from([(1, Some(()))])),
            answer_to_bytes(&(1, Some(serde_json::Value::Null))),
        ] {
            assert!(refused.is_err());
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_refused() {
        #[derive(Debug, Serialize, Deserialize)]
        struct OneWay {
            #[serde(skip_serializing)]
            field: u32,
        }
        let one_way = OneWay { field: 1 };
        assert_eq!(one_way.field, 1);
        let why = answer_to_bytes(&one_way).unwrap_err().0;
        assert!(why.starts_with("it can't be read back ("), "{why}");

        #[derive(Debug, Deserialize)]
        struct Fails;
        impl Serialize for Fails {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("not today"))
            }
        }
        assert_eq!(&*answer_to_bytes(&Fails).unwrap_err().0, "not today");
    }

    #[test]
    fn what_is_nested_too_deep_is_refused_before_the_stack_is_used_up() {
        let nested = |times| {
            (0..times).fold(serde_json::Value::Bool(true), |inner, _| {
                serde_json::Value::Array(vec![inner])
            })
        };
        let deep = nested(127);
        let bytes = answer_to_bytes(&deep).unwrap();
        assert_eq!(read::<serde_json::Value>(&bytes).unwrap(), deep);
        for times in [128, 1_100, 2_000] {
            let why = answer_to_bytes(&nested(times)).unwrap_err().0;
            assert_eq!(&*why, "it is nested deeper than 128 times");
        }
    }

    #[test]
    fn another_programs_type_is_an_error_and_never_a_wrong_answer() {
        #[derive(Debug, Serialize, Deserialize, PartialEq)]
        struct Before {
            net: u32,
            tax: u32,
        }
        #[derive(Debug, Serialize, Deserialize, PartialEq)]
        struct Turned {
            tax: u32,
            net: u32,
        }
        #[derive(Debug, Serialize, Deserialize, PartialEq)]
        struct Renamed {
            net: u32,
            vat: u32,
        }
        #[derive(Debug, Serialize, Deserialize, PartialEq)]
        struct Wider {
            net: u64,
            tax: u64,
            #[serde(default)]
            tip: u64,
        }
        #[derive(Debug, Serialize, Deserialize, PartialEq)]
        struct Retyped {
            net: String,
            tax: u32,
        }
        let bytes = answer_to_bytes(&Before { net: 1, tax: 2 }).unwrap();
        assert_eq!(read::<Turned>(&bytes).unwrap(), Turned { tax: 2, net: 1 });
        assert_eq!(
            read::<Wider>(&bytes).unwrap(),
            Wider {
                net: 1,
                tax: 2,
                tip: 0
            }
        );
        assert!(read::<Renamed>(&bytes).is_err());
        assert!(read::<Retyped>(&bytes).is_err());
        assert!(read::<(u32,)>(&bytes).is_err());
        assert!(read::<u32>(&bytes).is_err());
    }

    #[test]
    fn bytes_after_the_value_are_an_error() {
        let mut bytes = answer_to_bytes(&7_u32).unwrap();
        bytes.push(8);
        assert_eq!(
            &*read::<u32>(&bytes).unwrap_err().0,
            "there is more than one value"
        );
    }

    #[test]
    fn a_key_that_loses_a_part_is_refused() {
        #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        struct Account {
            id: u32,
            #[serde(skip)]
            region: String,
        }
        impl Key for Account {
            type Owned = Self;
            fn to_key(&self) -> Self {
                self.clone()
            }
            fn is(&self, owned: &Self) -> bool {
                self == owned
            }
            fn label(owned: &Self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", owned.id)
            }
        }
        let account = |region: &str| Account {
            id: 1,
            region: region.into(),
        };
        assert!(key_to_bytes(&account("")).is_ok());
        let why = key_to_bytes(&account("eu")).unwrap_err().0;
        assert_eq!(&*why, "read back it is another key");
    }

    #[test]
    fn keys_of_every_kind_have_bytes_of_their_own() {
        let texts = ["", "a", "b", "ab", "a/b", "\0", "a\0"];
        let bytes: Vec<_> = texts
            .iter()
            .map(|text| key_to_bytes(*text).unwrap())
            .collect();
        for (one, key) in bytes.iter().enumerate() {
            assert!(!bytes[..one].contains(key), "{one}");
        }
        // A key is the same, borrowed or owned.
        assert_eq!(bytes[1], key_to_bytes(&String::from("a")).unwrap());
        assert_ne!(
            key_to_bytes(&("a", "bc")).unwrap(),
            key_to_bytes(&("ab", "c")).unwrap()
        );
        assert!(key_to_bytes(&("eu", 7_u64, true, 'x')).is_ok());
        assert!(key_to_bytes(&std::net::IpAddr::from([127, 0, 0, 1])).is_ok());
        assert!(key_to_bytes(&u128::MAX).is_ok());
    }
}
