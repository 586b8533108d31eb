//! The rules, as pure functions: a word and an event give a word and what it
//! did. No atomics, no clock.

use crate::config::{Close, Config, OnCancel};
use crate::error::{Reason, SnapshotError};
use crate::nanos;
use crate::outcome::{Change, Outcome, Trigger};
use crate::policy::{Counted, Tally};
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::trial::Trial;
use crate::wait::{self, Wait};
use crate::word::{REPORTED, Word};
use core::num::NonZeroU64;
use core::time::Duration;

const LONGEST_RESTORED_IMPOSED_WAIT: u64 = 24 * 3_600 * 1_000_000_000;

/// What a word says to a call that asks, as far as it can without the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeless {
    Admit,
    ForcedOpen,
    NeedsTime,
}

pub(crate) const fn ask(word: Word) -> Timeless {
    match word.state() {
        State::Closed | State::Disabled | State::Shadow => Timeless::Admit,
        State::ForcedOpen => Timeless::ForcedOpen,
        State::Open | State::HalfOpen => Timeless::NeedsTime,
    }
}

/// What an open or half-open word says to a call that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The first probe of a trial: a new generation.
    NewTrial(Word, Trigger),
    /// A further probe of the trial.
    Probe(Word),
    /// Refused; a call may be admitted after so many nanoseconds.
    Refuse(Reason, u64),
}

/// `elapsed` is measured from the opening, or from the last probe admitted.
/// `resolution` is the clock's. All in nanoseconds.
#[inline]
pub(crate) fn ask_at(word: Word, elapsed: u64, resolution: u64, config: &Config) -> Answer {
    let new_trial = |trigger| {
        let first = Trial::FIRST_PROBE.payload(config.close());
        let next = word.enter(State::HalfOpen, word.reopenings(), first);
        Answer::NewTrial(next, trigger)
    };
    if word.state() == State::Open {
        return match left_open(word, elapsed, resolution, config) {
            Some(left) => Answer::Refuse(Reason::Open, left.get()),
            None => new_trial(Trigger::WaitOver),
        };
    }
    let trial = Trial::read(word.payload(), config.close());
    if has_room(trial, config) {
        return Answer::Probe(word.with_payload(trial.admit().payload(config.close())));
    }
    match left(held(config.probe_timeout_nanos(), resolution), elapsed) {
        Some(left) => Answer::Refuse(Reason::HalfOpenFull, left.get()),
        None => new_trial(Trigger::ProbeTimedOut),
    }
}

/// What a word says to a call that it would admit as a probe, and that nobody
/// has granted.
pub(crate) const fn withheld(word: Word) -> Answer {
    match word.state() {
        State::HalfOpen => Answer::Refuse(Reason::HalfOpenFull, 0),
        _ => Answer::Refuse(Reason::Open, 0),
    }
}

/// How long an open breaker still refuses, in nanoseconds; `None`: its wait is
/// over.
#[inline]
pub(crate) fn left_open(
    word: Word,
    elapsed: u64,
    resolution: u64,
    config: &Config,
) -> Option<NonZeroU64> {
    left(held(opening(word, config), resolution), elapsed)
}

/// What is left of a wait; `None`: it is over.
#[inline]
fn left(wait: u64, elapsed: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(wait.saturating_sub(elapsed))
}

/// A wait by a clock that may lag behind by `resolution`. No wait is none.
#[inline]
fn held(wait: u64, resolution: u64) -> u64 {
    if wait == 0 {
        0
    } else {
        wait.saturating_add(resolution)
    }
}

fn has_room(trial: Trial, config: &Config) -> bool {
    // Nothing would end a trial that takes no probe and waits for none: one whose results were
    // enough at once when an operator asked for fewer.
    if trial.in_flight == 0 {
        return true;
    }
    match config.close() {
        Close::After(successes) => {
            trial.in_flight < config.probes() && trial.in_flight + trial.successes < successes
        }
        Close::Rate(_) => trial.in_flight + trial.successes + trial.failures < config.probes(),
    }
}

/// How long the opening of an open word lasts, in nanoseconds, before the
/// clock's resolution is added.
#[inline]
pub(crate) fn opening(word: Word, config: &Config) -> u64 {
    Wait::from_payload(word.payload()).nanos(config, word.reopenings())
}

/// An outcome, as the rules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Success,
    Failure,
    Neutral,
    /// For so many nanoseconds.
    Overloaded(u64),
}

pub(crate) const fn verdict(outcome: Outcome, config: &Config) -> Verdict {
    match outcome {
        Outcome::Success => Verdict::Success,
        Outcome::Failure | Outcome::Panicked => Verdict::Failure,
        Outcome::Ignored => Verdict::Neutral,
        Outcome::Dropped => match config.on_cancel() {
            OnCancel::Ignore => Verdict::Neutral,
            OnCancel::Failure => Verdict::Failure,
        },
        Outcome::Overloaded(wait) => Verdict::Overloaded(nanos::saturating(wait)),
    }
}

/// What an outcome of the present generation makes of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Late,
    Neutral(Word),
    Count(Word),
    Trip {
        trigger: Trigger,
        counted: Counted,
        next: Word,
    },
    Close {
        failures: u32,
        next: Word,
    },
    WouldTrip {
        trigger: Trigger,
        counted: Counted,
        next: Word,
        would: Word,
    },
}

/// Closed and shadow: `tally` is what the policy makes of the outcome, and is
/// asked only when it counts. `draw` is for the jitter of an opening.
#[inline]
pub(crate) fn settle_closed(
    word: Word,
    verdict: Verdict,
    draw: impl FnOnce() -> u16,
    tally: impl FnOnce(bool) -> Tally,
) -> Step {
    let reported = word.state() == State::Shadow && word.payload() == REPORTED;
    let (trigger, counted, wait) = match verdict {
        Verdict::Neutral => return Step::Neutral(word),
        _ if reported => return Step::Count(word),
        Verdict::Overloaded(nanos) => (
            Trigger::Overloaded,
            Counted::failures(word.payload() + 1),
            Wait::Imposed { nanos },
        ),
        Verdict::Success | Verdict::Failure => match tally(verdict == Verdict::Failure) {
            Tally::Count(payload) => return Step::Count(word.with_payload(payload)),
            Tally::Trip { trigger, counted } => {
                (trigger, counted, Wait::Configured { draw: draw() })
            }
            Tally::Late => return Step::Late,
        },
    };
    // A trip from closed starts the count of reopenings anew.
    let open = word.enter(State::Open, 0, wait.payload());
    if word.state() == State::Shadow {
        let next = word.with_payload(REPORTED);
        Step::WouldTrip {
            trigger,
            counted,
            next,
            would: open,
        }
    } else {
        Step::Trip {
            trigger,
            counted,
            next: open,
        }
    }
}

/// Half-open: the outcome of a probe.
pub(crate) fn settle_probe(
    word: Word,
    verdict: Verdict,
    draw: impl FnOnce() -> u16,
    config: &Config,
) -> Step {
    let mut trial = Trial::read(word.payload(), config.close()).release();
    let reopen = |trigger, failures, wait: Wait| Step::Trip {
        trigger,
        counted: Counted::failures(failures),
        next: word.enter(
            State::Open,
            word.reopenings().saturating_add(1),
            wait.payload(),
        ),
    };
    match verdict {
        Verdict::Neutral => return Step::Neutral(word.with_payload(trial.payload(config.close()))),
        Verdict::Overloaded(nanos) => {
            let wait = Wait::Imposed { nanos };
            return reopen(Trigger::Overloaded, trial.failures + 1, wait);
        }
        Verdict::Success => trial.successes += 1,
        Verdict::Failure => trial.failures += 1,
    }
    let reopens = match config.close() {
        Close::After(_) if trial.failures > 0 => true,
        Close::After(successes) if trial.successes >= successes => false,
        Close::Rate(ratio) if trial.successes + trial.failures >= config.probes() => {
            // More than `probes`, where an operator asked for fewer meanwhile.
            ratio.reached(trial.failures, trial.successes + trial.failures)
        }
        _ => return Step::Count(word.with_payload(trial.payload(config.close()))),
    };
    if reopens {
        reopen(
            Trigger::FailedProbe,
            trial.failures,
            Wait::Configured { draw: draw() },
        )
    } else {
        Step::Close {
            failures: trial.failures,
            next: word.enter(State::Closed, 0, 0),
        }
    }
}

/// What an operator asks for: [`CircuitRef::operate`](crate::CircuitRef::operate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as the methods of a circuit")]
pub enum Order {
    Close,
    ForceOpen,
    Disable,
    Shadow,
    OpenFor(Duration),
}

pub(crate) fn operate(word: Word, order: Order) -> Word {
    let kept = word.reopenings();
    match order {
        Order::Close => word.enter(State::Closed, 0, 0),
        Order::ForceOpen => word.enter(State::ForcedOpen, kept, 0),
        Order::Disable => word.enter(State::Disabled, kept, 0),
        Order::Shadow => word.enter(State::Shadow, kept, 0),
        Order::OpenFor(wait) => {
            let wait = Wait::Imposed {
                nanos: nanos::saturating(wait),
            };
            word.enter(State::Open, kept, wait.payload())
        }
    }
}

/// Whether the wait of an open word was set by an overload or by `open_for`.
pub(crate) fn is_imposed(word: Word) -> bool {
    matches!(Wait::from_payload(word.payload()), Wait::Imposed { .. })
}

/// Refuses a snapshot that no breaker of this configuration can have been in.
/// `threshold`: where failures in a row are counted.
pub(crate) fn check(snapshot: &Snapshot, threshold: Option<u32>) -> Result<(), SnapshotError> {
    if snapshot.state != State::Closed {
        return Ok(());
    }
    if snapshot.time_left > Duration::ZERO {
        return Err(SnapshotError::ClosedWithTimeLeft);
    }
    let consecutive = snapshot.consecutive;
    match threshold {
        Some(threshold) if consecutive >= threshold => Err(SnapshotError::BeyondThreshold {
            consecutive,
            threshold,
        }),
        _ => Ok(()),
    }
}

/// The word that a snapshot, already found sensible, restores. `counts`: whether
/// failures in a row are counted.
pub(crate) fn restore(word: Word, snapshot: &Snapshot, counts: bool, config: &Config) -> Word {
    let kept = snapshot.reopenings;
    let left = nanos::saturating(snapshot.time_left);
    match snapshot.state {
        State::Closed => word.enter(
            State::Closed,
            0,
            if counts { snapshot.consecutive } else { 0 },
        ),
        State::Open => {
            let wait = if snapshot.imposed {
                Wait::Imposed {
                    nanos: left.min(LONGEST_RESTORED_IMPOSED_WAIT),
                }
            } else {
                Wait::Remaining {
                    nanos: left.min(wait::plain(config, kept)),
                }
            };
            word.enter(State::Open, kept, wait.payload())
        }
        State::HalfOpen => word.enter(State::Open, kept, Wait::Remaining { nanos: 0 }.payload()),
        state @ (State::ForcedOpen | State::Disabled | State::Shadow) => word.enter(state, kept, 0),
    }
}

/// The change that leads from one word to the next.
pub(crate) fn change(
    from: Word,
    to: Word,
    trigger: Trigger,
    counted: Counted,
    config: &Config,
) -> Change {
    let wait = (to.state() == State::Open).then(|| Duration::from_nanos(opening(to, config)));
    Change {
        from: from.state(),
        to: to.state(),
        generation: to.generation(),
        trigger,
        failures: counted.failures,
        calls: counted.calls,
        slow: counted.slow,
        wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::policy::{Call, Consecutive, sealed::Moment, sealed::Policy as _};

    const SECOND: u64 = 1_000_000_000;

    /// Counting failures in a row needs no clock.
    struct Never;

    impl Moment for Never {
        fn now(&self) -> u64 {
            panic!("asked for the time");
        }

        fn is_current(&self) -> bool {
            panic!("asked for the generation");
        }

        fn is_by_declared(&self) -> bool {
            panic!("asked what it is judged by");
        }
    }

    fn config(settings: Settings) -> Config {
        settings.build().unwrap()
    }

    fn closed(word: Word, verdict: Verdict, config: &Config) -> Step {
        settle_closed(
            word,
            verdict,
            || 0,
            |failed| {
                let call = Call {
                    failed,
                    took: 0,
                    moment: Never,
                };
                Consecutive.tally(word, call, config)
            },
        )
    }

    fn half_open(in_flight: u32, successes: u32, failures: u32, config: &Config) -> Word {
        let trial = Trial {
            in_flight,
            successes,
            failures,
            turn: 0,
        };
        Word::NEW.enter(State::HalfOpen, 2, trial.payload(config.close()))
    }

    #[test]
    fn the_last_of_threshold_failures_in_a_row_trips() {
        let config = config(Settings::new().threshold(3));
        let one = Word::NEW.with_payload(1);
        assert_eq!(
            closed(Word::NEW, Verdict::Failure, &config),
            Step::Count(one)
        );
        assert_eq!(
            closed(one, Verdict::Success, &config),
            Step::Count(Word::NEW)
        );
        assert_eq!(closed(one, Verdict::Neutral, &config), Step::Neutral(one));
        let two = Word::NEW.with_payload(2);
        let Step::Trip {
            trigger: Trigger::Failures,
            counted: Counted { failures: 3, .. },
            next,
        } = closed(two, Verdict::Failure, &config)
        else {
            panic!("the third failure did not trip");
        };
        assert_eq!((next.state(), next.reopenings()), (State::Open, 0));
        assert_eq!(next.generation().get(), 1);
    }

    #[test]
    fn an_opening_ends_at_its_wait_and_not_a_nanosecond_before() {
        let config = config(Settings::new().jitter(0.0));
        let open = Word::NEW.enter(State::Open, 0, 0);
        let wait = 30 * SECOND;
        assert_eq!(
            ask_at(open, wait - 1, 0, &config),
            Answer::Refuse(Reason::Open, 1)
        );
        assert!(matches!(
            ask_at(open, wait, 0, &config),
            Answer::NewTrial(..)
        ));
        // The clock may lag by its resolution.
        assert_eq!(
            ask_at(open, wait, 7, &config),
            Answer::Refuse(Reason::Open, 7)
        );
        assert!(matches!(
            ask_at(open, wait + 7, 7, &config),
            Answer::NewTrial(..)
        ));
    }

    #[test]
    fn a_probe_needs_a_slot_and_a_success_still_to_come() {
        let config = config(Settings::new().probes(2).close_after(3));
        let room = |word| matches!(ask_at(word, 0, 0, &config), Answer::Probe(_));
        assert!(room(half_open(1, 0, 0, &config)));
        assert!(!room(half_open(2, 0, 0, &config)));
        assert!(room(half_open(0, 2, 0, &config)));
        assert!(!room(half_open(1, 2, 0, &config)));
    }

    #[test]
    fn with_close_rate_exactly_probes_probes_make_a_trial() {
        let config = config(Settings::new().probes(4).close_rate(0.5));
        let room = |word| matches!(ask_at(word, 0, 0, &config), Answer::Probe(_));
        assert!(room(half_open(1, 1, 1, &config)));
        assert!(!room(half_open(2, 1, 1, &config)));
        let decide = |word, verdict| settle_probe(word, verdict, || 0, &config);
        assert!(matches!(
            decide(half_open(1, 1, 1, &config), Verdict::Failure),
            Step::Count(_)
        ));
        assert!(matches!(
            decide(half_open(1, 2, 1, &config), Verdict::Failure),
            Step::Trip { .. }
        ));
        assert!(matches!(
            decide(half_open(1, 2, 1, &config), Verdict::Success),
            Step::Close { .. }
        ));
    }

    #[test]
    fn a_stuck_trial_is_replaced_only_when_it_is_full_and_its_time_is_over() {
        let config = config(
            Settings::new()
                .probes(2)
                .probe_timeout(Duration::from_secs(5)),
        );
        let full = half_open(2, 0, 0, &config);
        assert_eq!(
            ask_at(full, 5 * SECOND - 1, 0, &config),
            Answer::Refuse(Reason::HalfOpenFull, 1)
        );
        let Answer::NewTrial(next, Trigger::ProbeTimedOut) = ask_at(full, 5 * SECOND, 0, &config)
        else {
            panic!("still the old trial");
        };
        assert_eq!(next.payload(), Trial::FIRST_PROBE.payload(config.close()));
        assert_ne!(next.generation(), full.generation());
        assert!(matches!(
            ask_at(half_open(1, 0, 0, &config), u64::MAX, 0, &config),
            Answer::Probe(_)
        ));
    }

    #[test]
    fn reopenings_are_counted_up_to_what_the_word_holds() {
        let config = config(Settings::new());
        let mut word = half_open(1, 0, 0, &config);
        for _ in 0..300 {
            let Step::Trip { next, .. } = settle_probe(word, Verdict::Failure, || 0, &config)
            else {
                panic!("a failed probe did not reopen");
            };
            word = next.enter(
                State::HalfOpen,
                next.reopenings(),
                Trial::FIRST_PROBE.payload(config.close()),
            );
        }
        assert_eq!(word.reopenings(), 255);
    }

    #[test]
    fn shadow_reports_once_and_changes_no_state() {
        let config = config(Settings::new().threshold(1));
        let shadow = operate(Word::NEW.with_payload(4), Order::Shadow);
        assert_eq!(shadow.payload(), 0);
        let Step::WouldTrip {
            counted: Counted { failures: 1, .. },
            next,
            ..
        } = closed(shadow, Verdict::Failure, &config)
        else {
            panic!("not reported");
        };
        assert_eq!(next.state(), State::Shadow);
        for verdict in [
            Verdict::Failure,
            Verdict::Success,
            Verdict::Overloaded(SECOND),
        ] {
            assert_eq!(closed(next, verdict, &config), Step::Count(next));
        }
    }

    #[test]
    fn the_largest_threshold_still_counts() {
        let config = config(Settings::new().threshold(crate::MAX_THRESHOLD));
        let shadow = operate(Word::NEW, Order::Shadow).with_payload(crate::MAX_THRESHOLD - 2);
        let Step::Count(next) = closed(shadow, Verdict::Failure, &config) else {
            panic!("tripped one failure early");
        };
        assert!(matches!(
            closed(next, Verdict::Failure, &config),
            Step::WouldTrip { .. }
        ));
    }
}
