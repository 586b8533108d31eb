//! A circuit that is shared: what a link is asked and told of places that are reserved.

use super::*;
use breakerbox::link::{Link, Linked};
use breakerbox::{Change, Effect, Generation, ManualClock, Outcome, State};
use std::sync::Mutex;

/// Writes down what it is asked and told.
struct Written {
    lines: Mutex<Vec<String>>,
    answer: Mutex<Result<(), Duration>>,
}

impl Written {
    fn write(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }

    fn will_say(&self, answer: Result<(), Duration>) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl Link for Written {
    fn changed(&self, _: &Linked<'_>, change: &Change) {
        self.write(format!("{} -> {}", change.from, change.to));
    }

    fn settled(&self, _: &Linked<'_>, _: Generation, outcome: &Outcome, _: &Effect) {
        self.write(format!("{outcome:?}"));
    }

    fn may_probe(&self, _: &Linked<'_>) -> Result<(), Duration> {
        self.write("may it probe?".to_owned());
        *self.answer.lock().unwrap()
    }

    fn probe_withdrawn(&self, _: &Linked<'_>) {
        self.write("it does not probe".to_owned());
    }

    fn key_added(&self, _: &Linked<'_>) {}
}

type Shared = Arc<Breaker<&'static ManualClock>>;

/// Open, and its wait is over. (In a test scope nothing is shared.)
fn ready_to_probe() -> (Shared, Arc<Written>) {
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    let settings = Settings::new().threshold(1).reset(RESET).jitter(0.0);
    let pms = Arc::new(Breaker::with_clock("linked", settings.must(), clock));
    let link = Arc::new(Written {
        lines: Mutex::default(),
        answer: Mutex::new(Ok(())),
    });
    pms.link(link.clone()).unwrap();
    pms.admit().unwrap().failure();
    clock.advance(RESET);
    assert_eq!(link.take(), ["closed -> open", "Failure"]);
    (pms, link)
}

fn service(
    pms: &Shared,
) -> impl Service<Request, Response = u32, Error = CallError<Failed>> + use<> {
    CircuitBreakerLayer::new(Arc::clone(pms)).layer(Pms::default())
}

#[test]
fn a_place_that_comes_to_nothing_is_told_as_no_outcome() {
    let (pms, link) = ready_to_probe();
    let mut unused = service(&pms);
    assert!(poll_ready(&mut unused).is_ready());
    assert_eq!(link.take(), ["may it probe?", "open -> half_open"]);
    drop(unused);
    assert_eq!(link.take(), ["Ignored"], "the probe has ended");
    assert_eq!(pms.state(), State::HalfOpen);

    let mut used = service(&pms);
    assert!(poll_ready(&mut used).is_ready());
    assert_eq!(now(used.call(answered(Ok(7)))), Ok(7));
    assert_eq!(
        link.take(),
        ["may it probe?", "half_open -> closed", "Success"]
    );
}

#[test]
fn a_call_that_may_not_probe_is_refused_for_as_long_as_the_link_says_then() {
    let (pms, link) = ready_to_probe();
    let mut service = service(&pms);
    link.will_say(Err(Duration::from_secs(3)));
    assert!(
        poll_ready(&mut service).is_ready(),
        "the call will be refused"
    );
    assert_eq!(link.take(), ["may it probe?"]);
    link.will_say(Err(Duration::from_secs(2)));
    let refused = now(service.call(answered(Ok(7))));
    let Err(CallError::Open(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(2)));
    assert_eq!(link.take(), ["may it probe?"]);

    // Granted only once it was refused already: the next call probes.
    link.will_say(Err(Duration::from_secs(1)));
    assert!(poll_ready(&mut service).is_ready());
    link.will_say(Ok(()));
    let refused = now(service.call(answered(Ok(7))));
    let Err(CallError::Open(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.retry_after(), Some(Duration::ZERO));
    assert_eq!(pms.state(), State::Open);
    let told = ["may it probe?", "may it probe?", "it does not probe"];
    assert_eq!(link.take(), told, "nobody waits for a probe of it");
    assert!(poll_ready(&mut service).is_ready());
    assert_eq!(now(service.call(answered(Ok(7)))), Ok(7));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_place_that_was_overtaken_by_the_fleet_asks_anew() {
    let (pms, link) = ready_to_probe();
    let mut service = service(&pms);
    assert!(poll_ready(&mut service).is_ready());
    link.take();
    let closed = breakerbox::Snapshot {
        state: State::Closed,
        time_left: Duration::ZERO,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    let follow = breakerbox::link::Follow {
        to: closed,
        only_in: None,
    };
    breakerbox::AnyBreaker::follow(&*pms, &follow).unwrap();
    assert_eq!(
        now(service.call(answered(Err(DOWN)))),
        Err(CallError::Call(DOWN))
    );
    assert_eq!(
        link.take(),
        ["closed -> open", "Failure"],
        "of the place that was given back nothing is told, as it came too late"
    );
}
