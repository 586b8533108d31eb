//! What is written is read as it was; what is not is refused, whatever it is.

use super::super::record::LONGEST_WAIT;
use super::super::version::MAX_NUMBER;
use super::super::{
    Caller, Cause, Declared, Limits, Message, Place, Prefix, Quorum, Reply, Share, Shared, Told,
    Unusable, Verdict, Version, Who, arguments,
};
use super::any;
use super::script::LIVES;
use breakerbox::State;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::Debug;
use std::time::Duration;

fn reply() -> impl Strategy<Value = Reply> {
    let verdict = prop_oneof![
        Just(Verdict::Done),
        Just(Verdict::Refused),
        Just(Verdict::Missing),
        Just(Verdict::Behind),
    ];
    let listeners = proptest::option::of(any::<u32>());
    (verdict, any::told(), listeners).prop_map(|(verdict, told, listeners)| {
        let is_stored = verdict != Verdict::Missing;
        Reply {
            verdict,
            now: is_stored.then_some(told),
            listeners: listeners.filter(|_| is_stored),
        }
    })
}

fn message() -> impl Strategy<Value = Message> {
    let key = proptest::option::of(any::<String>());
    (key, any::told()).prop_map(|(key, told)| Message {
        label: Place::new(&Prefix::default(), "pms", key.as_deref())
            .label()
            .to_owned(),
        told,
    })
}

/// What may happen to a text on its way.
#[derive(Clone, Debug)]
enum Damage {
    Replaced(Index, u8),
    Inserted(Index, u8),
    Removed(Index),
    Cut(Index),
    Doubled(Index, Index),
    Field(Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = || prop_oneof![any::<u8>(), proptest::sample::select(&b" .-0179"[..])];
    let field = prop_oneof![
        Just(b"99999999999999999999".to_vec()),
        Just(b"-1".to_vec()),
        Just(b"1e9".to_vec()),
        Just(b"half_open".to_vec()),
        Just(b"18446744073709551616.1".to_vec()),
        Just(Vec::new()),
        vec(any::<u8>(), 0..80),
    ];
    prop_oneof![
        (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Replaced(at, byte)),
        (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Inserted(at, byte)),
        any::<Index>().prop_map(Damage::Removed),
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Doubled(from, to)),
        (any::<Index>(), field).prop_map(|(at, field)| Damage::Field(at, field)),
    ]
}

fn damaged(text: &str, damages: &[Damage]) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    for damage in damages {
        let length = text.len().max(1);
        match damage {
            Damage::Replaced(at, byte) => {
                if let Some(there) = text.get_mut(at.index(length)) {
                    *there = *byte;
                }
            }
            Damage::Inserted(at, byte) => text.insert(at.index(text.len() + 1), *byte),
            Damage::Removed(at) => {
                if !text.is_empty() {
                    text.remove(at.index(length));
                }
            }
            Damage::Cut(at) => text.truncate(at.index(length)),
            Damage::Doubled(from, to) => {
                let (from, to) = (from.index(length), to.index(length));
                let part = text.get(from.min(to)..from.max(to)).unwrap_or_default();
                let part = part.to_vec();
                text.extend(part);
            }
            Damage::Field(at, field) => {
                let mut fields: Vec<&[u8]> = text.split(|byte| *byte == b' ').collect();
                let at = at.index(fields.len());
                fields[at] = field;
                text = fields.join(&b' ');
            }
        }
    }
    text
}

/// It says what is wrong in a few words of its own.
fn assert_is_told_well(error: Unusable) {
    let told = error.to_string();
    assert!(told.len() < 120 && told.is_ascii(), "{told}");
    assert!(!told.contains(MARK), "{told}");
}

/// What was read means what it would be written as.
fn assert_refused_or_another<T: Debug + PartialEq>(
    read: Result<T, Unusable>,
    again: impl FnOnce(&T) -> Result<T, Unusable>,
) {
    match read {
        Ok(other) => assert_eq!(again(&other), Ok(other)),
        Err(error) => assert_is_told_well(error),
    }
}

const MARK: &str = "s3cr3t";

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_reply_is_read_as_it_was_written(reply in reply()) {
        let text = reply.encode();
        prop_assert!(text.len() <= 512, "{}", text.len());
        prop_assert_eq!(Reply::decode(text.as_bytes()), Ok(reply));
    }

    #[test]
    fn a_message_is_read_as_it_was_written(message in message()) {
        let text = message.encode();
        prop_assert!(text.len() <= 512, "{}", text.len());
        prop_assert_eq!(Message::decode(text.as_bytes()), Ok(message));
    }

    #[test]
    fn any_bytes_are_refused_or_mean_something(bytes in vec(any::<u8>(), 0..700)) {
        prop_assert!(Reply::decode(&bytes).is_err());
        prop_assert!(Message::decode(&bytes).is_err());
    }

    #[test]
    fn a_damaged_reply_is_refused_or_is_another_one(
        reply in reply(),
        damages in vec(damage(), 1..4),
    ) {
        let read = Reply::decode(&damaged(&reply.encode(), &damages));
        assert_refused_or_another(read, |other| Reply::decode(other.encode().as_bytes()));
    }

    #[test]
    fn a_damaged_message_is_refused_or_is_another_one(
        message in message(),
        damages in vec(damage(), 1..4),
    ) {
        let read = Message::decode(&damaged(&message.encode(), &damages));
        assert_refused_or_another(read, |other| Message::decode(other.encode().as_bytes()));
    }

    #[test]
    fn arguments_are_of_visible_ascii_and_bounded(
        caller in any::caller(),
        name in any::<String>(),
        key in proptest::option::of(any::<String>()),
        command in proptest::option::of(any::version()).prop_flat_map(any::command),
    ) {
        let place = Place::new(&Prefix::default(), &name, key.as_deref());
        let arguments = arguments(&place, &caller, Duration::MAX, &command);
        prop_assert!((10..=23).contains(&arguments.len()));
        for argument in arguments {
            prop_assert!((1..=260).contains(&argument.len()), "{}", argument);
            prop_assert!(argument.bytes().all(|byte| byte.is_ascii_graphic()), "{}", argument);
        }
    }
}

#[test]
fn each_field_that_is_none_is_named() {
    const WHOLE: &str = "1 done 1764.2 open 30000000 1 1 tripped 5 web-1 - 0 1763.9 - 1764.1 c:5:0:0:30000000:0:i:1";
    assert!(Reply::decode(WHOLE.as_bytes()).is_ok());
    let field = Unusable::Field;
    for (at, text, error) in [
        (0, "2", Unusable::OtherFormat),
        (0, "", Unusable::OtherFormat),
        (1, "perhaps", field("verdict")),
        (2, "-", field("version")),
        (2, "1764", field("version")),
        (2, "4503599627370497.2", field("version")),
        (2, "1764.+2", field("version")),
        (2, "00000000000000001.2", field("version")),
        (3, "ajar", field("state")),
        (4, "-1", field("time left")),
        (4, "86400000001", field("time left")),
        (4, "3e7", field("time left")),
        (5, "2", field("imposed")),
        (6, "256", field("count of reopenings")),
        (7, "weather", field("cause")),
        (7, "operator", field("cause")),
        (8, "4294967296", field("number of the cause")),
        (9, "-", field("author")),
        (10, "", field("holder")),
        (10, "web-2", Unusable::Contradiction("lease")),
        (11, "1", Unusable::Contradiction("lease")),
        (11, "86400000001", field("lease")),
        (12, "1763", field("offered version")),
        (12, "1764.2", Unusable::Contradiction("offered version")),
        (13, "", field("census")),
        (13, "-1", field("census")),
        (13, "1000001", field("census")),
        (13, "0", Unusable::Contradiction("census")),
        (14, "1764", field("operator's version")),
        (14, "1764.3", Unusable::Contradiction("operator's version")),
        (15, "", field("declaration")),
        (15, "c:5:0:0:30000000:0:i", field("declaration")),
        (15, "c:5:0:1:30000000:0:i:1", field("declaration")),
        (15, "c:5:0:0:86400000001:0:i:1", field("declaration")),
        (15, "c:5:0:0:30000000:2:i:1", field("declaration")),
        (15, "c:5:0:0:30000000:0:s:0", field("declaration")),
        (15, "r:1000000001:0:0:1:0:i:1", field("declaration")),
        (15, "x:5:0:0:30000000:0:i:1", field("declaration")),
        (3, "closed", Unusable::Contradiction("time left")),
        (3, "half_open", Unusable::Contradiction("time left")),
    ] {
        let mut fields: Vec<&str> = WHOLE.split(' ').collect();
        fields[at] = text;
        let text = fields.join(" ");
        assert_eq!(Reply::decode(text.as_bytes()), Err(error), "{text}");
    }
    for text in [
        "1 done",
        "1",
        "1 missing 1764.2",
        "1 missing 0",
        &format!("{WHOLE} 0 0"),
        &format!("{WHOLE} 0 "),
    ] {
        let decoded = Reply::decode(text.as_bytes());
        assert_eq!(decoded, Err(Unusable::Fields), "{text}");
    }
    for listeners in ["", "-", "-1", "4294967296", "00000000000000001"] {
        let decoded = Reply::decode(format!("{WHOLE} {listeners}").as_bytes());
        let error = field("number of listeners");
        assert_eq!(decoded, Err(error), "{listeners}");
    }
    // Nobody else is told it.
    let message = "1 - 1764.2 open 0 0 1 tripped 5 web-1 - 0 - - - -";
    assert!(Message::decode(message.as_bytes()).is_ok());
    let decoded = Message::decode(format!("{message} 1").as_bytes());
    assert_eq!(decoded, Err(Unusable::Fields));
    let label = format!(
        "1 [{}] 1764.2 open 0 0 1 tripped 5 web-1 - 0 - - - -",
        "x".repeat(200)
    );
    assert_eq!(Message::decode(label.as_bytes()), Err(field("label")));
    assert_eq!(Message::decode(b"1 {x}"), Err(field("label")));
}

#[test]
fn the_longest_of_all_is_no_longer_than_what_is_read() {
    let version = |counter| {
        let epoch = MAX_NUMBER;
        Some(Version { epoch, counter })
    };
    let who = Who::new(&"w".repeat(64)).unwrap();
    let share = Share::new(1.0);
    let told = Told {
        version: version(MAX_NUMBER).unwrap(),
        shared: Shared {
            state: State::HalfOpen,
            wait: 0,
            imposed: false,
            reopenings: 255,
        },
        lease: Some((who.clone(), LONGEST_WAIT)),
        cause: Cause::Counted { failures: u32::MAX },
        by: who,
        offered: version(MAX_NUMBER - 1),
        census: None,
        operated: version(MAX_NUMBER - 1),
        declared: Some(Declared {
            opens: Limits::Rate {
                failures: share,
                slow: share,
                min_calls: u32::MAX,
            },
            reset: u64::MAX,
            counting: true,
            quorum: Quorum::Share(share.unwrap()),
        }),
    };
    let label = format!("[{}]", "k".repeat(128));
    let text = Message { label, told }.encode();
    let message = Message::decode(text.as_bytes()).expect("a message");
    assert_eq!(message.encode(), text);
    let declared = message.told.declared.map(|declared| declared.reset);
    assert_eq!(declared, Some(LONGEST_WAIT));
}

#[test]
fn what_is_too_long_or_no_text_is_not_even_looked_at() {
    let long = vec![b' '; 513];
    assert_eq!(Reply::decode(&long), Err(Unusable::TooLong));
    assert_eq!(Message::decode(&long), Err(Unusable::TooLong));
    for text in ["1 d\u{f6}ne", "1 done\n", "1\tdone", "\0"] {
        assert_eq!(Reply::decode(text.as_bytes()), Err(Unusable::NotText));
    }
    for error in [
        Unusable::TooLong,
        Unusable::NotText,
        Unusable::Field("lease"),
    ] {
        assert_is_told_well(error);
    }
    let secret = format!("1 {MARK} {MARK}");
    for error in [
        Reply::decode(secret.as_bytes()).unwrap_err(),
        Message::decode(secret.as_bytes()).unwrap_err(),
    ] {
        assert_is_told_well(error);
        assert!(!format!("{error:?}").contains(MARK));
    }
}

#[test]
fn what_is_stored_and_can_not_be_used_is_told_apart() {
    for (status, error) in [
        ("foreign", Unusable::Foreign),
        ("format", Unusable::StoredOtherwise),
        ("malformed", Unusable::Damaged),
        ("unpublishable", Unusable::MayNotPublish),
    ] {
        let decoded = Reply::decode(format!("1 {status}").as_bytes());
        assert_eq!(decoded, Err(error));
    }
}

#[test]
fn the_key_lives_a_second_at_least() {
    let place = Place::new(&Prefix::default(), "pms", None);
    let caller = Caller {
        who: Who::new("web-1").unwrap(),
        alive: u64::MAX,
        present: true,
        longest_lease: u64::MAX,
        declared: None,
    };
    let known = None;
    let lives = |lives| {
        let command = super::super::Command::Read { known };
        arguments(&place, &caller, lives, &command).swap_remove(6)
    };
    assert_eq!(lives(Duration::ZERO), "1000");
    assert_eq!(lives(LIVES), "3600000");
    assert_eq!(lives(Duration::MAX), "31536000000");
}
