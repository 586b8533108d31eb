//! Who may operate circuits: whoever has the token, as a header (`Authorization: Bearer ..`) or, in a
//! browser, as a cookie, which an address that has the token sets. What a service of yours has for its
//! users would stand here.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{AUTHORIZATION, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use breakerbox::status_page::{Attempt, Decision};

use super::PAGE;

/// What operators know, and nobody else. It is not printed by `Debug`.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// One that was given.
    ///
    /// # Errors
    /// For one that could be guessed, or could not stand in a header.
    pub fn new(given: &str) -> Result<Self, String> {
        if given.len() < 16 {
            return Err("a token of less than 16 characters can be guessed".to_owned());
        }
        if !given.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err("a token is made of letters and digits".to_owned());
        }
        Ok(Self(given.into()))
    }

    /// One that was never there before, for as long as this process runs.
    #[must_use]
    pub fn random() -> Self {
        let random = || RandomState::new().hash_one(std::process::id());
        Self(format!("{:016x}{:016x}", random(), random()).into())
    }

    /// For the one place where operators find it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is this one. How long that takes doesn't say how much of it is right.
    fn is(&self, given: &str) -> bool {
        let pairs = self.0.bytes().zip(given.bytes());
        let difference = pairs.fold(0, |difference, (a, b)| difference | (a ^ b));
        difference == 0 && self.0.len() == given.len()
    }

    /// Whether a request has it.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let text = |name| {
            headers
                .get_all(name)
                .iter()
                .filter_map(|value| value.to_str().ok())
        };
        let bearer = text(AUTHORIZATION).filter_map(|value| value.strip_prefix("Bearer "));
        let cookies = text(COOKIE)
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().strip_prefix("operator="));
        bearer.chain(cookies).any(|given| self.is(given))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The page's guard.
pub(super) async fn decide(token: Token, attempt: Attempt) -> Decision {
    match token.is_in(attempt.headers()) {
        true => Decision::allow_as("operator"),
        false => {
            Decision::deny_because("log in by the address that was printed when the service began")
        }
    }
}

pub(super) fn router(token: Token) -> Router {
    Router::new()
        .route("/login/{token}", get(log_in))
        .with_state(token)
}

/// Sets the cookie. `Strict`: no other site has it sent along.
async fn log_in(State(token): State<Token>, Path(given): Path<String>) -> Response {
    if !token.is(&given) {
        return (StatusCode::FORBIDDEN, "this is not the token\n").into_response();
    }
    let cookie = format!("operator={given}; HttpOnly; SameSite=Strict; Path={PAGE}");
    ([(SET_COOKIE, cookie)], Redirect::to(PAGE)).into_response()
}
