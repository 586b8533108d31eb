//! Breakers by name.

use breakerbox::{Breaker, Config, State, breaker, find, test};

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
