//! A breaker by its name.

use breakerbox::{
    AnyBreaker, Breaker, Change, Config, Found, Settings, Snapshot, State, breaker, find, test,
};
use std::sync::{Arc, Barrier};
use std::time::Duration;

breaker! {
    static DECLARED = { name: "declared", threshold: 1 }
}

#[test]
fn a_declared_breaker_is_found_from_its_first_call_on() {
    let _scope = test::scope();
    assert!(find("declared").is_none());
    drop(DECLARED.admit());
    let found = find("declared").unwrap();
    assert_eq!(found.name(), "declared");
    assert_eq!(found.config().threshold(), 1);
    found.force_open();
    assert_eq!(DECLARED.state(), State::ForcedOpen);
}

#[test]
fn a_shared_breaker_is_found_until_it_is_dropped() {
    let pms = Breaker::shared("of-a-client", Config::DEFAULT);
    let found = find("of-a-client").unwrap();
    found.disable();
    assert_eq!(pms.state(), State::Disabled);
    drop(pms);
    assert_eq!(found.state(), State::Disabled, "what was found stays alive");
    drop(found);
    assert!(find("of-a-client").is_none());
}

#[test]
fn a_name_already_taken_gets_its_place() {
    let first = Breaker::shared("taken", Config::DEFAULT);
    let (second, line) = (Breaker::shared("taken", Config::DEFAULT), line!());
    assert_eq!(first.name(), "taken");
    assert_eq!(second.name(), format!("taken@{}:{line}", file!()));
    assert_eq!(find(second.name()).unwrap().name(), second.name());

    let many: Vec<_> = (0..100)
        .map(|_| Breaker::shared("taken", Config::DEFAULT))
        .collect();
    let mut names: Vec<_> = many
        .iter()
        .map(|breaker| breaker.name().to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 100, "no two have one name");
    drop(many);
    assert!(
        names.iter().all(|name| find(name).is_none()),
        "none is left behind"
    );

    drop(first);
    let third = Breaker::shared("taken", Config::DEFAULT);
    assert_eq!(third.name(), "taken", "free again");
}

#[test]
fn a_breaker_by_hand_is_not_listed() {
    let pms = Breaker::new("by-hand", Config::DEFAULT);
    drop(pms.admit());
    assert!(find("by-hand").is_none());
}

#[test]
fn threads_that_call_first_together_enter_it_once() {
    breaker! { static TOGETHER = { name: "together" } }
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| drop(TOGETHER.admit().unwrap()));
        }
    });
    assert_eq!(TOGETHER.name(), "together");
    assert!(find("together").is_some());
}

/// A breaker of its own wherever it is expanded.
macro_rules! declared {
    ($name:literal) => {{
        breaker! { static HERE = { name: $name, threshold: 1 } }
        &HERE
    }};
}

fn called(breaker: &'static Breaker) -> &'static Breaker {
    drop(breaker.admit());
    breaker
}

#[test]
fn a_declared_breaker_takes_over_no_name() {
    let shared = Breaker::shared("declared-late", Config::DEFAULT);
    let (declared, line) = (called(declared!("declared-late")), line!());
    assert_eq!(shared.name(), "declared-late");
    let placed = format!("declared-late@{}:{line}", file!());
    assert_eq!(declared.name(), placed, "of its declaration");
    find("declared-late").unwrap().force_open();
    find(&placed).unwrap().disable();
    assert_eq!(shared.state(), State::ForcedOpen);
    assert_eq!(declared.state(), State::Disabled);
}

#[test]
fn a_shared_breaker_takes_over_no_declared_name() {
    let declared = called(declared!("declared-early"));
    let (shared, line) = (Breaker::shared("declared-early", Config::DEFAULT), line!());
    let placed = format!("declared-early@{}:{line}", file!());
    assert_eq!(
        (declared.name(), shared.name()),
        ("declared-early", &*placed)
    );
    drop(shared);
    assert!(find(&placed).is_none());
    find("declared-early").unwrap().force_open();
    assert_eq!(declared.state(), State::ForcedOpen);
}

#[test]
fn expansions_of_a_macro_on_one_line_have_different_names() {
    let all = [declared!("same"), declared!("same"), declared!("same")].map(called);
    let placed = format!("same@{}:{}", file!(), line!() - 1);
    let [first, second, third] = all;
    assert_eq!((first.name(), second.name()), ("same", &*placed));
    assert!(third.name().starts_with(&placed), "{}", third.name());
    assert_ne!(third.name(), placed);
    for breaker in all {
        find(breaker.name()).unwrap().force_open();
        assert_eq!(breaker.state(), State::ForcedOpen);
        breaker.close();
        assert!(all.iter().all(|other| other.state() == State::Closed));
    }
}

#[test]
fn reading_a_breaker_lists_it_not() {
    let read = declared!("only-read");
    let _scope = test::scope();
    assert_eq!(read.state(), State::Closed);
    let _ = (
        read.generation(),
        read.snapshot(),
        read.config(),
        read.name(),
    );
    assert_eq!(format!("{read:?}").matches("only-read").count(), 1);
    assert!(find("only-read").is_none());
}

#[test]
fn a_shared_breaker_leaves_no_name_but_its_own() {
    let of_process = Breaker::shared("left", Config::DEFAULT);
    {
        let _scope = test::scope();
        let of_scope = Breaker::shared("left", Config::DEFAULT);
        assert_eq!(of_scope.name(), "left");
        drop(of_scope);
        assert!(find("left").is_some(), "the other one is found again");
    }
    find("left").unwrap().force_open();
    assert_eq!(of_process.state(), State::ForcedOpen);
}

#[test]
fn in_scopes_of_two_threads_one_name_is_free_for_each() {
    let barrier = Barrier::new(2);
    let in_a_scope = || {
        let _scope = test::scope();
        let here = Breaker::shared("in-two-scopes", Config::DEFAULT);
        barrier.wait();
        let found = find("in-two-scopes").map(|found| found.force_open().generation);
        let seen = (here.name().to_owned(), found, here.state());
        barrier.wait();
        seen
    };
    let [one, another] = std::thread::scope(|threads| {
        [(); 2]
            .map(|()| threads.spawn(in_a_scope))
            .map(|thread| thread.join().unwrap())
    });
    assert_eq!(one, another);
    let (name, found, state) = one;
    assert_eq!((name.as_str(), state), ("in-two-scopes", State::ForcedOpen));
    assert_eq!(found.unwrap().get(), 1, "each finds its own");
    assert!(find("in-two-scopes").is_none());
}

#[test]
fn a_shared_breaker_of_a_scope_is_found_in_it_alone_and_first() {
    let outside = Breaker::shared("in-and-out", Config::DEFAULT);
    let scope = test::scope();
    let inside = Breaker::shared("in-and-out", Settings::new().threshold(9).must());
    let threshold = || find("in-and-out").unwrap().config().threshold();
    assert_eq!(threshold(), 9);
    let elsewhere = std::thread::spawn(|| find("in-and-out").unwrap().config().threshold());
    assert_eq!(elsewhere.join().unwrap(), 5);
    drop(scope);
    assert_eq!(threshold(), 5);
    assert_eq!(
        (inside.name(), outside.name()),
        ("in-and-out", "in-and-out")
    );
}

/// What an operator does through a handle.
type Order = fn(&dyn AnyBreaker) -> Change;

const ORDERS: [(&str, Order, State); 7] = [
    ("force_open", |found| found.force_open(), State::ForcedOpen),
    ("close", |found| found.close(), State::Closed),
    ("disable", |found| found.disable(), State::Disabled),
    ("clear", |found| found.clear(), State::Closed),
    ("shadow", |found| found.shadow(), State::Shadow),
    (
        "open_for",
        |found| found.open_for(Duration::from_secs(7)),
        State::Open,
    ),
    (
        "restore",
        |found| found.restore(&RESTORED).unwrap(),
        State::Open,
    ),
];

const RESTORED: Snapshot = Snapshot {
    state: State::Open,
    time_left: Duration::from_secs(3),
    imposed: false,
    consecutive: 0,
    reopenings: 2,
};

fn does_what_the_breaker_does(found: &Found, breaker: &Breaker) {
    let twin = Breaker::new("twin", breaker.config());
    assert_eq!(found.name(), breaker.name());
    assert_eq!(found.config(), breaker.config());
    for (name, order, state) in ORDERS {
        let change = order(&**found);
        assert_eq!(change, order(&twin), "{name}");
        assert_eq!((found.state(), breaker.state()), (state, state), "{name}");
        assert_eq!(found.generation(), twin.generation(), "{name}");
        assert_eq!(breaker.generation(), twin.generation(), "{name}");
        assert_eq!(found.snapshot(), twin.snapshot(), "{name}");
        assert_eq!(breaker.snapshot(), twin.snapshot(), "{name}");
    }
    assert_eq!(found.snapshot(), RESTORED);
    let nonsense = Snapshot {
        state: State::Closed,
        ..RESTORED
    };
    assert_eq!(found.restore(&nonsense), twin.restore(&nonsense));
    assert_eq!(found.snapshot(), RESTORED);
    let text = format!("{found:?}");
    assert!(text.starts_with(&format!("Found {{ name: {:?}", breaker.name())));
}

#[test]
fn what_was_found_does_what_the_breaker_does() {
    let _scope = test::scope();
    let declared = called(declared!("found-declared"));
    does_what_the_breaker_does(&find("found-declared").unwrap(), declared);
    let settings = Settings::new().threshold(3).backoff(2.0);
    let shared: Arc<Breaker> = Breaker::shared("found-shared", settings.must());
    does_what_the_breaker_does(&find("found-shared").unwrap(), &shared);
}
