//! Who sent a request, as a service's own layer finds out: by a cookie.

use axum::extract::{Path, Request};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use breakerbox::status_page::{Action, Attempt, Decision};

/// A user.
#[derive(Clone, Debug)]
struct User(String);

/// Lays the user into the request.
pub async fn recognise(mut request: Request, next: Next) -> Response {
    let cookies = request.headers().get(COOKIE);
    let cookies = cookies.and_then(|cookies| cookies.to_str().ok());
    let user = cookies.unwrap_or_default().split("; ").find_map(|cookie| {
        let name = cookie.strip_prefix("user=")?;
        Some(User(name.to_owned()))
    });
    if let Some(user) = user {
        request.extensions_mut().insert(user);
    }
    next.run(request).await
}

/// Logs a user in.
pub async fn login(Path(name): Path<String>) -> impl IntoResponse {
    ([(SET_COOKIE, format!("user={name}; Path=/"))], "logged in")
}

/// Users may act; `trainee` may only close, `nobody` knows who `anonymous` is, and `slow` takes
/// the circuit out of the state that was seen before it is decided.
pub async fn guard(attempt: Attempt) -> Decision {
    let Some(User(name)) = attempt.extensions().get::<User>() else {
        return Decision::deny_because("log in first");
    };
    match name.as_str() {
        "anonymous" => Decision::allow(),
        "trainee" if attempt.action() != Action::Close => Decision::deny(),
        "slow" => {
            if let Some(found) = breakerbox::find(attempt.breaker()) {
                found.disable();
            }
            Decision::allow_as("slow")
        }
        name => Decision::allow_as(name),
    }
}
