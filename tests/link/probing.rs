//! Whether a call may probe.

use super::link::Written;
use super::{RESET, SECOND, breaker, by_hand, ready_to_probe, succeed};
use breakerbox::link::{Link, Linked};
use breakerbox::observe::{self, Observer, Rejection};
use breakerbox::{
    AnyBreaker, Breaker, Change, Effect, Generation, Outcome, Reason, Settings, State,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_probe_that_is_not_granted_is_refused_for_as_long_as_the_link_says() {
    let ((pms, clock), link) = (breaker("not-granted"), Written::new());
    pms.link(link.clone()).unwrap();
    ready_to_probe(&pms, clock);
    let generation = pms.generation();
    link.take();
    for left in [7 * SECOND, Duration::ZERO, Duration::MAX] {
        link.will_say(Err(left));
        let refused = pms.admit().unwrap_err();
        assert_eq!(refused.reason(), Reason::Open);
        let most = Duration::from_nanos(u64::MAX);
        assert_eq!(refused.retry_after(), Some(left.min(most)));
        assert_eq!((pms.state(), pms.generation()), (State::Open, generation));
    }
    assert_eq!(link.take(), ["may it probe?"; 3]);
    let refused = pms.admit_at(clock_now(clock)).unwrap_err();
    assert_eq!(refused.reason(), Reason::Open);

    link.will_say(Ok(()));
    succeed(&pms);
    assert_eq!(pms.state(), State::Closed);
}

/// Each state in which a breaker can be, alone and with what a link says.
#[test]
fn what_time_is_left_is_what_a_refused_call_is_told() {
    let ((pms, clock), link) = (breaker("time-left"), Written::new());
    let agree = |link_says: Result<(), Duration>| {
        link.will_say(link_says);
        link.take();
        let left = pms.time_left();
        assert!(link.take().is_empty(), "nobody asks to probe by it");
        let told = pms.admit().map_err(|refused| refused.retry_after());
        (left, told.map(drop))
    };
    for is_linked in [false, true] {
        if is_linked {
            pms.link(link.clone()).unwrap();
        }
        let late = Err(7 * SECOND);
        pms.close();
        assert_eq!(agree(late), (None, Ok(())));
        pms.force_open();
        assert_eq!(agree(late), (None, Err(None)));
        pms.open_for(RESET);
        assert_eq!(agree(late), (Some(RESET), Err(Some(RESET))));
        clock.advance(RESET - SECOND);
        assert_eq!(agree(late), (Some(SECOND), Err(Some(SECOND))));
        clock.advance(SECOND);
        let at_once = Some(Duration::ZERO);
        if is_linked {
            assert_eq!(agree(late), (Some(7 * SECOND), Err(Some(7 * SECOND))));
            assert_eq!(
                agree(Err(Duration::ZERO)),
                (at_once, Err(Some(Duration::ZERO)))
            );
        }
        assert_eq!(agree(Ok(())), (at_once, Ok(())));
        assert_eq!(pms.state(), State::HalfOpen);
        assert_eq!(pms.time_left(), None);
    }
}

fn clock_now(clock: super::HandClock) -> u64 {
    breakerbox::Clock::now(clock)
}

#[test]
fn while_the_wait_lasts_or_none_is_to_be_let_through_nobody_is_asked() {
    let ((pms, clock), link) = (breaker("not-asked"), Written::new());
    pms.link(link.clone()).unwrap();
    link.will_say(Err(99 * SECOND));
    pms.open_for(RESET);
    clock.advance(RESET - SECOND);
    assert_eq!(pms.admit().unwrap_err().retry_after(), Some(SECOND));
    pms.force_open();
    assert_eq!(pms.admit().unwrap_err().retry_after(), None);
    pms.close();
    succeed(&pms);
    pms.disable();
    succeed(&pms);
    pms.shadow();
    succeed(&pms);
    assert!(link.take().iter().all(|line| line.ends_with("operator")));
}

#[test]
fn each_further_probe_of_a_trial_is_asked_for() {
    let (clock, link) = (by_hand(), Written::new());
    let settings = Settings::new()
        .threshold(1)
        .reset(RESET)
        .jitter(0.0)
        .probes(2)
        .probe_timeout(RESET);
    let pms = Breaker::with_clock("two-probes", settings.must(), clock);
    pms.link(link.clone()).unwrap();
    super::fail(&pms);
    clock.advance(RESET);
    let first = pms.admit().unwrap();
    link.take();
    link.will_say(Err(3 * SECOND));
    let refused = pms.admit().unwrap_err();
    let is = (refused.reason(), refused.retry_after());
    assert_eq!(is, (Reason::HalfOpenFull, Some(3 * SECOND)));
    link.will_say(Ok(()));
    let second = pms.admit().unwrap();
    assert_eq!(link.take(), ["may it probe?"; 2]);
    let refused = pms.admit().unwrap_err();
    assert_eq!(refused.retry_after(), Some(RESET), "it is full");
    assert!(link.take().is_empty(), "so nobody is asked");

    // They never end, and the trial begins anew: that is to be granted as well.
    clock.advance(RESET);
    link.will_say(Err(SECOND));
    assert_eq!(pms.admit().unwrap_err().retry_after(), Some(SECOND));
    link.will_say(Ok(()));
    let third = pms.admit().unwrap();
    assert_eq!(
        link.take(),
        [
            "may it probe?",
            "may it probe?",
            "half_open -> half_open: probe_timed_out"
        ]
    );
    for late in [first, second] {
        late.failure();
    }
    third.success();
    assert_eq!(link.take(), ["Success of 3: counted"]);
}

#[test]
fn observers_hear_of_what_was_not_granted() {
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);
    impl Observer for Lines {
        fn rejected(&self, event: &Rejection<'_>) {
            if event.error.name() == "heard-refusal" {
                self.0.lock().unwrap().push(event.to_string());
            }
        }
    }

    let lines = Arc::new(Lines::default());
    let _installed = observe::install(lines.clone());
    let ((pms, clock), link) = (breaker("heard-refusal"), Written::new());
    pms.link(link.clone()).unwrap();
    ready_to_probe(&pms, clock);
    link.will_say(Err(4 * SECOND));
    pms.admit().unwrap_err();
    assert_eq!(
        *lines.0.lock().unwrap(),
        ["call refused: circuit `heard-refusal` is open: retry in 4s"]
    );
}

#[test]
fn of_many_that_want_to_probe_at_once_one_does() {
    let ((pms, clock), link) = (breaker("many-probes"), Written::new());
    pms.link(link.clone()).unwrap();
    ready_to_probe(&pms, clock);
    link.take();
    let admitted: Vec<_> = std::thread::scope(|scope| {
        let asks = (0..8).map(|_| scope.spawn(|| pms.admit().ok()));
        let asks: Vec<_> = asks.collect();
        let admitted = asks.into_iter().filter_map(|ask| ask.join().unwrap());
        admitted.collect()
    });
    assert_eq!(admitted.len(), 1);
    let told = link.take();
    let changes = told.iter().filter(|line| line.contains("->")).count();
    assert_eq!(changes, 1, "{told:?}");
}

#[test]
fn a_probe_whose_place_another_took_is_withdrawn() {
    /// While one is asked about, another takes its place.
    struct Overtaken {
        pms: &'static Breaker<super::HandClock>,
        written: Arc<Written>,
        quicker: Mutex<Option<breakerbox::Permit<&'static Breaker<super::HandClock>>>>,
        is_first: std::sync::atomic::AtomicBool,
    }
    impl Link for Overtaken {
        fn changed(&self, circuit: &Linked<'_>, change: &Change) {
            self.written.changed(circuit, change);
        }

        fn settled(&self, circuit: &Linked<'_>, of: Generation, end: &Outcome, effect: &Effect) {
            self.written.settled(circuit, of, end, effect);
        }

        fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration> {
            self.written.may_probe(circuit)?;
            if self
                .is_first
                .swap(false, std::sync::atomic::Ordering::Relaxed)
            {
                *self.quicker.lock().unwrap() = self.pms.admit().ok();
            }
            Ok(())
        }

        fn probe_withdrawn(&self, circuit: &Linked<'_>) {
            self.written.probe_withdrawn(circuit);
        }

        fn key_added(&self, _: &Linked<'_>) {}
    }

    let (pms, clock) = breaker("overtaken");
    let pms: &'static _ = Box::leak(Box::new(pms));
    let written = Written::new();
    let link = Arc::new(Overtaken {
        pms,
        written: written.clone(),
        quicker: Mutex::default(),
        is_first: true.into(),
    });
    pms.link(link.clone()).unwrap();
    ready_to_probe(pms, clock);
    written.take();
    assert_eq!(pms.admit().unwrap_err().reason(), Reason::HalfOpenFull);
    let asked_twice = ["may it probe?"; 2];
    let told = written.take();
    assert_eq!(told[..2], asked_twice);
    assert_eq!(told[2], "open -> half_open: wait_over");
    assert_eq!(told[3..], ["it does not probe"]);
    // What is refused without being allowed is none.
    written.will_say(Err(SECOND));
    assert!(pms.admit().is_err());
    let quicker = link.quicker.lock().unwrap().take();
    quicker.unwrap().success();
    assert!(!written.take().contains(&"it does not probe".to_owned()));
    assert_eq!(pms.state(), State::Closed);
}
