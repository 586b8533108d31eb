//! Last good answers: served in an outage, and only to the question that they answer.

use breakerbox::State;
use cost_explorer::error::CostsError;
use cost_explorer::query::Dates;
use cost_explorer::server::{Answer, Fault};

use crate::stage::{ONE, OTHER, Outcome, PACE, PAGES, Stage, THRESHOLD, TRIES};

#[tokio::test]
async fn in_an_outage_the_last_good_answer_is_served_as_stale() -> Outcome {
    let scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    let fresh = stage.costs(ONE).await?;
    assert!(!fresh.stale);
    assert_eq!(stage.said(), [Answer::Page; PAGES]);

    stage.server.play(ONE, Fault::Error);
    for call in 0..10 {
        let served = stage.costs(ONE).await?;
        assert!(served.stale, "call {call}");
        assert_eq!(served.value, fresh.value);
    }
    assert_eq!(stage.state(ONE), State::Open);
    assert_eq!(stage.said(), [Answer::Error; THRESHOLD * TRIES]);

    stage.server.play(ONE, Fault::None);
    scope.advance(PACE.reset * 2);
    assert!(!stage.costs(ONE).await?.stale);
    assert_eq!(stage.state(ONE), State::Closed);
    Ok(())
}

#[tokio::test]
async fn no_answer_is_served_to_another_question() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.costs(ONE).await?;
    stage.break_down(ONE, Fault::Error).await;
    stage.break_down(OTHER, Fault::Error).await;
    for dates in [
        Dates::new("2026-11-01", "2026-11-07"),
        Dates::new("2026-11-02", "2026-11-08"),
        Dates::new("2026-10-01", "2026-10-08"),
    ] {
        let answer = stage.explorer(ONE).by_day(dates).await;
        assert!(matches!(answer, Err(CostsError::Open(_))));
    }
    assert!(matches!(stage.costs(OTHER).await, Err(CostsError::Open(_))));
    assert!(stage.costs(ONE).await?.stale);
    assert_eq!(stage.said(), []);
    Ok(())
}

#[tokio::test]
async fn what_the_service_says_of_the_question_is_not_hidden_by_an_old_answer() -> Outcome {
    let _scope = breakerbox::test::scope();
    let stage = Stage::new().await?;
    stage.costs(ONE).await?;
    stage.server.play(ONE, Fault::DataUnavailable);
    let error = stage.costs(ONE).await.unwrap_err();
    assert_eq!(error.code(), Some("DataUnavailableException"));
    Ok(())
}

#[tokio::test]
async fn where_there_never_was_an_answer_the_callers_get_the_error() -> Outcome {
    let _scope = breakerbox::test::scope();
    let stage = Stage::new().await?;
    stage.server.play(ONE, Fault::Error);
    assert_eq!(
        stage.costs(ONE).await.unwrap_err().code(),
        Some("InternalFailure")
    );
    Ok(())
}
