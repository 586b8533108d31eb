//! Every breaker that is listed.

use breakerbox::registry::{self, Kind, Registered};
use breakerbox::{
    Breaker, CallError, Config, KeyedBreakers, State, breaker, circuit_breaker, test,
};
use std::collections::HashSet;
use std::time::Duration;

fn names() -> Vec<String> {
    let all = registry::all();
    all.iter().map(|it| it.name().to_owned()).collect()
}

#[test]
fn breakers_of_all_kinds_are_listed_by_name() {
    #[circuit_breaker(name = "generated")]
    fn generated() -> Result<(), CallError<()>> {
        Ok(())
    }
    #[circuit_breaker(name = "by-key", key = host)]
    fn by_key(host: &str) -> Result<(), CallError<()>> {
        let _ = host;
        Ok(())
    }
    let generated_at = line!() - 9;
    breaker! { static DECLARED = { name: "declared-here" } }
    let declared_at = line!() - 1;
    static BY_HAND: Breaker = Breaker::new("by-hand", Config::DEFAULT);

    let _scope = test::scope();
    assert_eq!(names(), [""; 0], "none was called");
    let (shared, shared_at) = (Breaker::shared("a-shared", Config::DEFAULT), line!());
    let by_account = KeyedBreakers::<u64>::shared("shared-by-key", Config::DEFAULT, 9).unwrap();
    generated().unwrap();
    by_key("a.example").unwrap();
    drop((DECLARED.admit(), BY_HAND.admit(), by_account.get(&7_u64)));

    let all = registry::all();
    let listed: Vec<_> = all
        .iter()
        .map(|it| (it.name(), it.kind(), matches!(it, Registered::Keyed(_))))
        .collect();
    assert_eq!(
        listed,
        [
            ("a-shared", Kind::Shared, false),
            ("by-key", Kind::Declared, true),
            ("declared-here", Kind::Declared, false),
            ("generated", Kind::Declared, false),
            ("shared-by-key", Kind::Shared, true),
        ]
    );
    let place = |name| all.iter().find(|it| it.name() == name).unwrap().place();
    for (name, line) in [
        ("a-shared", shared_at),
        ("declared-here", declared_at),
        ("generated", generated_at),
    ] {
        assert_eq!(
            place(name).to_string(),
            format!("{}:{line}", file!()),
            "{name}"
        );
    }
    let one = breakerbox::find("generated").unwrap();
    assert_eq!(
        (one.kind(), one.place()),
        (Kind::Declared, place("generated"))
    );
    let key = breakerbox::find("shared-by-key[7]").unwrap();
    assert_eq!(
        (key.kind(), key.place()),
        (Kind::Shared, place("shared-by-key"))
    );
    assert_eq!(
        (Kind::Declared.as_str(), Kind::Shared.to_string()),
        ("declared", "shared".into())
    );

    let circuits: Vec<_> = all.iter().flat_map(Registered::breakers).collect();
    assert_eq!(circuits.len(), 5, "one of each: two by key have one key");
    drop((all, circuits, one, key));
    drop((shared, by_account));
    assert_eq!(names(), ["by-key", "declared-here", "generated"]);
}

#[test]
fn a_scope_lists_what_its_calls_used() {
    breaker! { static OF_ALL = { name: "of-all" } }
    let outside = Breaker::shared("made-outside", Config::DEFAULT);
    drop(OF_ALL.admit());
    assert!(breakerbox::find("of-all").is_some());

    let scope = test::scope();
    assert_eq!(names(), [""; 0], "in this scope nobody called");
    drop((OF_ALL.admit(), outside.admit()));
    assert_eq!(names(), ["made-outside", "of-all"]);
    let made_inside = Breaker::shared("of-all", Config::DEFAULT);
    drop(made_inside.admit());
    assert_eq!(
        names(),
        ["made-outside", "of-all", "of-all"],
        "two of one name"
    );
    {
        let _inner = test::scope();
        assert_eq!(names(), [""; 0]);
    }
    let states: Vec<_> = registry::all()
        .iter()
        .flat_map(Registered::breakers)
        .map(|it| it.force_open().to)
        .collect();
    assert_eq!(states, [State::ForcedOpen; 3]);
    drop(scope);
    assert_eq!(
        outside.state(),
        State::Closed,
        "the scope had its own state"
    );
    assert_eq!(OF_ALL.state(), State::Closed);
}

#[test]
fn what_is_listed_is_kept_by_the_list_alone() {
    let _scope = test::scope();
    let pms = Breaker::shared("kept-by-the-list", Config::DEFAULT);
    let all = registry::all();
    drop(pms);
    let listed = |name: &str| names().iter().any(|it| it == name);
    assert!(listed("kept-by-the-list"));
    drop(all);
    assert!(!listed("kept-by-the-list"));
}

#[test]
fn all_keys_are_operated_at_once() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u32>::shared("operated-at-once", Config::DEFAULT, 100).unwrap();
    let kept: Vec<_> = (0..50_u32).map(|key| hosts.get(&key)).collect();
    let found = breakerbox::find_keyed("operated-at-once").unwrap();
    let states = || -> HashSet<State> { kept.iter().map(|key| key.state()).collect() };

    assert_eq!(found.force_open(), 50);
    assert_eq!(states(), HashSet::from([State::ForcedOpen]));
    assert_eq!(
        hosts.get(&50_u32).state(),
        State::Closed,
        "one that comes later"
    );
    assert_eq!(found.disable(), 51);
    assert_eq!(states(), HashSet::from([State::Disabled]));
    assert_eq!(found.shadow(), 51);
    assert_eq!(states(), HashSet::from([State::Shadow]));
    assert_eq!(found.open_for(Duration::from_secs(9)), 51);
    assert_eq!(states(), HashSet::from([State::Open]));
    assert!(
        kept.iter()
            .all(|key| key.admit().unwrap_err().retry_after() == Some(Duration::from_secs(9)))
    );
    assert_eq!(found.close(), 51);
    assert_eq!(states(), HashSet::from([State::Closed]));
    found.force_open();
    assert_eq!(found.clear(), 51);
    assert_eq!(states(), HashSet::from([State::Closed]));
    assert!(kept.iter().all(|key| key.admit().is_ok()));
}
