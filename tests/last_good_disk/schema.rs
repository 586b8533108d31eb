//! Answers of a program whose types were others.

use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

mod before {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) struct Price {
        pub(super) net: u32,
        pub(super) tax: u32,
    }
}

mod after {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) struct Price {
        pub(super) tax: u32,
        pub(super) net: u64,
        #[serde(default)]
        pub(super) currency: Option<String>,
    }

    pub(super) mod renamed {
        use super::*;

        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub(in super::super) struct Price {
            pub(in super::super) gross: u32,
        }
    }
}

fn before(place: &Somewhere) {
    let price = before::Price { net: 100, tax: 19 };
    save(&open(&place.path), "h1", &price).unwrap();
}

#[test]
fn what_serde_can_read_is_served() {
    let place = somewhere();
    before(&place);
    let price = after::Price {
        tax: 19,
        net: 100,
        currency: None,
    };
    assert_eq!(load(&open(&place.path), "h1").unwrap(), Some(price));
}

#[test]
fn what_it_cant_is_an_error_until_the_next_save() {
    use after::renamed::Price;
    let place = somewhere();
    before(&place);
    let disk = open::<Price>(&place.path);
    let error = load(&disk, "h1").unwrap_err();
    assert!(matches!(error, DiskError::Decode { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("was saved by a program whose answers are other ones: missing field `gross`"),
        "{error}"
    );
    // An old one is better than one that can't be read.
    save_aged(&disk, "h1", &Price { gross: 1 }, Duration::from_secs(3600)).unwrap();
    assert_eq!(load(&disk, "h1").unwrap(), Some(Price { gross: 1 }));
}

#[test]
fn another_type_is_never_read_as_this_one() {
    let place = somewhere();
    save(&open(&place.path), "h1", &120_u32).unwrap();
    let error = load(&open::<u64>(&place.path), "h1").unwrap_err();
    assert!(matches!(error, DiskError::Decode { .. }), "{error}");
    assert!(load(&open::<i32>(&place.path), "h1").is_err());
    assert!(load(&open::<Option<u32>>(&place.path), "h1").is_err());
    assert!(load(&open::<(u32,)>(&place.path), "h1").is_err());
    // The program of before is back.
    assert_eq!(load(&open(&place.path), "h1").unwrap(), Some(120_u32));
}

#[test]
fn another_version_is_never_served() {
    let place = somewhere();
    save(&open(&place.path), "h1", &120_u32).unwrap();
    save(&open(&place.path), "h2", &80_u32).unwrap();
    let disk = Disk::<String, u32>::open_with(&place.path, EACH.version(1)).unwrap();
    assert!(matches!(load(&disk, "h1"), Err(DiskError::Decode { .. })));
    save(&disk, "h1", &7).unwrap();
    assert_eq!(load(&disk, "h1").unwrap(), Some(7));
    drop(disk);
    let disk = open::<u32>(&place.path);
    assert!(load(&disk, "h1").is_err());
    assert_eq!(load(&disk, "h2").unwrap(), Some(80));
}

#[test]
fn an_answer_that_would_be_read_back_as_another_is_refused_and_the_old_one_stays() {
    let place = somewhere();
    let disk = open::<Option<Option<u32>>>(&place.path);
    save(&disk, "h1", &Some(Some(1))).unwrap();
    let error = save(&disk, "h1", &Some(None)).unwrap_err();
    assert!(matches!(error, DiskError::Encode { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the answer can't be saved: `Some(None)` would be read back as `None`"
    );
    assert_eq!(load(&disk, "h1").unwrap(), Some(Some(Some(1))));
    save(&disk, "h1", &None).unwrap();
    assert_eq!(load(&disk, "h1").unwrap(), Some(None));
}

#[test]
fn what_serde_reads_by_looking_at_it_is_kept() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Amount {
        Whole(i64),
        Parts { units: i64, nanos: i32 },
        Text(String),
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Costs {
        #[serde(flatten)]
        by_service: BTreeMap<String, Amount>,
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Report {
        raw: serde_json::Value,
        costs: Vec<Costs>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_page: Option<String>,
        total: Amount,
    }
    let by_service = BTreeMap::from([
        ("a".to_owned(), Amount::Whole(-3)),
        (
            "b".to_owned(),
            Amount::Parts {
                units: 1,
                nanos: 500_000_000,
            },
        ),
        ("c".to_owned(), Amount::Text("12.5".into())),
    ]);
    let report = Report {
        raw: serde_json::json!({ "Groups": [{ "Keys": ["a"], "Amount": 1.25 }, null, true] }),
        costs: vec![Costs { by_service }],
        next_page: None,
        total: Amount::Whole(i64::MAX),
    };
    let place = somewhere();
    save(&open(&place.path), "h1", &report).unwrap();
    assert_eq!(load(&open(&place.path), "h1").unwrap(), Some(report));
}
