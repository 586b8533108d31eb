//! What each address of the page answers.

use super::accept::{self, Form};
use super::act::{self, Refused};
use super::actions::Actions;
use super::assets::{self, ASSETS};
use super::publisher::{Publisher, Seen};
use crate::observe::Installed;
use axum::Router;
use axum::body::Body;
use axum::extract::{OriginalUri, Request};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode, Uri};
use axum::routing::{get, post};
use std::sync::Arc;

/// What the routes share. The observer is installed as long as one of them is there.
pub(super) struct Page {
    pub(super) publisher: Arc<Publisher>,
    pub(super) title: String,
    pub(super) actions: Option<Actions>,
    pub(super) _installed: Installed,
}

/// Nothing but the page's own files, from its own server; nothing inline, no text made into
/// markup or code; in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// What every answer says.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

const JSON: &str = "application/json";

/// What is kept is asked about each time, and by nobody on the way.
const REVALIDATED: &str = "private, no-cache";

pub(super) fn router<S>(page: Page) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let page = Arc::new(page);
    let (circuits, detail, acting) = (Arc::clone(&page), Arc::clone(&page), Arc::clone(&page));
    let router = Router::new()
        .route(
            "/",
            get(async move |request: Request| circuits.get(request).await),
        )
        .route("/files/{breakerbox_file}", get(file))
        .route(
            "/circuits/{breakerbox_circuit}",
            get(async move |uri: Uri| detail.detail(&uri).await),
        );
    if page.actions.is_none() {
        return router;
    }
    router.route(
        "/actions",
        post(async move |request: Request| acting.act(request).await),
    )
}

impl Page {
    async fn get(self: Arc<Self>, request: Request) -> Response<Body> {
        match accept::form(request.headers()) {
            Some(Form::Html) => self.html(&request),
            Some(Form::Json) => {
                let seen = request.uri().query().and_then(since);
                let known = request.headers().get(header::IF_NONE_MATCH).cloned();
                // The body of a request can't wait in another thread than where it came.
                drop(request);
                self.json(seen, known).await
            }
            None => {
                let said = "this is either text/html or application/json\n";
                let mut response = answer(StatusCode::NOT_ACCEPTABLE, "text/plain", said);
                vary(&mut response);
                response
            }
        }
    }

    fn html(&self, request: &Request) -> Response<Body> {
        let path = match request.extensions().get::<OriginalUri>() {
            Some(OriginalUri(uri)) => uri.path(),
            None => request.uri().path(),
        };
        let page = assets::page(&self.title, path);
        let mut response = answer(StatusCode::OK, "text/html; charset=utf-8", page);
        vary(&mut response);
        response
    }

    async fn json(
        self: Arc<Self>,
        seen: Option<Seen>,
        known: Option<HeaderValue>,
    ) -> Response<Body> {
        let made = blocking(move || {
            let publisher = &self.publisher;
            if seen.is_none()
                && let Some(known) = &known
            {
                let tag = tag(publisher, publisher.version());
                if is_known(known, &tag) {
                    return (tag, None);
                }
            }
            let (version, body) = publisher.document(seen.as_ref());
            (tag(publisher, version), Some(body))
        });
        let Some((tag, made)) = made.await else {
            return failed();
        };
        let mut response = match made {
            None => answer(StatusCode::NOT_MODIFIED, JSON, Body::empty()),
            Some(body) => json(StatusCode::OK, body),
        };
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        vary(&mut response);
        response
    }

    async fn detail(self: Arc<Self>, uri: &Uri) -> Response<Body> {
        let found = match last(uri).parse() {
            Ok(number) => blocking(move || self.publisher.detail(number, false)).await,
            Err(_) => Some(None),
        };
        match found {
            Some(Some(body)) => json(StatusCode::OK, body),
            Some(None) => answer(StatusCode::NOT_FOUND, "text/plain", "no such circuit\n"),
            None => failed(),
        }
    }

    async fn act(self: Arc<Self>, request: Request) -> Response<Body> {
        let done = match &self.actions {
            Some(actions) => act::act(&self.publisher, actions, request).await,
            None => Err(Refused::new(
                StatusCode::NOT_FOUND,
                "no_actions",
                "this page only shows",
            )),
        };
        let page = Arc::clone(&self);
        let made = blocking(move || match done {
            Ok(number) => match page.publisher.detail(number, true) {
                Some(body) => json(StatusCode::OK, body),
                // It was dropped as soon as it was operated.
                None => json(StatusCode::OK, b"{}".to_vec()),
            },
            Err(refused) => refused.response(&page.publisher),
        });
        made.await.unwrap_or_else(failed)
    }
}

async fn file(uri: Uri, headers: HeaderMap) -> Response<Body> {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == last(&uri)) else {
        return answer(StatusCode::NOT_FOUND, "text/plain", "no such file\n");
    };
    let known = headers.get(header::IF_NONE_MATCH);
    let mut response = if known.is_some_and(|known| is_known(known, assets::tag())) {
        answer(StatusCode::NOT_MODIFIED, asset.media_type, Body::empty())
    } else {
        answer(StatusCode::OK, asset.media_type, asset.text)
    };
    let tag = HeaderValue::from_static(assets::tag());
    response.headers_mut().insert(header::ETAG, tag);
    response
}

/// The last part of the path. (An extractor would have the parameters of the user's own path too.)
fn last(uri: &Uri) -> &str {
    uri.path().rsplit('/').next().unwrap_or_default()
}

/// The `since` of a query.
fn since(query: &str) -> Option<Seen> {
    let value = query
        .split('&')
        .find_map(|part| part.strip_prefix("since="));
    Seen::read(value?)
}

/// Weak, as the same version says another time each time.
fn tag(publisher: &Publisher, version: u64) -> String {
    format!("W/\"{}.{version}\"", publisher.process())
}

/// Whether `If-None-Match` names the tag, by the weak comparison.
fn is_known(known: &HeaderValue, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.to_str().is_ok_and(|known| {
        known.trim() == "*" || known.split(',').any(|known| bare(known) == bare(tag))
    })
}

fn vary(response: &mut Response<Body>) {
    let accept = HeaderValue::from_static("Accept");
    response.headers_mut().insert(header::VARY, accept);
}

/// JSON that is already written.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    answer(status, JSON, body)
}

fn answer(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(REVALIDATED));
    response
}

fn failed() -> Response<Body> {
    let said = "the circuits could not be read\n";
    answer(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", said)
}

/// Runs what takes a while with ten thousand circuits beside the runtime's own threads; `None`
/// where it panicked. In a test scope here, since the scope is this thread's.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    #[cfg(feature = "test-util")]
    if crate::test::current().is_some() {
        return Some(work());
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.ok(),
        Err(_) => Some(work()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_read_from_the_query() {
        assert!(since("since=abc.12").is_some());
        assert!(since("a=b&since=abc.0&c").is_some());
        for query in [
            "",
            "since",
            "since=",
            "since=12",
            "since=a.b",
            "since=a.-1",
            "xsince=a.1",
        ] {
            assert!(since(query).is_none(), "{query}");
        }
    }

    #[test]
    fn tags_are_compared_weakly() {
        let known = |known: &'static str| is_known(&HeaderValue::from_static(known), "W/\"a.1\"");
        for yes in ["W/\"a.1\"", "\"a.1\"", "\"b\", W/\"a.1\"", "*", " * "] {
            assert!(known(yes), "{yes}");
        }
        for no in ["", "W/\"a.2\"", "a.1", "\"a.1", "**"] {
            assert!(!known(no), "{no}");
        }
    }
}
