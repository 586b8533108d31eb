//! Settings that are changed without a deploy.

use std::fs;

use reqwest::Method;
use rustix::process::Signal;
use serde_json::Value;
use service::dependencies::Which;
use service::dependency::Fault;
use tempfile::TempDir;

use crate::stage::{Outcome, Stage, program, until};

const ROOMS: &str = "/hotels/adlon/rooms";

/// The settings that hold for a breaker, and those that were declared, where they are others.
async fn settings(stage: &Stage, breaker: &str) -> reqwest::Result<(Value, Value)> {
    let page = stage.page().await?;
    let breakers = page["breakers"].as_array().into_iter().flatten();
    let mut named = breakers.filter(|it| it["name"] == breaker);
    let it = named.next().cloned().unwrap_or_default();
    Ok((it["settings"].clone(), it["declared"].clone()))
}

#[tokio::test]
async fn a_file_and_the_environment_hold_before_the_first_call_and_a_file_is_read_again() -> Outcome
{
    let folder = TempDir::new()?;
    let file = folder.path().join("breakers.toml");
    fs::write(
        &file,
        "[breakers.pms]\nthreshold = 2\nreset = \"5s\"\n[breakers.rates]\nthreshold = 3\n",
    )?;
    let told = format!("--settings={}", file.display());
    let environment = [("BREAKERBOX__PAYMENTS__THRESHOLD", "1")];
    let stage = Stage::set_with(&[&told, "--log=off"], &environment).await?;

    stage.dependencies.play(Which::Payments, Fault::Errors);
    let book = async || stage.ask(Method::POST, "/hotels/adlon/bookings").await;
    book().await?;
    book().await?.is_refused_by("payments");
    stage.get(ROOMS).await?.is("fresh");
    stage.dependencies.play(Which::Pms, Fault::Errors);
    for _ in 0..5 {
        stage.get(ROOMS).await?.is("stale");
    }
    assert_eq!(stage.dependencies.pms.requests(), 1 + 2);
    let (now, declared) = settings(&stage, "pms").await?;
    assert_eq!(
        (&now["threshold"], &now["reset_ms"]),
        (&2.into(), &5_000.into())
    );
    assert_eq!(
        (&declared["threshold"], &declared["reset_ms"]),
        (&5.into(), &2_000.into())
    );

    // What is wrong for a circuit of just this kind is said when it is there.
    assert_eq!(stage.errors()?, "");
    stage.get("/hotels/adlon/rates/north").await?.is("fresh");
    until("it says what it does not take", async || {
        let errors = stage.errors().expect("a log");
        errors
            .contains("circuit `rates` does not take `threshold`")
            .then_some(())
    })
    .await;

    // A bad file changes nothing, says every mistake, and ends nothing.
    fs::write(&file, "[breakers.pms]\ntreshold = 3\nreset = 10\n")?;
    stage.service.signal(Signal::HUP)?;
    let errors = until("it says what is wrong", async || {
        let errors = stage.errors().expect("a log");
        errors.contains("2 mistakes").then_some(errors)
    })
    .await;
    assert!(errors.contains("did you mean `threshold`?"), "{errors}");
    assert!(errors.contains("`reset` needs a unit"), "{errors}");
    assert_eq!(settings(&stage, "pms").await?.0["threshold"], 2);

    // What is no longer there is as it was declared; an open circuit's wait is the new one.
    fs::write(&file, "[breakers.reviews]\nthreshold = 9\n")?;
    stage.service.signal(Signal::HUP)?;
    until("it is read again", async || {
        let (now, _) = settings(&stage, "pms").await.expect("an answer");
        (now["threshold"] == 5).then_some(())
    })
    .await;
    stage.dependencies.play(Which::Pms, Fault::None);
    until("the circuit closes", async || {
        let answer = stage.get(ROOMS).await.expect("an answer");
        (answer.how.as_deref() == Some("fresh")).then_some(())
    })
    .await;
    Ok(())
}

#[test]
fn settings_that_make_no_sense_keep_it_from_starting() -> Outcome {
    let folder = TempDir::new()?;
    let file = folder.path().join("breakers.toml");
    fs::write(
        &file,
        "[breakers.pms]\nthreshold = 0\n[breakers.rates]\nfailure_rate = 2\n",
    )?;
    let output = program()
        .args(["--seconds=1", "--settings"])
        .arg(&file)
        .output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(errors.contains("2 mistakes"), "{errors}");
    assert!(errors.contains("breakers.toml:2:"), "{errors}");

    let output = program()
        .env("BREAKERBOX__PMS__RESET", "90")
        .args(["--seconds=1"])
        .output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(errors.contains("BREAKERBOX__PMS__RESET"), "{errors}");

    let output = program()
        .args(["--seconds=1", "--settings=nowhere.toml"])
        .output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(errors.contains("nowhere.toml"), "{errors}");
    Ok(())
}
