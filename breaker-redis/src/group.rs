//! A breaker that is shared, or the breakers of all keys.

mod calls;
mod differing;
mod members;

use crate::circuit::{Circuit, Reach, begun};
use crate::hub::Hub;
use crate::instance::Options;
use crate::membership::Linkage;
use crate::protocol::{Declared, Limits, Place, Quorum, Share};
use crate::sharing::Sharing;
use breakerbox::link::{self, Kept, Linked};
use breakerbox::{AnyBreaker, Config};
use differing::Differing;
use members::Members;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

/// Circuits that are asked for in a second by polling at most, where nothing else is at stake.
const POLLS_IN_A_SECOND: u32 = 200;

/// Those among them that are closed, and of which nothing is at stake at all.
const QUIET_POLLS_IN_A_SECOND: u32 = 20;

/// A breaker that is shared, or the breakers of all keys: what they have in common.
pub(crate) struct Group {
    me: Weak<Self>,
    hub: Arc<Hub>,
    pub(crate) name: String,
    pub(crate) channel: String,
    sharing: Sharing,
    options: Mutex<Arc<Options>>,
    members: RwLock<Members>,
    /// What others were found to declare otherwise.
    differing: Mutex<Differing>,
    linkage: Weak<Linkage>,
    is_left: AtomicBool,
    /// How many of our own threads have one of its breakers just now, for moments.
    visits: AtomicUsize,
    /// In which session its messages arrive. Of the background alone.
    pub(crate) heard_in: AtomicU64,
    /// In which it was asked for them. Of the background alone.
    pub(crate) asked_in: AtomicU64,
    /// Until when it isn't asked for them, as that was refused. Of the background alone.
    pub(crate) quiet_until: AtomicU64,
}

impl Group {
    /// Of one breaker.
    pub(crate) fn of_one(
        hub: &Arc<Hub>,
        sharing: Sharing,
        linkage: &Arc<Linkage>,
        breaker: &dyn AnyBreaker,
        reach: Reach,
    ) -> Arc<Self> {
        let name = breaker.name();
        let group = Self::new(
            hub,
            name,
            sharing,
            linkage,
            &breaker.config(),
            Members::One(None),
        );
        let instance = begun(&group.options(), breaker, hub.now());
        let place = Place::new(hub.prefix(), name, None);
        let circuit = Circuit::new(group.me.clone(), reach, place, None, instance);
        *group.write() = Members::One(Some(Arc::new(circuit)));
        group
    }

    /// Of breakers by key, none of which is known yet.
    pub(crate) fn of_keys(
        hub: &Arc<Hub>,
        sharing: Sharing,
        linkage: &Arc<Linkage>,
        name: &str,
        config: &Config,
    ) -> Arc<Self> {
        Self::new(hub, name, sharing, linkage, config, Members::no_key())
    }

    fn new(
        hub: &Arc<Hub>,
        name: &str,
        sharing: Sharing,
        linkage: &Arc<Linkage>,
        config: &Config,
        members: Members,
    ) -> Arc<Self> {
        let options = options(hub, &sharing, config);
        // Of all keys the same.
        let key = matches!(members, Members::Keys { .. }).then_some("");
        let channel = Place::new(hub.prefix(), name, key).channel().to_owned();
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            hub: Arc::clone(hub),
            name: name.to_owned(),
            channel,
            sharing,
            options: Mutex::new(Arc::new(options)),
            members: RwLock::new(members),
            differing: Mutex::default(),
            linkage: Arc::downgrade(linkage),
            is_left: AtomicBool::new(false),
            visits: AtomicUsize::new(0),
            heard_in: AtomicU64::new(0),
            asked_in: AtomicU64::new(0),
            quiet_until: AtomicU64::new(0),
        })
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Members> {
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Members> {
        self.members.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What instances of this group go by now.
    pub(crate) fn options(&self) -> Arc<Options> {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&options)
    }

    /// The settings of a breaker may have been changed while it runs.
    pub(crate) fn look_at_settings(&self, config: &Config) {
        let now = options(&self.hub, &self.sharing, config);
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = options.counting == now.counting
            && options.probe_timeout == now.probe_timeout
            && options.reset == now.reset
            && options.jitter == now.jitter
            && options.opens == now.opens
            && options.poll == now.poll
            && options.quiet == now.quiet;
        if !is_same {
            *options = Arc::new(now);
        }
    }

    /// Another process declares it otherwise than this one, or did before; whether this one `is_used`, and not
    /// an operator's.
    pub(crate) fn look_at_declared(&self, there: Option<Declared>, is_used: bool) {
        let (here, now) = (self.options().declared(), self.hub.now());
        let mut differing = self
            .differing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = there {
            differing.hear(there);
        }
        let to_tell = is_used.then(|| differing.take(here, now)).flatten();
        drop(differing);
        if let Some(there) = to_tell {
            let fleet = self.hub.prefix().as_str();
            link::sharing_differs(fleet, &self.name, &differing::differences(here, there));
        }
    }

    /// Whether another process was heard to declare it otherwise.
    pub(crate) fn is_differing(&self) -> bool {
        let differing = self
            .differing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        differing.is_there()
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    /// All that are known.
    pub(crate) fn circuits(&self) -> Vec<Arc<Circuit>> {
        self.read().all()
    }

    /// The circuit that a message is of, if it is known here.
    pub(crate) fn of_label(&self, label: &str) -> Option<Arc<Circuit>> {
        self.read().of_label(label)
    }

    fn of(&self, linked: &Linked<'_>) -> Option<Arc<Circuit>> {
        let id = linked.breaker().circuit_id();
        let members = self.read();
        let known = members.find(id);
        if known.is_some() || members.is_namesake(id) {
            return known;
        }
        drop(members);
        self.add(linked.breaker(), linked.keep()?)
    }

    /// A key that wasn't known. What happened before is in its state.
    fn add(&self, breaker: &dyn AnyBreaker, kept: Kept) -> Option<Arc<Circuit>> {
        // Displayed, a line feed looks like what others may write as `\\n`.
        let label = breaker.key()?.unescaped().to_string();
        let place = Place::new(self.hub.prefix(), &self.name, Some(&label));
        let instance = begun(&self.options(), breaker, self.hub.now());
        let (me, reach, id) = (self.me.clone(), Reach::OfKey(kept), breaker.circuit_id());
        let made = Circuit::new(me, reach, place, Some(id), instance);
        let known = self.of_label(made.place.label());
        // One whose key is gone makes room.
        if let Some(gone) = known.filter(|known| known.id != Some(id) && known.has_gone()) {
            self.part_with(&gone);
        }
        let circuit = self.write().insert(id, made)?;
        self.hub.reserve();
        self.hub.enqueue(&circuit);
        Some(circuit)
    }

    /// Keys that were there before it was.
    pub(crate) fn add_known(&self, keys: Vec<Kept>) {
        for kept in keys {
            if let Some(breaker) = kept.get() {
                self.add(&*breaker, kept);
            }
        }
    }

    /// It begins with the state that the breaker is in now: what happened until now was told to nobody.
    pub(crate) fn begin(&self, breaker: &dyn AnyBreaker) {
        let one = self.read().find(breaker.circuit_id());
        if let Some(circuit) = one {
            // What happens from here on is told to what begins.
            let mut instance = circuit.instance();
            *instance = begun(&self.options(), breaker, self.hub.now());
        }
    }

    /// The background looks at all circuits.
    pub(crate) fn look_at_all(&self) {
        self.hub.reserve();
        for circuit in self.circuits() {
            self.hub.enqueue(&circuit);
        }
    }

    /// Its breaker is gone.
    pub(crate) fn forget(&self, circuit: &Circuit) {
        circuit.keep_last_word(&self.hub);
        self.write().remove(circuit);
        if circuit.id.is_none() {
            self.hub.have_changed();
        }
    }

    /// Whether its breaker is gone, or it has left.
    pub(crate) fn is_over(&self) -> bool {
        let is_dropped = match &*self.read() {
            Members::One(one) => one.as_ref().is_none_or(|one| one.is_gone()),
            Members::Keys { .. } => self.linkage.strong_count() == 0,
        };
        is_dropped || self.is_left()
    }

    pub(crate) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Acquire)
    }

    /// Its breakers are on their own from now on.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Release);
        self.hub.have_changed();
        if let Some(linkage) = self.linkage.upgrade() {
            linkage.leave(self);
        }
    }

    /// Its breakers may be gone: the background looks, and tells what they have not told yet.
    pub(crate) fn look_whether_over(&self) {
        self.hub.wake();
    }

    /// Another has its name: nothing of it is told.
    pub(crate) fn withdraw(&self) {
        for circuit in self.circuits() {
            circuit.has_parted.store(true, Ordering::Relaxed);
        }
        self.leave();
    }

    /// Drops what it knows.
    pub(crate) fn clear(&self) {
        self.write().clear();
    }
}

/// One of our own threads may have a breaker of this group until this is dropped: what nobody else has
/// seems to be alive for as long.
pub(crate) struct Visit(Arc<Group>);

impl Group {
    /// To be begun before a breaker is come by, and dropped after it.
    pub(crate) fn visit(self: Arc<Self>) -> Visit {
        self.visits.fetch_add(1, Ordering::SeqCst);
        // Who sees no visit yet, and has dropped the breaker before, leaves none to be come by.
        fence(Ordering::SeqCst);
        Visit(self)
    }

    /// Whether that it isn't [over](Self::is_over) may be because of such a thread alone.
    pub(crate) fn is_visited(&self) -> bool {
        fence(Ordering::SeqCst);
        self.visits.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.visits.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What instances of a group go by.
fn options(hub: &Hub, sharing: &Sharing, config: &Config) -> Options {
    let times = hub.times();
    let quorum = sharing.needed().unwrap_or(Quorum::Instances(1));
    let opens = limits(config);
    let counting = sharing.counts_together().then_some(opens);
    let counts_those_alive = counting.is_some() || quorum != Quorum::Instances(1);
    let (mut poll, mut alive) = (times.poll, times.alive);
    let circuits = u32::try_from(hub.circuits()).unwrap_or(u32::MAX);
    let stretched = |a_second| poll.max(Duration::from_secs(1) * (circuits / a_second));
    let quiet = stretched(QUIET_POLLS_IN_A_SECOND);
    if !counts_those_alive {
        // Then who is alive doesn't matter, and many keys may be asked for more rarely.
        poll = stretched(POLLS_IN_A_SECOND);
        alive = alive.max(poll * 4);
    }
    Options {
        slow_start: sharing.slows_start(),
        // Nobody waits for a probe any longer.
        lease: sharing
            .own_lease()
            .unwrap_or(times.lease)
            .min(config.probe_timeout()),
        probe_timeout: config.probe_timeout(),
        reset: config.reset(),
        jitter: config.reset().mul_f64(config.jitter()),
        batch: times.batch,
        answer: times.answer,
        alive,
        poll,
        quiet,
        opens,
        counting,
        quorum,
        ..Options::new(hub.me().clone())
    }
}

/// When the counts of all open the circuit.
fn limits(config: &Config) -> Limits {
    let share = |rate: Option<f64>| rate.and_then(Share::new);
    match (config.failure_rate(), config.min_calls()) {
        (failures, Some(min_calls)) => Limits::Rate {
            failures: share(failures),
            slow: share(config.slow_rate()),
            min_calls,
        },
        _ => Limits::Consecutive {
            threshold: config.threshold(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Prefix, Who};
    use breakerbox::{Settings, Window};

    #[test]
    fn a_lease_lasts_no_longer_than_probes() {
        let fleet = crate::Fleet::builder("redis://127.0.0.1:1").lease(Duration::from_secs(30));
        let me = Who::new("me").expect("a name");
        let hub = Hub::new(me, Prefix::default(), &fleet);
        let seconds = Duration::from_secs;
        for (own, probes, lasts) in [
            (None, 60, 30),
            (None, 2, 2),
            (Some(10), 60, 10),
            (Some(10), 2, 2),
        ] {
            let config = Settings::new().probe_timeout(seconds(probes)).must();
            let sharing = own.map_or(Sharing::new(), |own| Sharing::new().lease(seconds(own)));
            assert_eq!(options(&hub, &sharing, &config).lease, seconds(lasts));
        }
    }

    #[test]
    fn counts_of_all_open_the_circuit_by_the_breakers_own_limits() {
        let row = Settings::new().threshold(7).must();
        assert_eq!(limits(&row), Limits::Consecutive { threshold: 7 });
        let window = Settings::new().window(Window::calls(100)).min_calls(20);
        let by_rate = |settings: Settings| limits(settings.build_rate().expect("rates").config());
        let share = |share| Some(Share::new(share).expect("a share"));
        for (settings, failures, slow) in [
            (window.failure_rate(0.5), share(0.5), None),
            (
                window
                    .failure_rate(0.5)
                    .slow(Duration::from_secs(1))
                    .slow_rate(0.25),
                share(0.5),
                share(0.25),
            ),
        ] {
            let min_calls = 20;
            let expected = Limits::Rate {
                failures,
                slow,
                min_calls,
            };
            assert_eq!(by_rate(settings), expected);
        }
    }
}
