//! Circuits that are operated by hand: by whoever has the token, and nobody else.

use reqwest::header::{AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::stage::{Outcome, Stage, program};

const ROOMS: &str = "/hotels/adlon/rooms";
const TOKEN: &str = "5f0c9a61b0d2e743";

/// A request to operate `pms`, as the page's own script sends it.
async fn act(stage: &Stage, action: &str) -> reqwest::Result<RequestBuilder> {
    let page = stage.page().await?;
    let circuit = stage.circuit("pms").await?.expect("it was called");
    let body = json!({
        "action": action,
        "circuit": circuit["id"],
        "process": page["process"],
        "generation": circuit["generation"],
    });
    let actions = format!("{}/circuits/actions", stage.service.operations);
    let request = stage.http.post(actions).json(&body);
    Ok(request.header("x-breakerbox-action", "1"))
}

#[tokio::test]
async fn who_has_the_token_opens_and_closes_a_circuit() -> Outcome {
    let stage = Stage::set(&["--operator-token", TOKEN]).await?;
    stage.get(ROOMS).await?.is("fresh");
    let bearer = format!("Bearer {TOKEN}");
    let request = act(&stage, "force_open").await?;
    let answer = request.header(AUTHORIZATION, &bearer).send().await?;
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await?);

    for _ in 0..20 {
        stage.get(ROOMS).await?.is("stale");
    }
    assert_eq!(stage.dependencies.pms.requests(), 1);
    let held = stage.until_it_is("pms", "forced_open").await;
    assert_eq!(
        (&held["trigger"], &held["by"]),
        (&json!("operator"), &json!("operator"))
    );
    // Held open, it doesn't say when to come again.
    let answer = stage.get("/hotels/bristol/rooms").await?;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.retry_after, None);

    let request = act(&stage, "close").await?;
    let answer = request.header(AUTHORIZATION, &bearer).send().await?;
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await?);
    stage.get(ROOMS).await?.is("fresh");
    Ok(())
}

#[tokio::test]
async fn nobody_else_does() -> Outcome {
    let stage = Stage::set(&["--operator-token", TOKEN]).await?;
    stage.get(ROOMS).await?.is("fresh");
    let too_long = format!("{TOKEN}0");
    for given in ["", "x", &TOKEN[..15], &too_long, &TOKEN.to_uppercase()] {
        let request = act(&stage, "force_open").await?;
        let answer = request.header(AUTHORIZATION, format!("Bearer {given}"));
        let answer = answer.send().await?;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{given}");
        assert_eq!(answer.json::<Value>().await?["error"], "denied");
    }
    assert_eq!(
        act(&stage, "force_open").await?.send().await?.status(),
        StatusCode::FORBIDDEN
    );
    // A page of another site, whose visitor is an operator.
    let request = act(&stage, "force_open").await?;
    let request = request.header(COOKIE, format!("operator={TOKEN}"));
    let answer = request
        .header("origin", "https://evil.example")
        .send()
        .await?;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert_eq!(answer.json::<Value>().await?["error"], "cross_site");
    stage.get(ROOMS).await?.is("fresh");
    Ok(())
}

/// By the address that is printed where no token was given.
#[tokio::test]
async fn a_browser_logs_in_by_the_address_that_was_printed() -> Outcome {
    let mut stage = Stage::set(&[]).await?;
    stage.get(ROOMS).await?.is("fresh");
    let token = stage.service.printed_token()?;
    assert_eq!(token.len(), 32, "{token}");
    let browser = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .build()?;
    let log_in = async |token: &str| {
        let address = format!("{}/login/{token}", stage.service.operations);
        browser.get(address).send().await
    };
    assert_eq!(log_in("wrong").await?.status(), StatusCode::FORBIDDEN);
    let answer = log_in(&token).await?;
    assert_eq!(answer.headers()[LOCATION], "/circuits");
    let cookie = answer.headers()[SET_COOKIE].to_str()?;
    for attribute in ["; HttpOnly", "; SameSite=Strict", "; Path=/circuits"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap_or_default();
    let request = act(&stage, "disable")
        .await?
        .header(COOKIE, format!("a=b; {cookie}"));
    assert_eq!(request.send().await?.status(), StatusCode::OK);
    stage.until_it_is("pms", "disabled").await;
    // It is printed once, for who started the service, and never logged.
    assert!(!stage.errors()?.contains(&token));
    Ok(())
}

#[test]
fn a_token_that_can_be_guessed_is_refused_and_not_shown() -> Outcome {
    for (token, said) in [
        ("", "less than 16 characters"),
        ("secret", "less than 16 characters"),
        ("with spaces, and too long", "letters and digits"),
    ] {
        let output = program()
            .env("OPERATOR_TOKEN", token)
            .args(["--seconds", "1", "--quiet"])
            .output()?;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let errors = String::from_utf8(output.stderr)?;
        assert!(errors.contains(said), "{errors}");
    }
    let help = program()
        .env("OPERATOR_TOKEN", TOKEN)
        .arg("--help")
        .output()?;
    assert!(!String::from_utf8(help.stdout)?.contains(TOKEN));
    Ok(())
}
