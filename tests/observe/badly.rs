//! Observers that behave badly: what they can't break.

use crate::record::{Everything, listen};
use breakerbox::observe::{
    self, CallEnded, FallbackServed, Installed, LateOutcome, Observer, ProbeExpired, Rejection,
    StateChange,
};
use breakerbox::{
    Breaker, CallError, Effect, KeyedBreakers, Settings, State, circuit_breaker, test,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Panics whatever it hears.
struct Panics;

impl Observer for Panics {
    fn state_changed(&self, _: &StateChange<'_>) {
        panic!("in the observer");
    }

    fn rejected(&self, _: &Rejection<'_>) {
        panic!("in the observer");
    }

    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, _: &CallEnded<'_>) {
        panic!("in the observer");
    }

    fn late_outcome(&self, _: &LateOutcome<'_>) {
        panic!("in the observer");
    }

    fn probe_expired(&self, _: &ProbeExpired<'_>) {
        panic!("in the observer");
    }

    fn fallback_served(&self, _: &FallbackServed<'_>) {
        panic!("in the observer");
    }
}

#[circuit_breaker(name = "served", threshold = 1, fallback = |_| Ok(7))]
fn served() -> Result<u32, CallError<&'static str>> {
    Err(CallError::Call("down"))
}

/// A history with every event that a breaker tells of calls.
fn history(scope: &test::TestScope) -> Vec<State> {
    let settings = Settings::new().threshold(1).reset(SECOND);
    let pms = Breaker::new("pms", settings.probe_timeout(SECOND).must());
    let late = pms.admit().unwrap();
    let mut states = Vec::new();
    let mut seen = |pms: &Breaker| states.push(pms.state());
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    seen(&pms);
    assert!(pms.admit().is_err());
    assert_eq!(late.success(), Effect::Late);
    scope.advance(SECOND);
    let stuck = pms.admit().unwrap();
    seen(&pms);
    scope.advance(SECOND);
    assert_eq!(pms.call_sync(|| Ok::<_, ()>(1)), Ok(1));
    drop(stuck);
    seen(&pms);
    assert_eq!(served(), Ok(7));
    assert_eq!(served(), Ok(7));
    states
}

#[test]
fn whatever_panics_the_calls_go_on_and_the_others_hear_it_all() {
    let alone = {
        let scope = test::scope();
        let (heard, _installed) = listen();
        (history(&scope), heard.take())
    };
    let scope = test::scope();
    let _first = observe::install(Panics);
    let (heard, _installed) = listen();
    let _last = observe::install(Panics);
    assert_eq!((history(&scope), heard.take()), alone);
    assert_eq!(alone.1.len(), 17, "{:#?}", alone.1);
}

#[test]
fn an_unwinding_call_tells_its_end_to_observers_that_panic() {
    let _scope = test::scope();
    let _installed = observe::install(Panics);
    let (heard, _other) = listen();
    let pms = Breaker::new("pms", Settings::new().threshold(2).must());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = pms.admit().unwrap();
        let _: Result<(), _> = pms.call_sync(|| -> Result<(), ()> { panic!("the call") });
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"the call"));
    assert_eq!(
        heard.take(),
        [
            "circuit `pms`: a call ended after 0ns: panicked",
            "circuit `pms` opened after 2 failures, for 30s",
            "circuit `pms`: a call ended after 0ns: panicked",
        ]
    );
}

/// Makes calls of the breaker, whatever it hears of one.
struct CallsAgain(Arc<Breaker>, Mutex<Vec<&'static str>>);

impl CallsAgain {
    fn hear(&self, what: &'static str) {
        self.1.lock().unwrap().push(what);
        let _ = self.0.call_sync(|| Ok::<_, ()>(()));
        drop(self.0.admit());
    }
}

impl Observer for CallsAgain {
    fn state_changed(&self, _: &StateChange<'_>) {
        self.hear("change");
    }

    fn rejected(&self, _: &Rejection<'_>) {
        self.hear("rejected");
    }

    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, _: &CallEnded<'_>) {
        self.hear("ended");
    }
}

#[test]
fn an_observer_that_makes_calls_when_it_hears_of_one_comes_to_an_end() {
    let _scope = test::scope();
    let pms = Breaker::shared("calls-again", Settings::new().must());
    let again = Arc::new(CallsAgain(Arc::clone(&pms), Mutex::default()));
    let _installed = observe::install(Arc::clone(&again));
    let (heard, _other) = listen();
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    let take = || std::mem::take(&mut *again.1.lock().unwrap());
    assert_eq!(take(), ["ended"], "not of its own calls");
    assert_eq!(heard.take_circuits().len(), 3, "others hear of these too");

    // Two of them would answer each other for ever.
    let other = Arc::new(CallsAgain(Arc::clone(&pms), Mutex::default()));
    let _answers = observe::install(Arc::clone(&other));
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    assert!(take().len() < 10);
    drop(heard.take_circuits());

    pms.force_open();
    let heard_by_both = take();
    assert!(
        heard_by_both.starts_with(&["change", "rejected"]),
        "{heard_by_both:?}"
    );
    assert_eq!(pms.state(), State::ForcedOpen);
}

/// Stays in the first call's end for ever: until the test is over.
struct Blocks {
    entered: Mutex<Sender<()>>,
    for_ever: Mutex<Receiver<()>>,
}

impl Observer for Blocks {
    fn wants_calls(&self) -> bool {
        true
    }

    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == "blocks" && event.change.to == State::Open {
            self.entered.lock().unwrap().send(()).unwrap();
            let _ = self.for_ever.lock().unwrap().recv();
        }
    }
}

/// The lines of what this breaker tells.
fn of(breaker: &str, heard: &Everything) -> Vec<String> {
    let lines = heard.take_unnumbered().into_iter();
    lines.filter(|line| line.contains(breaker)).collect()
}

#[test]
fn an_observer_that_blocks_for_ever_holds_up_its_own_thread_alone() {
    let (entered, has_entered) = channel();
    let (end, for_ever) = channel::<()>();
    let blocks = observe::install(Blocks {
        entered: Mutex::new(entered),
        for_ever: Mutex::new(for_ever),
    });
    let (heard, _after) = listen();
    let settings = Settings::new().threshold(1).reset(SECOND).jitter(0.0);
    let pms = Arc::new(Breaker::new("blocks", settings.must()));
    let blocked = {
        let pms = Arc::clone(&pms);
        thread::spawn(move || pms.admit().unwrap().failure())
    };
    has_entered.recv().unwrap();

    // The breaker has changed, and other threads' calls and events go on.
    assert_eq!(pms.state(), State::Open);
    assert!(pms.admit().is_err());
    pms.close();
    assert_eq!(pms.call_sync(|| Ok::<_, ()>(1)), Ok(1));
    let lines = of("`blocks`", &heard);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("call refused"));
    assert!(lines[2].ends_with("success"));
    // So does who installs one, and who uninstalls it, also itself.
    let (late, installed) = listen();
    pms.force_open();
    assert_eq!(of("`blocks`", &late).len(), 1);
    drop(installed);
    drop(blocks);
    pms.close();
    assert!(of("`blocks`", &late).is_empty());

    drop(end);
    assert!(matches!(blocked.join().unwrap(), Effect::Tripped(_)));
    let lines = of("`blocks`", &heard);
    assert!(lines.contains(&"circuit `blocks` opened after 1 failure, for 1s".to_owned()));
}

/// Replaces itself by another one at each end of a call.
struct Replaces {
    place: Arc<Mutex<Option<Installed>>>,
    number: u32,
    heard: Arc<Mutex<Vec<u32>>>,
}

impl Replaces {
    fn install(place: Arc<Mutex<Option<Installed>>>, number: u32, heard: Arc<Mutex<Vec<u32>>>) {
        let kept = Arc::clone(&place);
        let installed = observe::install(Self {
            place,
            number,
            heard,
        });
        let replaced = kept.lock().unwrap().replace(installed);
        drop(replaced);
    }
}

impl Observer for Replaces {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        if event.breaker == "replaces" {
            self.heard.lock().unwrap().push(self.number);
            let (place, heard) = (Arc::clone(&self.place), Arc::clone(&self.heard));
            Self::install(place, self.number + 1, heard);
        }
    }
}

#[test]
fn who_installs_and_uninstalls_in_an_event_is_heard_from_the_next_one_on() {
    let heard_in = |pms: &dyn Fn()| {
        let (place, heard) = (Arc::default(), Arc::default());
        Replaces::install(Arc::clone(&place), 0, Arc::clone(&heard));
        for _ in 0..4 {
            pms();
        }
        drop(place.lock().unwrap().take());
        pms();
        std::mem::take(&mut *heard.lock().unwrap())
    };
    let pms = Breaker::new("replaces", Settings::new().must());
    let keyed = KeyedBreakers::<u32>::new("replaces", Settings::new().must());
    let calls: [&dyn Fn(); 2] = [&|| drop(pms.call_sync(|| Ok::<_, ()>(()))), &|| {
        drop(keyed.get(&1_u32).call_sync(|| Ok::<_, ()>(())))
    }];
    for call in calls {
        assert_eq!(heard_in(call), [0, 1, 2, 3], "of the process");
        let _scope = test::scope();
        assert_eq!(heard_in(call), [0, 1, 2, 3], "of a scope");
    }
}

#[test]
fn all_hear_in_the_order_in_which_they_were_installed() {
    struct Numbered(u32, Arc<Mutex<Vec<u32>>>);
    impl Observer for Numbered {
        fn state_changed(&self, _: &StateChange<'_>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let _scope = test::scope();
    let heard = Arc::new(Mutex::default());
    let _installed: Vec<_> = (0..5)
        .map(|number| observe::install(Numbered(number, Arc::clone(&heard))))
        .collect();
    Breaker::new("pms", Settings::new().must()).force_open();
    assert_eq!(*heard.lock().unwrap(), [0, 1, 2, 3, 4]);
}

/// Has another observer come and go when it is dropped.
struct LastWish;

impl Observer for LastWish {}

impl Drop for LastWish {
    fn drop(&mut self) {
        drop(observe::install(Panics));
    }
}

/// Of those of the process, which stand behind a lock.
#[test]
fn an_observer_may_install_another_one_when_it_is_dropped() {
    let (sender, done) = channel();
    thread::spawn(move || {
        drop(observe::install(LastWish));
        sender.send(())
    });
    done.recv_timeout(60 * SECOND).unwrap();
}
