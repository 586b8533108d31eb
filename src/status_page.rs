//! A page of every circuit of the process, for [axum](https://docs.rs/axum).
//!
//! ```
//! use axum::Router;
//! use axum::body::{Body, to_bytes};
//! use axum::http::Request;
//! use breakerbox::{Breaker, Settings, status_page};
//! use tower::ServiceExt as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let _scope = breakerbox::test::scope();
//! let app: Router = Router::new().nest("/circuits", status_page::router());
//! # let app: Router = app;
//!
//! let pms = Breaker::shared("pms", Settings::new().threshold(1).must());
//! let _ = pms.call_sync(|| Err::<(), _>("no answer"));
//!
//! // A browser gets a page, and whoever asks for it JSON.
//! let request = Request::get("/circuits").header("accept", "application/json");
//! let answer = app.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
//! let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
//! let circuits: serde_json::Value = serde_json::from_slice(&body).unwrap();
//! assert_eq!(circuits["circuits"][0]["breaker"], "pms");
//! assert_eq!(circuits["circuits"][0]["state"], "open");
//! assert_eq!(circuits["circuits"][0]["why"], "opened after 1 failure, for 30s");
//! # }
//! ```
//!
//! It shows each circuit that is in the registry ([`registry`](crate::registry)): its state, why
//! and since when, when it probes next, what its calls came to over the last minute, the states
//! that it went through, the settings in force. The worst come first; ten thousand keys of one
//! breaker stand below its name. It follows by itself, and says so when it can't. Nothing of it
//! comes from anywhere but this server, and it works below any path, also behind a proxy that takes
//! a prefix away, as long as the last part stays what it is. (Nested at `/circuits` it isn't at
//! `/circuits/`: to axum those are two.) The user's layers around the router decide who sees it.
//!
//! What it knows of the past is what happened since the router was made. For that it installs an
//! observer that counts calls, so that calls are timed
//! ([`Observer::wants_calls`](crate::observe::Observer::wants_calls)); it is removed with the
//! router. What it keeps is bounded, and goes when a circuit does.
//!
//! # Acting
//! The page only shows, until it is given a [`Guard`]:
//!
//! ```
//! use axum::Router;
//! use breakerbox::status_page::{Action, Actions, Attempt, Decision, StatusPage};
//!
//! /// What a layer of yours found out about who sent the request.
//! #[derive(Clone)]
//! struct User {
//!     name: String,
//!     is_operator: bool,
//! }
//!
//! let guard = async |attempt: Attempt| match attempt.extensions().get::<User>() {
//!     Some(user) if user.is_operator => Decision::allow_as(&user.name),
//!     _ => Decision::deny_because("only operators may do this"),
//! };
//! let actions = Actions::new(guard)
//!     .only(&[Action::ForceOpen, Action::OpenFor, Action::Close])
//!     .at("https://ops.example.com");
//! let page = StatusPage::new().title("booking").actions(actions);
//! let app: Router = Router::new().nest("/circuits", page.router());
//! # let _: Router = app;
//! ```
//!
//! Who did what is told to observers ([`Observer::operated`](crate::observe::Observer::operated))
//! and stands in the circuit's history. An action is for the generation that the operator saw: if
//! the circuit changed meanwhile nothing is done, and the page asks again. Comparing and acting are
//! one step: no change gets in between.
//!
//! No page of another site can act, whatever it has its visitors' browsers send: a request has to
//! be a `POST` of `application/json` with the header `x-breakerbox-action`, which forms can't send
//! and scripts of others may not; `Origin` and `Sec-Fetch-Site`, where a browser sends them, must
//! name the page itself; and the page must be open under a bare address, `localhost`, or an origin
//! named to [`Actions::at`], since any other name may be an attacker's that is made to lead here
//! (DNS rebinding). The guard need not know of any of this.
//!
//! # JSON
//! At the page's address for whoever prefers `application/json` in `Accept`. Times are
//! milliseconds of Unix time by the server's clock. Fields may be added; those that are here stay
//! as long as `format` is 1.
//!
//! | field | what it is |
//! | --- | --- |
//! | `format` | 1 |
//! | `title` | [`StatusPage::title`] |
//! | `process`, `version` | what this is; with `?since=PROCESS.VERSION` the next answer has only what changed since |
//! | `now` | when this was collected |
//! | `complete` | whether it is everything, and not only what changed |
//! | `refresh_ms` | after how long there may be something new |
//! | `rates_seconds` | seconds that `rates` are of: 60, fewer at first |
//! | `actions` | what can be done, if there is a guard: `close`, `clear`, `open_for`, `force_open`, `disable`, `shadow` |
//! | `breakers[]` | `name`; `place`: the line that declared it; `max_keys`, for breakers by key; `settings` in force: `threshold` or `failure_rate`, `min_calls`, `window_calls`, `window_ms`, `slow_ms`, `slow_rate`; `reset_ms`, `backoff`, `max_reset_ms`, `jitter`, `probes`, `close_after`, `close_rate`, `probe_timeout_ms`, `on_cancel`; `declared`: the settings that were declared, where overrides lie over them |
//! | `circuits[].id` | a name for it that no other gets while the process runs |
//! | `circuits[].breaker`, `key` | which breaker; the label of its key |
//! | `circuits[].state` | `closed`, `open`, `half_open`, `forced_open`, `disabled`, `shadow` |
//! | `circuits[].generation` | the number of the entry into it |
//! | `circuits[].since`, `why`, `trigger`, `by` | when it was entered, why in words, the trigger's name, who did it; `null` if that wasn't seen |
//! | `circuits[].next_probe` | while open: from when on a call is admitted as a probe |
//! | `circuits[].failures` | failures in a row, while closed |
//! | `circuits[].reopenings` | reopenings since it was closed |
//! | `circuits[].would` | in shadow, what it would have done: `opened`, how often (once, without a [`Rehearsal`](crate::observe::Rehearsal)); `last`, `why`: when and why the last time; `refused`: calls that it would have refused |
//! | `circuits[].recent` | the last entries into a state, oldest first: `[time, state]` |
//! | `circuits[].rates` | `calls` that were made and ended, `failed` of them, calls `refused`, `stale`: fallbacks served |
//! | `gone[]` | the `id` of circuits that left |
//!
//! In what is not `complete`, a circuit of which only the rates changed has `id` and `rates`
//! alone. `circuits/ID` below the address has one circuit with its `history`. `ETag` and
//! `If-None-Match` work.
//!
//! `POST actions` below it takes `action`, `circuit` (its `id`), `process`, `generation`, and for
//! `open_for` `seconds`, up to a week; and gives what `circuits/ID` does. What is refused has
//! `error` and `message`: 400 `malformed`, 403 `cross_site`, `unknown_host`, `denied`,
//! 404 `unknown_circuit`, 409 `changed` (with the circuit as `now`) and `restarted`,
//! 413 `too_large`, 415 `media_type`.

mod accept;
mod act;
mod actions;
mod assets;
mod collector;
mod counts;
mod document;
mod guard;
mod history;
mod listed;
mod origin;
mod publisher;
mod reading;
mod routes;
mod shadow;

pub use actions::Actions;
pub use guard::{Action, Attempt, Decision, Guard};

use crate::observe;
use axum::Router;
use collector::Collector;
use publisher::{Fixed, Publisher};
use routes::Page;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The page, to be nested in a router: [`StatusPage::new`] with nothing changed.
///
/// It only shows. It works with any state of the router around it.
pub fn router<S>() -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    StatusPage::new().router()
}

/// What of the page can be chosen.
///
/// ```
/// use axum::Router;
/// use breakerbox::status_page::StatusPage;
///
/// let page = StatusPage::new().title("booking").history(100);
/// let app: Router = Router::new().nest("/circuits", page.router());
/// # let _: Router = app;
/// ```
#[derive(Debug)]
#[must_use = "it does nothing until its `router` is nested in yours"]
pub struct StatusPage {
    title: String,
    history: usize,
    refresh: Duration,
    actions: Option<Actions>,
}

impl Default for StatusPage {
    fn default() -> Self {
        Self::new()
    }
}

impl StatusPage {
    /// Titled "Circuits", 32 entries of history, collected each second at most, no actions.
    pub fn new() -> Self {
        Self {
            title: "Circuits".to_owned(),
            history: 32,
            refresh: Duration::from_secs(1),
            actions: None,
        }
    }

    /// What the page is called: the service's name, say.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// How many entries into a state are kept of each circuit: at least 1, at most 1000. Each
    /// takes about 100 bytes, once there was one.
    pub fn history(mut self, entries: usize) -> Self {
        self.history = entries.clamp(1, 1000);
        self
    }

    /// How old what is shown may be, at least 50 ms: the circuits are looked at once in this time
    /// at most, however many pages are open, and each page asks as often. With ten thousand of
    /// them a look takes some ten milliseconds.
    pub fn refresh(mut self, every: Duration) -> Self {
        self.refresh = every.max(Duration::from_millis(50));
        self
    }

    /// Lets operators act, if the guard does.
    pub fn actions(mut self, actions: Actions) -> Self {
        self.actions = Some(actions);
        self
    }

    /// The page, to be nested in a router. From here on it hears of what circuits do.
    pub fn router<S>(self) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let collector = Arc::new(Collector::new(self.history));
        let allowed = self.actions.iter().flat_map(|actions| &actions.allowed);
        let fixed = Fixed {
            title: self.title.clone(),
            process: process(),
            refresh: self.refresh,
            actions: allowed.map(|action| action.as_str()).collect(),
        };
        routes::router(Page {
            _installed: observe::install(Arc::clone(&collector)),
            publisher: Arc::new(Publisher::new(collector, fixed)),
            title: self.title,
            actions: self.actions,
        })
    }
}

/// A name for what is shown from now on, other than that of any process before.
fn process() -> String {
    let random = RandomState::new().hash_one(collector::unix_now());
    format!("{random:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_leaves_with_the_last_of_its_router() {
        let _scope = crate::test::scope();
        let observers = || {
            let scope = crate::test::current().expect("a scope");
            scope.observers().len()
        };
        let page: Router = Router::new().nest("/circuits", router());
        let other: Router = router();
        assert_eq!(observers(), 2);
        let again = page.clone();
        drop((page, other));
        assert_eq!(observers(), 1);
        drop(again);
        assert_eq!(observers(), 0);
    }
}
