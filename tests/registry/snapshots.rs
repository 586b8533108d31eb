//! Taking the states of all breakers out of one run and into another.

use breakerbox::registry::{self, CircuitName, RestoreError, SnapshotOf, Snapshots};
use breakerbox::{
    AnyBreaker, Breaker, CallError, Config, KeyedBreakers, Settings, Snapshot, SnapshotError,
    State, breaker, circuit_breaker, find, test,
};
use std::time::Duration;

fn name(text: &str) -> CircuitName {
    let (breaker, key) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((breaker, key)) => (breaker, Some(key.to_owned())),
        None => (text, None),
    };
    CircuitName {
        breaker: breaker.to_owned(),
        key,
    }
}

fn open(left: u64) -> Snapshot {
    Snapshot {
        state: State::Open,
        time_left: Duration::from_secs(left),
        imposed: true,
        consecutive: 0,
        reopenings: 0,
    }
}

fn closed(consecutive: u32) -> Snapshot {
    Snapshot {
        state: State::Closed,
        time_left: Duration::ZERO,
        imposed: false,
        consecutive,
        reopenings: 0,
    }
}

fn snapshots<const N: usize>(all: [(&str, Snapshot); N]) -> Snapshots {
    let of = |(circuit, snapshot)| SnapshotOf {
        circuit: name(circuit),
        snapshot,
    };
    all.into_iter().map(of).collect()
}

fn names(circuits: &[CircuitName]) -> Vec<String> {
    circuits.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_run_ended_with_the_next_begins_with() {
    #[circuit_breaker(name = "gen", threshold = 3)]
    fn generated() -> Result<(), CallError<&'static str>> {
        Err(CallError::Call("no answer"))
    }
    #[circuit_breaker(name = "gen-hosts", key = host, threshold = 1)]
    fn hosts(host: &str) -> Result<(), CallError<&'static str>> {
        let _ = host;
        Err(CallError::Call("no answer"))
    }
    let first = test::scope();
    let shared = Breaker::shared("client", Config::DEFAULT);
    let quiet = Breaker::shared("quiet", Config::DEFAULT);
    shared.open_for(Duration::from_secs(90));
    drop(quiet.admit());
    for _ in 0..2 {
        let _ = generated();
    }
    let _ = (hosts("a"), hosts("b"));
    find("gen-hosts[b]").unwrap().shadow();
    let before = registry::snapshot();
    let held: Vec<_> = before
        .iter()
        .map(|it| (it.circuit.to_string(), it.snapshot.state))
        .collect();
    assert_eq!(
        held,
        [
            ("client".into(), State::Open),
            ("gen".into(), State::Closed),
            ("gen-hosts[a]".into(), State::Open),
            ("gen-hosts[b]".into(), State::Shadow),
        ],
        "by name, without the one that is as new"
    );
    drop((shared, quiet, first));

    let second = test::scope();
    let report = registry::restore(&before);
    assert_eq!(
        names(&report.waiting),
        ["client", "gen", "gen-hosts[a]", "gen-hosts[b]"]
    );
    assert_eq!(
        (report.restored.len(), report.refused.len(), report.given_up),
        (0, 0, 0)
    );
    assert!(registry::all().is_empty(), "it enters none");
    second.advance(Duration::from_secs(30));

    let shared = Breaker::shared("client", Config::DEFAULT);
    let left = shared.admit().unwrap_err().retry_after();
    assert_eq!(left, Some(Duration::from_secs(60)), "the time went on");
    let _ = generated();
    assert!(
        matches!(generated(), Err(CallError::Open(_))),
        "the third failure in a row"
    );
    second.advance(Duration::from_secs(1));
    assert!(
        matches!(hosts("a"), Err(CallError::Call(_))),
        "its wait is over: a probe"
    );
    assert!(matches!(hosts("a"), Err(CallError::Open(_))));
    assert!(matches!(hosts("b"), Err(CallError::Call(_))));
    assert_eq!(find("gen-hosts[b]").unwrap().state(), State::Shadow);
    assert!(matches!(hosts("c"), Err(CallError::Call(_))), "another key");
    assert_eq!(find("gen-hosts[c]").unwrap().state(), State::Open);
    assert_eq!(registry::problems(), []);

    // What waited was taken once.
    drop(shared);
    assert_eq!(
        Breaker::shared("client", Config::DEFAULT).state(),
        State::Closed
    );
}

#[test]
fn breakers_that_are_there_are_restored_at_once() {
    let scope = test::scope();
    let one = Breaker::shared("one", Config::DEFAULT);
    let keyed = KeyedBreakers::<u64>::shared("keyed", Config::DEFAULT, 9).unwrap();
    let (seven, _eight) = (keyed.get(&7_u64), keyed.get(&8_u64));
    let report = registry::restore(&snapshots([
        ("one", open(10)),
        ("keyed[7]", open(20)),
        ("keyed[9]", open(30)),
    ]));
    assert_eq!(names(&report.restored), ["keyed[7]", "one"]);
    assert_eq!(names(&report.waiting), ["keyed[9]"]);
    let left = |breaker: &dyn AnyBreaker| breaker.snapshot().time_left.as_secs();
    assert_eq!((left(&*one), left(&seven)), (10, 20));
    assert_eq!(keyed.get(&8_u64).state(), State::Closed);
    scope.advance(Duration::from_secs(5));
    assert_eq!(left(&keyed.get(&9_u64)), 25);
}

#[test]
fn nonsense_is_refused_for_each_alone() {
    let _scope = test::scope();
    let there = Breaker::shared("there", Settings::new().threshold(2).must());
    let keyed = KeyedBreakers::<u64>::shared("by-key", Config::DEFAULT, 9).unwrap();
    let twice = Breaker::shared("twice", Config::DEFAULT);
    there.disable();
    let report = registry::restore(&snapshots([
        ("there", closed(2)),
        ("there[1]", open(1)),
        ("by-key", open(1)),
        ("good", open(1)),
        ("good", open(2)),
        ("twice", open(3)),
        ("twice", open(4)),
        ("late", closed(7)),
        ("late-by-key", open(1)),
        ("late-one[1]", open(1)),
        (
            "never",
            Snapshot {
                time_left: Duration::from_secs(1),
                ..closed(0)
            },
        ),
    ]));
    let mut refused: Vec<_> = report
        .refused
        .iter()
        .map(|(circuit, error)| format!("{circuit}: {error}"))
        .collect();
    refused.sort();
    assert_eq!(
        refused,
        [
            "by-key: the snapshot is of no key, but of that name there is a breaker for each key",
            "good: there are two snapshots of it: the first was taken",
            "never: the snapshot is closed, but has time left",
            "there: the snapshot is closed with 2 failures in a row, but 2 trip",
            "there[1]: the snapshot is of a key, but the breaker of that name has no keys",
            "twice: there are two snapshots of it: the first was taken",
        ]
    );
    assert_eq!(there.state(), State::Disabled, "it stayed as it was");
    assert_eq!(
        twice.snapshot().time_left.as_secs(),
        3,
        "the first was taken"
    );
    assert_eq!(names(&report.restored), ["twice"]);
    assert!(keyed.get(&1_u64).admit().is_ok());
    assert_eq!(
        names(&report.waiting),
        ["good", "late", "late-by-key", "late-one[1]"]
    );

    // Those that are wrong only for what comes later are told of then.
    assert_eq!(registry::problems(), []);
    let late = Breaker::shared("late", Settings::new().threshold(7).must());
    let _late_keyed = KeyedBreakers::<u64>::shared("late-by-key", Config::DEFAULT, 9).unwrap();
    let _late_one = Breaker::shared("late-one", Config::DEFAULT);
    assert_eq!(
        (late.state(), late.snapshot().consecutive),
        (State::Closed, 0)
    );
    let problems: Vec<_> = registry::problems()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        problems,
        [
            "circuit `late` was not restored: the snapshot is closed with 7 failures in a row, but 7 trip",
            "circuit `late-by-key` was not restored: the snapshot is of no key, but of that name there is a breaker for each key",
            "circuit `late-one[1]` was not restored: the snapshot is of a key, but the breaker of that name has no keys",
        ]
    );
    let report = registry::restore(&Snapshots::default());
    assert_eq!(report.given_up, 1, "`good` waited");
    assert_eq!(
        registry::problems(),
        [],
        "of what is given up there is no problem"
    );
    assert_eq!(
        report.refused.first().map(|(_, error)| *error),
        None::<RestoreError>
    );
    let error = RestoreError::from(SnapshotError::ClosedWithTimeLeft);
    assert_eq!(
        error.to_string(),
        "the snapshot is closed, but has time left"
    );
}

#[test]
fn observers_and_watchers_hear_of_what_waited() {
    breaker! { static HEARD = { name: "heard-restored" } }
    let _scope = test::scope();
    registry::restore(&snapshots([
        ("heard-restored", open(9)),
        ("heard-key[1]", open(9)),
    ]));
    let mut watch = registry::watch();
    assert!(
        HEARD.admit().is_err(),
        "not even its first call was admitted"
    );
    let keyed = KeyedBreakers::<u64>::shared("heard-key", Config::DEFAULT, 9).unwrap();
    assert_eq!(
        keyed.get(&1_u64).admit().unwrap_err().to_string(),
        "circuit `heard-key[1]` is open: retry in 9s"
    );
    let told: Vec<_> = watch
        .try_changed()
        .unwrap()
        .news
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "`heard-restored` entered the registry",
            "`heard-restored`: closed -> open",
            "`heard-key` entered the registry",
            "`heard-key[1]` entered the registry",
            "`heard-key[1]`: closed -> open",
        ]
    );
}

/// The whole way, with each state.
#[test]
fn every_state_comes_back() {
    let first = test::scope();
    let breakers: Vec<_> = (0..5)
        .map(|number| Breaker::shared(format!("state-{number}"), Config::DEFAULT))
        .collect();
    breakers[0].force_open();
    breakers[1].disable();
    breakers[2].shadow();
    breakers[3].open_for(Duration::from_nanos(1_234_567));
    let _ = breakers[4].call_sync(|| Err::<(), _>(()));
    let before = registry::snapshot();
    assert_eq!(before.len(), 5);
    drop((breakers, first));

    let _second = test::scope();
    registry::restore(&before);
    let breakers: Vec<_> = (0..5)
        .map(|number| Breaker::shared(format!("state-{number}"), Config::DEFAULT))
        .collect();
    assert_eq!(registry::snapshot(), before);
    drop(breakers);
}

#[test]
fn a_key_whose_place_is_not_kept_goes_on_waiting() {
    let _scope = test::scope();
    registry::restore(&snapshots([("full[2]", open(60))]));
    let full = KeyedBreakers::<u64>::shared("full", Config::DEFAULT, 1).unwrap();
    let first = full.get(&1_u64);
    for _ in 0..3 {
        assert_eq!(full.get(&2_u64).state(), State::Open, "each time anew");
        assert_eq!(full.len(), 1);
    }
    drop(first);
    assert_eq!(full.get(&2_u64).state(), State::Open);
    assert_eq!(
        registry::restore(&Snapshots::default()).given_up,
        0,
        "now it was taken"
    );
}

#[test]
fn the_written_shape_stays() {
    let written = r#"{"version":1,"breakers":[{"breaker":"hosts","key":"a","state":"open","time_left_us":29500000,"imposed":true,"reopenings":2},{"breaker":"pms","state":"closed","consecutive":3},{"breaker":"z","state":"forced_open"}]}"#;
    let read: Snapshots = serde_json::from_str(written).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
    assert_eq!(
        read,
        snapshots([
            (
                "hosts[a]",
                Snapshot {
                    time_left: Duration::from_millis(29_500),
                    reopenings: 2,
                    ..open(0)
                }
            ),
            ("pms", closed(3)),
            (
                "z",
                Snapshot {
                    state: State::ForcedOpen,
                    ..closed(0)
                }
            ),
        ])
    );
    let more =
        r#"{"version":1,"breakers":[{"breaker":"a","state":"open","color":"red"}],"by":"x"}"#;
    assert_eq!(serde_json::from_str::<Snapshots>(more).unwrap().len(), 1);
    for (text, error) in [
        (
            r#"{"version":2,"breakers":7}"#,
            "snapshots of version 2: this release reads version 1",
        ),
        (
            r#"{"version":1,"breakers":[{"breaker":"a","state":"ajar"}]}"#,
            "not a breaker state",
        ),
        (
            r#"{"version":1,"breakers":[{"state":"open"}]}"#,
            "missing field `breaker`",
        ),
        (r#"{"breakers":[]}"#, "missing field `version`"),
    ] {
        let found = serde_json::from_str::<Snapshots>(text)
            .unwrap_err()
            .to_string();
        assert!(found.contains(error), "{found}");
    }
}

#[test]
fn what_still_waits_is_handed_on_to_the_run_after() {
    let scope = test::scope();
    let forced = Snapshot {
        state: State::ForcedOpen,
        ..closed(0)
    };
    let _ = registry::restore(&snapshots([
        ("called", open(60)),
        ("closed by now", open(60)),
        ("hosts[a]", open(60)),
        ("hosts[b]", forced),
        ("over by now", open(10)),
        ("two failures", closed(2)),
        ("uncalled", open(60)),
    ]));
    scope.advance(Duration::from_secs(20));
    let breakers = ["called", "closed by now"].map(|name| Breaker::shared(name, Config::DEFAULT));
    breakers[1].close();
    let hosts = KeyedBreakers::<String>::shared("hosts", Config::DEFAULT, 10).unwrap();
    hosts.get("a").close();
    scope.advance(Duration::from_secs(10));
    let handed_on = registry::snapshot();
    assert_eq!(
        handed_on,
        snapshots([
            ("called", open(30)),
            ("hosts[b]", forced),
            ("uncalled", open(30)),
        ])
    );
    drop((breakers, hosts, scope));

    let _scope = test::scope();
    let _ = registry::restore(&handed_on);
    assert_eq!(registry::snapshot(), handed_on, "again, by the same clock");
    assert_eq!(
        Breaker::shared("uncalled", Config::DEFAULT).snapshot(),
        open(30)
    );
}
