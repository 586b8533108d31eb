//! The observer that writes to the `log` crate: what, and at which level.

use breakerbox::observe::{self, LogObserver, Rehearsal};
use breakerbox::{
    AnyBreaker, Breaker, CallError, KeyedBreakers, Settings, circuit_breaker, link, test,
};
use log::{Level, LevelFilter, Log, Metadata, Record};
use std::sync::Mutex;
use std::time::Duration;

struct Lines(Mutex<Vec<(Level, String)>>);

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        assert_eq!(record.target(), "breakerbox");
        let line = (record.level(), record.args().to_string());
        self.0.lock().unwrap().push(line);
    }

    fn flush(&self) {}
}

static LINES: Lines = Lines(Mutex::new(Vec::new()));

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(name = "cached", threshold = 9, fallback = |_| Ok(1))]
fn cached() -> Answer {
    Err(CallError::Call("down"))
}

#[test]
fn openings_are_warnings_other_changes_information_and_calls_for_debugging() {
    log::set_logger(&LINES).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let scope = test::scope();
    observe::install(LogObserver).forever();
    let reset = Duration::from_secs(30);
    let pms = Breaker::new("pms", Settings::new().threshold(1).reset(reset).must());
    let fail = || drop(pms.call_sync(|| Err::<(), _>("down")));

    fail();
    fail();
    scope.advance(reset);
    let _ = pms.call_sync(|| Ok::<_, &str>(()));
    pms.force_open();
    pms.disable();
    observe::install(Rehearsal::new()).forever();
    pms.shadow();
    fail();
    fail();
    scope.advance(reset);
    let _ = pms.call_sync(|| Ok::<_, &str>(()));
    drop(Breaker::shared("shared", Settings::new().must()));
    let _ = cached();
    link::sharing_lost("booking", &std::fmt::Error, 1);
    link::sharing_restored("booking", Duration::from_secs(4));
    let reset = observe::Difference::new("reset", "30s".to_owned(), "10s".to_owned());
    link::sharing_differs("booking", "pms", &[reset]);

    let lines = std::mem::take(&mut *LINES.0.lock().unwrap());
    let lines: Vec<_> = lines
        .iter()
        .map(|(level, line)| (*level, line.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (Level::Warn, "circuit `pms` opened after 1 failure, for 30s"),
            (
                Level::Debug,
                "call refused: circuit `pms` is open: retry in 30s"
            ),
            (Level::Info, "circuit `pms` probes: its wait is over"),
            (Level::Info, "circuit `pms` closed: its probes succeeded"),
            (
                Level::Warn,
                "circuit `pms` was set by an operator: forced_open"
            ),
            (
                Level::Info,
                "circuit `pms` was set by an operator: disabled"
            ),
            (Level::Info, "circuit `pms` was set by an operator: shadow"),
            (
                Level::Warn,
                "circuit `pms` would have opened after 1 failure, for 30s"
            ),
            (
                Level::Debug,
                "circuit `pms` would have refused a call, as open: it ended as failure"
            ),
            (
                Level::Info,
                "circuit `pms` would have closed after 30s, having refused 1 call of which 0 succeeded"
            ),
            (Level::Debug, "circuit `shared` is gone"),
            (
                Level::Debug,
                "circuit `cached` served a fallback in place of a failed call"
            ),
            (
                Level::Warn,
                "fleet `booking` can't be reached, each process is on its own: an error occurred when formatting an argument"
            ),
            (Level::Info, "fleet `booking` is reached again, after 4s"),
            (
                Level::Warn,
                "breaker `pms` of fleet `booking` is declared otherwise elsewhere: reset 30s here, 10s there: each process goes by its own until all declare the same"
            ),
        ]
    );

    // Of many keys not each is a warning.
    let hosts = KeyedBreakers::<u64>::shared("hosts", Settings::new().must(), 100).unwrap();
    for host in 0..75_u64 {
        hosts.get(&host).force_open();
    }
    scope.advance(Duration::from_secs(1));
    assert!(hosts.get(&3_u64).admit().is_err());
    let lines = std::mem::take(&mut *LINES.0.lock().unwrap());
    let of = |wanted: Level| lines.iter().filter(move |(level, _)| *level == wanted);
    let warned: Vec<_> = of(Level::Warn).map(|(_, line)| line.as_str()).collect();
    assert_eq!(warned.len(), 22, "{warned:?}");
    let first = "circuit `hosts[0]` was set by an operator: forced_open";
    assert_eq!(warned[0], first);
    for (line, more) in warned[20..].iter().zip([10, 55]) {
        let expected =
            format!("by now {more} more keys of `hosts`: each was set by an operator: forced_open");
        assert_eq!(*line, expected);
    }
    // Of the others, and of the call.
    assert_eq!(of(Level::Debug).count(), 55 + 1);
    assert_eq!(of(Level::Info).count(), 0);
}
