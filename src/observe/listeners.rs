//! Who hears of events.

use super::{Observer, Rehearsal};
use crate::notify::Audience;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// How many observers there are, of the process and of all test scopes.
static ANYONE: AtomicU32 = AtomicU32::new(0);
/// How many of them want to hear of calls.
static WANT_CALLS: AtomicU32 = AtomicU32::new(0);
/// Those of the process.
static OBSERVERS: RwLock<Option<Arc<[Entry]>>> = RwLock::new(None);
/// Whether one of these wants a span for each call.
#[cfg(feature = "tracing")]
static PROCESS_WANTS_SPANS: AtomicBool = AtomicBool::new(false);
/// Whether one of these wants to hear of calls.
static PROCESS_WANTS_CALLS: AtomicBool = AtomicBool::new(false);
static NEXT_ID: AtomicU64 = AtomicU64::new(0);
static SEQUENCE: AtomicU64 = AtomicU64::new(0);

/// Whether there is an observer: the one untaken branch where there is none.
#[inline]
pub(crate) fn anyone() -> bool {
    ANYONE.load(Ordering::Relaxed) != 0
}

/// Whether an observer wants to hear of calls. Else none is timed.
#[inline]
pub(crate) fn anyone_wants_calls() -> bool {
    WANT_CALLS.load(Ordering::Relaxed) != 0
}

/// An observer that is installed.
#[derive(Clone)]
pub(crate) struct Entry {
    id: u64,
    #[cfg(feature = "tracing")]
    wants_spans: bool,
    installed: Arc<Counted<dyn Observer>>,
}

impl Entry {
    pub(super) fn new(observer: impl Observer + 'static) -> Self {
        let wants_calls = observer.wants_calls();
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            #[cfg(feature = "tracing")]
            wants_spans: observer.wants_spans(),
            installed: Arc::new(Counted::new(observer, wants_calls)),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// It hears of nothing more: it may be a while before it is dropped, as an event that is
    /// being told keeps it.
    pub(crate) fn leave(&self) {
        self.installed.leave();
    }

    pub(crate) fn wants_calls(&self) -> bool {
        self.installed.wants_calls
    }

    fn observer(&self) -> &dyn Observer {
        &self.installed.observer
    }

    #[cfg(feature = "tracing")]
    fn wants_spans(&self) -> bool {
        self.wants_calls() && self.wants_spans
    }
}

/// Counted among those that hear of events, until it leaves.
struct Counted<O: Observer + ?Sized> {
    is_counted: AtomicBool,
    wants_calls: bool,
    observer: O,
}

impl<O: Observer> Counted<O> {
    fn new(observer: O, wants_calls: bool) -> Self {
        ANYONE.fetch_add(1, Ordering::Release);
        if wants_calls {
            WANT_CALLS.fetch_add(1, Ordering::Release);
        }
        Self {
            is_counted: AtomicBool::new(true),
            wants_calls,
            observer,
        }
    }
}

impl<O: Observer + ?Sized> Counted<O> {
    fn leave(&self) {
        if self.is_counted.swap(false, Ordering::Relaxed) {
            ANYONE.fetch_sub(1, Ordering::Release);
            if self.wants_calls {
                WANT_CALLS.fetch_sub(1, Ordering::Release);
            }
        }
    }
}

impl<O: Observer + ?Sized> Drop for Counted<O> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Among those of the process.
pub(super) fn install(entry: Entry) {
    change_observers(|observers| observers.push(entry));
}

/// From those of the process.
pub(super) fn uninstall(id: u64) {
    change_observers(|observers| {
        observers.retain(|entry| {
            let stays = entry.id != id;
            if !stays {
                entry.leave();
            }
            stays
        });
    });
}

fn change_observers(change: impl FnOnce(&mut Vec<Entry>)) {
    let mut observers = OBSERVERS.write().unwrap_or_else(PoisonError::into_inner);
    // One that leaves is kept by what is replaced: it is dropped outside the lock.
    let mut entries = observers.as_deref().unwrap_or_default().to_vec();
    change(&mut entries);
    let want_calls = entries.iter().any(Entry::wants_calls);
    PROCESS_WANTS_CALLS.store(want_calls, Ordering::Relaxed);
    #[cfg(feature = "tracing")]
    {
        let want_spans = entries.iter().any(Entry::wants_spans);
        PROCESS_WANTS_SPANS.store(want_spans, Ordering::Relaxed);
    }
    let left = observers.replace(entries.into());
    drop(observers);
    // Outside the lock: an observer's destructor may do anything.
    forget_panic(|| drop(left));
}

impl Audience<'_> {
    /// Whether one of these observers wants to hear of calls.
    pub(crate) fn wants_calls(self) -> bool {
        #[cfg(feature = "test-util")]
        if let Some(scope) = self.scope() {
            return scope.observers().iter().any(Entry::wants_calls);
        }
        PROCESS_WANTS_CALLS.load(Ordering::Relaxed)
    }

    /// Whether one of these observers wants a span for each call.
    #[cfg(feature = "tracing")]
    pub(crate) fn wants_spans(self) -> bool {
        #[cfg(feature = "test-util")]
        if let Some(scope) = self.scope() {
            return scope.observers().iter().any(Entry::wants_spans);
        }
        PROCESS_WANTS_SPANS.load(Ordering::Relaxed)
    }

    /// What the first rehearsal of them says; `None` where there is none.
    pub(crate) fn rehearse<T>(self, ask: impl FnOnce(&Rehearsal) -> T) -> Option<T> {
        let listeners = self.listeners();
        let rehearsal = |entry| Entry::observer(entry).rehearsal();
        listeners.iter().find_map(rehearsal).map(ask)
    }

    fn listeners(self) -> Listeners {
        #[cfg(feature = "test-util")]
        if let Some(scope) = self.scope() {
            return Listeners(Some(scope.observers()));
        }
        let observers = OBSERVERS.read().unwrap_or_else(PoisonError::into_inner);
        Listeners(observers.clone())
    }

    /// Tells all of them.
    pub(super) fn tell(self, what: impl Fn(&dyn Observer, u64)) {
        let sequence = next_sequence();
        for entry in self.listeners().iter() {
            entry.hear(|observer| what(observer, sequence));
        }
    }

    /// Tells those of a call who want to know, but nobody of what it does itself while it is
    /// told of one: else that would never end.
    pub(super) fn tell_of_call(
        self,
        want: impl Fn(&Entry) -> bool,
        what: impl Fn(&dyn Observer, u64),
    ) {
        let sequence = next_sequence();
        for entry in self.listeners().iter().filter(|entry| want(entry)) {
            let outer = HEARING.get();
            if let Some(inner) = outer.and(entry.id) {
                HEARING.set(inner);
                entry.hear(|observer| what(observer, sequence));
                HEARING.set(outer);
            }
        }
    }
}

fn next_sequence() -> u64 {
    SEQUENCE.fetch_add(1, Ordering::Relaxed)
}

impl Entry {
    /// A panic ends here. Also because a breaker may be used by a destructor while unwinding: a
    /// second panic there would end the process.
    fn hear(&self, what: impl FnOnce(&dyn Observer)) {
        forget_panic(|| what(&self.installed.observer));
    }
}

thread_local! {
    static HEARING: Cell<Hearing> = const { Cell::new(Hearing { ids: [0; 8], len: 0 }) };
}

/// The observers that hear of a call on this thread, each from within the one before.
#[derive(Clone, Copy)]
struct Hearing {
    ids: [u64; 8],
    len: usize,
}

impl Hearing {
    /// `None` where it is one of them already, or there are too many of them.
    fn and(mut self, id: u64) -> Option<Self> {
        if self.ids[..self.len].contains(&id) {
            return None;
        }
        *self.ids.get_mut(self.len)? = id;
        self.len += 1;
        Some(self)
    }
}

/// The observers of one event. An observer that uninstalled itself meanwhile is
/// dropped with this, and may panic there too.
struct Listeners(Option<Arc<[Entry]>>);

impl Listeners {
    fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.as_deref().unwrap_or_default().iter()
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        let entries = self.0.take();
        forget_panic(|| drop(entries));
    }
}

/// Runs what is an observer's; a panic there is that observer's own affair.
pub(crate) fn forget_panic(theirs: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(theirs)) {
        // The payload may panic in its destructor.
        std::mem::forget(panic);
    }
}

// The status page's tests install observers at the same time.
#[cfg(all(test, not(feature = "status-page")))]
mod tests {
    use super::{anyone, anyone_wants_calls};
    use crate::observe::{self, Observer};

    struct Wants(bool);

    impl Observer for Wants {
        fn wants_calls(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn once_the_last_has_left_nobody_is_asked_for_again() {
        let asked = || (anyone(), anyone_wants_calls());
        for _ in 0..2 {
            assert_eq!(asked(), (false, false));
            let some = observe::install(Wants(false));
            assert_eq!(asked(), (true, false));
            let (calls, more) = (observe::install(Wants(true)), observe::install(Wants(true)));
            assert_eq!(asked(), (true, true));
            drop(some);
            drop(calls);
            assert_eq!(asked(), (true, true));
            drop(more);
        }
        assert_eq!(asked(), (false, false));
        #[cfg(feature = "test-util")]
        {
            let scope = crate::test::scope();
            observe::install(Wants(true)).forever();
            assert_eq!(asked(), (true, true));
            drop(scope);
            assert_eq!(asked(), (false, false));
        }
    }
}
