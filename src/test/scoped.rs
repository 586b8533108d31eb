//! A breaker's state inside a scope.

use super::{Scope, current};
use crate::breaker::Breaker;
use crate::last_change::Noted;
use breaker_core::{Circuit, Clock, ManualClock, Policy};
use std::fmt;
use std::sync::Arc;

/// A breaker's state inside a scope.
pub struct Scoped<P> {
    scope: Scope,
    own: Option<Arc<Own<P>>>,
}

/// What a breaker has of its own in a scope.
struct Own<P> {
    circuit: Circuit<P>,
    noted: Noted,
}

impl<P: Policy + Send + Sync + 'static> Scoped<P> {
    pub(crate) fn of<C>(breaker: &Breaker<C, P>) -> Option<Self>
    where
        C: Clock + Send + Sync + 'static,
    {
        let scope = current()?;
        let id = breaker.id();
        let make = || Own {
            circuit: breaker.own_circuit().fresh(),
            noted: Noted::new(),
        };
        let own = Arc::clone(
            super::lock(&scope.0.circuits)
                .entry(id)
                .or_insert_with(|| Arc::new(make())),
        );
        // One id is one breaker, so the type is that breaker's.
        let own = own.downcast().ok()?;
        Some(Self {
            scope,
            own: Some(own),
        })
    }

    /// Of a key's breaker, which the scope has its own of.
    pub(crate) fn of_key(scope: Scope) -> Self {
        Self { scope, own: None }
    }

    /// `None` where the state is one that only the scope has anyway.
    pub(crate) fn circuit(&self) -> Option<&Circuit<P>> {
        self.own.as_ref().map(|own| &own.circuit)
    }

    /// As [`circuit`](Self::circuit).
    pub(crate) fn noted(&self) -> Option<&Noted> {
        self.own.as_ref().map(|own| &own.noted)
    }

    pub(crate) fn clock(&self) -> &ManualClock {
        &self.scope.0.clock
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }
}

impl<P> fmt::Debug for Scoped<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped").finish_non_exhaustive()
    }
}
