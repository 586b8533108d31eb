//! What calls and the background have in common: little, and held for moments.

mod waiting;

use crate::circuit::Circuit;
use crate::error::ConnectionError;
use crate::group::Group;
use crate::leaving::LastWords;
use crate::protocol::{Prefix, Unusable, Who};
use crate::settings::FleetBuilder;
use crate::status::{FleetStatus, Nonsense};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The fleet's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) poll: Duration,
    pub(crate) alive: Duration,
    pub(crate) batch: Duration,
    pub(crate) lease: Duration,
    pub(crate) answer: Duration,
}

/// Circuits that threads add at the same moment, at most.
const AT_ONCE: usize = 64;

/// What calls and the background have in common.
pub(crate) struct Hub {
    began: Instant,
    me: Who,
    prefix: Prefix,
    times: Times,
    groups: Mutex<Groups>,
    /// Groups have come or gone since the background looked.
    have_changed: AtomicBool,
    /// How many circuits there are, as it was when they were counted, and those that came since.
    circuits: AtomicUsize,
    /// Circuits that the background must look at, each at most once: so it never grows beyond their
    /// number, for which there is room before it is needed. A call allocates nothing here.
    queue: Mutex<Vec<Arc<Circuit>>>,
    wake: Notify,
    is_ending: AtomicBool,
    /// Observers were told of the end.
    is_end_told: AtomicBool,
    /// That of the background.
    thread: OnceLock<ThreadId>,
    link: Mutex<LinkState>,
    /// Of circuits that were given up.
    pub(crate) last_words: Arc<LastWords>,
    /// Something that [`ready`](crate::Fleet::ready) waits for may have happened.
    progress: Condvar,
    pub(crate) answered: AtomicU64,
    pub(crate) heard: AtomicU64,
    nonsense: AtomicU64,
    last_nonsense: Mutex<Option<Nonsense>>,
}

/// All groups, and by channel the last of each: one that is over stays beside another of its name, until
/// the background has seen to its messages.
#[derive(Default)]
struct Groups {
    all: Vec<Arc<Group>>,
    by_channel: HashMap<Box<[u8]>, Arc<Group>>,
}

/// How the connection does.
struct LinkState {
    /// Those connections that there are.
    sessions: Vec<u64>,
    /// Whether all circuits can be had.
    is_connected: bool,
    since: Instant,
    last_error: Option<ConnectionError>,
    lost: u64,
}

impl LinkState {
    fn set_connected(&mut self, is_connected: bool) {
        if self.is_connected != is_connected {
            self.is_connected = is_connected;
            self.since = Instant::now();
        }
    }
}

impl Hub {
    pub(crate) fn new(me: Who, prefix: Prefix, settings: &FleetBuilder) -> Self {
        let began = Instant::now();
        Self {
            began,
            me,
            prefix,
            times: Times {
                poll: settings.poll,
                alive: settings.alive,
                batch: settings.batch,
                lease: settings.lease,
                answer: settings.answer,
            },
            groups: Mutex::default(),
            have_changed: AtomicBool::new(false),
            circuits: AtomicUsize::new(0),
            queue: Mutex::default(),
            wake: Notify::new(),
            is_ending: AtomicBool::new(false),
            is_end_told: AtomicBool::new(false),
            thread: OnceLock::new(),
            link: Mutex::new(LinkState {
                sessions: Vec::new(),
                is_connected: false,
                since: began,
                last_error: None,
                lost: 0,
            }),
            last_words: Arc::default(),
            progress: Condvar::new(),
            answered: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            nonsense: AtomicU64::new(0),
            last_nonsense: Mutex::default(),
        }
    }

    /// Microseconds of this process's monotonic clock.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(crate) fn at(&self, micros: u64) -> Option<Instant> {
        self.began.checked_add(Duration::from_micros(micros))
    }

    pub(crate) fn me(&self) -> &Who {
        &self.me
    }

    pub(crate) fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Circuits
impl Hub {
    /// There is a circuit more: room for it in the queue.
    pub(crate) fn reserve(&self) {
        let at_most = self.circuits.fetch_add(1, Ordering::Relaxed) + 1;
        if at_most <= Self::lock(&self.queue).capacity() {
            return;
        }
        let circuits = self.recount();
        let room = (circuits + AT_ONCE).next_power_of_two();
        let mut queue = Self::lock(&self.queue);
        let more = room.saturating_sub(queue.len());
        queue.reserve(more);
    }

    /// How many circuits there are: not counted anew for those that have gone lately.
    pub(crate) fn circuits(&self) -> usize {
        self.circuits.load(Ordering::Relaxed)
    }

    /// Counts them. One that is added meanwhile may be missed.
    pub(crate) fn recount(&self) -> usize {
        let circuits = self.groups().iter().map(|group| group.len()).sum();
        self.circuits.store(circuits, Ordering::Relaxed);
        circuits
    }

    /// The background must look at it.
    pub(crate) fn enqueue(&self, circuit: &Arc<Circuit>) {
        if circuit.is_queued.load(Ordering::Acquire) {
            return;
        }
        circuit.queued_at.store(self.now(), Ordering::Relaxed);
        if !circuit.is_queued.swap(true, Ordering::AcqRel) {
            Self::lock(&self.queue).push(Arc::clone(circuit));
            self.wake.notify_one();
        }
    }

    /// What calls have put there.
    pub(crate) fn take_queue(&self, into: &mut impl Extend<Arc<Circuit>>) {
        let mut queue = Self::lock(&self.queue);
        into.extend(queue.drain(..).inspect(|circuit| {
            // What comes from now on is looked at once more.
            circuit.is_queued.store(false, Ordering::Release);
        }));
    }

    /// The background must look at what is there.
    pub(crate) fn wake(&self) {
        self.have_changed();
        self.wake.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Adds a group; `false`: one that is alive has its name.
    pub(crate) fn add(&self, group: &Arc<Group>) -> bool {
        let known = self.group_of(group.channel.as_bytes());
        if known.is_some_and(|known| !self.wait_until_over(&known)) {
            return false;
        }
        let mut groups = Self::lock(&self.groups);
        // Several may have waited.
        let known = groups.by_channel.get(group.channel.as_bytes());
        if known.is_some_and(|known| !known.is_over()) {
            return false;
        }
        // Whoever ends looks at the groups after this: none is missed.
        if self.is_ending() {
            drop(groups);
            group.leave();
            return true;
        }
        groups.all.push(Arc::clone(group));
        let channel = group.channel.as_bytes().into();
        groups.by_channel.insert(channel, Arc::clone(group));
        drop(groups);
        self.have_changed();
        self.wake.notify_one();
        true
    }

    /// Those that are over.
    pub(crate) fn remove(&self, over: &[Arc<Group>]) {
        let over: HashSet<_> = over.iter().map(Arc::as_ptr).collect();
        let is_over = |known: &Arc<Group>| over.contains(&Arc::as_ptr(known));
        let mut groups = Self::lock(&self.groups);
        groups.all.retain(|known| !is_over(known));
        groups.by_channel.retain(|_, known| !is_over(known));
    }

    pub(crate) fn groups(&self) -> Vec<Arc<Group>> {
        Self::lock(&self.groups).all.clone()
    }

    pub(crate) fn group_of(&self, channel: &[u8]) -> Option<Arc<Group>> {
        Self::lock(&self.groups).by_channel.get(channel).cloned()
    }

    /// Groups have come or gone.
    pub(crate) fn have_changed(&self) {
        self.have_changed.store(true, Ordering::Release);
    }

    /// Whether they have, since this was last asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.have_changed.swap(false, Ordering::AcqRel)
    }

    /// Breakers are on their own from now on, and the background ends.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        for group in self.groups() {
            group.leave();
        }
        let mut link = Self::lock(&self.link);
        link.sessions.clear();
        link.set_connected(false);
        drop(link);
        self.wake.notify_one();
        self.progress.notify_all();
    }

    /// The background has ended. Groups have the hub, so it would keep itself.
    pub(crate) fn clear(&self) {
        let groups = std::mem::take(&mut *Self::lock(&self.groups));
        for group in groups.all {
            group.clear();
        }
        let queue = std::mem::take(&mut *Self::lock(&self.queue));
        drop(queue);
    }

    /// Observers were told that it ended too early.
    pub(crate) fn ends_with_a_word(&self) {
        self.is_end_told.store(true, Ordering::Release);
    }

    pub(crate) fn is_end_told(&self) -> bool {
        self.is_end_told.load(Ordering::Acquire)
    }

    /// This thread is the background.
    pub(crate) fn runs_here(&self) {
        let _ = self.thread.set(thread::current().id());
    }

    /// Whether this thread is the background, in which nothing may wait for it.
    pub(crate) fn is_background(&self) -> bool {
        self.thread.get() == Some(&thread::current().id())
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }
}

// The connection
impl Hub {
    pub(crate) fn connected(&self, session: u64) {
        Self::lock(&self.link).sessions.push(session);
    }

    pub(crate) fn disconnected(&self, session: u64) {
        Self::lock(&self.link)
            .sessions
            .retain(|known| *known != session);
    }

    /// Whether all circuits could be had when that was looked at last.
    pub(crate) fn is_connected(&self) -> bool {
        Self::lock(&self.link).is_connected
    }

    /// All circuits can be had.
    pub(crate) fn all_are_had(&self) {
        let mut link = Self::lock(&self.link);
        if !self.is_ending() {
            link.set_connected(true);
        }
        drop(link);
        self.progress.notify_all();
    }

    /// Some or all circuits can't be had: a connection ended, if there `was` one, or couldn't be made; or
    /// Redis refuses what is asked for them.
    pub(crate) fn failed(&self, error: &ConnectionError, was: bool) {
        let mut link = Self::lock(&self.link);
        link.set_connected(false);
        link.lost += u64::from(was);
        link.last_error = Some(error.clone());
    }

    /// Something that made no sense was refused; `why`, if it is known.
    pub(crate) fn refuse(&self, of: &str, why: Option<Unusable>) {
        self.nonsense.fetch_add(1, Ordering::Relaxed);
        if let Some(why) = why {
            let of = of.to_owned();
            *Self::lock(&self.last_nonsense) = Some(Nonsense { of, why });
        }
    }

    pub(crate) fn status(&self) -> FleetStatus {
        let groups = self.groups();
        let circuits: Vec<_> = groups.iter().flat_map(|group| group.circuits()).collect();
        let link = Self::lock(&self.link);
        let is_cut_off = |circuit: &&Arc<Circuit>| {
            let found_in = circuit.found_in.load(Ordering::Relaxed);
            // One that is new is asked for in a moment, where there is a connection.
            circuit.is_missed() || !link.is_connected && !link.sessions.contains(&found_in)
        };
        let cut_off = circuits.iter().filter(is_cut_off).count();
        let unusable = circuits.iter().find_map(|circuit| circuit.unusable());
        FleetStatus {
            // The background may be about to say so.
            is_connected: link.is_connected && cut_off == 0,
            since: link.since.elapsed(),
            last_error: unusable.or_else(|| link.last_error.clone()),
            circuits: circuits.len(),
            namesakes: groups.iter().map(|group| group.namesakes()).sum(),
            cut_off,
            unheard: circuits
                .iter()
                .filter(|it| it.is_unheard.load(Ordering::Relaxed))
                .count(),
            differing: groups.iter().filter(|group| group.is_differing()).count(),
            answered: self.answered.load(Ordering::Relaxed),
            heard: self.heard.load(Ordering::Relaxed),
            nonsense: self.nonsense.load(Ordering::Relaxed),
            last_nonsense: Self::lock(&self.last_nonsense).clone(),
            lost: link.lost,
        }
    }
}
