//! Who may operate circuits from the page.

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use std::fmt;
use std::pin::Pin;

/// What an operator can do to a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// [`Breaker::close`](crate::Breaker::close).
    Close,
    /// [`Breaker::clear`](crate::Breaker::clear).
    Clear,
    /// [`Breaker::open_for`](crate::Breaker::open_for).
    OpenFor,
    /// [`Breaker::force_open`](crate::Breaker::force_open).
    ForceOpen,
    /// [`Breaker::disable`](crate::Breaker::disable).
    Disable,
    /// [`Breaker::shadow`](crate::Breaker::shadow).
    Shadow,
}

impl Action {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Close,
        Self::Clear,
        Self::OpenFor,
        Self::ForceOpen,
        Self::Disable,
        Self::Shadow,
    ];

    /// Its name in requests and logs: `close`, `clear`, `open_for`, `force_open`, `disable`,
    /// `shadow`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Clear => "clear",
            Self::OpenFor => "open_for",
            Self::ForceOpen => "force_open",
            Self::Disable => "disable",
            Self::Shadow => "shadow",
        }
    }

    pub(super) fn read(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|action| action.as_str() == name)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What somebody wants to do: a [`Guard`] says whether they may.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub(super) action: Action,
    pub(super) breaker: String,
    pub(super) key: Option<String>,
    pub(super) parts: Parts,
}

impl Attempt {
    /// What.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// To which breaker.
    #[must_use]
    pub fn breaker(&self) -> &str {
        &self.breaker
    }

    /// To the circuit of which key, as it is labelled.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The request's headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// What layers before the page left in the request: a session, a user, `ConnectInfo`.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.parts.extensions
    }

    /// The request, without its body.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }
}

/// What a [`Guard`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// They may.
    Allow {
        /// Who they are, for the log and the circuit's history.
        who: Option<String>,
    },
    /// They may not.
    Deny {
        /// Why, for them to read.
        why: Option<String>,
    },
}

impl Decision {
    /// They may, and nobody knows who they are.
    #[must_use]
    pub const fn allow() -> Self {
        Self::Allow { who: None }
    }

    /// They may, and this is who they are: told to observers
    /// ([`Observer::operated`](crate::observe::Observer::operated)) and shown in the history.
    #[must_use]
    pub fn allow_as(who: impl Into<String>) -> Self {
        Self::Allow {
            who: Some(who.into()),
        }
    }

    /// They may not.
    #[must_use]
    pub const fn deny() -> Self {
        Self::Deny { why: None }
    }

    /// They may not, and are told why.
    #[must_use]
    pub fn deny_because(why: impl Into<String>) -> Self {
        Self::Deny {
            why: Some(why.into()),
        }
    }
}

/// Decides on each [`Attempt`] to operate a circuit. An async closure is one.
///
/// It is asked after the page made sure that no other site sent the request, and has to know who
/// did: by a session that a layer put into the extensions, a header of the proxy in front, a
/// certificate, a password.
///
/// ```
/// use breakerbox::status_page::{Action, Actions, Attempt, Decision, Guard};
///
/// /// Who the proxy in front says it is; nobody gets past it.
/// struct ByProxy {
///     operators: Vec<String>,
/// }
///
/// impl Guard for ByProxy {
///     async fn decide(&self, attempt: Attempt) -> Decision {
///         let user = attempt.headers().get("x-user").and_then(|user| user.to_str().ok());
///         match user {
///             Some(user) if self.operators.iter().any(|known| known == user) => {
///                 Decision::allow_as(user)
///             }
///             Some(user) if attempt.action() == Action::Close => Decision::allow_as(user),
///             _ => Decision::deny_because("only operators may do this"),
///         }
///     }
/// }
///
/// let guard = ByProxy { operators: vec!["ann".to_owned()] };
/// let actions = Actions::new(guard).at("https://ops.example.com");
/// # drop(actions);
/// ```
pub trait Guard: Send + Sync + 'static {
    /// Whether they may.
    fn decide(&self, attempt: Attempt) -> impl Future<Output = Decision> + Send;
}

impl<F, D> Guard for F
where
    F: Fn(Attempt) -> D + Send + Sync + 'static,
    D: Future<Output = Decision> + Send,
{
    fn decide(&self, attempt: Attempt) -> impl Future<Output = Decision> + Send {
        self(attempt)
    }
}

type Deciding<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// A [`Guard`] of whatever type.
pub(super) trait AnyGuard: Send + Sync {
    fn ask(&self, attempt: Attempt) -> Deciding<'_>;
}

impl<G: Guard> AnyGuard for G {
    fn ask(&self, attempt: Attempt) -> Deciding<'_> {
        Box::pin(self.decide(attempt))
    }
}
