//! Rooms: opens after failures in a row, serves stale, probes single, closes.

use std::time::Duration;

use reqwest::StatusCode;
use service::dependencies::Which;
use service::dependency::{Fault, Said};

use crate::stage::{Outcome, Stage, are_single_probes, since, until};

const ROOMS: &str = "/hotels/adlon/rooms";
const THRESHOLD: u64 = 5;
const RESET: Duration = Duration::from_secs(2);

#[tokio::test]
async fn it_trips_serves_stale_probes_single_and_closes() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let pms = &stage.dependencies.pms;
    let fresh = stage.get(ROOMS).await?;
    fresh.is("fresh");
    assert_eq!(fresh.body["rooms_left"], 3);

    stage.dependencies.play(Which::Pms, Fault::Errors);
    for failures in 1..=THRESHOLD {
        let answer = stage.get(ROOMS).await?;
        answer.is("stale");
        assert_eq!(answer.body["rooms_left"], 3);
        assert_eq!(pms.requests(), 1 + failures);
    }
    // Whatever becomes of it now: it is left alone, but for probes.
    stage.dependencies.play(Which::Pms, Fault::Hangs);
    let ask = async || {
        for _ in 0..50 {
            stage.get(ROOMS).await?.is("stale");
        }
        Outcome::Ok(())
    };
    ask().await?;
    // Ten at once, until a probe has come, and while it hangs.
    let probe = until("a probe", async || {
        let tenth = || async { stage.get(ROOMS).await.map(|answer| answer.is("stale")) };
        let (a, b, c, d) = tokio::join!(tenth(), tenth(), tenth(), tenth());
        a.and(b).and(c).and(d).expect("answers");
        since(pms, THRESHOLD).get(1).cloned()
    });
    assert_eq!(probe.await.said, Said::Nothing);
    ask().await?;
    are_single_probes(&since(pms, THRESHOLD), RESET);

    stage.dependencies.play(Which::Pms, Fault::None);
    let before = pms.requests();
    until("a fresh answer", async || {
        let answer = stage.get(ROOMS).await.expect("an answer");
        (answer.how.as_deref() == Some("fresh")).then_some(())
    })
    .await;
    assert_eq!(since(pms, before)[0].said, Said::Answer);
    for _ in 0..10 {
        stage.get(ROOMS).await?.is("fresh");
    }
    assert_eq!(pms.requests(), before + 11);
    Ok(())
}

#[tokio::test]
async fn a_hotel_that_was_never_known_gets_the_error_and_no_other_hotels_rooms() -> Outcome {
    let stage = Stage::set(&[]).await?;
    stage.get(ROOMS).await?.is("fresh");
    stage.dependencies.play(Which::Pms, Fault::Errors);
    for _ in 0..THRESHOLD {
        let answer = stage.get("/hotels/bristol/rooms").await?;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{answer:?}");
    }
    let wait = stage
        .get("/hotels/bristol/rooms")
        .await?
        .is_refused_by("pms");
    assert!((1..=3).contains(&wait), "{wait}");
    stage.get(ROOMS).await?.is("stale");
    Ok(())
}

#[tokio::test]
async fn that_a_hotel_is_unknown_is_an_answer() -> Outcome {
    let stage = Stage::set(&[]).await?;
    for hotel in ["nowhere", "..", "a%2Fb", "%F0%9F%8F%A8", "a?b#c"] {
        for _ in 0..THRESHOLD {
            let answer = stage.get(&format!("/hotels/{hotel}/rooms")).await?;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{answer:?}");
        }
    }
    stage.get(ROOMS).await?.is("fresh");
    Ok(())
}

#[tokio::test]
async fn without_breakers_every_request_goes_on_to_where_it_hangs() -> Outcome {
    let stage = Stage::set(&["--unguarded"]).await?;
    stage.get(ROOMS).await?.is("fresh");
    stage.dependencies.play(Which::Pms, Fault::Errors);
    for _ in 0..20 {
        stage.get(ROOMS).await?.is("stale");
    }
    assert_eq!(stage.dependencies.pms.requests(), 21);
    Ok(())
}
