//! How many answers are kept, and which.

use super::{load, store};
use breakerbox::last_good::{DEFAULT_MAX_ANSWERS, Memory};
use breakerbox::{Key, LastGood, test};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn nothing_is_given_up_while_there_is_room() {
    for room in (1..70).chain([100, 333, 1_000, 10_000]) {
        let numbers = LastGood::<u32, u32>::new(HOUR).max_answers(room);
        for n in 0..room {
            store(&numbers, &n, n * 2);
        }
        assert_eq!(numbers.backend().len(), room as usize);
        for n in 0..room {
            let served = load(&numbers, &n).map(|served| served.value);
            assert_eq!(served, Some(n * 2), "{n} of {room}");
        }
    }
}

#[test]
fn never_more_than_there_is_room_for() {
    for room in [1, 2, 3, 7, 31, 32, 33, 64, 1_000] {
        let numbers = LastGood::<u32, u32>::new(HOUR).max_answers(room);
        for n in 0..room * 5 {
            store(&numbers, &n, n);
            assert!(numbers.backend().len() <= room as usize);
            let served = load(&numbers, &n).map(|served| served.value);
            assert_eq!(served, Some(n), "the new one is kept, in room for {room}");
        }
        assert_eq!(numbers.backend().len(), room as usize);
    }
}

#[test]
fn what_is_renewed_outlives_what_is_not() {
    let numbers = LastGood::<u32, u32>::new(HOUR).max_answers(100);
    for n in 0..50 {
        store(&numbers, &n, n);
    }
    for round in 1..=20_u32 {
        for n in 0..50 {
            store(&numbers, &n, n + round);
        }
        for n in 0..100 {
            store(&numbers, &(round * 1_000 + n), n);
        }
    }
    let kept = (0..50_u32).filter(|n| load(&numbers, n).is_some()).count();
    assert_eq!(kept, 50);
}

#[test]
fn answers_are_found_by_what_leads_to_their_key() {
    let texts = LastGood::<String, u8>::new(HOUR);
    store(&texts, "h1", 1);
    for found in [
        load(&texts, "h1"),
        load(&texts, &"h1".to_owned()),
        load(&texts, &Arc::<str>::from("h1")),
        load(&texts, &&"h1"),
    ] {
        assert_eq!(found.map(|served| served.value), Some(1));
    }

    type Question = (String, Ipv4Addr, u16);
    let answers = LastGood::<Question, u8>::new(HOUR);
    let here = Ipv4Addr::LOCALHOST;
    store(&answers, &("costs", here, 443_u16), 1);
    store(&answers, &("costs", here, 80_u16), 2);
    let found = load(&answers, &("costs".to_owned(), &here, 443_u16));
    assert_eq!(found.map(|served| served.value), Some(1));
    let found = load(&answers, &("costs", here, 80_u16));
    assert_eq!(found.map(|served| served.value), Some(2));

    let only = LastGood::<bool, Vec<u8>>::new(HOUR);
    store(&only, &true, vec![1, 2]);
    assert_eq!(load(&only, &true).unwrap().value, [1, 2]);
    assert_eq!(load(&only, &false), None);
}

/// Has one hash with all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alike(u32);

impl Hash for Alike {
    fn hash<H: Hasher>(&self, state: &mut H) {
        0_u8.hash(state);
    }
}

impl Key for Alike {
    type Owned = Self;

    fn to_key(&self) -> Self {
        *self
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", owned.0)
    }
}

#[test]
fn keys_of_one_hash_are_told_apart() {
    let answers = LastGood::<Alike, u32>::new(HOUR);
    for n in 0..8 {
        store(&answers, &Alike(n), n);
    }
    for n in 0..8 {
        let served = load(&answers, &Alike(n)).map(|served| served.value);
        assert_eq!(served, Some(n));
    }
    let Ok(()) = answers.forget_now(&Alike(3));
    assert_eq!(load(&answers, &Alike(3)), None);
    store(&answers, &Alike(7), 70);
    store(&answers, &Alike(8), 80);
    assert_eq!(answers.backend().len(), 8);
    for (n, value) in [(2, 2), (4, 4), (7, 70), (8, 80)] {
        assert_eq!(load(&answers, &Alike(n)).unwrap().value, value);
    }
    for n in 9..100 {
        // Where all places are taken, it is nobody's answer but its own.
        assert_eq!(load(&answers, &Alike(n)), None);
        let Ok(()) = answers.forget_now(&Alike(n));
        assert_eq!(answers.backend().len(), 8);
        store(&answers, &Alike(n), n);
        assert_eq!(load(&answers, &Alike(n)).unwrap().value, n);
        assert_eq!(answers.backend().len(), 8);
    }
    // One of its own that is younger there is none.
    let Ok(()) = answers.prime_now(&Alike(100), &100, HOUR / 2);
    assert_eq!(load(&answers, &Alike(100)).unwrap().value, 100);
    assert_eq!(answers.backend().len(), 8);
}

#[test]
fn keys_of_one_hash_keep_to_the_bound() {
    let answers = LastGood::<Alike, u32>::new(HOUR).max_answers(3);
    for n in 0..50 {
        store(&answers, &Alike(n), n);
        assert_eq!(load(&answers, &Alike(n)).unwrap().value, n);
        assert!(answers.backend().len() <= 3);
    }
    for n in 0..50 {
        if let Some(served) = load(&answers, &Alike(n)) {
            assert_eq!(served.value, n, "never another's answer");
        }
    }
}

#[test]
fn a_memory_is_made_by_hand() {
    static MEMORY: Memory<String, u32> = Memory::new(3);
    assert_eq!(MEMORY.max_answers(), 3);
    assert!(MEMORY.is_empty());
    let default = LastGood::<String, u32>::new(HOUR);
    assert_eq!(default.backend().max_answers(), DEFAULT_MAX_ANSWERS);
    assert_eq!(DEFAULT_MAX_ANSWERS, 1_000);
    let debug = format!("{default:?}");
    assert!(debug.contains("3600s") && debug.contains("1000"), "{debug}");
}

#[test]
fn room_is_made_as_it_is_needed() {
    let numbers = LastGood::<u32, u32>::new(HOUR).max_answers(u32::MAX);
    store(&numbers, &1_u32, 1);
    assert_eq!(load(&numbers, &1_u32).unwrap().value, 1);
}

#[test]
fn a_scope_has_as_much_room() {
    static NUMBERS: LastGood<u32, u32> = LastGood::new(HOUR).max_answers(2);
    let _scope = test::scope();
    for n in 0..10 {
        store(&NUMBERS, &n, n);
    }
    assert_eq!(NUMBERS.backend().len(), 2);
}
