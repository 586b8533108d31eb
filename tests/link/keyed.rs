//! Links of breakers by key.

use super::link::Written;
use super::{RESET, SECOND, by_hand};
use breakerbox::link::{AlreadyLinked, Follow};
use breakerbox::{
    AnyBreaker, Config, Effect, KeyedBreakers, Settings, Snapshot, State, circuit_breaker, registry,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ONE_FAILURE: Config = Settings::new().threshold(1).reset(RESET).jitter(0.0).must();

fn open() -> Follow {
    let to = Snapshot {
        state: State::Open,
        time_left: RESET,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    Follow { to, only_in: None }
}

#[test]
fn keys_are_told_as_they_come_and_what_happens_to_each() {
    let (clock, link) = (by_hand(), Written::new());
    let hosts = KeyedBreakers::<String, _>::with_clock("keys-told", ONE_FAILURE, clock);
    hosts.get("early").admit().unwrap().success();
    hosts.link(link.clone()).unwrap();
    assert_eq!(link.take(), ["[early] is new"]);
    assert_eq!(hosts.link(Written::new()), Err(AlreadyLinked));
    hosts.get("early").admit().unwrap().success();
    assert!(link.take().is_empty());

    let late = hosts.get("late");
    late.admit().unwrap().failure();
    assert_eq!(
        link.take(),
        [
            "[late] is new",
            "[late] closed -> open: failures",
            "[late] Failure of 0: tripped"
        ]
    );
    clock.advance(RESET);
    link.will_say(Err(SECOND));
    assert_eq!(late.admit().unwrap_err().retry_after(), Some(SECOND));
    link.will_say(Ok(()));
    late.admit().unwrap().success();
    late.force_open();
    let told = link.take();
    assert_eq!(told[..2], ["[late] may it probe?"; 2]);
    assert_eq!(
        told.last().unwrap(),
        "[late] closed -> forced_open: operator"
    );
}

#[test]
fn breakers_may_be_linked_before_there_is_any_key() {
    let (hosts, link) = (
        KeyedBreakers::<u64>::new("linked-first", ONE_FAILURE),
        Written::new(),
    );
    hosts.link(link.clone()).unwrap();
    assert!(link.take().is_empty());
    hosts.get(&1_u64);
    assert_eq!(link.take(), ["[1] is new"]);
    assert_eq!(hosts.link(Written::new()), Err(AlreadyLinked));
}

#[test]
fn what_a_link_keeps_leads_to_the_key_and_follows_for_it() {
    let (hosts, link) = (
        KeyedBreakers::<u64>::new("followed-keys", ONE_FAILURE),
        Written::new(),
    );
    hosts.link(link.clone()).unwrap();
    let known = hosts.get(&1_u64);
    hosts.get(&2_u64);
    link.take();
    let kept = link.kept("1");
    let one = kept.get().unwrap();
    assert_eq!(one.key().unwrap().to_string(), "1");
    assert_eq!(one.circuit_id(), AnyBreaker::circuit_id(&known));
    one.follow(&open()).unwrap().unwrap();
    assert_eq!(known.state(), State::Open);
    assert_eq!(hosts.get(&2_u64).state(), State::Closed);
    assert!(link.take().is_empty());
    assert_eq!(format!("{kept:?}"), "Kept { .. }");
}

#[test]
fn what_a_link_keeps_keeps_no_key_from_being_given_up() {
    let hosts = KeyedBreakers::<u64>::new("given-up-keys", ONE_FAILURE).max_keys(2);
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    hosts.get(&1_u64);
    hosts.get(&2_u64);
    let (one, two) = (link.kept("1"), link.kept("2"));
    let held = two.get().unwrap();
    link.take();
    hosts.get(&3_u64);
    assert_eq!(link.take(), ["[1] was given up", "[3] is new"]);
    assert!(one.get().is_none());
    drop(held);
    for key in 4..8_u64 {
        hosts.get(&key);
    }
    assert!(two.get().is_none(), "once it is not held any more");
    link.take();

    // Seen again, it is another.
    hosts.get(&1_u64);
    let told = link.take();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1], "[1] is new");
    assert!(one.get().is_none());
    assert!(link.kept("1").get().is_some());
}

#[test]
fn an_open_key_is_kept_also_where_the_fleet_opened_it() {
    let hosts = KeyedBreakers::<u64>::new("fleet-opened", ONE_FAILURE).max_keys(2);
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    hosts.get(&1_u64);
    link.kept("1").get().unwrap().follow(&open()).unwrap();
    for key in 2..50_u64 {
        hosts.get(&key);
    }
    assert_eq!(hosts.get(&1_u64).state(), State::Open);
}

#[test]
fn a_key_for_which_there_is_no_room_is_not_shared() {
    let hosts = KeyedBreakers::<u64>::new("no-room", ONE_FAILURE).max_keys(1);
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    hosts.get(&1_u64).force_open();
    link.take();
    let stray = hosts.get(&2_u64);
    stray.admit().unwrap().failure();
    assert_eq!(stray.state(), State::Open);
    stray.close();
    assert!(link.take().is_empty());
}

#[test]
fn a_key_s_own_state_of_before_is_told_after_the_key() {
    let hosts = KeyedBreakers::<u64>::shared("restored-keys", ONE_FAILURE, 10).unwrap();
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    let circuit = registry::CircuitName {
        breaker: "restored-keys".to_owned(),
        key: Some("5".to_owned()),
    };
    let snapshot = open().to;
    registry::restore(&registry::Snapshots::from_iter([registry::SnapshotOf {
        circuit,
        snapshot,
    }]));
    hosts.get(&5_u64);
    assert_eq!(link.take(), ["[5] is new", "[5] closed -> open: restored"]);
}

#[test]
fn nothing_goes_round_in_a_circle() {
    let link = Written::new();
    let hosts = KeyedBreakers::<u64>::shared("circle", ONE_FAILURE, 10).unwrap();
    hosts.link(link.clone()).unwrap();
    let known = hosts.get(&1_u64);
    let kept = link.kept("1");
    drop(hosts);
    assert!(kept.get().is_some(), "somebody has it");
    drop(known);
    assert!(kept.get().is_none());
    assert_eq!(
        Arc::strong_count(&link),
        1,
        "what the link keeps, keeps no link"
    );
}

#[circuit_breaker(name = "annotated-keys", key = host, threshold = 1)]
fn rooms(host: &str) -> Result<u32, breakerbox::CallError<&'static str>> {
    Err(breakerbox::CallError::Call(if host.is_empty() {
        "nobody"
    } else {
        "down"
    }))
}

#[test]
fn an_attribute_s_keys_go_their_way_where_nothing_is_linked() {
    assert!(rooms("a").is_err());
    let found = breakerbox::find("annotated-keys[a]").unwrap();
    assert!(
        found
            .follow(&Follow {
                to: closed(),
                only_in: None
            })
            .unwrap()
            .is_some()
    );
    assert_eq!(found.state(), State::Closed);
}

fn closed() -> Snapshot {
    Snapshot {
        state: State::Closed,
        time_left: Duration::ZERO,
        ..open().to
    }
}

/// What the fleet opened stays, also where it did so while a key was looked for to be given up.
#[test]
fn giving_up_and_following_never_miss_each_other() {
    let twice = Settings::new().threshold(2).must();
    let hosts = KeyedBreakers::<u64>::new("racing-keys", twice).max_keys(31);
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    // All others are in use; and of the one that isn't a failure is counted, so that it is given up
    // only after all others were looked at: for as long it may be opened.
    let _in_use: Vec<_> = (1..31_u64).map(|key| hosts.get(&key)).collect();
    let ends = AtomicBool::new(false);
    let (mut opened, mut given_up) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut key = 1_000_u64;
            while !ends.load(Ordering::Relaxed) {
                key += 1;
                // If it got the place, it has a failure too, and gives it up for the next.
                hosts.get(&key).admit().unwrap().failure();
            }
        });
        // Also where this panics: else the other thread would be waited for.
        let _ends = EndsWhenDropped(&ends);
        for round in 0..20_000_u32 {
            let zero = hosts.get(&0_u64);
            if zero.admit().unwrap().failure() != Effect::Counted || !is_kept(&zero) {
                zero.close();
                continue;
            }
            let kept = link.kept("0");
            drop(zero);
            // At one moment or another of the other's search.
            (0..round % 100).for_each(|_| std::hint::spin_loop());
            let Some(breaker) = kept.get() else {
                given_up += 1;
                continue;
            };
            breaker.follow(&open()).unwrap();
            drop(breaker);
            opened += 1;
            let still = kept.get().expect("what is open is never given up");
            assert_eq!(still.state(), State::Open);
            still.close();
        }
    });
    println!("opened {opened} times, given up {given_up} times");
    assert!(opened > 0);
}

struct EndsWhenDropped<'a>(&'a AtomicBool);

impl Drop for EndsWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn is_kept(breaker: &breakerbox::KeyedBreaker<u64>) -> bool {
    AnyBreaker::key(breaker).unwrap().is_kept()
}
