//! What operators see of an outage: on the status page, in the metrics, in the log.

use reqwest::Method;
use serde_json::Value;
use service::dependencies::Which;
use service::dependency::Fault;

use crate::stage::{Outcome, Stage, until};

const ROOMS: &str = "/hotels/adlon/rooms";

/// The states in a circuit's history.
fn recent(circuit: &Value) -> Vec<&str> {
    let entries = circuit["recent"].as_array().into_iter().flatten();
    entries.filter_map(|entry| entry[1].as_str()).collect()
}

#[tokio::test]
async fn an_outage_stands_on_the_page_in_the_metrics_and_in_the_log() -> Outcome {
    let stage = Stage::set(&["--log=json"]).await?;
    assert!(stage.circuit("pms").await?.is_none()); // before its first call it is not known
    stage.get(ROOMS).await?.is("fresh");
    let well = stage.until_it_is("pms", "closed").await;
    assert_eq!(well["next_probe"], Value::Null);

    stage.dependencies.play(Which::Pms, Fault::Errors);
    for _ in 0..8 {
        stage.get(ROOMS).await?.is("stale");
    }
    let open = stage.until_it_is("pms", "open").await;
    assert_eq!(open["trigger"], "failures");
    let why = open["why"].as_str().unwrap_or_default();
    assert!(why.starts_with("opened after 5 failures, for 2"), "{why}");
    assert!(
        open["next_probe"].as_u64() > open["since"].as_u64(),
        "{open}"
    );
    assert_eq!(recent(&open), ["closed", "open"]);

    let metrics = stage.metrics().await?;
    assert_eq!(metrics.of(r#"breaker_state{breaker="pms"}"#), 1.0);
    for (outcome, calls) in [("success", 1.0), ("failure", 5.0), ("rejected", 3.0)] {
        let series = format!(r#"breaker_calls_total{{breaker="pms",outcome="{outcome}"}}"#);
        assert_eq!(metrics.of(&series), calls, "{series}");
    }
    for (instead, served) in [("failed", 5.0), ("open", 3.0)] {
        let series = format!(r#"breaker_fallbacks_total{{breaker="pms",in_place_of="{instead}"}}"#);
        assert_eq!(metrics.of(&series), served, "{series}");
    }
    let durations = r#"breaker_call_duration_seconds_count{breaker="pms",outcome="failure"}"#;
    assert_eq!(metrics.of(durations), 5.0);

    stage.dependencies.play(Which::Pms, Fault::None);
    until("a fresh answer", async || {
        let answer = stage.get(ROOMS).await.expect("an answer");
        (answer.how.as_deref() == Some("fresh")).then_some(())
    })
    .await;
    let well = stage.until_it_is("pms", "closed").await;
    assert_eq!(well["trigger"], "recovered");
    assert_eq!(recent(&well), ["closed", "open", "half_open", "closed"]);
    let metrics = stage.metrics().await?;
    assert_eq!(metrics.of(r#"breaker_state{breaker="pms"}"#), 0.0);

    let log = stage.errors()?;
    let lines: Vec<Value> = log
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let told = |event: &str, level: &str| {
        let of_pms = |line: &&Value| line["breaker"] == "pms" && line["event"] == event;
        let found: Vec<_> = lines.iter().filter(of_pms).collect();
        assert_eq!(found.len(), 1, "{event}: {log}");
        assert_eq!(found[0]["level"], level, "{log}");
    };
    told("opened", "WARN");
    told("half_open", "INFO");
    told("closed", "INFO");
    // Refused calls are for debugging.
    assert!(!log.contains("rejected"), "{log}");
    Ok(())
}

/// Also where each is asked for: the first is told at once, the others as a number.
#[tokio::test]
async fn refused_calls_are_no_flood_in_the_log() -> Outcome {
    let environment = [("RUST_LOG", "breakerbox=debug")];
    let stage = Stage::set_with(&["--log=json"], &environment).await?;
    stage
        .dependencies
        .play(Which::Payments, Fault::Busy { seconds: 60 });
    let book = async || stage.ask(Method::POST, "/hotels/adlon/bookings").await;
    book().await?;
    for _ in 0..50 {
        book().await?.is_refused_by("payments");
    }
    let rejected = |log: &str| -> serde_json::Result<Vec<Value>> {
        let lines = log.lines().map(serde_json::from_str);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>()?;
        let is_one = |line: &Value| line["event"] == "rejected";
        Ok(lines.into_iter().filter(is_one).collect())
    };
    let first = rejected(&stage.errors()?)?;
    assert_eq!(first[0]["calls"], 1);
    assert_eq!(first[0]["reason"], "open");
    // A count is told each ten seconds, which a machine that is busy may take over these.
    assert!(first.len() < 10, "{first:?}");
    Ok(())
}

#[tokio::test]
async fn each_source_of_rates_stands_on_the_page_and_none_is_a_label() -> Outcome {
    let stage = Stage::set(&["--log=off"]).await?;
    for source in ["north", "south"] {
        stage
            .get(&format!("/hotels/adlon/rates/{source}"))
            .await?
            .is("fresh");
        let circuit = stage
            .until_it_is(&format!("rates[{source}]"), "closed")
            .await;
        assert_eq!(circuit["key"], source);
    }
    let metrics = stage.metrics().await?;
    assert_eq!(
        metrics.of(r#"breaker_calls_total{breaker="rates",outcome="success"}"#),
        2.0
    );
    assert!(!metrics.0.contains("north"), "{metrics:?}");
    assert_eq!(stage.errors()?, "");
    Ok(())
}

#[tokio::test]
async fn a_browser_gets_a_page_and_guests_get_none() -> Outcome {
    let stage = Stage::set(&["--log=off"]).await?;
    let get = async |address: &str, path: &str| {
        let request = stage.http.get(format!("{address}{path}"));
        request.header("accept", "text/html").send().await
    };
    let page = get(&stage.service.operations, "/circuits").await?;
    assert_eq!(page.status(), 200);
    let text = page.text().await?;
    assert!(text.contains("booking front"), "{text}");
    for path in ["/circuits", "/metrics", "/login/x"] {
        assert_eq!(get(&stage.service.front, path).await?.status(), 404);
    }
    Ok(())
}

#[tokio::test]
async fn alone_there_are_breakers_and_nobody_is_told() -> Outcome {
    let stage = Stage::set(&["--bare"]).await?;
    stage.dependencies.play(Which::Reviews, Fault::Errors);
    for _ in 0..5 {
        stage.get("/hotels/adlon/reviews").await?.is("placeholder");
    }
    assert_eq!(stage.dependencies.reviews.requests(), 3);
    assert!(stage.circuit("reviews").await.is_err());
    assert!(stage.metrics().await.is_err());
    assert_eq!(stage.errors()?, "");
    Ok(())
}
