//! Hearing of what becomes of the breakers, without asking again and again.

use super::book::{Home, here};
use crate::name::{KeyLabel, OneLine};
use crate::observe::{self, Installed, KeyEvicted, Observer, Reconfigured, StateChange};
use breaker_core::Change;
use event_listener::{Event, EventListener};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much news is kept for a watcher that doesn't come for it, where nothing else is
/// said: 1,024.
pub const DEFAULT_KEPT_NEWS: usize = 1_024;

/// Hears from now on of breakers that enter the registry and leave it, and of changes of state
/// and of configuration.
///
/// First watch, then look at [`all()`](super::all()): so nothing is between the two.
///
/// ```
/// use breakerbox::registry::{self, Happened};
/// use breakerbox::{Breaker, Config, State};
///
/// # let _scope = breakerbox::test::scope();
/// let mut watch = registry::watch();
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// pms.force_open();
/// drop(pms);
///
/// let heard = watch.wait();
/// assert_eq!(heard.missed, 0);
/// let told: Vec<_> = heard.news.iter().map(ToString::to_string).collect();
/// assert_eq!(told, [
///     "`pms` entered the registry",
///     "`pms`: closed -> forced_open",
///     "`pms` left the registry",
/// ]);
/// assert!(matches!(
///     heard.news[1].what,
///     Happened::Changed { change, .. } if change.to == State::ForcedOpen
/// ));
/// ```
///
/// In a task: [`changed`](Watch::changed), on whatever runtime.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use breakerbox::registry;
///
/// # let _scope = breakerbox::test::scope();
/// # let _pms = {
/// # let mut watch = registry::watch();
/// # let pms = breakerbox::Breaker::shared("pms", breakerbox::Config::DEFAULT);
/// let mut circuits = registry::all();
/// # for _ in 0..1 {
/// // In a loop:
/// let heard = watch.changed().await;
/// if heard.missed > 0 {
///     // Too much came meanwhile: look at all of them again.
///     circuits = registry::all();
/// }
/// # assert_eq!(heard.news.len(), 1);
/// # }
/// # pms
/// # };
/// # });
/// ```
///
/// For each watcher so much is kept until it comes for it
/// ([`DEFAULT_KEPT_NEWS`], [`Watch::at_most`]); then the oldest is given up, and
/// [`Heard::missed`] says how much. A breaker that is not watched pays nothing for it,
/// nor do its calls: only what changes a state, or enters, or leaves tells the watchers.
///
/// Inside a test scope: what happens in the scope.
pub fn watch() -> Watch {
    let here = here();
    let inbox = Arc::new(Inbox::new(DEFAULT_KEPT_NEWS));
    // Before it hears of those that enter: whoever enters later is heard of when it changes.
    let installed = observe::install(Ear(Arc::clone(&inbox)));
    here.watchers().add(&inbox);
    Watch {
        inbox,
        home: Home::of(&here),
        _installed: installed,
    }
}

/// Hears of what becomes of the breakers, as long as it is there: see [`watch()`].
#[must_use = "nothing is heard of once this is dropped"]
pub struct Watch {
    inbox: Arc<Inbox>,
    home: Home,
    _installed: Installed,
}

/// What came since a watcher last asked.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Heard {
    /// What happened, in the order in which it was told. Under concurrency two changes of
    /// one breaker may be told in either order; [`Change::generation`] puts them right.
    pub news: Vec<News>,
    /// How much was given up before the first of these, since too much had come: look at
    /// [`all()`](super::all()) again.
    pub missed: u64,
}

/// What happened to a breaker. Displays as the line of a log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct News {
    /// Its name.
    pub breaker: Arc<str>,
    /// The key's label, if it is one of several by key.
    pub key: Option<Arc<str>>,
    /// What happened.
    pub what: Happened,
}

/// What may happen to a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Happened {
    /// It entered the registry; or the key was seen for the first time.
    Entered,
    /// It left the registry; or the key was given up for a new one.
    Left,
    /// It entered a state. Also told of a breaker made by hand, which is not listed.
    #[non_exhaustive]
    Changed {
        /// From, to, why.
        change: Change,
        /// Grows with every event of the process, as that of observers.
        sequence: u64,
    },
    /// Its configuration was changed: [`overrides`](super::overrides()) says what lies over it now.
    /// Of breakers by key: that of all keys. Not told of what waited for one that enters.
    Reconfigured,
    /// Something that waited for it was wrong for it:
    /// [`problems`](super::problems) says what.
    Problem,
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "`{}[{key}]`", OneLine(&self.breaker))?,
            None => write!(f, "`{}`", OneLine(&self.breaker))?,
        }
        match self.what {
            Happened::Entered => f.write_str(" entered the registry"),
            Happened::Left => f.write_str(" left the registry"),
            Happened::Changed { change, .. } => write!(f, ": {} -> {}", change.from, change.to),
            Happened::Reconfigured => f.write_str(" was reconfigured"),
            Happened::Problem => f.write_str(" does not take what waited for it"),
        }
    }
}

impl Watch {
    /// Keeps so much news for this watcher, at least one.
    pub fn at_most(self, news: usize) -> Self {
        self.inbox.queue().at_most(news.max(1));
        self
    }

    /// Waits until something happened, and gives all that did. Nothing is lost where the
    /// future is dropped before.
    pub async fn changed(&mut self) -> Heard {
        loop {
            match self.heard_or_listener() {
                Ok(heard) => return heard,
                Err(listener) => listener.await,
            }
        }
    }

    /// [`changed`](Self::changed), by blocking the thread.
    #[cfg(not(target_family = "wasm"))]
    pub fn wait(&mut self) -> Heard {
        use event_listener::Listener as _;

        loop {
            match self.heard_or_listener() {
                Ok(heard) => return heard,
                Err(listener) => listener.wait(),
            }
        }
    }

    /// [`wait`](Self::wait), but no longer than so. `None`: nothing happened.
    #[cfg(not(target_family = "wasm"))]
    pub fn wait_timeout(&mut self, at_most: std::time::Duration) -> Option<Heard> {
        use event_listener::Listener as _;

        // The system's own time, also in a test scope: that stands still while this waits.
        let deadline = std::time::Instant::now().checked_add(at_most);
        loop {
            match (self.heard_or_listener(), deadline) {
                (Ok(heard), _) => return Some(heard),
                (Err(listener), None) => listener.wait(),
                (Err(listener), Some(deadline)) => {
                    if listener.wait_deadline(deadline).is_none() {
                        return self.try_changed();
                    }
                }
            }
        }
    }

    /// What happened since it was last asked, if anything did.
    pub fn try_changed(&mut self) -> Option<Heard> {
        self.inbox.queue().take()
    }

    fn heard_or_listener(&self) -> Result<Heard, EventListener> {
        if let Some(heard) = self.inbox.queue().take() {
            return Ok(heard);
        }
        let listener = self.inbox.arrived.listen();
        // What came in between woke nobody.
        self.inbox.queue().take().ok_or(listener)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(here) = self.home.here() {
            here.watchers().remove(&self.inbox);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// What one watcher has not come for yet.
struct Inbox {
    queue: Mutex<Queue>,
    arrived: Event,
}

struct Queue {
    news: VecDeque<News>,
    missed: u64,
    at_most: usize,
}

impl Inbox {
    fn new(at_most: usize) -> Self {
        Self {
            queue: Mutex::new(Queue {
                news: VecDeque::new(),
                missed: 0,
                at_most,
            }),
            arrived: Event::new(),
        }
    }

    /// Nothing of a user's runs while it is locked.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.arrived.notify(usize::MAX);
    }
}

impl Queue {
    fn push(&mut self, news: News) {
        self.news.push_back(news);
        self.at_most(self.at_most);
    }

    fn at_most(&mut self, news: usize) {
        self.at_most = news;
        while self.news.len() > news {
            self.news.pop_front();
            self.missed += 1;
        }
    }

    fn take(&mut self) -> Option<Heard> {
        if self.news.is_empty() {
            return None;
        }
        Some(Heard {
            news: std::mem::take(&mut self.news).into(),
            missed: std::mem::take(&mut self.missed),
        })
    }
}

/// Of state changes observers are told, and so is this.
struct Ear(Arc<Inbox>);

impl Ear {
    fn tell(&self, breaker: &str, key: Option<KeyLabel<'_>>, what: Happened) {
        // The key's label is the user's code.
        let key = key.map(|key| key.to_string().into());
        let breaker = breaker.into();
        self.0.queue().push(News { breaker, key, what });
        self.0.wake();
    }
}

impl Observer for Ear {
    fn state_changed(&self, event: &StateChange<'_>) {
        let what = Happened::Changed {
            change: *event.change,
            sequence: event.sequence,
        };
        self.tell(event.breaker, event.key, what);
    }

    fn reconfigured(&self, event: &Reconfigured<'_>) {
        self.tell(event.breaker, event.key, Happened::Reconfigured);
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        self.tell(event.breaker, Some(event.key), Happened::Left);
    }
}

/// Those that watch one book.
pub(super) struct Watchers {
    inboxes: Mutex<Vec<Arc<Inbox>>>,
    /// How many they are: nobody locks to find out that there are none.
    count: AtomicUsize,
}

impl Watchers {
    pub(super) const fn new() -> Self {
        Self {
            inboxes: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    fn add(&self, inbox: &Arc<Inbox>) {
        self.change(|inboxes| inboxes.push(Arc::clone(inbox)));
    }

    fn remove(&self, inbox: &Arc<Inbox>) {
        self.change(|inboxes| inboxes.retain(|other| !Arc::ptr_eq(other, inbox)));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Inbox>>)) {
        let mut inboxes = self.inboxes();
        change(&mut inboxes);
        self.count.store(inboxes.len(), Ordering::SeqCst);
    }

    fn inboxes(&self) -> MutexGuard<'_, Vec<Arc<Inbox>>> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are any.
    pub(super) fn are_there(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Tells them. They wake when what is returned is dropped: outside of any lock, since
    /// what wakes a task is the runtime's.
    #[must_use = "wakes the watchers when it is dropped"]
    pub(super) fn tell(&self, breaker: &str, key: Option<&str>, what: Happened) -> Wake {
        if !self.are_there() {
            return Wake(Vec::new());
        }
        let (breaker, key) = (Arc::from(breaker), key.map(Arc::from));
        let news = News { breaker, key, what };
        let inboxes = self.inboxes().clone();
        for inbox in &inboxes {
            inbox.queue().push(news.clone());
        }
        Wake(inboxes)
    }
}

/// Watchers that have something to hear.
pub(super) struct Wake(Vec<Arc<Inbox>>);

impl Drop for Wake {
    fn drop(&mut self) {
        for inbox in &self.0 {
            inbox.wake();
        }
    }
}
