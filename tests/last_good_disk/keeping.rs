//! What is kept, for how long, and what makes room for what.

use super::*;
use breakerbox::LastGood;
use breakerbox::last_good::SettingError;
use std::sync::LazyLock;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

fn found(disk: &Answers, key: &str) -> Option<(String, u64)> {
    let answer = disk.load_now(key).unwrap()?;
    Some((answer.value, answer.age.as_secs()))
}

fn some(value: &str, seconds: u64) -> Option<(String, u64)> {
    Some((value.to_owned(), seconds))
}

fn keep(disk: &Answers, key: &str, value: &str, seconds: u64) {
    save_aged(disk, key, &value.to_owned(), SECOND * seconds as u32).unwrap();
}

#[test]
fn answers_outlive_the_process() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let opened = || LastGood::<String, u32, _>::on_disk(&place.path, HOUR).unwrap();
    let rates = opened();
    assert_eq!(rates.load_now("h1").unwrap(), None);
    rates.store_now("h1", &120).unwrap();
    rates.store_now("h2", &80).unwrap();
    drop(rates);

    // Downtime counts.
    scope.advance(60 * SECOND);
    let rates = opened();
    let served = rates.load_now("h1").unwrap().unwrap();
    assert!(served.stale);
    assert_eq!((served.value, served.age), (120, 60 * SECOND));
    assert_eq!(rates.load_now("h2").unwrap().unwrap().value, 80);
    assert_eq!(rates.load_now("h3").unwrap(), None);
    drop(rates);

    scope.advance(HOUR - 60 * SECOND);
    let rates = opened();
    assert_eq!(rates.load_now("h1").unwrap().unwrap().age, HOUR);
    scope.advance(Duration::from_nanos(1));
    assert_eq!(rates.load_now("h1").unwrap(), None);
    rates.store_now("h1", &121).unwrap();
    assert_eq!(rates.load_now("h1").unwrap().unwrap().value, 121);
    assert_eq!(place.files(), ["answers.redb"]);
}

#[test]
fn the_newest_answer_is_the_one() {
    let place = somewhere();
    let disk = open(&place.path);
    for round in 0..50 {
        save(&disk, "key", &format!("round {round}")).unwrap();
        assert_eq!(text(&disk, "key"), Some(format!("round {round}")));
    }
    assert_eq!(disk.count().unwrap(), 1);
    drop(disk);
    assert_eq!(text(&open(&place.path), "key").as_deref(), Some("round 49"));
}

#[test]
fn an_older_answer_never_replaces_a_younger_one() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let mut disk = open(&place.path);
    keep(&disk, "key", "one minute", 60);
    for again in [false, true] {
        if again {
            drop(disk);
            disk = open(&place.path);
        }
        keep(&disk, "key", "two minutes", 120);
        assert_eq!(found(&disk, "key"), some("one minute", 60));
    }
    keep(&disk, "key", "as old", 60);
    assert_eq!(found(&disk, "key"), some("as old", 60));
    scope.advance(30 * SECOND);
    keep(&disk, "key", "older", 91);
    assert_eq!(found(&disk, "key"), some("as old", 90));
    keep(&disk, "key", "younger", 89);
    assert_eq!(found(&disk, "key"), some("younger", 89));
}

#[test]
fn where_there_is_no_room_the_one_saved_longest_ago_goes() {
    let place = somewhere();
    let settings = || EACH.max_answers(3);
    let disk = Answers::open_with(&place.path, settings()).unwrap();
    for key in ["a", "b", "c", "a", "d"] {
        keep(&disk, key, key, 0);
    }
    let there = |disk: &Answers| {
        let keys = ["a", "b", "c", "d", "e", "f"].into_iter();
        keys.filter(|key| found(disk, key).is_some())
            .collect::<String>()
    };
    assert_eq!(there(&disk), "acd");
    drop(disk);

    let disk = Answers::open_with(&place.path, settings()).unwrap();
    keep(&disk, "e", "e", 0);
    assert_eq!(there(&disk), "ade");
    // Removed is out of the order.
    disk.remove_now("a").unwrap();
    keep(&disk, "f", "f", 0);
    assert_eq!(there(&disk), "def");
    assert_eq!(disk.count().unwrap(), 3);
    drop(disk);

    // Less room than before.
    let disk = Answers::open_with(&place.path, settings().max_answers(1)).unwrap();
    assert_eq!(there(&disk), "def");
    keep(&disk, "a", "a", 0);
    assert_eq!(there(&disk), "a");
}

#[test]
fn a_file_stays_small_however_often_it_is_written() {
    let place = somewhere();
    let disk = Answers::open_with(&place.path, EACH.max_answers(20)).unwrap();
    let length = || std::fs::metadata(&place.path).unwrap().len();
    let mut most = 0;
    for number in 0..600 {
        keep(
            &disk,
            &format!("key {}", number % 40),
            &"v".repeat(4 * number),
            0,
        );
        most = most.max(length());
    }
    // 20 answers of up to 2.4 kB, in a file that is a megabyte when it is made.
    assert!(most < 2 << 20, "{most}");
}

#[test]
fn an_answer_is_written_once_in_save_every() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let opened =
        || Answers::open_with(&place.path, DiskSettings::new().save_every(10 * SECOND)).unwrap();
    let disk = opened();
    keep(&disk, "key", "first", 0);
    scope.advance(10 * SECOND - Duration::from_nanos(1));
    keep(&disk, "key", "second", 0);
    keep(&disk, "other", "first", 0);
    assert_eq!(found(&disk, "key"), some("first", 9));
    assert_eq!(found(&disk, "other"), some("first", 0));
    scope.advance(Duration::from_nanos(1));
    keep(&disk, "key", "third", 0);
    assert_eq!(found(&disk, "key"), some("third", 0));

    // Of another process nothing is known.
    drop(disk);
    let disk = opened();
    keep(&disk, "key", "fourth", 0);
    assert_eq!(found(&disk, "key"), some("fourth", 0));

    disk.remove_now("key").unwrap();
    assert_eq!(found(&disk, "key"), None);
    keep(&disk, "key", "fifth", 0);
    assert_eq!(found(&disk, "key"), some("fifth", 0));
}

#[test]
fn a_fresh_answer_is_written_also_right_after_an_old_one() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let disk = Answers::open(&place.path).unwrap();
    keep(&disk, "key", "shipped with the program", 3600);
    keep(&disk, "key", "fresh", 0);
    assert_eq!(found(&disk, "key"), some("fresh", 0));
    keep(&disk, "key", "older again", 5);
    scope.advance(SECOND);
    assert_eq!(found(&disk, "key"), some("fresh", 1));
}

#[test]
fn a_clock_that_was_set_back_gives_age_0() {
    let place = somewhere();
    {
        let scope = breakerbox::test::scope();
        scope.advance(24 * HOUR);
        keep(&open(&place.path), "key", "from tomorrow", 0);
    }
    let _scope = breakerbox::test::scope();
    let disk = open(&place.path);
    assert_eq!(found(&disk, "key"), some("from tomorrow", 0));
    // It is of now, so what is older doesn't replace it, and what is of now does.
    keep(&disk, "key", "older", 1);
    assert_eq!(found(&disk, "key"), some("from tomorrow", 0));
    keep(&disk, "key", "of now", 0);
    assert_eq!(found(&disk, "key"), some("of now", 0));
}

#[test]
fn of_an_answer_from_a_far_future_nobody_says_how_old_it_is() {
    let place = somewhere();
    let by = 24 * HOUR + SECOND;
    {
        let scope = breakerbox::test::scope();
        scope.advance(by);
        keep(&open(&place.path), "key", "from the future", 0);
    }
    let scope = breakerbox::test::scope();
    let disk = open(&place.path);
    let error = disk.load_now("key").unwrap_err();
    assert!(
        matches!(error, DiskError::Future { by: found, .. } if found == by),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .ends_with("is from 86401s in the future: is the clock right?"),
        "{error}"
    );
    // It is there, for a clock that is right again.
    scope.advance(SECOND);
    assert_eq!(found(&disk, "key"), some("from the future", 0));
}

#[test]
fn an_answer_from_a_far_future_doesnt_keep_others_out() {
    let place = somewhere();
    {
        let scope = breakerbox::test::scope();
        scope.advance(1000 * 24 * HOUR);
        keep(&open(&place.path), "key", "from the future", 0);
    }
    let _scope = breakerbox::test::scope();
    let disk = open(&place.path);
    keep(&disk, "key", "old", 3600);
    assert_eq!(found(&disk, "key"), some("old", 3600));
}

#[test]
fn a_clone_is_the_same_file() {
    let place = somewhere();
    let disk = open(&place.path);
    let clone = disk.clone();
    drop(disk.clone());
    keep(&disk, "key", "value", 0);
    assert_eq!(text(&clone, "key").as_deref(), Some("value"));
    drop(disk);
    keep(&clone, "key", "other", 0);
    assert_eq!(text(&clone, "key").as_deref(), Some("other"));
    assert_eq!(clone.path(), place.path);
    assert!(format!("{clone:?}").starts_with("Disk { path: "));
}

#[test]
fn answers_of_all_sizes_are_kept_and_removed() {
    let place = somewhere();
    let disk = open(&place.path);
    let lengths = [0, 1, 100, 4_096, 65_536, 3 << 20];
    for length in lengths {
        keep(&disk, &length.to_string(), &"v".repeat(length), 0);
    }
    drop(disk);
    let disk = open(&place.path);
    for length in lengths {
        assert_eq!(text(&disk, &length.to_string()), Some("v".repeat(length)));
    }
    keep(&disk, "", "of the empty key", 0);
    keep(&disk, &"k".repeat(100_000), "of a long key", 0);
    assert_eq!(text(&disk, "").as_deref(), Some("of the empty key"));
    assert_eq!(
        text(&disk, &"k".repeat(100_000)).as_deref(),
        Some("of a long key")
    );
    for length in lengths {
        disk.remove_now(&length.to_string()).unwrap();
        disk.remove_now("never there").unwrap();
        assert_eq!(text(&disk, &length.to_string()), None);
    }
    assert_eq!(disk.count().unwrap(), 2);
}

#[test]
fn settings_with_which_nothing_is_served_are_refused() {
    let place = somewhere();
    let error = Answers::open_with(&place.path, EACH.max_answers(0)).unwrap_err();
    assert!(matches!(
        error,
        DiskError::Setting(SettingError::ZeroMaxAnswers)
    ));
    let never = LastGood::<String, u32, Disk<_, _>>::on_disk(&place.path, Duration::ZERO);
    assert!(matches!(
        never.unwrap_err(),
        DiskError::Setting(SettingError::ZeroTtl)
    ));
    assert!(place.files().is_empty());
}

#[test]
fn a_static_opens_its_file_when_it_is_first_asked() {
    static PLACE: LazyLock<Somewhere> = LazyLock::new(somewhere);
    static RATES: LazyLock<LastGood<String, u32, Disk<String, u32>>> =
        LazyLock::new(|| LastGood::on_disk(&PLACE.path, HOUR).unwrap());
    assert!(PLACE.files().is_empty());
    RATES.store_now("h1", &7).unwrap();
    assert_eq!(RATES.load_now("h1").unwrap().unwrap().value, 7);
    assert_eq!(PLACE.files(), ["answers.redb"]);
    // Nobody drops it.
    std::fs::remove_dir_all(PLACE.directory.path()).unwrap();
}
