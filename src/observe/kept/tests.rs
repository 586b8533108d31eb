//! Each event is kept as it was told.

use super::*;
use crate::KeyedBreakers;
use crate::error::Refused;
use crate::registry::AnyBreaker;
use breaker_core::{Circuit, Config, LiveConfig, ManualClock, Overrides};
use std::io;

#[derive(Debug, thiserror::Error)]
#[error("not stored")]
struct NotStored(#[source] io::Error);

/// One of each kind, of a breaker alone and of one by key, whose numbers are all different; and
/// the generation that each belongs to.
fn each(hear: impl Fn(AnyEvent<'_>, Option<u32>)) {
    let hosts = KeyedBreakers::<u32>::shared("hosts", Config::DEFAULT, 10).unwrap();
    let host = hosts.get(&7_u32);
    let label = AnyBreaker::key(&host).unwrap();
    let (breaker, circuit, sequence) = ("hosts", CircuitId(3), 8);
    let (generation, current) = (Generation::from_number(4), Generation::from_number(9));
    let (outcome, took) = (CallOutcome::Ignored, Duration::from_millis(5));
    let opened = Circuit::new(Config::DEFAULT);
    let change = &opened.open_for(Duration::from_secs(3), &ManualClock::new(0));
    let live = LiveConfig::new(Config::DEFAULT);
    let reconfiguration = &live.reconfigure(&Overrides::new().threshold(2)).unwrap();
    let not_stored = NotStored(io::Error::other("the disk is full"));
    let error: &(dyn Error + 'static) = &not_stored;
    let by = Some("ann");
    for key in [None, Some(label)] {
        let refused = Refused {
            reason: Reason::Open,
            left: 1,
        };
        let refusal = &CircuitOpenError::new(Name::detached(breaker, key), refused);
        let entered = Some(change.generation.get());
        let (admitted, now) = (Some(4), Some(9));
        #[rustfmt::skip]
        let all: [(AnyEvent<'_>, _); 13] = [
            ((&StateChange { breaker, key, circuit, change, sequence }).into(), entered),
            ((&Rejection { error: refusal, circuit, calls: 6, generation, sequence }).into(), admitted),
            ((&CallEnded { breaker, key, circuit, outcome, took, generation, sequence }).into(), admitted),
            ((&LateOutcome { breaker, key, circuit, outcome, generation, current, sequence }).into(), now),
            ((&ProbeExpired { breaker, key, circuit, generation, sequence }).into(), admitted),
            (
                (&FallbackServed {
                    breaker, key, circuit, in_place_of: InPlaceOf::TimedOut, generation, sequence,
                }).into(),
                admitted,
            ),
            ((&WouldTrip { breaker, key, circuit, change, sequence }).into(), entered),
            (
                (&WouldReject {
                    breaker, key, circuit, reason: Reason::HalfOpenFull, outcome, generation, sequence,
                }).into(),
                admitted,
            ),
            (
                (&WouldClose {
                    breaker, key, circuit, after: took, rejected: 11, rejected_successes: 10,
                    generation, sequence,
                }).into(),
                admitted,
            ),
            ((&Reconfigured { breaker, key, circuit, change: reconfiguration, sequence }).into(), None),
            (
                (&Operated { breaker, key, circuit, action: "open_for", by, change, sequence }).into(),
                entered,
            ),
            (
                (&LastGoodFailed {
                    breaker, key, circuit, step: LastGoodStep::Load, error, sequence,
                }).into(),
                None,
            ),
            (
                (&Missed { breaker, key, circuit, changes: 12, events: 13, generation, sequence }).into(),
                admitted,
            ),
        ];
        for (event, of) in all {
            hear(event, of);
        }
    }
    #[rustfmt::skip]
    let of_keys: [AnyEvent<'_>; 2] = [
        (&KeyEvicted { breaker, key: label, circuit, sequence }).into(),
        (&KeysFull { breaker, key: label, circuit, sequence }).into(),
    ];
    of_keys.into_iter().for_each(|event| hear(event, None));
}

#[test]
fn it_says_the_same_field_by_field() {
    each(|event, generation| {
        let kept = event.to_event();
        let again = kept.as_any();
        assert_eq!(
            again.generation().map(Generation::get),
            generation,
            "{event:?}"
        );
        assert_eq!(again.to_string(), event.to_string());
        // An error is kept as what it says: below.
        if !matches!(event, AnyEvent::LastGoodFailed(_)) {
            assert_eq!(format!("{again:?}"), format!("{event:?}"));
        }
        assert_eq!(format!("{:?}", again.to_event()), format!("{kept:?}"));
    });
}

#[test]
fn an_error_says_its_cause_too() {
    each(|event, _| {
        if let AnyEvent::LastGoodFailed(event) = event.to_event().as_any() {
            assert_eq!(event.error.to_string(), "not stored");
            let cause = event.error.source().unwrap();
            assert_eq!(cause.to_string(), "the disk is full");
            assert!(cause.source().is_none());
            assert_eq!(event.step, LastGoodStep::Load);
        }
    });
}

/// As where what is counted was counted before.
#[test]
fn refused_calls_that_are_counted_stand_for_all_that_they_stood_for() {
    let refused = Refused {
        reason: Reason::Open,
        left: 1,
    };
    let error = &CircuitOpenError::new(Name::Static("pms"), refused);
    let told = |calls, sequence| Rejection {
        error,
        circuit: CircuitId(1),
        calls,
        generation: Generation::from_number(4),
        sequence,
    };
    let mut kept = AnyEvent::from(&told(5, 1)).to_event();
    kept.count(&told(7, 2));
    assert_eq!((kept.calls(), kept.as_any().sequence()), (12, 2));
    kept.count(&told(u64::MAX, 3));
    assert_eq!(kept.calls(), u64::MAX);
}
