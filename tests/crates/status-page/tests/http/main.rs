//! The status page over HTTP, in a real server on loopback.

mod acting;
mod answers;
mod changes;
mod circuits;
mod cross_site;
mod guests;
mod hostile;

use reqwest::header::{ACCEPT, COOKIE};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use std::sync::Arc;
use test_status_page::circuits::{Circuits, Command, Which};
use test_status_page::{Running, app};

/// The service and a client of it. The circuits of the process are everybody's, so each test has
/// names of its own.
struct Service {
    running: Running,
    circuits: Arc<Circuits>,
    client: Client,
}

impl Service {
    async fn start() -> Self {
        Self::of(Circuits::default()).await
    }

    /// With circuits that were there before there was a page.
    async fn of(circuits: Circuits) -> Self {
        let circuits = Arc::new(circuits);
        let running = Running::start(0, app(Arc::clone(&circuits))).await.unwrap();
        Self {
            running,
            circuits,
            client: Client::new(),
        }
    }

    fn tell(&self, command: Command) {
        self.circuits.obey(command).unwrap();
    }

    fn make(&self, name: &str) {
        self.tell(Command::Make(name.to_owned()));
    }

    fn fail(&self, name: &str, times: u32) {
        self.tell(Command::Fail(Which::Of(name.to_owned()), times));
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.running.url(path))
    }

    /// The JSON at a path.
    async fn json(&self, path: &str) -> Value {
        let request = self.get(path).header(ACCEPT, "application/json");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "application/json");
        response.json().await.unwrap()
    }

    /// Waits until the page has looked at the circuits again, and sees of one what is wanted.
    async fn sees(&self, path: &str, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let looking = async {
            loop {
                let document = self.json(path).await;
                if let Some(found) = circuit(&document, name, None)
                    && wanted(found)
                {
                    return found.clone();
                }
                tokio::task::yield_now().await;
            }
        };
        let limit = std::time::Duration::from_secs(60);
        let seen = tokio::time::timeout(limit, looking).await;
        seen.unwrap_or_else(|_| panic!("{name} was never seen so"))
    }

    /// A request to act as the page sends it, by a user.
    fn act(&self, user: &str, order: &Value) -> RequestBuilder {
        let request = self.client.post(self.running.url("/ops/actions"));
        request
            .header("x-breakerbox-action", "1")
            .header(COOKIE, format!("user={user}"))
            .json(order)
    }

    /// What is answered to it.
    async fn acted(&self, user: &str, order: &Value) -> Response {
        self.act(user, order).send().await.unwrap()
    }
}

/// What a document says of a circuit.
fn circuit<'a>(document: &'a Value, name: &str, key: Option<&str>) -> Option<&'a Value> {
    let circuits = document["circuits"].as_array().unwrap();
    let is_it = |it: &&Value| it["breaker"] == name && it["key"].as_str() == key;
    circuits.iter().find(is_it)
}

/// The status and the JSON of a refusal.
async fn refusal(response: Response) -> (u16, String, Value) {
    let status = response.status().as_u16();
    let said: Value = response.json().await.unwrap();
    let error = said["error"].as_str().unwrap_or_default().to_owned();
    assert!(said["message"].as_str().is_some_and(|it| !it.is_empty()));
    (status, error, said)
}
