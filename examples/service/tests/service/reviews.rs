//! Reviews: a page without them is still a page.

use std::time::{Duration, Instant};

use service::dependencies::Which;
use service::dependency::Fault;

use crate::stage::{Outcome, Stage, since, until};

const REVIEWS: &str = "/hotels/carlton/reviews";
const THRESHOLD: u32 = 3;
const RESET: Duration = Duration::from_secs(2);

#[tokio::test]
async fn refused_connections_open_it_and_nobody_sees_an_error() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let reviews = &stage.dependencies.reviews;
    let fresh = stage.get(REVIEWS).await?;
    fresh.is("fresh");
    assert_eq!(fresh.body["points"], 8);

    stage.dependencies.play(Which::Reviews, Fault::Refuses);
    let mut began = Instant::now();
    for _ in 0..THRESHOLD {
        began = Instant::now();
        let answer = until("connections are refused", async || {
            let answer = stage.get(REVIEWS).await.expect("an answer");
            (answer.how.as_deref() != Some("fresh")).then_some(answer)
        })
        .await;
        answer.is("placeholder");
        assert!(answer.body["points"].is_null(), "{answer:?}");
    }
    let before = reviews.requests();
    stage.dependencies.play(Which::Reviews, Fault::None);
    until("a fresh answer", async || {
        let answer = stage.get(REVIEWS).await.expect("an answer");
        (answer.how.as_deref() == Some("fresh")).then_some(())
    })
    .await;
    // Well again at once, and not asked before the wait was over.
    let probe = &since(reviews, before)[0];
    assert!(
        probe.arrived - began >= RESET,
        "{:?}",
        probe.arrived - began
    );
    Ok(())
}

#[tokio::test]
async fn one_that_hangs_holds_nobody_up_for_long() -> Outcome {
    let stage = Stage::set(&[]).await?;
    stage.dependencies.play(Which::Reviews, Fault::Hangs);
    for _ in 0..20 {
        stage.get(REVIEWS).await?.is("placeholder");
    }
    // The rest was not made to wait for its timeout; a probe may have been among them.
    let seen = since(&stage.dependencies.reviews, 0);
    let of_those = &seen[THRESHOLD as usize - 1..];
    crate::stage::are_single_probes(of_those, RESET);
    Ok(())
}
