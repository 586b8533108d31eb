//! Questions that the service refuses: it works, and the circuit stays closed.

use breakerbox::State;
use cost_explorer::query::Dates;
use cost_explorer::server::{Answer, Fault};

use crate::stage::{ONE, Outcome, Stage, THRESHOLD};

#[tokio::test]
async fn bad_dates_never_count() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    let bad = [
        Dates::new("2026-11-08", "2026-11-01"),
        Dates::new("2026-11-01", "2026-11-01"),
        Dates::new("November", "December"),
        Dates::new("2026-02-30", "2026-03-02"),
        Dates::new("", ""),
        Dates::new("1926-11-01", "2026-11-01"),
    ];
    for dates in bad.iter().cycle().take(10 * THRESHOLD) {
        let error = stage.explorer(ONE).by_day(dates.clone()).await.unwrap_err();
        assert_eq!(error.code(), Some("ValidationException"), "{dates}");
        // Asked once: who is wrong is so again.
        assert_eq!(stage.said(), [Answer::Invalid], "{dates}");
    }
    assert_eq!((stage.state(ONE), stage.failures(ONE)), (State::Closed, 0));
    Ok(())
}

#[tokio::test]
async fn data_that_are_not_there_yet_never_count() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(ONE, Fault::DataUnavailable);
    for _ in 0..10 * THRESHOLD {
        let error = stage.costs(ONE).await.unwrap_err();
        assert_eq!(error.code(), Some("DataUnavailableException"));
        assert_eq!(stage.said(), [Answer::DataUnavailable]);
    }
    assert_eq!((stage.state(ONE), stage.failures(ONE)), (State::Closed, 0));
    Ok(())
}

#[tokio::test]
async fn between_failures_they_neither_count_nor_mend() -> Outcome {
    let _scope = breakerbox::test::scope();
    let stage = Stage::new().await?;
    for failures in 1..THRESHOLD {
        stage.server.play(ONE, Fault::Error);
        assert!(stage.costs(ONE).await.is_err());
        stage.server.play(ONE, Fault::None);
        for _ in 0..10 {
            let bad = Dates::new("2026-11-08", "2026-11-01");
            assert!(stage.explorer(ONE).by_day(bad).await.is_err());
        }
        assert_eq!(stage.failures(ONE) as usize, failures);
    }
    assert_eq!(stage.state(ONE), State::Closed);
    stage.server.play(ONE, Fault::Error);
    assert!(stage.costs(ONE).await.is_err());
    assert_eq!(stage.state(ONE), State::Open);
    Ok(())
}
