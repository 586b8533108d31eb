//! How old an answer is, how old it may be, and which of two is kept.

use super::{load, store};
use breakerbox::last_good::SettingError;
use breakerbox::{LastGood, Served, test};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

fn rates() -> LastGood<String, u32> {
    LastGood::new(HOUR)
}

#[test]
fn an_answer_is_served_stale_and_with_its_age() {
    let scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, Duration::ZERO)));
    scope.advance(1_500 * MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, 1_500 * MS)));
    assert_eq!(load(&rates, "h2"), None, "another question's answer");
}

#[test]
fn it_is_served_until_it_is_exactly_as_old_as_its_time_to_live() {
    let scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    scope.advance(HOUR);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, HOUR)));
    scope.advance(Duration::from_nanos(1));
    assert_eq!(load(&rates, "h1"), None);
    scope.advance(Duration::from_secs(u64::MAX / 2));
    assert_eq!(load(&rates, "h1"), None);
}

#[test]
fn a_new_answer_takes_the_place_of_an_old_one() {
    let scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    scope.advance(HOUR + MS);
    store(&rates, "h1", 130);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(130, Duration::ZERO)));
    store(&rates, "h1", 140);
    assert_eq!(
        load(&rates, "h1").map(|served| served.value),
        Some(140),
        "of two that are equally old the later one stays"
    );
}

#[test]
fn a_primed_answer_has_the_age_that_it_came_with() {
    let scope = test::scope();
    let rates = rates();
    let Ok(()) = rates.prime_now("h1", &120, HOUR - MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, HOUR - MS)));
    scope.advance(MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, HOUR)));
    scope.advance(MS);
    assert_eq!(load(&rates, "h1"), None);
}

#[test]
fn one_that_is_too_old_is_not_taken() {
    let _scope = test::scope();
    let rates = rates();
    let Ok(()) = rates.prime_now("h1", &120, HOUR + MS);
    assert!(rates.backend().is_empty());
    let Ok(()) = rates.prime_now("h1", &120, Duration::MAX);
    assert!(rates.backend().is_empty());
    let Ok(()) = rates.prime_now("h1", &120, HOUR);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, HOUR)));
}

#[tokio::test]
async fn nor_is_it_where_a_store_may_be_awaited() {
    let _scope = test::scope();
    let rates = rates();
    for age in [HOUR + MS, Duration::MAX] {
        let Ok(()) = rates.prime("h1", &120, age).await;
        let Ok(()) = rates.prime_all([("h2", 130, age)]).await;
        assert!(rates.backend().is_empty(), "{age:?}");
    }
    let Ok(()) = rates.prime("h1", &120, HOUR).await;
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, HOUR)));
}

#[test]
fn an_older_answer_never_takes_the_place_of_a_younger_one() {
    let scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    scope.advance(10 * MS);
    let Ok(()) = rates.prime_now("h1", &1, 11 * MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(120, 10 * MS)));
    let Ok(()) = rates.prime_now("h1", &2, 10 * MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(2, 10 * MS)));
    let Ok(()) = rates.prime_now("h1", &3, 9 * MS);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(3, 9 * MS)));
}

#[test]
fn an_old_answer_stays_where_a_still_older_one_is_primed_beyond_its_time() {
    let scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    scope.advance(2 * HOUR);
    let Ok(()) = rates.prime_now("h1", &130, HOUR / 2);
    assert_eq!(load(&rates, "h1"), Some(Served::stale(130, HOUR / 2)));
}

#[test]
fn many_are_primed_at_once() {
    let _scope = test::scope();
    let rates = rates();
    let answers = (0..100_u32).map(|n| (format!("h{n}"), n, n * HOUR / 50));
    let Ok(()) = rates.prime_all_now(answers);
    for n in 0..100 {
        let expected = (n <= 50).then(|| Served::stale(n, n * HOUR / 50));
        assert_eq!(load(&rates, &format!("h{n}")), expected);
    }
}

#[test]
fn an_answer_is_forgotten() {
    let _scope = test::scope();
    let rates = rates();
    store(&rates, "h1", 120);
    store(&rates, "h2", 130);
    let Ok(()) = rates.forget_now("h1");
    let Ok(()) = rates.forget_now("h3");
    assert_eq!(load(&rates, "h1"), None);
    assert_eq!(load(&rates, "h2").map(|served| served.value), Some(130));
    store(&rates, "h1", 140);
    assert_eq!(load(&rates, "h1").map(|served| served.value), Some(140));
}

#[tokio::test]
async fn what_can_be_awaited_does_the_same() {
    let scope = test::scope();
    let rates = rates();
    let Ok(()) = rates.store("h1", &120).await;
    scope.advance(MS);
    let Ok(()) = rates.prime("h1", &110, 2 * MS).await;
    let Ok(()) = rates.prime_all([("h2", 7, MS), ("h3", 8, HOUR + MS)]).await;
    let Ok(h1) = rates.load("h1").await;
    assert_eq!(h1, Some(Served::stale(120, MS)));
    let Ok(h2) = rates.load("h2").await;
    assert_eq!(h2, Some(Served::stale(7, MS)));
    let Ok(h3) = rates.load("h3").await;
    assert_eq!(h3, None);
    let Ok(()) = rates.forget("h1").await;
    let Ok(h1) = rates.load("h1").await;
    assert_eq!(h1, None);
}

#[test]
fn settings_that_serve_nothing_are_refused() {
    let refused = |ttl, max_answers| LastGood::<u8, u8>::try_new(ttl, max_answers).unwrap_err();
    assert_eq!(refused(Duration::ZERO, 1), SettingError::ZeroTtl);
    assert_eq!(refused(Duration::ZERO, 0), SettingError::ZeroTtl);
    assert_eq!(refused(HOUR, 0), SettingError::ZeroMaxAnswers);
    let smallest = LastGood::<u8, u8>::try_new(Duration::from_nanos(1), 1).unwrap();
    assert_eq!(smallest.ttl(), Duration::from_nanos(1));
    assert_eq!(smallest.backend().max_answers(), 1);
    let in_store = LastGood::<u8, u8, _>::try_in_store((), Duration::ZERO).unwrap_err();
    assert_eq!(
        in_store.to_string(),
        "a time to live of 0 serves nothing: set how old an answer may be that is still of use"
    );
    assert_eq!(
        SettingError::ZeroMaxAnswers.to_string(),
        "room for 0 answers keeps nothing: set how many are kept, at least 1"
    );
}

#[test]
#[should_panic(expected = "a time to live of 0 serves nothing")]
fn a_constant_without_time_panics_where_it_is_no_constant() {
    let _ = LastGood::<u8, u8>::new(Duration::ZERO);
}

#[test]
#[should_panic(expected = "room for 0 answers keeps nothing")]
fn a_constant_without_room_panics_where_it_is_no_constant() {
    let _ = LastGood::<u8, u8>::new(HOUR).max_answers(0);
}

#[test]
fn scopes_have_answers_of_their_own() {
    static RATES: LastGood<String, u32> = LastGood::new(HOUR);
    {
        let _scope = test::scope();
        store(&RATES, "h1", 120);
        {
            let _inner = test::scope();
            assert_eq!(load(&RATES, "h1"), None);
            store(&RATES, "h1", 130);
        }
        assert_eq!(load(&RATES, "h1").map(|served| served.value), Some(120));
        let elsewhere = std::thread::spawn(|| load(&RATES, "h1"));
        assert_eq!(elsewhere.join().unwrap(), None);
    }
    assert_eq!(load(&RATES, "h1"), None);
    store(&RATES, "h1", 140);
    let served = load(&RATES, "h1").unwrap();
    assert_eq!(served.value, 140);
    assert!(served.age < HOUR, "{served:?}");
    let _scope = test::scope();
    assert_eq!(load(&RATES, "h1"), None);
}
