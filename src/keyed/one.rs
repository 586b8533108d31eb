//! The breaker of one key.

use super::ScopeOf;
use super::entry::Entry;
use crate::bound::Given;
use crate::breaker::Breaker;
use crate::call::{Call, Classified};
use crate::clock::DefaultClock;
use crate::error::{CallError, CircuitOpenError};
use crate::limit::Unlimited;
use crate::link::{Keep, Kept, Linked};
use crate::name::{KeyLabel, Name, OfKey};
use crate::permit::{OwnedPermit, Permit, admit, admit_owned};
use crate::subject::sealed::Subject;
use crate::verdict::{ByError, EveryErr, Verdict};
use breaker_core::{CircuitRef, Clock, Config, Consecutive, Policy, State};
use core::fmt;
use std::sync::Arc;

/// The breaker of one key, got by [`KeyedBreakers::get`].
///
/// It is a breaker like any other: this has what callers need of it, and
/// [`AnyBreaker`](crate::AnyBreaker) what operators do. As long as it is there, or a call through it,
/// its key is not given up.
///
/// [`KeyedBreakers::get`]: super::KeyedBreakers::get
pub struct KeyedBreaker<O, C = DefaultClock, P = Consecutive>
where
    O: 'static,
    C: 'static,
    P: 'static,
{
    entry: Arc<Entry<O, C, P>>,
    #[cfg_attr(not(feature = "test-util"), allow(dead_code))]
    scope: ScopeOf,
}

impl<O, C, P> KeyedBreaker<O, C, P>
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    #[inline]
    pub(super) fn new(entry: Arc<Entry<O, C, P>>, scope: ScopeOf) -> Self {
        Self { entry, scope }
    }

    pub(super) fn circuit_id(&self) -> crate::observe::CircuitId {
        self.entry.circuit_id()
    }

    /// Name and key.
    pub(super) fn full_name(&self) -> Name {
        Name::of_key(Arc::clone(&self.entry) as Arc<dyn OfKey>)
    }

    pub(crate) fn of_key(&self) -> &dyn OfKey {
        &*self.entry
    }

    pub(crate) fn declared_config(&self) -> &Config {
        self.entry.group.template.declared()
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &O {
        &self.entry.key
    }

    /// The name that all keys have in common.
    #[must_use]
    pub fn name(&self) -> &str {
        self.entry.group.template.name()
    }

    /// The state. Reading it changes nothing: a breaker whose wait is over is
    /// open until a call asks.
    #[must_use]
    pub fn state(&self) -> State {
        self.entry.circuit.state()
    }

    /// See [`Breaker::admit`].
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    #[inline]
    pub fn admit(&self) -> Result<Permit<&Self>, CircuitOpenError> {
        admit(self, Given::NONE)
    }

    /// See [`Breaker::admit_at`].
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    pub fn admit_at(&self, now: u64) -> Result<Permit<&Self>, CircuitOpenError> {
        admit(self, Given::at(now))
    }

    /// See [`Breaker::admit_owned`].
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    #[inline]
    pub fn admit_owned(&self) -> Result<OwnedPermit<Self>, CircuitOpenError> {
        admit_owned(self.clone())
    }

    /// See [`Breaker::call`].
    ///
    /// # Errors
    /// [`CallError::Call`] with the call's own error, [`CallError::Open`] if it
    /// was refused and not made, [`CallError::TimedOut`] past its `timeout`.
    #[inline]
    pub fn call<F: Future>(&self, call: F) -> Call<F, EveryErr, Unlimited, &Self> {
        Call::new(self, EveryErr, call)
    }

    /// See [`Breaker::call_sync`].
    ///
    /// # Errors
    /// [`CallError::Call`] with the call's own error, [`CallError::Open`] if it
    /// was refused and not made.
    #[inline]
    pub fn call_sync<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        Classified::new(self, EveryErr).call_sync(call)
    }

    /// See [`Breaker::classify`].
    pub fn classify<E, R, N>(&self, classify: N) -> Classified<E, ByError<N>, &Self>
    where
        N: FnOnce(&E) -> R,
        R: Verdict,
    {
        Classified::new(self, ByError(classify))
    }
}

impl<O, C, P> Subject for &KeyedBreaker<O, C, P>
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    type Clock = C;
    type Policy = P;

    const IS_A_KEYS: bool = true;

    #[inline]
    fn breaker(&self) -> &Breaker<C, P> {
        &self.entry.group.template
    }

    #[inline]
    fn circuit(&self) -> CircuitRef<'_, P> {
        self.entry.circuit()
    }

    /// All keys have one entry, made where they are got.
    #[inline]
    fn enter(&self) {}

    fn noted(&self) -> &crate::last_change::Noted {
        &self.entry.noted
    }

    fn linked(&self) -> Linked<'_> {
        Linked::of_key(*self, KeyLabel::of(self.of_key()))
    }

    fn is_kept(&self) -> bool {
        self.entry.is_kept()
    }

    fn name(&self) -> Name {
        self.full_name()
    }

    #[cfg(feature = "test-util")]
    fn scoped(&self) -> Option<crate::test::Scoped<P>> {
        self.scope.clone().map(crate::test::Scoped::of_key)
    }
}

impl<O, C, P> Keep for KeyedBreaker<O, C, P>
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    fn keep(&self) -> Kept {
        self.entry.keep()
    }
}

impl<O, C, P> Clone for KeyedBreaker<O, C, P> {
    fn clone(&self) -> Self {
        Self {
            entry: Arc::clone(&self.entry),
            scope: self.scope.clone(),
        }
    }
}

impl<O, C, P> fmt::Debug for KeyedBreaker<O, C, P>
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedBreaker")
            .field("name", &self.full_name())
            .field("circuit", &self.entry.circuit)
            .finish_non_exhaustive()
    }
}
