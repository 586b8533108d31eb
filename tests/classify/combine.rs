//! Classifiers made of classifiers, wherever a classifier may stand.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use breakerbox::classify::{self, all, any, at_most, not, only, result};
use breakerbox::{Breaker, CallError, Outcome, Settings, State, circuit_breaker};

type Answer = Result<u8, CallError<Error>>;

const WAIT: Duration = Duration::from_secs(7);

fn overloaded(error: &CallError<Error>) -> Outcome {
    match error {
        CallError::Call(e) if e.kind() == ErrorKind::QuotaExceeded => Outcome::Overloaded(WAIT),
        _ => Outcome::Ignored,
    }
}

fn error(kind: ErrorKind) -> CallError<Error> {
    CallError::Call(kind.into())
}

#[circuit_breaker(threshold = 1, classify = any((classify::io, overloaded)))]
fn any_of_two(kind: ErrorKind) -> Answer {
    Err(error(kind))
}

#[circuit_breaker(
    threshold = 1,
    classify = all((any([overloaded, overloaded]), not(only([ErrorKind::TimedOut])), |_: &_| true))
)]
async fn nested(kind: ErrorKind) -> Answer {
    Err(error(kind))
}

#[circuit_breaker(
    threshold = 1,
    classify_output = any((result(|&n: &u8| n > 3, classify::io), |answer: &Answer| answer.is_err()))
)]
fn outputs(answer: Answer) -> Answer {
    answer
}

fn wait(answer: Answer) -> Option<Duration> {
    match answer {
        Err(CallError::Open(refused)) => refused.retry_after(),
        _ => None,
    }
}

#[test]
fn any_counts_as_the_gravest_says() {
    let _scope = breakerbox::test::scope();
    assert_eq!(wait(any_of_two(ErrorKind::NotFound)), None);
    assert_eq!(wait(any_of_two(ErrorKind::QuotaExceeded)), None);
    assert_eq!(wait(any_of_two(ErrorKind::NotFound)), Some(WAIT));
}

#[tokio::test]
async fn all_keeps_how_long_to_wait() {
    let _scope = breakerbox::test::scope();
    assert_eq!(wait(nested(ErrorKind::TimedOut).await), None);
    assert_eq!(wait(nested(ErrorKind::ConnectionReset).await), None);
    assert_eq!(wait(nested(ErrorKind::QuotaExceeded).await), None);
    assert_eq!(wait(nested(ErrorKind::NotFound).await), Some(WAIT));
}

#[test]
fn outputs_that_nobody_counts_are_successes() {
    let scope = breakerbox::test::scope();
    assert_eq!(outputs(Ok(1)).unwrap(), 1);
    assert_eq!(outputs(Ok(4)).unwrap(), 4); // counts: it opens
    assert!(matches!(outputs(Ok(1)), Err(CallError::Open(_))));
    scope.advance(Duration::from_secs(30));
    assert_eq!(outputs(Ok(1)).unwrap(), 1); // and closes again
    assert_eq!(outputs(Ok(1)).unwrap(), 1);
    assert!(outputs(Err(error(ErrorKind::NotFound))).is_err()); // by the second of them
    assert!(matches!(outputs(Ok(1)), Err(CallError::Open(_))));
}

#[test]
fn errors_that_nobody_counts_are_ignored() {
    type Io = Result<u8, Error>;
    let by = result(|_: &u8| false, |_: &Error| false);
    assert_eq!(by(&Io::Ok(1)), None);
    assert_eq!(
        by(&Io::Err(ErrorKind::TimedOut.into())),
        Some(Outcome::Ignored)
    );
    let by = result(|_: &u8| Outcome::Dropped, classify::io::<Error>);
    assert_eq!(by(&Io::Ok(1)), Some(Outcome::Dropped));
    assert_eq!(
        by(&Io::Err(ErrorKind::TimedOut.into())),
        Some(Outcome::Failure)
    );
}

#[tokio::test]
async fn without_the_attribute_too() {
    let _scope = breakerbox::test::scope();
    let breaker = Breaker::new("combined", Settings::new().threshold(1).must());
    let by = any((classify::io, overloaded));
    let answer = breaker
        .classify(by.clone())
        .call_sync(|| Answer::Err(error(ErrorKind::NotFound)));
    assert!(answer.is_err());
    let call = breaker.call(async { Answer::Err(error(ErrorKind::NotFound)) });
    assert!(call.classify(&by).await.is_err());
    assert_eq!(breaker.state(), State::Closed);
    let call = breaker.call(async { Answer::Err(error(ErrorKind::QuotaExceeded)) });
    assert!(call.classify(by).await.is_err());
    assert_eq!(breaker.snapshot().state, State::Open);
    assert_eq!(breaker.admit().unwrap_err().retry_after(), Some(WAIT));
}

/// Eight are taken, and each is asked.
#[test]
fn each_place_of_a_tuple_has_its_say() {
    let at = |i: usize| move |&place: &usize| place == i;
    let eight = any((at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)));
    let all_eight = all((at(0), at(0), at(0), at(0), at(0), at(0), at(0), at(0)));
    for place in 0..8 {
        assert_eq!(eight(&place), Some(Outcome::Failure), "{place}");
        assert_eq!(
            any([at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)])(&place),
            eight(&place)
        );
        assert_eq!(all_eight(&place), (place == 0).then_some(Outcome::Failure));
    }
    assert_eq!(eight(&8), None);
    assert_eq!(any((at(3),))(&3), Some(Outcome::Failure));
    assert_eq!(all([at(3)])(&4), None);
}

#[test]
fn waits_are_cut_and_nothing_else() {
    let say = |verdict: &Option<Outcome>| *verdict;
    let by = at_most(WAIT, say);
    for verdict in [
        None,
        Some(Outcome::Success),
        Some(Outcome::Ignored),
        Some(Outcome::Dropped),
        Some(Outcome::Failure),
        Some(Outcome::Panicked),
        Some(Outcome::Overloaded(Duration::ZERO)),
        Some(Outcome::Overloaded(WAIT)),
    ] {
        assert_eq!(by(&verdict), verdict);
    }
    for wait in [WAIT + Duration::from_nanos(1), Duration::MAX] {
        assert_eq!(
            by(&Some(Outcome::Overloaded(wait))),
            Some(Outcome::Overloaded(WAIT))
        );
    }
}

#[test]
fn codes_are_found_in_whatever_holds_the_error() {
    let by = only([ErrorKind::TimedOut, ErrorKind::NotFound]);
    for (kind, counts) in [
        (ErrorKind::TimedOut, true),
        (ErrorKind::NotFound, true),
        (ErrorKind::Other, false),
    ] {
        assert_eq!(by(&error(kind)), counts);
        assert_eq!(
            only([ErrorKind::TimedOut, ErrorKind::NotFound])(&Error::from(kind)),
            counts
        );
    }
    let inner = Breaker::new("inner", Settings::new().must());
    inner.force_open();
    assert!(!by(&CallError::Open(inner.admit().unwrap_err())));
}

/// Whatever they are made of.
#[test]
fn nothing_allocates() {
    let errors = [error(ErrorKind::NotFound), error(ErrorKind::QuotaExceeded)];
    let allocated = allocation_counter::measure(|| {
        let by = any((
            all((classify::io, not(only([ErrorKind::TimedOut])))),
            at_most(WAIT, overloaded),
            |_: &CallError<Error>| false,
        ));
        for error in &errors {
            assert!(by(error).is_some());
        }
    });
    assert_eq!(allocated.count_total, 0);
}
