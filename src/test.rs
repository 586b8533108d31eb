//! Tests of annotated functions, without sleeping.
//!
//! ```
//! use breakerbox::{CallError, circuit_breaker};
//! use std::time::Duration;
//!
//! #[circuit_breaker(threshold = 1, reset = "30s")]
//! fn rooms(answer: Result<u32, &'static str>) -> Result<u32, CallError<&'static str>> {
//!     answer.map_err(CallError::Call)
//! }
//!
//! let scope = breakerbox::test::scope();
//! assert!(rooms(Err("no answer")).is_err());
//! assert!(matches!(rooms(Ok(3)), Err(CallError::Open(_))));
//! scope.advance(Duration::from_secs(30));
//! assert_eq!(rooms(Ok(3)), Ok(3));
//! ```
//!
//! Time is frozen. A call with a `timeout` that waits for ever therefore ends
//! only when the scope's clock is moved on, beside the call:
//!
//! ```
//! # #[cfg(feature = "tokio")]
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use breakerbox::{CallError, circuit_breaker};
//! use std::time::Duration;
//!
//! #[circuit_breaker(timeout = "2s")]
//! async fn rooms() -> Result<u32, CallError<&'static str>> {
//!     std::future::pending().await
//! }
//!
//! let scope = breakerbox::test::scope();
//! let (answer, ()) = tokio::join!(rooms(), async {
//!     tokio::task::yield_now().await;
//!     scope.advance(Duration::from_secs(2));
//! });
//! assert!(matches!(answer, Err(CallError::TimedOut(_))));
//! # });
//! ```

mod scoped;

use crate::lock::lock;
use crate::observe::Entry;
use crate::registry::Book;
use breaker_core::{Clock, ManualClock};
pub(crate) use scoped::Scoped;
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Gives this thread a frozen clock, a state of its own of every breaker (those
/// of annotated functions too), and observers of its own, until the scope is
/// dropped. So tests run side by side, and none sleeps.
///
/// - Breakers start closed, with nothing counted, and the default `jitter` is
///   off.
/// - `timeout` runs on the scope's clock as well: it is over when
///   [`TestScope::advance`] says so, and not before.
/// - A scope within a scope covers the outer one.
/// - The scope is this thread's: what another thread calls, also a worker of a
///   multi-threaded runtime, is not in it. `#[tokio::test]` runs everything on
///   one thread unless told otherwise.
/// - A call that was admitted inside the scope settles inside it, wherever it
///   ends.
pub fn scope() -> TestScope {
    let inner = Scope::default();
    SCOPES.with_borrow_mut(|scopes| scopes.push(inner.clone()));
    TestScope {
        inner,
        this_thread: PhantomData,
    }
}

/// A test scope: see [`scope`]. Ends when it is dropped.
#[must_use = "the scope ends when this is dropped"]
pub struct TestScope {
    inner: Scope,
    this_thread: PhantomData<*const ()>,
}

impl TestScope {
    /// Moves the scope's clock on. Timeouts that are over by then wake their
    /// calls.
    pub fn advance(&self, by: Duration) {
        self.inner.0.clock.advance(by);
        let sleepers = std::mem::take(&mut *lock(&self.inner.0.sleepers));
        for sleeper in sleepers {
            sleeper.wake();
        }
    }

    /// Time since the scope began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.inner.0.clock.now())
    }
}

impl Drop for TestScope {
    fn drop(&mut self) {
        let ended = SCOPES.try_with(|scopes| {
            let mut scopes = scopes.borrow_mut();
            let place = scopes
                .iter()
                .rposition(|scope| Arc::ptr_eq(&scope.0, &self.inner.0))?;
            Some(scopes.remove(place))
        });
        // Outside the borrow: observers' destructors may do anything.
        drop(ended);
        let observers = std::mem::take(&mut *lock(&self.inner.0.observers));
        observers.iter().for_each(Entry::leave);
        drop(observers);
    }
}

impl fmt::Debug for TestScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestScope")
            .field("elapsed", &self.elapsed())
            .finish_non_exhaustive()
    }
}

/// A scope, shared by the calls that were made in it.
#[derive(Clone, Default)]
pub(crate) struct Scope(Arc<Inner>);

#[derive(Default)]
struct Inner {
    clock: ManualClock,
    circuits: Mutex<HashMap<u64, Arc<dyn Any + Send + Sync>>>,
    observers: Mutex<Vec<Entry>>,
    sleepers: Mutex<Vec<Waker>>,
    book: Book,
}

thread_local! {
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn current() -> Option<Scope> {
    // A thread that is being taken down has no scope.
    SCOPES
        .try_with(|scopes| scopes.borrow().last().cloned())
        .ok()?
}

/// As if this thread were in no scope.
pub(crate) fn outside<R>(act: impl FnOnce() -> R) -> R {
    /// Puts the scopes back, also where `act` panics.
    struct Around(Vec<Scope>);

    impl Drop for Around {
        fn drop(&mut self) {
            let scopes = std::mem::take(&mut self.0);
            let _ = SCOPES.try_with(|own| {
                let mut own = own.borrow_mut();
                // Those that were begun meanwhile, and not ended, are within.
                own.splice(..0, scopes);
            });
        }
    }

    let scopes = SCOPES.try_with(|own| std::mem::take(&mut *own.borrow_mut()));
    let _around = Around(scopes.unwrap_or_default());
    act()
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl Scope {
    pub(crate) fn observers(&self) -> Arc<[Entry]> {
        lock(&self.0.observers).as_slice().into()
    }

    /// What something has of its own in the scope: breakers by key, last-good
    /// answers. Its number is its alone, so the type is too.
    pub(crate) fn own<M>(&self, id: u64, make: impl FnOnce() -> M) -> Arc<M>
    where
        M: Any + Send + Sync,
    {
        let known = lock(&self.0.circuits).get(&id).cloned();
        if let Some(Ok(own)) = known.map(Arc::downcast) {
            return own;
        }
        let made = Arc::new(make());
        let own = Arc::clone(
            lock(&self.0.circuits)
                .entry(id)
                .or_insert_with(|| Arc::clone(&made) as Arc<dyn Any + Send + Sync>),
        );
        own.downcast().unwrap_or(made)
    }

    pub(crate) fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    /// Nanoseconds since the scope began.
    pub(crate) fn now(&self) -> u64 {
        self.0.clock.now()
    }

    /// The scope's part of the registry.
    pub(crate) fn book(&self) -> &Book {
        &self.0.book
    }

    pub(crate) fn downgrade(&self) -> WeakScope {
        WeakScope(Arc::downgrade(&self.0))
    }
}

/// A scope, as long as it or a call of it is there.
pub(crate) struct WeakScope(Weak<Inner>);

impl WeakScope {
    pub(crate) fn upgrade(&self) -> Option<Scope> {
        self.0.upgrade().map(Scope)
    }
}

/// Takes an observer into the scope; gives it back where there is none.
pub(crate) fn install_in_scope(entry: Entry) -> Option<Entry> {
    match current() {
        Some(scope) => {
            lock(&scope.0.observers).push(entry);
            None
        }
        None => Some(entry),
    }
}

pub(crate) fn uninstall_from_scopes(id: u64) {
    let removed = SCOPES.try_with(|scopes| {
        let scopes = scopes.borrow();
        let take = |scope: &Scope| {
            let mut observers = lock(&scope.0.observers);
            let place = observers.iter().position(|entry| entry.id() == id)?;
            let removed = observers.remove(place);
            removed.leave();
            Some(removed)
        };
        scopes.iter().find_map(take)
    });
    drop(removed);
}

/// A timeout on a scope's clock.
pub(crate) struct ScopedSleep {
    scope: Scope,
    deadline: u64,
}

impl ScopedSleep {
    pub(crate) fn new(scope: Scope, after: Duration) -> Self {
        let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let deadline = scope.0.clock.now().saturating_add(after);
        Self { scope, deadline }
    }

    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        // Registered before the clock is read, so that no advance is missed.
        let mut sleepers = lock(&self.scope.0.sleepers);
        if !sleepers
            .iter()
            .any(|sleeper| sleeper.will_wake(context.waker()))
        {
            sleepers.push(context.waker().clone());
        }
        drop(sleepers);
        if self.scope.0.clock.now() >= self.deadline {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
