//! Code of the user's that panics, or calls back, in the middle of it all.

use super::{load, store};
use breakerbox::{Key, LastGood};
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

/// Where in its own code a key or an answer does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Hash,
    Compare,
    Copy,
    Clone,
    Drop,
}

const MOMENTS: [Moment; 5] = [
    Moment::Hash,
    Moment::Compare,
    Moment::Copy,
    Moment::Clone,
    Moment::Drop,
];

type Action = Rc<dyn Fn()>;

thread_local! {
    static ACTION: RefCell<Option<(Moment, Action)>> = const { RefCell::new(None) };
}

/// What happens in this thread at the next such moment, once.
fn once_at(moment: Moment, action: impl Fn() + 'static) {
    ACTION.set(Some((moment, Rc::new(action))));
}

fn at(moment: Moment) {
    let action = ACTION.with_borrow_mut(|action| action.take_if(|(when, _)| *when == moment));
    if let Some((_, action)) = action {
        action();
    }
}

/// What is left over.
fn nothing_left() -> bool {
    ACTION.take().is_none()
}

/// A key that has one hash with all others.
#[derive(Debug)]
struct Acts(u32);

impl Hash for Acts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        at(Moment::Hash);
        0_u8.hash(state);
    }
}

impl Key for Acts {
    type Owned = Self;

    fn to_key(&self) -> Self {
        at(Moment::Copy);
        Self(self.0)
    }

    fn is(&self, owned: &Self) -> bool {
        at(Moment::Compare);
        self.0 == owned.0
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", owned.0)
    }
}

/// An answer that acts.
#[derive(Debug, PartialEq, Eq)]
struct Answer(u32);

impl Clone for Answer {
    fn clone(&self) -> Self {
        at(Moment::Clone);
        Self(self.0)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        at(Moment::Drop);
    }
}

type Answers = LastGood<Acts, Answer>;

fn answers() -> Answers {
    let answers = Answers::new(Duration::from_secs(3_600)).max_answers(3);
    for n in 0..3 {
        store(&answers, &Acts(n), Answer(n));
    }
    answers
}

/// Of every kind: renews, adds where there is no room, asks, forgets.
const STEPS: [fn(&Answers); 5] = [
    |answers| store(answers, &Acts(1), Answer(1)),
    |answers| store(answers, &Acts(3), Answer(3)),
    |answers| drop(load(answers, &Acts(2))),
    |answers| drop(load(answers, &Acts(9))),
    |answers| {
        let Ok(()) = answers.forget_now(&Acts(1));
    },
];

/// It still works, and says nothing wrong.
fn check(answers: &Answers) {
    for n in 0..10 {
        if let Some(served) = load(answers, &Acts(n)) {
            assert_eq!(served.value.0, n);
        }
        store(answers, &Acts(n), Answer(n));
        assert_eq!(load(answers, &Acts(n)).unwrap().value.0, n);
        assert!(answers.backend().len() <= 3);
    }
}

#[test]
fn a_panic_costs_that_call_alone() {
    let mut panicked = 0;
    for moment in MOMENTS {
        for step in STEPS {
            let answers = answers();
            once_at(moment, || std::panic::panic_any("theirs"));
            let ended = catch_unwind(AssertUnwindSafe(|| step(&answers)));
            panicked += u32::from(ended.is_err());
            assert_eq!(ended.is_ok(), !nothing_left());
            check(&answers);
        }
    }
    assert!(panicked >= 14, "{panicked}");
}

#[test]
fn nothing_is_locked_while_it_runs() {
    let mut called = 0;
    for moment in MOMENTS {
        for step in STEPS {
            let answers = Rc::new(answers());
            let within = Rc::clone(&answers);
            once_at(moment, move || {
                for step in STEPS {
                    step(&within);
                }
            });
            step(&answers);
            called += u32::from(nothing_left());
            check(&answers);
        }
    }
    assert!(called >= 14, "{called}");
}

/// While an answer is copied in one call, another gives a younger one: to a question that was
/// answered before, and to a new one.
#[test]
fn a_call_that_comes_between_has_the_younger_answer() {
    for question in [1, 9] {
        let scope = Rc::new(breakerbox::test::scope());
        let answers = Rc::new(answers());
        let (between, clock) = (Rc::clone(&answers), Rc::clone(&scope));
        once_at(Moment::Clone, move || {
            clock.advance(Duration::from_millis(1));
            store(&between, &Acts(question), Answer(200));
        });
        store(&answers, &Acts(question), Answer(100));
        assert!(nothing_left());
        let served = load(&answers, &Acts(question)).unwrap();
        assert_eq!(served.value.0, 200, "{question}");
    }
}
