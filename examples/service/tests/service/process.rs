//! How it begins and ends.

use std::time::Duration;

use reqwest::Method;
use service::dependencies::Which;
use service::dependency::Fault;
use tempfile::TempDir;

use crate::stage::{Outcome, Service, Stage, ask, program, until};

#[cfg(unix)]
#[tokio::test]
async fn told_to_end_it_answers_what_is_under_way_and_takes_no_more() -> Outcome {
    let mut stage = Stage::set(&[]).await?;
    let slow = Fault::Slow(Duration::from_millis(800));
    stage.dependencies.play(Which::Payments, slow);
    let (http, front) = (stage.http.clone(), stage.service.front.clone());
    let booking =
        tokio::spawn(
            async move { ask(&http, &front, Method::POST, "/hotels/adlon/bookings").await },
        );
    let payments = &stage.dependencies.payments;
    until("the booking is under way", async || {
        (payments.requests() == 1).then_some(())
    })
    .await;

    stage.service.tell_to_end()?;
    booking.await??.is("fresh"); // it was paid, and says so
    let ended = until("it ends", async || {
        stage.service.child.try_wait().expect("a status")
    })
    .await;
    assert!(ended.success(), "{ended}");
    assert!(stage.get("/health").await.is_err());
    Ok(())
}

/// What the old process knew of an outage, the new one need not find out again.
#[cfg(unix)]
#[tokio::test]
async fn circuits_stay_open_over_a_restart() -> Outcome {
    let folder = TempDir::new()?;
    let file = folder.path().join("circuits.json");
    let told = format!("--keep={}", file.display());
    let mut stage = Stage::set(&[&told]).await?;
    let book = async |stage: &Stage| stage.ask(Method::POST, "/hotels/adlon/bookings").await;
    stage
        .dependencies
        .play(Which::Payments, Fault::Busy { seconds: 60 });
    book(&stage).await?;
    book(&stage).await?.is_refused_by("payments");

    stage.restart(&[&told]).await?;
    stage.dependencies.play(Which::Payments, Fault::None);
    let wait = book(&stage).await?.is_refused_by("payments");
    assert!((1..=61).contains(&wait), "{wait}");
    assert_eq!(stage.dependencies.payments.requests(), 1);
    // Others begin as they were: closed.
    stage.get("/hotels/adlon/rooms").await?.is("fresh");

    // A file that is damaged is said to be, and keeps nobody from starting.
    stage.end().await?;
    std::fs::write(&file, "{\"version\": 1, \"breakers\"")?;
    stage.start(&[&told])?;
    book(&stage).await?.is("fresh");
    let errors = stage.errors()?;
    assert!(
        errors.contains("circuits.json: EOF while parsing"),
        "{errors}"
    );
    Ok(())
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_to_be() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let port = stage.service.front.rsplit(':').next().expect("a port");
    let output = program()
        .args(["--port", port, "--seconds", "1"])
        .output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    let expected = format!("can't listen at 127.0.0.1:{port}: ");
    assert!(errors.starts_with(&expected), "{errors}");
    Ok(())
}

/// `service | head -1`.
#[cfg(unix)]
#[test]
fn who_has_read_enough_is_no_error() -> Outcome {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut program = program();
    let output = program.args(["--seconds", "30"]).stdout(writer).output()?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr)?, "");
    Ok(())
}

#[tokio::test]
async fn health_is_said_at_both_addresses() -> Outcome {
    let stage = Stage::set(&[]).await?;
    let Service {
        front, operations, ..
    } = &stage.service;
    for address in [front, operations] {
        let answer = stage.http.get(format!("{address}/health")).send().await?;
        assert_eq!(answer.text().await?, "well\n");
    }
    Ok(())
}
