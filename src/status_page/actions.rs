//! What of operating circuits is set up.

use super::guard::{Action, AnyGuard, Guard};
use super::origin::Origin;
use std::fmt;

/// Operator actions on the page: see [`StatusPage::actions`](super::StatusPage::actions).
pub struct Actions {
    pub(super) guard: Box<dyn AnyGuard>,
    pub(super) allowed: Vec<Action>,
    pub(super) origins: Vec<Origin>,
}

impl Actions {
    /// All actions, each behind this guard, on a page that is open under `localhost` or a bare IP
    /// address. Under a name it needs [`at`](Self::at) too.
    #[must_use]
    pub fn new(guard: impl Guard) -> Self {
        Self {
            guard: Box::new(guard),
            allowed: Action::ALL.to_vec(),
            origins: Vec::new(),
        }
    }

    /// Only these actions.
    #[must_use]
    pub fn only(mut self, actions: &[Action]) -> Self {
        let wanted = |action: &&Action| actions.contains(action);
        self.allowed = Action::ALL.iter().filter(wanted).copied().collect();
        self
    }

    /// The page is also open at this origin, as the browser's address bar has it:
    /// `https://ops.example.com`. May be called several times.
    ///
    /// Without it a page that is open under a name refuses to act: any name of an attacker's can be
    /// made to lead to this server, and to the browser their page is then of the same site. Behind
    /// a proxy that changes `Host` it says what the browser calls this server.
    ///
    /// # Panics
    /// If it isn't an origin: `http://` or `https://`, a host, perhaps a port, and nothing else.
    #[must_use]
    #[track_caller]
    pub fn at(mut self, origin: &str) -> Self {
        match Origin::read(origin) {
            Some(origin) => self.origins.push(origin),
            None => panic!(
                "`{origin}` is no origin: write scheme, host and perhaps port, \
                 as in `https://ops.example.com`"
            ),
        }
        self
    }
}

impl fmt::Debug for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actions")
            .field("allowed", &self.allowed)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}
