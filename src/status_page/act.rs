//! `POST actions`: an operator's action.

use super::actions::Actions;
use super::guard::{Action, Attempt, Decision};
use super::origin;
use super::publisher::Publisher;
use super::routes::blocking;
use crate::bound::InGeneration;
use crate::observe::Operated;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use breaker_core::Generation;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The largest request, in bytes.
const LARGEST: usize = 4096;

/// The longest that `open_for` takes, in seconds: a week.
const LONGEST: u64 = 7 * 24 * 60 * 60;

/// What the page asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    action: String,
    /// The circuit's `id`, and the `process` that gave it.
    circuit: String,
    process: String,
    /// The circuit's `generation`, as the operator saw it.
    generation: u32,
    /// For `open_for`.
    seconds: Option<u64>,
}

/// What can be asked for.
struct Order {
    action: Action,
    number: u64,
    process: String,
    generation: Generation,
    wait: Duration,
}

/// Why nothing was done.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: &'static str,
    pub(super) message: String,
    /// The number of a circuit that is another than the operator saw.
    pub(super) changed: Option<u64>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            error,
            message: message.into(),
            changed: None,
        }
    }
}

/// The JSON of a refusal.
#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    message: &'a str,
    /// What the circuit is now, where that is the reason.
    now: Option<serde_json::Value>,
}

impl Refused {
    pub(super) fn response(&self, publisher: &Publisher) -> Response<Body> {
        let now = self
            .changed
            .and_then(|number| publisher.detail(number, true));
        let told = Told {
            error: self.error,
            message: &self.message,
            now: now.and_then(|json| serde_json::from_slice(&json).ok()),
        };
        let body = serde_json::to_vec(&told).unwrap_or_default();
        super::routes::json(self.status, body)
    }
}

/// Does what is asked, and gives the circuit's number.
pub(super) async fn act(
    publisher: &Arc<Publisher>,
    actions: &Actions,
    request: Request,
) -> Result<u64, Refused> {
    let (parts, body) = request.into_parts();
    origin::check(&parts, &actions.origins)
        .map_err(|foreign| Refused::new(foreign.status, foreign.error, foreign.message))?;
    let order = read(body, actions).await?;
    if order.process != publisher.process() {
        return Err(Refused::new(
            StatusCode::CONFLICT,
            "restarted",
            "the service has started again since the page was loaded: nothing was done",
        ));
    }
    let unknown = || {
        Refused::new(
            StatusCode::NOT_FOUND,
            "unknown_circuit",
            "the circuit is gone: it was dropped, or its key was given up",
        )
    };
    let listed = Arc::clone(publisher);
    let named = blocking(move || listed.named(order.number)).await;
    let named = named.flatten().ok_or_else(unknown)?;
    let attempt = Attempt {
        action: order.action,
        breaker: named.watched.name.to_string(),
        key: named.watched.key.as_deref().map(str::to_owned),
        parts,
    };
    let by = match actions.guard.ask(attempt).await {
        Decision::Allow { who } => who,
        Decision::Deny { why } => {
            let why = why.unwrap_or_else(|| "this isn't allowed to you".to_owned());
            return Err(Refused::new(StatusCode::FORBIDDEN, "denied", why));
        }
    };
    // The guard may have taken its time.
    let changed = || Refused {
        changed: Some(order.number),
        ..Refused::new(
            StatusCode::CONFLICT,
            "changed",
            "the circuit has changed since you saw it: nothing was done",
        )
    };
    let in_generation = order.in_generation();
    let change = named.found.operate_in(order.generation, in_generation);
    let change = change.ok_or_else(changed)?;
    if let Some(by) = &by {
        named.watched.attribute(change.generation, by);
    }
    crate::observe::operated(&Operated {
        breaker: &named.watched.name,
        key: named.found.key(),
        circuit: named.found.circuit_id(),
        action: order.action.as_str(),
        by: by.as_deref(),
        change: &change,
        sequence: 0,
    });
    Ok(order.number)
}

impl Order {
    fn in_generation(&self) -> InGeneration {
        InGeneration::Order(match self.action {
            Action::Clear => return InGeneration::Clear,
            Action::Close => breaker_core::Order::Close,
            Action::OpenFor => breaker_core::Order::OpenFor(self.wait),
            Action::ForceOpen => breaker_core::Order::ForceOpen,
            Action::Disable => breaker_core::Order::Disable,
            Action::Shadow => breaker_core::Order::Shadow,
        })
    }
}

async fn read(body: Body, actions: &Actions) -> Result<Order, Refused> {
    let malformed = |message: String| Refused::new(StatusCode::BAD_REQUEST, "malformed", message);
    let Ok(body) = to_bytes(body, LARGEST).await else {
        return Err(Refused::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the request must be whole, and at most {LARGEST} bytes"),
        ));
    };
    let asked: Asked =
        serde_json::from_slice(&body).map_err(|error| malformed(error.to_string()))?;
    let allowed = |action: &Action| actions.allowed.contains(action);
    let Some(action) = Action::read(&asked.action).filter(allowed) else {
        let names: Vec<&str> = actions
            .allowed
            .iter()
            .map(|action| action.as_str())
            .collect();
        return Err(malformed(format!(
            "`action` must be one of: {}",
            names.join(", ")
        )));
    };
    let wait = match (action, asked.seconds) {
        (Action::OpenFor, Some(seconds @ 1..=LONGEST)) => Duration::from_secs(seconds),
        (Action::OpenFor, _) => {
            return Err(malformed(format!(
                "`open_for` needs `seconds`, from 1 to {LONGEST}"
            )));
        }
        (_, None) => Duration::ZERO,
        (_, Some(_)) => return Err(malformed("`seconds` is for `open_for` alone".to_owned())),
    };
    let number = asked.circuit.parse();
    Ok(Order {
        action,
        number: number.map_err(|_| malformed("`circuit` must be a circuit's `id`".to_owned()))?,
        process: asked.process,
        generation: Generation::from_number(asked.generation),
        wait,
    })
}

#[cfg(test)]
mod tests {
    use super::super::collector::Collector;
    use super::super::publisher::Fixed;
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    /// Collecting ten thousand circuits takes a while.
    #[tokio::test(flavor = "current_thread")]
    async fn who_waits_for_what_is_being_collected_holds_up_nobody_else() {
        let fixed = Fixed {
            title: String::new(),
            process: "p".to_owned(),
            refresh: Duration::ZERO,
            actions: Vec::new(),
        };
        let publisher = Arc::new(Publisher::new(Arc::new(Collector::new(1)), fixed));
        let (locked, is_locked) = mpsc::channel();
        let (ran, has_run) = mpsc::channel();
        let collecting = Arc::clone(&publisher);
        let collecting = thread::spawn(move || {
            let _all = collecting.lock();
            locked.send(()).unwrap();
            has_run.recv_timeout(Duration::from_secs(30))
        });
        is_locked.recv().unwrap();

        let order = r#"{"action": "close", "circuit": "1", "process": "p", "generation": 0}"#;
        let request = Request::post("/actions")
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .header(origin::HEADER, "1")
            .body(Body::from(order))
            .unwrap();
        let actions = Actions::new(async |_| Decision::allow());
        let acting = act(&publisher, &actions, request);
        let (acted, _) = tokio::join!(acting, async { ran.send(()) });
        assert_eq!(acted.unwrap_err().error, "unknown_circuit");
        assert_eq!(collecting.join().unwrap(), Ok(()));
    }
}
