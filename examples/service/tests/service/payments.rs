//! Payments: nothing stands in for one, and who is refused is told when to come again.

use reqwest::{Method, StatusCode};
use service::dependencies::Which;
use service::dependency::Fault;

use crate::stage::{Answer, Outcome, Stage, until};

async fn book(stage: &Stage) -> reqwest::Result<Answer> {
    stage.ask(Method::POST, "/hotels/adlon/bookings").await
}

#[tokio::test]
async fn three_failures_open_it_and_bookings_get_503_until_it_is_well() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let payments = &stage.dependencies.payments;
    book(&stage).await?.is("fresh");
    stage.dependencies.play(Which::Payments, Fault::Errors);
    for _ in 0..3 {
        let answer = book(&stage).await?;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{answer:?}");
        assert_eq!(answer.retry_after, None);
    }
    stage.dependencies.play(Which::Payments, Fault::None);
    // 3 s, and a tenth of it at most by chance.
    let wait = book(&stage).await?.is_refused_by("payments");
    assert!((1..=4).contains(&wait), "{wait}");
    assert_eq!(payments.requests(), 4);
    until("a booking", async || {
        let answer = book(&stage).await.expect("an answer");
        (answer.status == StatusCode::OK).then_some(())
    })
    .await;
    assert_eq!(payments.requests(), 5); // one probe closed it
    Ok(())
}

#[tokio::test]
async fn it_is_left_alone_for_as_long_as_it_asks_for_and_no_longer_than_makes_sense() -> Outcome {
    for (asks, longest) in [(20, 20), (100_000, 60)] {
        let stage = Stage::set(&[]).await?;
        let fault = Fault::Busy { seconds: asks };
        stage.dependencies.play(Which::Payments, fault);
        assert_eq!(book(&stage).await?.status, StatusCode::BAD_GATEWAY);
        let wait = book(&stage).await?.is_refused_by("payments");
        // Rounded up, and a clock's tick longer; a machine that is busy may take some of it.
        assert!((longest / 2..=longest + 1).contains(&wait), "{wait}");
        assert_eq!(stage.dependencies.payments.requests(), 1);
    }
    Ok(())
}
