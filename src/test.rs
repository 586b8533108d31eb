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

use crate::breaker::Breaker;
use crate::observe::Entry;
use crate::registry::id_of;
use breaker_core::{Circuit, Clock, ManualClock, Policy};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// Gives this thread a frozen clock, a state of its own of every breaker (those
/// of annotated functions too), and observers of its own, until the scope is
/// dropped. So tests run side by side, and none sleeps.
///
/// - Breakers start closed, with nothing counted, and the default `jitter` is
///   off.
/// - `timeout` runs on the scope's clock as well.
/// - A scope within a scope covers the outer one.
/// - The scope is this thread's: what another thread calls, also a worker of a
///   multi-threaded runtime, is not in it. `#[tokio::test]` runs everything on
///   one thread unless told otherwise.
/// - A call that was admitted inside the scope settles inside it, wherever it
///   ends.
pub fn scope() -> TestScope {
    let inner = Arc::new(Inner::default());
    SCOPES.with_borrow_mut(|scopes| scopes.push(Arc::clone(&inner)));
    TestScope {
        inner,
        this_thread: PhantomData,
    }
}

/// A test scope: see [`scope`]. Ends when it is dropped.
#[must_use = "the scope ends when this is dropped"]
pub struct TestScope {
    inner: Arc<Inner>,
    this_thread: PhantomData<*const ()>,
}

impl TestScope {
    /// Moves the scope's clock on. Timeouts that are over by then wake their
    /// calls.
    pub fn advance(&self, by: Duration) {
        self.inner.clock.advance(by);
        let sleepers = std::mem::take(&mut *lock(&self.inner.sleepers));
        for sleeper in sleepers {
            sleeper.wake();
        }
    }

    /// Time since the scope began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.inner.clock.now())
    }
}

impl Drop for TestScope {
    fn drop(&mut self) {
        let ended = SCOPES.try_with(|scopes| {
            let mut scopes = scopes.borrow_mut();
            let place = scopes
                .iter()
                .rposition(|scope| Arc::ptr_eq(scope, &self.inner))?;
            Some(scopes.remove(place))
        });
        // Outside the borrow: observers' destructors may do anything.
        drop(ended);
        lock(&self.inner.observers).clear();
    }
}

impl fmt::Debug for TestScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestScope")
            .field("elapsed", &self.elapsed())
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Inner {
    clock: ManualClock,
    circuits: Mutex<HashMap<u64, Arc<dyn Any + Send + Sync>>>,
    observers: Mutex<Vec<Entry>>,
    sleepers: Mutex<Vec<Waker>>,
}

thread_local! {
    static SCOPES: RefCell<Vec<Arc<Inner>>> = const { RefCell::new(Vec::new()) };
}

fn current() -> Option<Arc<Inner>> {
    // A thread that is being taken down has no scope.
    SCOPES
        .try_with(|scopes| scopes.borrow().last().cloned())
        .ok()?
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A breaker's state inside a scope.
pub(crate) struct Scoped<P> {
    scope: Arc<Inner>,
    circuit: Arc<Circuit<P>>,
}

impl<P: Policy + Send + Sync + 'static> Scoped<P> {
    pub(crate) fn of<C>(breaker: &Breaker<C, P>) -> Option<Self>
    where
        C: Clock + Send + Sync + 'static,
    {
        let scope = current()?;
        let id = id_of(breaker);
        let circuit = Arc::clone(
            lock(&scope.circuits)
                .entry(id)
                .or_insert_with(|| Arc::new(breaker.own_circuit().fresh())),
        );
        // One id is one breaker, so the type is that breaker's.
        let circuit = circuit.downcast().ok()?;
        Some(Self { scope, circuit })
    }

    pub(crate) fn circuit(&self) -> &Circuit<P> {
        &self.circuit
    }

    pub(crate) fn clock(&self) -> &ManualClock {
        &self.scope.clock
    }
}

/// Takes an observer into the scope; gives it back where there is none.
pub(crate) fn install_in_scope(entry: Entry) -> Option<Entry> {
    match current() {
        Some(scope) => {
            lock(&scope.observers).push(entry);
            None
        }
        None => Some(entry),
    }
}

pub(crate) fn uninstall_from_scopes(id: u64) {
    let removed = SCOPES.try_with(|scopes| {
        let scopes = scopes.borrow();
        let take = |scope: &Arc<Inner>| {
            let mut observers = lock(&scope.observers);
            let place = observers.iter().position(|entry| entry.id() == id)?;
            Some(observers.remove(place))
        };
        scopes.iter().find_map(take)
    });
    drop(removed);
}

/// `None` where there is no scope.
pub(crate) fn observers_of_scope() -> Option<Arc<[Entry]>> {
    let scope = current()?;
    let observers = lock(&scope.observers);
    Some(observers.as_slice().into())
}

/// A timeout on the scope's clock.
pub(crate) struct ScopedSleep {
    scope: Arc<Inner>,
    deadline: u64,
}

impl ScopedSleep {
    /// `None` where there is no scope.
    pub(crate) fn new(after: Duration) -> Option<Self> {
        let scope = current()?;
        let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let deadline = scope.clock.now().saturating_add(after);
        Some(Self { scope, deadline })
    }

    pub(crate) fn poll(&self, context: &std::task::Context<'_>) -> std::task::Poll<()> {
        // Woken at each advance: registered before the clock is read, so that
        // none is missed.
        lock(&self.scope.sleepers).push(context.waker().clone());
        if self.scope.clock.now() >= self.deadline {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    }
}
