//! The two atomic words, and how threads agree about them.
//!
//! The state word is changed by compare-and-swap alone. The stamp beside it
//! can't be changed in the same instruction, so these rules keep anyone from
//! acting on a time that isn't the state's:
//! 1. A stamp carries the low bits of its generation; a reader that meets
//!    another generation's puts its own reading there and takes it that no time
//!    has passed ([`CircuitRef::elapsed`]).
//! 2. Who enters a state stamps it after the swap, unless the generation has
//!    moved on or a later time already stands there
//!    ([`CircuitRef::stamp_entry`]). So a thread that was held up can't put an old
//!    time over a newer one.
//! 3. Within a generation the stamp moves *before* the word: a trial is never
//!    seen full with the time of the probe before
//!    ([`CircuitRef::stamp_probe`]).
//! 4. Within a generation no word comes again: each probe that is admitted moves
//!    the trial's turn on (`Trial::admit`). So what was decided about a word is
//!    never done to another trial that only looks the same. (The turn comes
//!    again after 512 probes, beside `close_rate` after 8, of one trial that were
//!    all given back while a single thread was held up.)
//! 5. The clock is read after the words it is compared with, and again on each
//!    retry, so a reading is never older than a stamp that was seen.

use crate::circuit::{Admission, BareCircuit, CircuitRef};
use crate::clock::{Clock, Reading};
use crate::config::Config;
use crate::error::{Reason, Rejected, SnapshotError};
use crate::live::LiveConfig;
use crate::nanos;
use crate::outcome::{Change, Effect, Outcome, Trigger};
use crate::permit::Permit;
use crate::policy::{Call, Counted, Policy, sealed::Moment};
use crate::random::mix;
use crate::snapshot::Snapshot;
use crate::stamp::Stamp;
use crate::state::{Generation, State};
use crate::sync::{Ordering, swap};
use crate::transition::{self, Answer, Order, Step, Timeless};
use crate::word::Word;
use core::num::NonZeroU64;
use core::time::Duration;

// For callers
impl<'a, P: Policy> CircuitRef<'a, P> {
    /// See [`Circuit::admit`](crate::Circuit::admit).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn admit<C: Clock>(self, clock: C) -> Result<Permit<'a, C, P>, Rejected> {
        let admission = self.try_admit(&clock)?;
        Ok(Permit::new(self, admission, clock))
    }

    /// See [`Circuit::admit_at`](crate::Circuit::admit_at).
    ///
    /// # Errors
    /// As there.
    pub fn admit_at(self, now: u64) -> Result<Permit<'a, Reading, P>, Rejected> {
        self.admit(Reading(now))
    }

    /// See [`Circuit::admit_if_closed`](crate::Circuit::admit_if_closed).
    #[inline]
    pub fn admit_if_closed(self) -> Option<Generation> {
        let word = self.load();
        word.is_closed().then(|| word.generation())
    }

    /// See [`Circuit::try_admit`](crate::Circuit::try_admit).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn try_admit<C: Clock>(self, clock: &C) -> Result<Admission, Rejected> {
        match self.admit_if_closed() {
            Some(generation) => Ok(Admission {
                generation,
                change: None,
            }),
            None => self.try_admit_unless_closed(clock),
        }
    }

    /// See [`Circuit::try_admit_if_granted`](crate::Circuit::try_admit_if_granted).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn try_admit_if_granted<C: Clock>(
        self,
        clock: &C,
        granted: impl FnOnce() -> bool,
    ) -> Result<Admission, Rejected> {
        match self.admit_if_closed() {
            Some(generation) => Ok(Admission {
                generation,
                change: None,
            }),
            None => self.try_admit_slowly_if_granted(clock, granted),
        }
    }

    #[inline(never)]
    fn try_admit_unless_closed<C: Clock>(self, clock: &C) -> Result<Admission, Rejected> {
        match self.refused_at_once(clock) {
            Some((generation, left)) => Err(Rejected {
                reason: Reason::Open,
                retry_after: Some(Duration::from_nanos(left.get())),
                generation,
            }),
            None => self.try_admit_slowly(clock),
        }
    }

    /// Refuses a call if the breaker is open, its stamp is its own and its wait
    /// is not over: the common refusal, in two registers. Gives the nanoseconds
    /// left; `None` means: ask
    /// [`try_admit_slowly`](Self::try_admit_slowly).
    #[doc(hidden)]
    #[inline]
    pub fn refused_at_once<C: Clock>(self, clock: &C) -> Option<(Generation, NonZeroU64)> {
        let word = self.load();
        if word.state() != State::Open || self.live.is_overridden() {
            return None;
        }
        let generation = word.generation();
        let stamp = self.load_stamp();
        let now = clock.now();
        if !stamp.belongs_to(generation) {
            return None;
        }
        let elapsed = now.checked_sub(stamp.nanos())?;
        let left = transition::left_open(word, elapsed, clock.resolution(), self.live.declared())?;
        Some((generation, left))
    }

    /// [`try_admit`](Self::try_admit), where
    /// [`refused_at_once`](Self::refused_at_once) has not refused.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    pub fn try_admit_slowly<C: Clock>(self, clock: &C) -> Result<Admission, Rejected> {
        self.slowly(clock, || true)
    }

    /// [`try_admit_if_granted`](Self::try_admit_if_granted), where it is not
    /// closed.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    #[cold]
    #[cfg_attr(not(one_thread), inline(never))]
    #[cfg_attr(one_thread, inline)]
    pub fn try_admit_slowly_if_granted<C: Clock>(
        self,
        clock: &C,
        granted: impl FnOnce() -> bool,
    ) -> Result<Admission, Rejected> {
        self.slowly(clock, granted)
    }

    #[inline(always)]
    fn slowly<C: Clock>(
        self,
        clock: &C,
        granted: impl FnOnce() -> bool,
    ) -> Result<Admission, Rejected> {
        let held = self.live.overridden();
        let config = held.as_ref().unwrap_or(self.live.declared());
        // Asked once, whoever is quicker with the swap: a grant may be used up by it.
        let mut granted = Some(granted);
        loop {
            let word = self.load();
            let generation = word.generation();
            match transition::ask(word) {
                Timeless::Admit => {
                    return Ok(Admission {
                        generation,
                        change: None,
                    });
                }
                Timeless::ForcedOpen => {
                    let reason = Reason::ForcedOpen;
                    return Err(Rejected {
                        reason,
                        retry_after: None,
                        generation,
                    });
                }
                Timeless::NeedsTime => {}
            }
            let Some(Elapsed { now, elapsed }) = self.elapsed(word, clock) else {
                continue;
            };
            let mut answer = transition::ask_at(word, elapsed, clock.resolution(), config);
            if !matches!(answer, Answer::Refuse(..))
                && let Some(granted) = granted.take()
                && !granted()
            {
                answer = transition::withheld(word);
            }
            match answer {
                Answer::Refuse(reason, left) => {
                    let retry_after = Some(Duration::from_nanos(left));
                    return Err(Rejected {
                        reason,
                        retry_after,
                        generation,
                    });
                }
                Answer::Probe(next) => {
                    self.stamp_probe(generation, now);
                    if self.swap(word, next) {
                        return Ok(Admission {
                            generation,
                            change: None,
                        });
                    }
                }
                Answer::NewTrial(next, trigger) => {
                    if self.swap(word, next) {
                        self.stamp_entry(next, now, clock);
                        let none = Counted::default();
                        let change = transition::change(word, next, trigger, none, config);
                        let generation = next.generation();
                        return Ok(Admission {
                            generation,
                            change: Some(change),
                        });
                    }
                }
            }
        }
    }

    /// What [`settle_started`](Self::settle_started) wants to know of the moment
    /// at which a call was admitted: where `slow` was set, the time.
    #[doc(hidden)]
    #[inline]
    pub fn start<C: Clock>(self, clock: &C) -> P::Started {
        self.bare.policy.start(|| clock.exact())
    }

    /// [`settle`](Self::settle), and how long the call took.
    #[doc(hidden)]
    #[inline]
    pub fn settle_started<C: Clock>(
        self,
        generation: Generation,
        outcome: Outcome,
        started: P::Started,
        clock: &C,
    ) -> Effect {
        if self.is_counted(generation, &outcome) {
            return Effect::Counted;
        }
        let took = self.took(started, clock);
        self.settle_nanos(generation, outcome, took, clock)
    }

    /// Whether an outcome needs no counting: a success, with no failure in a row
    /// before it.
    #[doc(hidden)]
    #[inline]
    pub fn is_counted(self, generation: Generation, outcome: &Outcome) -> bool {
        self.counts_in_word()
            && matches!(outcome, Outcome::Success)
            && self.load() == Word::idle(generation)
    }

    /// Whether an outcome is worth [`count_at_once`](Self::count_at_once).
    #[doc(hidden)]
    #[inline]
    pub fn may_count_at_once(self, outcome: &Outcome) -> bool {
        !self.counts_in_word() && matches!(outcome, Outcome::Success)
    }

    /// Nanoseconds that the call took; 0 where the policy doesn't care. Reads the
    /// exact clock, so it is asked once for each call.
    #[doc(hidden)]
    #[inline]
    pub fn took<C: Clock>(self, started: P::Started, clock: &C) -> u64 {
        self.bare.policy.took(started, || clock.exact())
    }

    /// Counts a success that took so many nanoseconds in a window, if it takes no
    /// more than one swap, by the declared configuration. `false`: nothing was done, so
    /// [`settle_slowly`](Self::settle_slowly).
    #[doc(hidden)]
    #[inline]
    pub fn count_at_once<C: Clock>(self, generation: Generation, took: u64, clock: &C) -> bool {
        let moment = Now {
            circuit: self,
            generation,
            clock,
            by_declared: true,
        };
        self.load() == Word::idle(generation)
            // What is slow, and what the window was judged by, may be another.
            && (self.counts_in_word() || !self.live.is_overridden())
            && self.bare.policy.count_at_once(generation, took, &moment)
    }

    /// See [`Circuit::settle`](crate::Circuit::settle).
    #[inline]
    pub fn settle<C: Clock>(self, generation: Generation, outcome: Outcome, clock: &C) -> Effect {
        self.settle_after(generation, outcome, Duration::ZERO, clock)
    }

    /// See [`Circuit::settle_after`](crate::Circuit::settle_after).
    #[inline]
    pub fn settle_after<C: Clock>(
        self,
        generation: Generation,
        outcome: Outcome,
        took: Duration,
        clock: &C,
    ) -> Effect {
        let took = nanos::saturating(took);
        self.settle_nanos(generation, outcome, took, clock)
    }

    #[inline]
    fn settle_nanos<C: Clock>(
        self,
        generation: Generation,
        outcome: Outcome,
        took: u64,
        clock: &C,
    ) -> Effect {
        if matches!(outcome, Outcome::Success) && self.count_at_once(generation, took, clock) {
            return Effect::Counted;
        }
        self.settle_slowly(generation, outcome, took, clock)
    }

    /// [`settle_after`](Self::settle_after) so many nanoseconds, where
    /// [`count_at_once`](Self::count_at_once) has not counted it.
    #[doc(hidden)]
    #[cfg_attr(not(one_thread), inline(never))]
    #[cfg_attr(one_thread, inline)]
    pub fn settle_slowly<C: Clock>(
        self,
        generation: Generation,
        outcome: Outcome,
        took: u64,
        clock: &C,
    ) -> Effect {
        let held = self.live.overridden();
        let config = held.as_ref().unwrap_or(self.live.declared());
        let verdict = transition::verdict(outcome, config);
        loop {
            let word = self.load();
            if word.generation() != generation {
                return Effect::Late;
            }
            let step = match word.state() {
                State::Closed | State::Shadow => {
                    let draw = || self.draw(word, config, clock);
                    transition::settle_closed(word, verdict, draw, |failed| {
                        let moment = Now {
                            circuit: self,
                            generation,
                            clock,
                            by_declared: held.is_none(),
                        };
                        let call = Call {
                            failed,
                            took,
                            moment,
                        };
                        self.bare.policy.tally(word, call, config)
                    })
                }
                State::HalfOpen => {
                    let draw = || self.draw(word, config, clock);
                    transition::settle_probe(word, verdict, draw, config)
                }
                // No call is admitted in these generations, or none recorded.
                State::Open | State::ForcedOpen | State::Disabled => return Effect::Neutral,
            };
            match step {
                Step::Late => return Effect::Late,
                Step::Neutral(next) => {
                    if self.swap(word, next) {
                        return Effect::Neutral;
                    }
                }
                Step::Count(next) => {
                    if self.swap(word, next) {
                        return Effect::Counted;
                    }
                }
                Step::WouldTrip {
                    trigger,
                    counted,
                    next,
                    would,
                } => {
                    if self.swap(word, next) {
                        let change = transition::change(word, would, trigger, counted, config);
                        return Effect::WouldTrip(Change {
                            generation,
                            ..change
                        });
                    }
                }
                Step::Trip {
                    trigger,
                    counted,
                    next,
                } => {
                    if let Some(change) = self.enter(word, next, trigger, counted, config, clock) {
                        return Effect::Tripped(change);
                    }
                }
                Step::Close { failures, next } => {
                    let trigger = Trigger::Recovered;
                    let counted = Counted::failures(failures);
                    if let Some(change) = self.enter(word, next, trigger, counted, config, clock) {
                        return Effect::Closed(change);
                    }
                }
            }
        }
    }
}

// For operators
impl<'a, P: Policy> CircuitRef<'a, P> {
    /// See [`Circuit::close`](crate::Circuit::close).
    pub fn close<C: Clock>(self, clock: &C) -> Change {
        self.operate(Order::Close, clock)
    }

    /// See [`Circuit::clear`](crate::Circuit::clear).
    pub fn clear<C: Clock>(self, clock: &C) -> Change {
        #[cfg(not(one_thread))]
        self.live.clear_overrides();
        self.operate(Order::Close, clock)
    }

    /// See [`Circuit::force_open`](crate::Circuit::force_open).
    pub fn force_open<C: Clock>(self, clock: &C) -> Change {
        self.operate(Order::ForceOpen, clock)
    }

    /// See [`Circuit::disable`](crate::Circuit::disable).
    pub fn disable<C: Clock>(self, clock: &C) -> Change {
        self.operate(Order::Disable, clock)
    }

    /// See [`Circuit::shadow`](crate::Circuit::shadow).
    pub fn shadow<C: Clock>(self, clock: &C) -> Change {
        self.operate(Order::Shadow, clock)
    }

    /// See [`Circuit::open_for`](crate::Circuit::open_for).
    pub fn open_for<C: Clock>(self, wait: Duration, clock: &C) -> Change {
        self.operate(Order::OpenFor(wait), clock)
    }

    /// Any of the above.
    #[doc(hidden)]
    pub fn operate<C: Clock>(self, order: Order, clock: &C) -> Change {
        loop {
            if let Some(change) = self.try_operate(self.load(), order, clock) {
                return change;
            }
        }
    }

    /// The same, as long as the circuit is in this generation; `None`, and nothing is done, once
    /// it is in another. Who decided on what they saw changes nothing that they did not see.
    #[doc(hidden)]
    pub fn operate_in<C: Clock>(
        self,
        generation: Generation,
        order: Order,
        clock: &C,
    ) -> Option<Change> {
        loop {
            let word = self.load();
            if word.generation() != generation {
                return None;
            }
            let change = self.try_operate(word, order, clock);
            if change.is_some() {
                return change;
            }
        }
    }

    /// `None`: it was another word meanwhile.
    fn try_operate<C: Clock>(self, word: Word, order: Order, clock: &C) -> Option<Change> {
        let next = transition::operate(word, order);
        // The wait that an order sets is its own.
        let config = self.live.declared();
        let none = Counted::default();
        self.enter(word, next, Trigger::Operator, none, config, clock)
    }

    /// See [`Circuit::state`](crate::Circuit::state).
    #[must_use]
    pub fn state(self) -> State {
        self.load().state()
    }

    /// See [`Circuit::generation`](crate::Circuit::generation).
    #[must_use]
    pub fn generation(self) -> Generation {
        self.load().generation()
    }

    /// The present generation, and how long ago it began: while half-open, how long ago its last
    /// probe was admitted.
    #[doc(hidden)]
    #[must_use]
    pub fn entered<C: Clock>(self, clock: &C) -> (Generation, Duration) {
        loop {
            let generation = self.load().generation();
            let stamp = self.load_stamp();
            let now = clock.now();
            if self.load().generation() != generation {
                continue;
            }
            let ago = if stamp.belongs_to(generation) {
                now.saturating_sub(stamp.nanos())
            } else {
                0 // who entered it is about to stamp it
            };
            return (generation, Duration::from_nanos(ago));
        }
    }

    /// See [`Circuit::config`](crate::Circuit::config).
    #[must_use]
    pub fn config(self) -> Config {
        self.live.config()
    }

    /// What it goes by: declared, and as it is now.
    #[inline]
    pub fn live(self) -> &'a LiveConfig {
        self.live
    }

    /// See [`Circuit::snapshot`](crate::Circuit::snapshot).
    #[must_use]
    pub fn snapshot<C: Clock>(self, clock: &C) -> Snapshot {
        let held = self.live.overridden();
        let config = held.as_ref().unwrap_or(self.live.declared());
        loop {
            let word = self.load();
            let stamp = self.load_stamp();
            let now = clock.now();
            if self.load() != word {
                continue;
            }
            let state = word.state();
            let mut snapshot = Snapshot {
                state,
                time_left: Duration::ZERO,
                imposed: false,
                consecutive: 0,
                reopenings: word.reopenings(),
            };
            match state {
                // Failures in a row from before `threshold` was lowered: the next one trips.
                State::Closed => {
                    snapshot.consecutive = word.payload().min(config.threshold().saturating_sub(1));
                }
                State::Open => {
                    // Without the clock's resolution: it is added again where
                    // the snapshot is restored.
                    let wait = transition::opening(word, config);
                    let elapsed = if stamp.belongs_to(word.generation()) {
                        now.saturating_sub(stamp.nanos())
                    } else {
                        0
                    };
                    snapshot.time_left = Duration::from_nanos(wait.saturating_sub(elapsed));
                    snapshot.imposed = transition::is_imposed(word);
                }
                _ => {}
            }
            return snapshot;
        }
    }

    /// See [`Circuit::restore`](crate::Circuit::restore).
    ///
    /// # Errors
    /// As there.
    pub fn restore<C: Clock>(
        self,
        snapshot: &Snapshot,
        clock: &C,
    ) -> Result<Change, SnapshotError> {
        loop {
            if let Some(change) = self.restore_as(Trigger::Restored, snapshot, None, clock)? {
                return Ok(change);
            }
        }
    }

    /// See [`Circuit::follow`](crate::Circuit::follow).
    ///
    /// # Errors
    /// As there.
    pub fn follow<C: Clock>(
        self,
        snapshot: &Snapshot,
        only_in: Option<Generation>,
        clock: &C,
    ) -> Result<Option<Change>, SnapshotError> {
        self.restore_as(Trigger::Fleet, snapshot, only_in, clock)
    }

    /// `None`, and nothing is done, once it is in another generation than that. The word whose
    /// generation was looked at is the one that is swapped: so nothing is undone that happened since.
    fn restore_as<C: Clock>(
        self,
        trigger: Trigger,
        snapshot: &Snapshot,
        only_in: Option<Generation>,
        clock: &C,
    ) -> Result<Option<Change>, SnapshotError> {
        let held = self.live.overridden();
        let config = held.as_ref().unwrap_or(self.live.declared());
        let counts = self.counts_in_word();
        let threshold = counts.then(|| config.threshold());
        transition::check(snapshot, threshold)?;
        loop {
            let word = self.load();
            if only_in.is_some_and(|generation| generation != word.generation()) {
                return Ok(None);
            }
            let next = transition::restore(word, snapshot, counts, config);
            let counted = Counted::failures(snapshot.consecutive);
            let change = self.enter(word, next, trigger, counted, config, clock);
            if change.is_some() {
                return Ok(change);
            }
        }
    }

    /// See [`Circuit::counted`](crate::Circuit::counted).
    #[must_use]
    pub fn counted<C: Clock>(self, clock: &C) -> Counted {
        loop {
            let word = self.load();
            if !word.is_closed() {
                return Counted::default();
            }
            let generation = word.generation();
            let moment = Now {
                circuit: self,
                generation,
                clock,
                by_declared: true,
            };
            let counted = self.bare.policy.counted(word, &moment);
            if self.load().generation() == generation {
                return counted;
            }
        }
    }

    /// Its state, while it is in this generation.
    #[doc(hidden)]
    #[must_use]
    pub fn state_in(self, generation: Generation) -> Option<State> {
        let word = self.load();
        (word.generation() == generation).then(|| word.state())
    }

    /// Whether an outcome of a closed breaker is its common success, of which nobody has to hear: no
    /// failure in a row before it, and not slow. Asked before it is counted.
    #[doc(hidden)]
    #[must_use]
    pub fn is_common(self, generation: Generation, outcome: &Outcome, took: u64) -> bool {
        matches!(outcome, Outcome::Success)
            && self.load() == Word::idle(generation)
            && !self.bare.policy.is_slow(took, self.live)
    }
}

/// What a policy may ask while it counts an outcome of `generation`.
struct Now<'a, P, C> {
    circuit: CircuitRef<'a, P>,
    generation: Generation,
    clock: &'a C,
    by_declared: bool,
}

impl<P: Policy, C: Clock> Moment for Now<'_, P, C> {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn is_current(&self) -> bool {
        cfg!(one_thread) || self.circuit.load().generation() == self.generation
    }

    fn is_by_declared(&self) -> bool {
        self.by_declared
    }
}

/// Time since the present state was entered, or since the last probe.
struct Elapsed {
    now: u64,
    elapsed: u64,
}

impl<P> BareCircuit<P> {
    #[inline]
    pub(crate) fn load(&self) -> Word {
        Word::from_raw(self.word.load(Ordering::Acquire))
    }
}

// The two words
impl<'a, P: Policy> CircuitRef<'a, P> {
    #[inline]
    fn load(self) -> Word {
        self.bare.load()
    }

    #[inline]
    fn counts_in_word(self) -> bool {
        self.bare.policy.counts_in_word()
    }

    fn load_stamp(self) -> Stamp {
        Stamp::from_raw(self.bare.stamp.load(Ordering::Acquire))
    }

    fn swap(self, word: Word, next: Word) -> bool {
        word == next || swap(&self.bare.word, word.raw(), next.raw())
    }

    fn swap_stamp(self, seen: Stamp, next: Stamp) -> bool {
        swap(&self.bare.stamp, seen.raw(), next.raw())
    }

    /// Enters a state: swaps the word, then stamps. `None`: another thread was
    /// quicker.
    fn enter<C: Clock>(
        self,
        word: Word,
        next: Word,
        trigger: Trigger,
        counted: Counted,
        config: &Config,
        clock: &C,
    ) -> Option<Change> {
        let now = clock.now();
        if !self.swap(word, next) {
            return None;
        }
        self.stamp_entry(next, now, clock);
        Some(transition::change(word, next, trigger, counted, config))
    }

    /// Time since the stamp of an open or half-open word. `None`: the words have
    /// changed meanwhile; read again.
    fn elapsed<C: Clock>(self, word: Word, clock: &C) -> Option<Elapsed> {
        let seen = self.load_stamp();
        let now = clock.now();
        let mine = Stamp::new(word.generation(), now);
        if seen.belongs_to(word.generation()) {
            if now >= seen.nanos() {
                return Some(Elapsed {
                    now,
                    elapsed: now - seen.nanos(),
                });
            }
            // The clock was set back, so the stamp goes back with it; else it
            // would hold the breaker for as long as the clock lost. (It is the
            // same stamp where only the rounding was ahead.)
        } else if self.load() != word {
            return None;
        }
        // Not yet stamped, or by a thread long overtaken: it is entered now.
        self.swap_stamp(seen, mine)
            .then_some(Elapsed { now, elapsed: 0 })
    }

    fn stamp_entry<C: Clock>(self, entered: Word, now: u64, clock: &C) {
        let generation = entered.generation();
        self.bare.policy.enter(
            generation,
            &Now {
                circuit: self,
                generation,
                clock,
                by_declared: true,
            },
        );
        let mine = Stamp::new(generation, now);
        loop {
            let seen = self.load_stamp();
            if self.load().generation() != generation {
                return;
            }
            if seen.belongs_to(generation) && seen.is_no_earlier_than(mine) {
                return;
            }
            if self.swap_stamp(seen, mine) {
                return;
            }
        }
    }

    fn stamp_probe(self, generation: Generation, now: u64) {
        let mine = Stamp::new(generation, now);
        loop {
            let seen = self.load_stamp();
            if !seen.belongs_to(generation) || seen.is_no_earlier_than(mine) {
                return;
            }
            if self.swap_stamp(seen, mine) {
                return;
            }
        }
    }

    /// The draw for the jitter of an opening. A clock without entropy is one for
    /// tests: there, the default jitter is off, and one that was set repeats.
    fn draw<C: Clock>(self, word: Word, config: &Config, clock: &C) -> u16 {
        let seed = match (clock.entropy(), config.jitter_seed()) {
            (None, _) if !config.jitter_was_set() => return 0,
            (_, Some(seed)) => seed,
            (Some(entropy), None) => mix(entropy) ^ self.identity(),
            (None, None) => 0,
        };
        let drawn = mix(seed ^ mix(u64::from(word.generation().get())));
        (drawn >> 48) as u16
    }

    /// A number that no other circuit of the process has, as long as this one stands where it
    /// stands.
    #[doc(hidden)]
    #[must_use]
    pub fn identity(self) -> u64 {
        mix(core::ptr::from_ref(self.bare).addr() as u64)
    }
}
