//! No two circuits meet in Redis, whatever they are called.

use super::super::names::is_label;
use super::super::{NoPrefix, Place, Prefix, Who};
use proptest::prelude::*;
use std::collections::HashMap;

/// Names that might be taken for another's, and long ones.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a:\\[\\]{}%~.-]{0,6}",
        "[a:\\[\\]{}%~]{120,140}",
        Just("pms".repeat(50)),
        (0..3_usize).prop_map(|more| "x".repeat(127 + more)),
    ]
}

fn place() -> impl Strategy<Value = (String, Option<String>)> {
    (name(), proptest::option::of(name()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_has_a_key_of_its_own(places in proptest::collection::vec(place(), 2..40)) {
        let prefixes = ["breakerbox", "breakerbox:pms", "breakerbox:pms[a]", "b"];
        let mut seen = HashMap::new();
        for prefix in prefixes {
            let prefix = Prefix::new(prefix).unwrap();
            for (name, key) in &places {
                let place = Place::new(&prefix, name, key.as_deref());
                let what = (prefix.as_str().to_owned(), name, key);
                let before = seen.insert(place.key().to_owned(), what.clone());
                prop_assert!(before.is_none_or(|before| before == what), "{}", place.key());
            }
        }
    }

    #[test]
    fn it_is_short_and_plain((name, key) in place()) {
        let place = Place::new(&Prefix::default(), &name, key.as_deref());
        prop_assert!(place.key().len() <= 10 + 1 + 128 + 130, "{}", place.key());
        // No user's braces choose the slot in a cluster.
        prop_assert!(place.key().bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert_eq!(place.key().find(['{', '}']), None);
        prop_assert!(is_label(place.label()), "{}", place.label());
        prop_assert_eq!(key.is_some(), place.label() != "-");
        // All keys of a name have one, which is not that of the name without a key.
        let [alone, of_keys] = [None, Some("")].map(|key| Place::new(&Prefix::default(), &name, key));
        let all = if key.is_some() { &of_keys } else { &alone };
        prop_assert_eq!(place.channel(), all.channel());
        prop_assert_eq!(alone.channel(), alone.key());
        prop_assert_eq!(of_keys.channel(), format!("{}[", alone.key()));
    }
}

#[test]
fn what_people_call_circuits_can_be_read() {
    let prefix = Prefix::default();
    let key = |name: &str, key: Option<&str>| Place::new(&prefix, name, key).key().to_owned();
    assert_eq!(key("pms", None), "breakerbox:pms");
    assert_eq!(key("pms-eu_1.v2", Some("H1")), "breakerbox:pms-eu_1.v2[H1]");
    assert_eq!(key("shop::pms", None), "breakerbox:shop%3A%3Apms");
    assert_eq!(key("pms[H1]", None), "breakerbox:pms%5BH1%5D");
    assert_eq!(key("", Some("")), "breakerbox:[]");
    assert_eq!(key("{a}", Some("\u{e4}")), "breakerbox:%7Ba%7D[%C3%A4]");
    let long = key(&"pms/".repeat(100), None);
    assert!(
        long.starts_with("breakerbox:pms%2Fpms%2F") && long.len() < 11 + 128,
        "{long}"
    );
    // Nobody's short name is another's that was cut.
    let cut = long.strip_prefix("breakerbox:").unwrap();
    assert_ne!(key(cut, None), long);
}

#[test]
fn a_prefix_is_of_visible_ascii() {
    for prefix in ["", "two words", "\u{e4}", "a\n", &"x".repeat(65)] {
        assert_eq!(Prefix::new(prefix), Err(NoPrefix), "{prefix}");
    }
    assert!(!NoPrefix.to_string().is_empty());
    // A hash tag of an operator's stays one.
    let tagged = Prefix::new("{breakers}").unwrap();
    assert_eq!(Place::new(&tagged, "pms", None).key(), "{breakers}:pms");
}

#[test]
fn an_instance_is_called_in_visible_ascii() {
    for name in ["", "-", "two words", "\u{e4}", "a\0", &"x".repeat(65)] {
        assert!(Who::new(name).is_err(), "{name}");
    }
    for name in ["--", "a", "web-1.4711[x]", &"x".repeat(64)] {
        assert_eq!(Who::new(name).unwrap().as_str(), name);
    }
}
