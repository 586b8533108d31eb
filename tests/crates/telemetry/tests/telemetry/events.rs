//! Events for `tracing`: exact names, levels and fields.

use crate::lines::Lines;
use breakerbox::link;
use breakerbox::observe::{
    self, AnyEvent, Event, InOrder, Observer, Rehearsal, StateChange, TracingObserver,
};
use breakerbox::{
    Breaker, CallError, KeyedBreakers, LastGood, Served, Settings, circuit_breaker, test,
};
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

fn settings() -> Settings {
    Settings::new().threshold(2).reset(RESET).jitter(0.0)
}

fn fail(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("down"));
}

/// The events that `act` causes, without what differs from run to run.
fn events(act: impl FnOnce(&test::TestScope)) -> Vec<(String, Value)> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.subscriber(), || {
        let scope = test::scope();
        observe::install(TracingObserver::new()).forever();
        act(&scope);
    });
    let mut sequence = None;
    let mut event = |line: Value| {
        assert_eq!(line["target"], "breakerbox");
        let mut fields = line["fields"].clone();
        let number = fields.as_object_mut()?.remove("sequence")?.as_u64()?;
        assert!(Some(number) > sequence, "{line}");
        sequence = Some(number);
        Some((line["level"].as_str()?.to_owned(), fields))
    };
    let ends_of_spans = |line: &Value| line["fields"]["message"] == "close";
    let written = lines.take().into_iter();
    written
        .filter(|line| !ends_of_spans(line))
        .map(|line| event(line.clone()).unwrap_or_else(|| panic!("{line}")))
        .collect()
}

fn assert_events(told: &[(String, Value)], expected: &[(&str, Value)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(level, fields)| ((*level).to_owned(), fields.clone()))
        .collect();
    for (told, expected) in told.iter().zip(&expected) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn an_outage_and_what_operators_do() {
    let told = events(|scope| {
        let pms = Breaker::new("pms", settings().must());
        fail(&pms);
        fail(&pms);
        fail(&pms);
        scope.advance(RESET);
        fail(&pms);
        scope.advance(RESET);
        let hangs = pms.admit().unwrap();
        scope.advance(Duration::from_secs(60));
        let _ = pms.call_sync(|| Ok::<_, &str>(()));
        let _ = hangs.failure();
        pms.force_open();
        pms.disable();
        pms.shadow();
        fail(&pms);
        fail(&pms);
        pms.close();
    });
    let change = |event, from, to, trigger, failures, generation, message| {
        json!({"event": event, "breaker": "pms", "from": from, "to": to, "trigger": trigger,
            "failures": failures, "generation": generation, "message": message})
    };
    let waits = |mut fields: Value| {
        fields["wait_seconds"] = json!(30.0);
        fields
    };
    assert_events(
        &told,
        &[
            (
                "WARN",
                waits(change(
                    "opened",
                    "closed",
                    "open",
                    "failures",
                    2,
                    1,
                    "circuit `pms` opened after 2 failures, for 30s",
                )),
            ),
            (
                "DEBUG",
                json!({"event": "rejected", "breaker": "pms", "reason": "open",
                    "retry_after_seconds": 30.0, "calls": 1, "generation": 1,
                    "message": "call refused: circuit `pms` is open: retry in 30s"}),
            ),
            (
                "INFO",
                change(
                    "half_open",
                    "open",
                    "half_open",
                    "wait_over",
                    0,
                    2,
                    "circuit `pms` probes: its wait is over",
                ),
            ),
            (
                "WARN",
                waits(change(
                    "opened",
                    "half_open",
                    "open",
                    "failed_probe",
                    1,
                    3,
                    "circuit `pms` reopened after 1 failure while probing, for 30s",
                )),
            ),
            (
                "INFO",
                change(
                    "half_open",
                    "open",
                    "half_open",
                    "wait_over",
                    0,
                    4,
                    "circuit `pms` probes: its wait is over",
                ),
            ),
            (
                "INFO",
                change(
                    "half_open",
                    "half_open",
                    "half_open",
                    "probe_timed_out",
                    0,
                    5,
                    "circuit `pms` probes again: its probes never ended",
                ),
            ),
            (
                "WARN",
                json!({"event": "probe_expired", "breaker": "pms", "generation": 5,
                    "message": "circuit `pms` gave up its probes: they never ended"}),
            ),
            (
                "INFO",
                change(
                    "closed",
                    "half_open",
                    "closed",
                    "recovered",
                    0,
                    6,
                    "circuit `pms` closed: its probes succeeded",
                ),
            ),
            (
                "DEBUG",
                json!({"event": "late", "breaker": "pms", "outcome": "failure", "generation": 4,
                    "current": 6, "message": "circuit `pms`: a call ended too late to count: failure"}),
            ),
            (
                "WARN",
                change(
                    "forced_open",
                    "closed",
                    "forced_open",
                    "operator",
                    0,
                    7,
                    "circuit `pms` was set by an operator: forced_open",
                ),
            ),
            (
                "INFO",
                change(
                    "disabled",
                    "forced_open",
                    "disabled",
                    "operator",
                    0,
                    8,
                    "circuit `pms` was set by an operator: disabled",
                ),
            ),
            (
                "INFO",
                change(
                    "shadow",
                    "disabled",
                    "shadow",
                    "operator",
                    0,
                    9,
                    "circuit `pms` was set by an operator: shadow",
                ),
            ),
            (
                "WARN",
                waits(change(
                    "would_open",
                    "shadow",
                    "open",
                    "failures",
                    2,
                    9,
                    "circuit `pms` would have opened after 2 failures, for 30s",
                )),
            ),
            (
                "INFO",
                change(
                    "closed",
                    "shadow",
                    "closed",
                    "operator",
                    0,
                    10,
                    "circuit `pms` was set by an operator: closed",
                ),
            ),
        ],
    );
}

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(name = "cached", threshold = 9, fallback = |_| Ok(1))]
fn cached() -> Answer {
    Err(CallError::Call("down"))
}

/// Can't be kept.
#[derive(Debug, PartialEq)]
struct Fleeting;

impl Clone for Fleeting {
    fn clone(&self) -> Self {
        panic!("not to be cloned")
    }
}

static LAST: LastGood<u64, Fleeting> = LastGood::new(Duration::from_secs(60));

#[circuit_breaker(name = "fleeting", last_good = LAST, last_good_key = hotel)]
fn fleeting(hotel: u64) -> Result<Served<Fleeting>, CallError<&'static str>> {
    let _ = hotel;
    Ok(Served::fresh(Fleeting))
}

#[test]
fn keys_fallbacks_and_answers_that_are_lost() {
    let told = events(|_| {
        assert_eq!(cached(), Ok(1));
        assert_eq!(fleeting(7).unwrap().value, Fleeting);
        let hosts: KeyedBreakers<String> =
            KeyedBreakers::new("hosts", settings().must()).max_keys(1);
        hosts.get("a").admit().unwrap().success();
        let b = hosts.get("b\nc");
        hosts.get("d").admit().unwrap().success();
        drop(b);
        drop(Breaker::shared("shared", settings().must()));
        link::sharing_lost(
            "booking",
            &io::Error::from(io::ErrorKind::ConnectionRefused),
            2,
        );
        let part = observe::Part::new(2, 6);
        link::sharing_lost_in_part("booking", &std::fmt::Error, 1, part);
        link::sharing_restored("booking", Duration::from_millis(1_500));
        let differs = |what, here: &str, there: &str| {
            observe::Difference::new(what, here.to_owned(), there.to_owned())
        };
        let differences = [differs("reset", "30s", "10s"), differs("quorum", "1", "2")];
        link::sharing_differs("booking", "pms", &differences);
    });
    assert_events(
        &told,
        &[
            (
                "DEBUG",
                json!({"event": "fallback", "breaker": "cached", "in_place_of": "failed",
                    "generation": 0,
                    "message": "circuit `cached` served a fallback in place of a failed call"}),
            ),
            (
                "WARN",
                json!({"event": "last_good_failed", "breaker": "fleeting", "step": "store",
                    "error": "it panicked: not to be cloned",
                    "message": "circuit `fleeting` could not store a last-good answer: it panicked: not to be cloned"}),
            ),
            (
                "DEBUG",
                json!({"event": "key_evicted", "breaker": "hosts", "key": "a",
                    "message": "circuit `hosts[a]` was given up for a new key"}),
            ),
            (
                "WARN",
                json!({"event": "keys_full", "breaker": "hosts", "key": "d",
                    "message": "circuit `hosts[d]` is not kept: the keys that are kept are open or in use"}),
            ),
            (
                "DEBUG",
                json!({"event": "left", "breaker": "shared", "message": "circuit `shared` is gone"}),
            ),
            (
                "WARN",
                json!({"event": "sharing_lost", "fleet": "booking", "losses": 2,
                    "error": "connection refused",
                    "message": "fleet `booking` can't be reached, each process is on its own: connection refused (lost 2 times since this was told last)"}),
            ),
            (
                "WARN",
                json!({"event": "sharing_lost", "fleet": "booking", "losses": 1, "circuits": 2, "of": 6,
                    "error": std::fmt::Error.to_string(),
                    "message": format!("2 of 6 circuits of fleet `booking` can't be shared, each process is on its own with these: {}", std::fmt::Error)}),
            ),
            (
                "INFO",
                json!({"event": "sharing_restored", "fleet": "booking", "after_seconds": 1.5,
                    "message": "fleet `booking` is reached again, after 1.5s"}),
            ),
            (
                "WARN",
                json!({"event": "sharing_differs", "fleet": "booking", "breaker": "pms",
                    "differences": "reset 30s here, 10s there; quorum 1 here, 2 there",
                    "message": "breaker `pms` of fleet `booking` is declared otherwise elsewhere: reset 30s here, 10s there; quorum 1 here, 2 there: each process goes by its own until all declare the same"}),
            ),
        ],
    );
}

#[test]
fn what_a_breaker_in_shadow_would_have_refused() {
    let told = events(|scope| {
        observe::install(Rehearsal::new()).forever();
        let pms = Breaker::new("pms", settings().must());
        pms.shadow();
        fail(&pms);
        fail(&pms);
        fail(&pms);
        let _ = pms.call_sync(|| Ok::<_, &str>(()));
        scope.advance(RESET);
        let _ = pms.call_sync(|| Ok::<_, &str>(()));
    });
    let refused = |outcome| {
        let message =
            format!("circuit `pms` would have refused a call, as open: it ended as {outcome}");
        json!({"event": "would_reject", "breaker": "pms", "reason": "open", "outcome": outcome,
            "generation": 1, "message": message})
    };
    assert_events(
        &told[2..],
        &[
            ("DEBUG", refused("failure")),
            ("DEBUG", refused("success")),
            (
                "INFO",
                json!({"event": "would_close", "breaker": "pms", "after_seconds": 30.0,
                    "rejected": 2, "rejected_successes": 1, "generation": 1,
                    "message": "circuit `pms` would have closed after 30s, having refused 2 calls \
                        of which 1 succeeded"}),
            ),
        ],
    );
}

/// Keeps the changes that it is told of.
#[derive(Default)]
struct Kept(Mutex<Vec<Event>>);

impl Observer for Kept {
    fn state_changed(&self, event: &StateChange<'_>) {
        let event = AnyEvent::from(event).to_event();
        self.0.lock().unwrap().push(event);
    }
}

#[test]
fn changes_that_were_missed() {
    let kept = Arc::new(Kept::default());
    {
        let _scope = test::scope();
        let _installed = observe::install(Arc::clone(&kept));
        let pms = Breaker::new("pms", settings().must());
        let _ = (pms.force_open(), pms.disable(), pms.shadow(), pms.close());
    }
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.subscriber(), || {
        let ordered = InOrder::new(TracingObserver::new());
        let kept = kept.0.lock().unwrap();
        kept[0].tell(&ordered);
        kept[3].tell(&ordered);
    });
    let lines = lines.take();
    let told: Vec<_> = lines.iter().map(|line| &line["fields"]).collect();
    let events: Vec<_> = told.iter().map(|fields| &fields["event"]).collect();
    assert_eq!(events, ["forced_open", "missed", "closed"]);
    assert_eq!(lines[1]["level"], "WARN");
    assert_eq!(
        (&told[1]["changes"], &told[1]["events"]),
        (&json!(2), &json!(0))
    );
}
