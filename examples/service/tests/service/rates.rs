//! Rates: a source that is slow is left alone, and the other one isn't.

use std::time::Duration;

use reqwest::StatusCode;
use service::dependencies::Which;
use service::dependency::Fault;

use crate::stage::{Outcome, Stage, until};

const NORTH: &str = "/hotels/adlon/rates/north";
const SOUTH: &str = "/hotels/adlon/rates/south";

/// So many calls are needed to judge a source.
const MIN_CALLS: u64 = 10;

#[tokio::test]
async fn slow_calls_open_the_circuit_of_their_source_alone() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let (north, south) = (&stage.dependencies.north, &stage.dependencies.south);
    let slow = Fault::Slow(Duration::from_millis(400));
    stage.dependencies.play(Which::North, slow);
    for _ in 0..MIN_CALLS {
        stage.get(NORTH).await?.is("fresh"); // late, but an answer
        stage.get(SOUTH).await?.is("fresh");
    }
    let answer = stage.get(NORTH).await?;
    answer.is("stale");
    assert_eq!(answer.body["cents"], 21_000);
    assert_eq!(north.requests(), MIN_CALLS);
    stage.get(SOUTH).await?.is("fresh");
    assert_eq!(south.requests(), MIN_CALLS + 1);

    // What was never asked has no last good answer.
    stage
        .get("/hotels/bristol/rates/north")
        .await?
        .is_refused_by("rates");

    stage.dependencies.play(Which::North, Fault::None);
    until("a fresh rate", async || {
        let answer = stage.get(NORTH).await.expect("an answer");
        (answer.how.as_deref() == Some("fresh")).then_some(())
    })
    .await;
    assert_eq!(north.requests(), MIN_CALLS + 1); // one probe closed it
    Ok(())
}

#[tokio::test]
async fn a_source_that_a_request_makes_up_gets_no_circuit() -> Outcome {
    let stage = Stage::set(&[]).await?;
    for number in 0..20 {
        let answer = stage.get(&format!("/hotels/adlon/rates/{number}")).await?;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{answer:?}");
    }
    Ok(())
}
