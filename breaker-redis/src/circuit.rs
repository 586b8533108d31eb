//! One circuit of this process that is shared.

use crate::error::ConnectionError;
use crate::group::{Group, Visit};
use crate::hub::Hub;
use crate::instance::{Happened, Instance, Options, micros};
use crate::leaving::LastWord;
use crate::protocol::{Cause, Counts, Place, Shared};
use breakerbox::link::Kept;
use breakerbox::observe::CircuitId;
use breakerbox::{AnyBreaker, Change, State, Trigger};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// No time.
pub(crate) const NEVER: u64 = u64::MAX;

/// What leads to a breaker without keeping it.
#[derive(Clone)]
pub(crate) enum Reach {
    Static(&'static dyn AnyBreaker),
    Weak(Weak<dyn AnyBreaker>),
    OfKey(Kept),
}

/// A breaker for as long as it is looked at.
pub(crate) enum Reached {
    Static(&'static dyn AnyBreaker),
    Counted(Arc<dyn AnyBreaker>),
}

impl Reach {
    /// `None`: it is gone.
    pub(crate) fn get(&self) -> Option<Reached> {
        match self {
            Self::Static(breaker) => Some(Reached::Static(*breaker)),
            Self::Weak(breaker) => breaker.upgrade().map(Reached::Counted),
            Self::OfKey(kept) => kept.get().map(Reached::Counted),
        }
    }

    /// Whether it is gone. Unlike by [`get`](Self::get), nobody comes by a breaker here that others may
    /// drop meanwhile: so its end, of which observers hear, is never in this thread.
    fn is_gone(&self) -> bool {
        match self {
            Self::Static(_) => false,
            Self::Weak(breaker) => breaker.strong_count() == 0,
            Self::OfKey(kept) => kept.get().is_none(),
        }
    }
}

impl Deref for Reached {
    type Target = dyn AnyBreaker;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Static(breaker) => *breaker,
            Self::Counted(breaker) => &**breaker,
        }
    }
}

/// Whether Redis can be had for a circuit.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It can, or nothing else is known.
    Had,
    /// Its connection was lost, or is there again, and hasn't answered for this circuit yet.
    Awaited,
    /// It can't, although it can for others.
    Unusable(Box<ConnectionError>),
}

/// A circuit of this process that is shared.
pub(crate) struct Circuit {
    pub(crate) group: Weak<Group>,
    pub(crate) reach: Reach,
    /// What Redis and messages call it.
    pub(crate) place: Place,
    /// Of a keyed breaker.
    pub(crate) id: Option<CircuitId>,
    instance: Mutex<Instance>,
    /// Whether it waits in the queue.
    pub(crate) is_queued: AtomicBool,
    /// Since when.
    pub(crate) queued_at: AtomicU64,
    /// Since when the background has it among what is urgent and hasn't come to it, or [`NEVER`]. Of the
    /// background alone.
    pub(crate) waits_since: AtomicU64,
    /// When the background looks at it by itself, or [`NEVER`].
    pub(crate) due: AtomicU64,
    /// In which session it was told that Redis is there; in which it was answered first. Of the
    /// background alone.
    pub(crate) found_in: AtomicU64,
    pub(crate) told_in: AtomicU64,
    standing: Mutex<Standing>,
    /// Until when it asks nothing, as what it got made no sense. Of the background alone.
    pub(crate) quiet_until: AtomicU64,
    /// Odd while the background has the breaker.
    turns: AtomicUsize,
    /// Its key was given up.
    is_over: AtomicBool,
    /// What it had to say in the end was said, or isn't to be.
    pub(crate) has_parted: AtomicBool,
    /// What an operator said of it, from when it was given up until that is told.
    last_word: Mutex<Option<LastWord>>,
    /// What an operator said of it here last was told to no other process.
    pub(crate) is_unheard: AtomicBool,
}

/// The background has the breaker, for as long as this is there.
pub(crate) struct Had<'a> {
    circuit: &'a Circuit,
    breaker: Reached,
    // Dropped after it.
    _visit: Option<Visit>,
}

impl Had<'_> {
    pub(crate) fn breaker(&self) -> &dyn AnyBreaker {
        &*self.breaker
    }
}

impl Drop for Had<'_> {
    fn drop(&mut self) {
        self.circuit.turns.fetch_add(1, Ordering::AcqRel);
    }
}

impl Circuit {
    pub(crate) fn new(
        group: Weak<Group>,
        reach: Reach,
        place: Place,
        id: Option<CircuitId>,
        instance: Instance,
    ) -> Self {
        Self {
            group,
            reach,
            place,
            id,
            instance: Mutex::new(instance),
            is_queued: AtomicBool::new(false),
            queued_at: AtomicU64::new(0),
            waits_since: AtomicU64::new(NEVER),
            due: AtomicU64::new(NEVER),
            found_in: AtomicU64::new(0),
            told_in: AtomicU64::new(0),
            standing: Mutex::new(Standing::Had),
            quiet_until: AtomicU64::new(0),
            turns: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            has_parted: AtomicBool::new(false),
            last_word: Mutex::new(None),
            is_unheard: AtomicBool::new(false),
        }
    }

    /// The breaker, for the background. `None`: it is gone.
    pub(crate) fn have(&self) -> Option<Had<'_>> {
        let visit = self.visit();
        let breaker = self.reach.get()?;
        self.turns.fetch_add(1, Ordering::AcqRel);
        Some(Had {
            circuit: self,
            breaker,
            _visit: visit,
        })
    }

    fn visit(&self) -> Option<Visit> {
        self.group.upgrade().map(Group::visit)
    }

    /// Whether nobody has its breaker any more, but perhaps the background, for a moment.
    pub(crate) fn is_gone(&self) -> bool {
        let Reach::Weak(breaker) = &self.reach else {
            return self.has_gone();
        };
        let turns = self.turns.load(Ordering::Acquire);
        let strong = breaker.strong_count();
        fence(Ordering::Acquire);
        // The same background all the time, or none.
        self.turns.load(Ordering::Relaxed) == turns && strong <= turns % 2
    }

    /// The same, also where the background has it.
    pub(crate) fn has_gone(&self) -> bool {
        let _visit = self.visit();
        self.reach.is_gone()
    }

    /// For moments only.
    pub(crate) fn instance(&self) -> MutexGuard<'_, Instance> {
        self.instance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It stands so from now on. Gives how it stood.
    pub(crate) fn stand(&self, so: Standing) -> Standing {
        std::mem::replace(&mut *self.standing(), so)
    }

    /// Whether Redis can't be had for it, or hasn't answered since it could.
    pub(crate) fn is_missed(&self) -> bool {
        !matches!(*self.standing(), Standing::Had)
    }

    /// Why it can't be used, although others can.
    pub(crate) fn unusable(&self) -> Option<ConnectionError> {
        match &*self.standing() {
            Standing::Unusable(error) => Some((**error).clone()),
            Standing::Had | Standing::Awaited => None,
        }
    }

    /// Whether anybody still shares it.
    pub(crate) fn is_shared(&self) -> bool {
        let is_left = self.group.upgrade().is_none_or(|group| group.is_left());
        !is_left && !self.is_over() && !self.has_gone()
    }

    /// Its key is given up: nobody will ask it for anything any more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// It is about to be forgotten: a fleet that is dropped waits for what an operator said of it.
    pub(crate) fn keep_last_word(&self, hub: &Hub) {
        let mut word = self.last_word();
        let has_parted = self.has_parted.load(Ordering::Acquire);
        if !has_parted && word.is_none() && self.instance().has_order() {
            *word = Some(LastWord::of(&hub.last_words));
        }
    }

    /// What it had to say in the end was said.
    pub(crate) fn has_said_last_word(&self) {
        let word = self.last_word().take();
        if let Some(word) = word {
            word.told();
        }
    }

    /// Whether it was given up before that was told.
    pub(crate) fn has_last_word(&self) -> bool {
        self.last_word().is_some()
    }

    /// Whether an operator's word is yet to be told, while it is shared.
    pub(crate) fn has_order(&self) -> bool {
        let is_forgotten = self.has_last_word() || self.has_parted.load(Ordering::Acquire);
        !is_forgotten && self.instance().has_order()
    }

    fn last_word(&self) -> MutexGuard<'_, Option<LastWord>> {
        let word = self.last_word.lock();
        word.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the background should have looked at it for so many microseconds, and hasn't: an
    /// observer holds it up, the machine has no time for it, or Redis answers too slowly for all that is to
    /// be asked.
    pub(crate) fn is_neglected(&self, now: u64, since: u64) -> bool {
        let is_over = |at: &AtomicU64| at.load(Ordering::Relaxed).saturating_add(since) < now;
        is_over(&self.due)
            || is_over(&self.waits_since)
            || self.is_queued.load(Ordering::Acquire) && is_over(&self.queued_at)
    }

    /// The background comes to it, sooner or later.
    pub(crate) fn begin_to_wait(&self, now: u64) {
        let since = self.waits_since.load(Ordering::Relaxed);
        self.waits_since.store(since.min(now), Ordering::Relaxed);
    }

    /// Whether the background must look at it earlier than it would by itself.
    pub(crate) fn is_worth_waking(&self, due: Option<u64>) -> bool {
        due.is_some_and(|due| due < self.due.load(Ordering::Relaxed))
    }
}

/// What an instance of a breaker begins with. What opened it before it was shared, or set it so, is told
/// to the fleet; not that it was closed, which says nothing.
pub(crate) fn begun(options: &Arc<Options>, breaker: &dyn AnyBreaker, now: u64) -> Instance {
    // A state that is entered meanwhile is told as news.
    let generation = breaker.generation();
    let snapshot = breaker.snapshot();
    let state = Shared {
        state: snapshot.state,
        wait: micros(snapshot.time_left),
        imposed: snapshot.imposed,
        reopenings: snapshot.reopenings,
    };
    let why = breaker.last_change().filter(|change| {
        change.generation == generation && change.to == state.state && change.to != State::Closed
    });
    let begun = Happened {
        generation,
        state,
        cause: why.and_then(|change| cause(change.trigger, change.failures)),
        // Nobody noted it.
        window: Counts::default(),
    };
    Instance::new(Arc::clone(options), &begun, now, fastrand::u64(..))
}

/// What brought a state about, for the fleet. `None`: nothing that it is told.
fn cause(trigger: Trigger, failures: u32) -> Option<Cause> {
    match trigger {
        Trigger::Fleet | Trigger::Restored => None,
        Trigger::Overloaded => Some(Cause::Overloaded),
        Trigger::WaitOver | Trigger::ProbeTimedOut => Some(Cause::Leased),
        Trigger::Recovered => Some(Cause::Recovered),
        Trigger::Operator => Some(Cause::Operator),
        _ => Some(Cause::Tripped { failures }),
    }
}

/// What a change means to the fleet. `None`: that it followed others.
pub(crate) fn happened(breaker: &dyn AnyBreaker, change: &Change) -> Option<Happened> {
    if change.trigger == Trigger::Fleet {
        return None;
    }
    let snapshot = breaker.snapshot();
    // If it is in a later state by now, that is told as well, and this one hardly counts.
    let is_still = breaker.generation() == change.generation;
    let is_open = change.to == State::Open;
    let by_itself = matches!(change.trigger, Trigger::Overloaded | Trigger::Operator);
    let state = Shared {
        state: change.to,
        wait: match change.wait {
            _ if !is_open => 0,
            _ if is_still && snapshot.state == State::Open => micros(snapshot.time_left),
            wait => micros(wait.unwrap_or_default()),
        },
        imposed: is_open
            && if is_still {
                snapshot.imposed
            } else {
                by_itself
            },
        reopenings: if is_still { snapshot.reopenings } else { 0 },
    };
    Some(Happened {
        generation: change.generation,
        state,
        cause: cause(change.trigger, change.failures),
        window: Counts::of_trip(change),
    })
}
