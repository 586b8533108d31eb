//! Whether all services give the same answers: what is measured must be the same work.

use std::fmt;
use std::net::SocketAddr;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use crate::Trouble;
use crate::dependencies::{Dependencies, Which};
use crate::dependency::Fault;
use crate::traffic::{Question, questions};

/// What was compared.
#[derive(Debug, Default)]
pub(super) struct Same {
    compared: usize,
    different: Vec<String>,
}

impl Same {
    pub(super) fn holds(&self) -> bool {
        self.different.is_empty()
    }
}

impl fmt::Display for Same {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.different {
            [] => write!(f, "{} answers compared: all the same", self.compared),
            different => write!(f, "NOT the same: {}", different.join("; ")),
        }
    }
}

/// Asks all services all questions: fresh answers, unknown hotels and sources, and one failure of each
/// dependency, which opens nothing.
pub(super) async fn answers(
    dependencies: &Dependencies,
    services: Vec<SocketAddr>,
) -> Result<Same, Trouble> {
    let http = Client::builder().no_proxy().build()?;
    let mut same = Same::default();
    let get = |path: &str| Question {
        method: Method::GET,
        path: path.to_owned(),
    };
    let mut asked = questions();
    asked.extend([
        get("/hotels/nowhere/rooms"),
        get("/hotels/..%2F..%2Fetc/rooms"),
        get("/hotels/adlon/rates/nobody"),
    ]);
    for question in &asked {
        same.compare(&http, &services, question).await?;
    }
    for which in Which::ALL {
        dependencies.play(which, Fault::Errors);
        for question in asked.iter().take(5) {
            same.compare(&http, &services, question).await?;
        }
        dependencies.play(which, Fault::None);
    }
    Ok(same)
}

impl Same {
    async fn compare(
        &mut self,
        http: &Client,
        services: &[SocketAddr],
        question: &Question,
    ) -> Result<(), Trouble> {
        let mut answers = Vec::new();
        for service in services {
            answers.push(ask(http, *service, question).await?);
        }
        self.compared += 1;
        if answers.iter().any(|answer| *answer != answers[0]) {
            self.different.push(format!(
                "{} {}: {answers:?}",
                question.method, question.path
            ));
        }
        Ok(())
    }
}

/// Status and body. How old a stale answer is depends on when it was asked for.
async fn ask(
    http: &Client,
    service: SocketAddr,
    question: &Question,
) -> reqwest::Result<(StatusCode, Value)> {
    let url = format!("http://{service}{}", question.path);
    let response = http.request(question.method.clone(), url).send().await?;
    let status = response.status();
    let text = response.text().await?;
    let mut body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    if let Some(body) = body.as_object_mut() {
        body.remove("age_ms");
    }
    Ok((status, body))
}
