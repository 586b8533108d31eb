//! Each fault: what the caller gets, what the circuit makes of it, and what reached the server.

use std::time::Duration;

use breakerbox::{AnyBreaker, State};
use cost_explorer::error::CostsError;
use cost_explorer::pace::Pace;
use cost_explorer::server::{Answer, Fault};

use crate::stage::{ONE, Outcome, PACE, PAGES, Stage, THRESHOLD, TRIES};

/// Longer than no wait at all; what is waited for never comes.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Opens the circuit by a fault, and lets it close again. Calls meet this error, each after all tries.
async fn opens_and_closes(fault: Fault, answer: Answer, code: &str) -> Outcome {
    let scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(ONE, fault);
    for failures in 1..=THRESHOLD {
        let error = stage.costs(ONE).await.unwrap_err();
        assert_eq!(error.code(), Some(code));
        assert_eq!(stage.said(), [answer; TRIES], "call {failures}");
    }
    assert_eq!(stage.state(ONE), State::Open);
    for _ in 0..10 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    }
    assert_eq!(stage.said(), []);

    // Not yet well: a probe, and the circuit is open again.
    scope.advance(PACE.reset * 2);
    assert_eq!(stage.costs(ONE).await.unwrap_err().code(), Some(code));
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    assert_eq!(stage.said(), [answer; TRIES]);

    stage.server.play(ONE, Fault::None);
    scope.advance(PACE.reset * 4);
    assert!(!stage.costs(ONE).await?.stale);
    assert_eq!(
        (stage.state(ONE), stage.said()),
        (State::Closed, vec![Answer::Page; PAGES])
    );
    Ok(())
}

#[tokio::test]
async fn throttling_opens() -> Outcome {
    let fault = Fault::Throttled { retry_after: None };
    opens_and_closes(fault, Answer::Throttled, "LimitExceededException").await
}

#[tokio::test]
async fn errors_of_the_service_open() -> Outcome {
    opens_and_closes(Fault::Error, Answer::Error, "InternalFailure").await
}

#[tokio::test]
async fn one_answer_opens_for_as_long_as_it_asks_for() -> Outcome {
    let scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(
        ONE,
        Fault::Throttled {
            retry_after: Some(7),
        },
    );
    assert!(stage.costs(ONE).await.is_err());
    assert_eq!((stage.state(ONE), stage.said().len()), (State::Open, TRIES));
    stage.server.play(ONE, Fault::None);
    scope.advance(Duration::from_millis(6_999));
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    assert_eq!(stage.said(), []);
    scope.advance(Duration::from_millis(1));
    assert!(!stage.costs(ONE).await?.stale);
    Ok(())
}

#[tokio::test]
async fn a_late_answer_is_an_answer() -> Outcome {
    let _scope = breakerbox::test::scope();
    let stage = Stage::new().await?;
    stage.server.play(ONE, Fault::Slow(A_MOMENT));
    assert!(!stage.costs(ONE).await?.stale);
    assert_eq!((stage.state(ONE), stage.failures(ONE)), (State::Closed, 0));
    Ok(())
}

#[tokio::test]
async fn a_try_that_hangs_leaves_time_for_the_next_and_counts_once() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::at(Pace {
        attempt: A_MOMENT,
        ..PACE
    })
    .await?;
    stage.server.play(ONE, Fault::Hang);
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Sdk(_))));
    assert_eq!(
        (stage.failures(ONE), stage.said()),
        (1, vec![Answer::Silence; TRIES])
    );
    Ok(())
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up_and_counts() -> Outcome {
    let scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(ONE, Fault::Hang);
    for call in 1..=THRESHOLD {
        let time_passes = async {
            stage.until_requests(call).await;
            scope.advance(PACE.call);
        };
        let (costs, ()) = tokio::join!(stage.costs(ONE), time_passes);
        assert!(matches!(costs, Err(CostsError::TimedOut(_))));
    }
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    assert_eq!(stage.said(), [Answer::Silence; THRESHOLD]);
    Ok(())
}

#[tokio::test]
async fn the_wait_is_longer_by_chance_so_that_nobody_probes_in_step() -> Outcome {
    let _scope = breakerbox::test::scope(); // it draws the same each time
    let mut stage = Stage::new().await?;
    stage.break_down(ONE, Fault::Error).await;
    let wait = stage.explorer(ONE).circuit().snapshot().time_left;
    assert!(wait > PACE.reset && wait <= PACE.reset * 5 / 4, "{wait:?}");
    Ok(())
}
