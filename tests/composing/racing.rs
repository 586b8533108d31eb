//! Calls of which one is dropped when another has answered: two dependencies that race, and hedged
//! calls, where a second one to the same dependency is made when the first takes long.

use super::{Answer, DOWN, Pms, PmsError, RESET, is_refused, is_refused_beside_a_probe, stands};
use breakerbox::{Breaker, CallError, OnCancel, Settings, State, circuit_breaker, test};
use std::time::Duration;
use tokio::time::sleep;

/// How a dependency behaves.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    Hangs,
    /// Answers in 100 ms.
    Slow,
    Fails,
    Answers,
}

async fn ask(pms: &Pms, pace: Pace) -> Result<u32, PmsError> {
    match pace {
        Pace::Hangs => pms.hang().await,
        Pace::Slow => {
            sleep(Duration::from_millis(100)).await;
            pms.request(true).await
        }
        Pace::Fails => pms.request(false).await,
        Pace::Answers => pms.request(true).await,
    }
}

/// After this a call is hedged.
const HEDGED: Duration = Duration::from_millis(10);

/// The first answer, whatever it is: an `Err` wins too.
async fn first_to_end(
    one: impl Future<Output = Answer>,
    other: impl Future<Output = Answer>,
) -> Answer {
    tokio::select! {
        biased;
        answer = one => answer,
        answer = async { sleep(HEDGED).await; other.await } => answer,
    }
}

/// The first that is a success, else the error of the one that failed last.
async fn first_to_succeed(
    one: impl Future<Output = Answer>,
    other: impl Future<Output = Answer>,
) -> Answer {
    let other = async {
        sleep(HEDGED).await;
        other.await
    };
    tokio::pin!(one, other);
    tokio::select! {
        biased;
        answer = &mut one => if answer.is_ok() { answer } else { other.await },
        answer = &mut other => if answer.is_ok() { answer } else { one.await },
    }
}

#[circuit_breaker(name = "raced-near", threshold = 1)]
async fn near(pms: &Pms, pace: Pace) -> Answer {
    ask(pms, pace).await.map_err(CallError::Call)
}

#[circuit_breaker(name = "raced-far", threshold = 1)]
async fn far(pms: &Pms, pace: Pace) -> Answer {
    ask(pms, pace).await.map_err(CallError::Call)
}

#[circuit_breaker(name = "raced-counted", threshold = 3, on_cancel = failure)]
async fn counted(pms: &Pms, pace: Pace) -> Answer {
    ask(pms, pace).await.map_err(CallError::Call)
}

#[tokio::test(start_paused = true)]
async fn the_loser_of_a_race_counts_as_nothing() {
    let _scope = test::scope();
    let pms = Pms::default();
    for _ in 0..100 {
        let (far, near) = (far(&pms, Pace::Hangs), near(&pms, Pace::Answers));
        assert_eq!(first_to_end(far, near).await, Ok(7));
    }
    assert_eq!(pms.requests(), 200);
    assert_eq!(stands("raced-far"), (State::Closed, 0));
    assert_eq!(stands("raced-near"), (State::Closed, 0));
}

#[tokio::test(start_paused = true)]
async fn by_hand_the_loser_of_a_race_counts_as_it_was_told() {
    let _scope = test::scope();
    let settings = Settings::new().threshold(3);
    let near = Breaker::new("near", settings.must());
    let ignores = Breaker::new("ignores", settings.must());
    let counts = Breaker::new("counts", settings.on_cancel(OnCancel::Failure).must());
    let pms = Pms::default();
    for raced in 1..=3 {
        for far in [&ignores, &counts] {
            let far = far.call(ask(&pms, Pace::Hangs));
            let near = near.call(ask(&pms, Pace::Answers));
            assert_eq!(first_to_end(far, near).await, Ok(7));
        }
        assert_eq!(ignores.snapshot().consecutive, 0);
        assert_eq!(counts.state() == State::Open, raced == 3);
    }
    assert_eq!(near.state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn where_cancelling_is_a_failure_the_slower_dependency_is_given_up() {
    let _scope = test::scope();
    let pms = Pms::default();
    for lost in 1..=3 {
        let (far, near) = (counted(&pms, Pace::Slow), near(&pms, Pace::Answers));
        assert_eq!(first_to_end(far, near).await, Ok(7));
        assert_eq!(stands("raced-counted").0 == State::Open, lost == 3);
    }
    // Never polled: never called.
    let (near, far) = (near(&pms, Pace::Answers), counted(&pms, Pace::Answers));
    assert_eq!(first_to_end(near, far).await, Ok(7));
}

/// Both through one breaker: the answer that ends the race ends the row of failures too, before the
/// loser is dropped.
#[tokio::test(start_paused = true)]
async fn a_hedged_call_through_one_breaker_never_counts_more_than_its_last_loser() {
    let _scope = test::scope();
    let pms = Pms::default();
    for _ in 0..100 {
        let hedged = first_to_end(counted(&pms, Pace::Hangs), counted(&pms, Pace::Answers));
        assert_eq!(hedged.await, Ok(7));
        assert_eq!(stands("raced-counted"), (State::Closed, 1));

        let hedged = first_to_end(near(&pms, Pace::Hangs), near(&pms, Pace::Answers));
        assert_eq!(hedged.await, Ok(7));
        assert_eq!(stands("raced-near"), (State::Closed, 0));
    }
    // Where both fail, both count.
    let fails = || counted(&pms, Pace::Fails);
    assert_eq!(first_to_succeed(fails(), fails()).await, DOWN);
    assert_eq!(stands("raced-counted").0, State::Open);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_loses_gives_its_place_back_or_reopens() {
    let scope = test::scope();
    let pms = Pms::default();
    assert_eq!(far(&pms, Pace::Fails).await, DOWN);
    for _ in 0..3 {
        assert_eq!(counted(&pms, Pace::Fails).await, DOWN);
    }
    scope.advance(RESET);

    for _ in 0..10 {
        let (far, near) = (far(&pms, Pace::Hangs), near(&pms, Pace::Answers));
        assert_eq!(first_to_end(far, near).await, Ok(7));
        assert_eq!(stands("raced-far").0, State::HalfOpen);
    }
    assert_eq!(far(&pms, Pace::Answers).await, Ok(7), "the place is free");
    assert_eq!(stands("raced-far").0, State::Closed);

    let (far, near) = (counted(&pms, Pace::Hangs), near(&pms, Pace::Answers));
    assert_eq!(first_to_end(far, near).await, Ok(7));
    assert_eq!(stands("raced-counted").0, State::Open);
    assert!(is_refused(&counted(&pms, Pace::Answers).await));
}

/// Beside a probe the hedge is refused at once. Where a refusal wins the race, the probe is dropped
/// each time before it can answer, and the circuit never closes: who races calls through one breaker
/// has to wait for a success.
#[tokio::test(start_paused = true)]
async fn a_refused_hedge_must_not_win_against_the_probe() {
    let scope = test::scope();
    let pms = Pms::default();
    assert_eq!(far(&pms, Pace::Fails).await, DOWN);
    scope.advance(RESET);
    for _ in 0..10 {
        let hedged = first_to_end(far(&pms, Pace::Slow), far(&pms, Pace::Slow));
        assert!(is_refused_beside_a_probe(&hedged.await));
        assert_eq!(stands("raced-far").0, State::HalfOpen);
    }
    let hedged = first_to_succeed(far(&pms, Pace::Slow), far(&pms, Pace::Slow));
    assert_eq!(hedged.await, Ok(7));
    assert_eq!(stands("raced-far").0, State::Closed);
}

/// Inside the guarded function, as a retry: one call, one probe, one outcome.
#[tokio::test(start_paused = true)]
async fn hedged_inside_it_is_one_call() {
    #[circuit_breaker(name = "hedged-inside", threshold = 2, on_cancel = failure)]
    async fn rooms(pms: &Pms, paces: [Pace; 2]) -> Answer {
        let [one, other] = paces.map(async |pace| ask(pms, pace).await.map_err(CallError::Call));
        first_to_succeed(one, other).await
    }

    const SLOW_ONCE: [Pace; 2] = [Pace::Hangs, Pace::Answers];

    let scope = test::scope();
    let pms = Pms::default();
    for _ in 0..10 {
        assert_eq!(rooms(&pms, SLOW_ONCE).await, Ok(7));
        assert_eq!(stands("hedged-inside"), (State::Closed, 0));
    }
    assert_eq!(rooms(&pms, [Pace::Fails; 2]).await, DOWN);
    assert_eq!(stands("hedged-inside"), (State::Closed, 1));
    assert_eq!(rooms(&pms, [Pace::Fails; 2]).await, DOWN);
    assert_eq!(stands("hedged-inside").0, State::Open);
    pms.requests();

    scope.advance(RESET);
    assert_eq!(rooms(&pms, SLOW_ONCE).await, Ok(7));
    assert_eq!(pms.requests(), 2);
    assert_eq!(stands("hedged-inside").0, State::Closed);
}
