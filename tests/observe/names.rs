//! Names that a user supplied, a tenant's for example: no line of a log is broken by one, or shown as
//! another.

use breakerbox::observe::{
    self, FallbackServed, Left, Observer, Rejection, StateChange, WouldTrip,
};
use breakerbox::registry::{self, Watch};
use breakerbox::{
    Breaker, CallError, DefaultClock, Overrides, Settings, Sliding, circuit_breaker, test,
};
use std::sync::{Arc, Mutex};

const HOSTILE: &str = "pms\n2026-11-30 circuit `x` closed\r\u{1b}[31m\u{202e}";
const SHOWN: &str = "pms\\n2026-11-30 circuit `x` closed\\r\\u{1b}[31m\\u{202e}";

/// What the events say.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn add(&self, event: impl ToString) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.add(event);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.add(event);
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        self.add(event);
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        self.add(event);
    }

    fn left(&self, event: &Left<'_>) {
        self.add(event);
    }
}

#[circuit_breaker(breaker = breaker, fallback = |_| Ok(7))]
fn rooms(breaker: &Breaker) -> Result<u32, CallError<&'static str>> {
    Err(CallError::Call("no answer"))
}

fn news(watch: &mut Watch) -> Vec<String> {
    let heard = watch.try_changed().unwrap();
    assert_eq!(heard.missed, 0);
    heard.news.iter().map(ToString::to_string).collect()
}

#[test]
fn a_name_is_shown_on_one_line_wherever_it_is_shown() {
    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let mut watch = registry::watch();
    let breaker = Breaker::shared(HOSTILE, Settings::new().threshold(1).must());

    breaker.shadow();
    let _ = rooms(&breaker);
    breaker.close();
    let _ = rooms(&breaker);
    let _ = rooms(&breaker);
    breaker.reconfigure(&Overrides::new().threshold(2)).unwrap();
    lines.add(breaker.admit().unwrap_err());
    let unsettable = registry::configure(HOSTILE, Overrides::new().failure_rate(0.5));
    // The first line says how many there are.
    lines.add(unsettable.unwrap_err().to_string().lines().nth(1).unwrap());
    let snapshots = registry::snapshot();
    drop(breaker);
    registry::restore(&snapshots);
    registry::configure(HOSTILE, Overrides::new().threshold(3)).unwrap();
    let rate = Settings::new().failure_rate(0.5).must_rate();
    drop(Breaker::<DefaultClock, Sliding<8>>::shared_by_rate(HOSTILE, rate).unwrap());

    let mut said = std::mem::take(&mut *lines.0.lock().unwrap());
    said.extend(news(&mut watch));
    said.extend(registry::problems().iter().map(ToString::to_string));
    assert_eq!(said.len(), 25, "{said:#?}");
    for line in said {
        assert!(line.contains(SHOWN), "{line:?}");
        assert!(
            !line.contains(['\n', '\r', '\u{1b}', '\u{202e}']),
            "{line:?}"
        );
    }
}
