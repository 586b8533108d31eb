//! Waiting for the background, which calls never do.

use super::{Hub, LinkState};
use crate::circuit::Circuit;
use crate::error::ConnectionError;
use crate::group::Group;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// For so long at most: an observer may hold up who has a breaker of ours.
const A_MOMENT: Duration = Duration::from_secs(1);

impl Hub {
    /// Whether the group is over, as soon as nobody of ours has a breaker of it for a moment. Where it
    /// is alive for others' sake, that is known at once.
    pub(super) fn wait_until_over(&self, group: &Group) -> bool {
        let begun = Instant::now();
        loop {
            let is_visited = group.is_visited();
            if group.is_over() {
                return true;
            }
            if !is_visited || self.is_background() || begun.elapsed() > A_MOMENT {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The background has got on.
    pub(crate) fn progressed(&self) {
        self.progress.notify_all();
    }

    /// Waits until it is so, as it may be once the background has got on. `false`: it isn't yet.
    pub(crate) fn wait_until(&self, within: Duration, is_so: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        // Not while anything is locked.
        while !is_so() {
            let left = within.saturating_sub(begun.elapsed());
            if left.is_zero() || self.is_ending() {
                return false;
            }
            self.nap(Self::lock(&self.link), left);
        }
        true
    }

    /// Not for long at once: what was told between a look and the wait is seen then.
    fn nap(&self, link: MutexGuard<'_, LinkState>, left: Duration) {
        let nap = left.min(Duration::from_millis(50));
        let waited = self.progress.wait_timeout(link, nap);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until each circuit that is there now was answered for, and has told what happened to it.
    /// `Err`: what went wrong last.
    pub(crate) fn wait_until_told(&self, within: Duration) -> Result<(), Option<ConnectionError>> {
        let deadline = Instant::now().checked_add(within);
        let wanted: Vec<_> = self.groups().iter().flat_map(|g| g.circuits()).collect();
        loop {
            let link = Self::lock(&self.link);
            let (is_connected, sessions) = (link.is_connected, link.sessions.clone());
            drop(link);
            // Not while anything is locked: who looks at a key may be the last who has it.
            let is_told = |circuit: &Arc<Circuit>| {
                let is_answered = sessions.contains(&circuit.told_in.load(Ordering::Acquire));
                is_answered && !circuit.is_missed() && circuit.instance().is_told()
                    || circuit.has_gone()
            };
            if is_connected && wanted.iter().all(is_told) {
                return Ok(());
            }
            let mut most = Duration::MAX;
            let link = Self::lock(&self.link);
            if let Some(deadline) = deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let unusable = wanted.iter().find_map(|circuit| circuit.unusable());
                    let last = || link.last_error.clone().filter(|_| !link.is_connected);
                    return Err(unusable.or_else(last));
                }
                most = left;
            }
            if self.is_ending() {
                return Err(link.last_error.clone());
            }
            self.nap(link, most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Prefix, Who};
    use crate::share::sealed::{Joins, To};
    use crate::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing};
    use breakerbox::{Breaker, Config, KeyedBreakers};
    use std::sync::mpsc;

    fn hub() -> Arc<Hub> {
        let me = Who::new("me").expect("a name");
        let fleet = Fleet::builder("redis://127.0.0.1:1");
        Arc::new(Hub::new(me, Prefix::default(), &fleet))
    }

    /// Of one that somebody of ours has as well when its last user drops it, in `dropped`: whether its group
    /// is over at once, and in a moment.
    fn over(hub: &Hub, dropped: impl FnOnce()) -> [bool; 2] {
        let group = hub.groups().pop().expect("a group");
        let circuit = group.circuits().pop().expect("a circuit");
        let visit = Arc::clone(&group).visit();
        let reached = circuit.reach.get().expect("a breaker");
        dropped();
        let at_once = group.is_over();
        let (begins, begun) = mpsc::channel();
        let in_a_moment = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                begins.send(()).expect("to be awaited");
                hub.wait_until_over(&group)
            });
            begun.recv().expect("to begin");
            drop((reached, visit));
            waiting.join().expect("an answer")
        });
        [at_once, in_a_moment]
    }

    #[test]
    fn who_is_gone_but_for_one_of_ours_is_over_in_a_moment() {
        let hub = hub();
        let breaker = Arc::new(Breaker::new("moment", Config::DEFAULT));
        let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
        (&breaker).join(To(&hub)).expect("to be shared");
        assert_eq!(over(&hub, || drop(breaker)), [false, true]);

        let keyed = KeyedBreakers::<u32>::new("moment-of-keys", Config::DEFAULT);
        let keyed = Arc::new(FleetKeyedBreakers::of(Arc::new(keyed), Sharing::new()));
        (&keyed).join(To(&hub)).expect("to be shared");
        drop(keyed.get(&7_u32));
        assert_eq!(over(&hub, || drop(keyed)), [false, true]);
    }

    /// Whether it takes it just then, or lets it go.
    #[test]
    fn who_is_taken_and_let_go_all_the_time_is_over_in_a_moment() {
        for _ in 0..200 {
            let hub = hub();
            let breaker = Arc::new(Breaker::new("taken", Config::DEFAULT));
            let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
            (&breaker).join(To(&hub)).expect("to be shared");
            let group = hub.groups().pop().expect("a group");
            let circuit = group.circuits().pop().expect("a circuit");
            thread::scope(|scope| {
                let (begins, begun) = mpsc::channel();
                let taking = scope.spawn(move || {
                    while circuit.have().is_some() {
                        let _ = begins.send(());
                    }
                });
                begun.recv().expect("to begin");
                assert!(!group.is_over());
                drop(breaker);
                assert!(hub.wait_until_over(&group));
                taking.join().expect("to end");
            });
        }
    }

    #[test]
    fn who_is_alive_for_others_sake_stays_so() {
        let hub = hub();
        let keyed = KeyedBreakers::<u32>::new("alive", Config::DEFAULT);
        let keyed = Arc::new(FleetKeyedBreakers::of(Arc::new(keyed), Sharing::new()));
        (&keyed).join(To(&hub)).expect("to be shared");
        let key = keyed.get(&7_u32);
        let group = hub.groups().pop().expect("a group");
        // Nobody of ours has it, so nothing is waited for.
        assert!(!group.is_visited() && !hub.wait_until_over(&group));
        // A key that somebody has keeps them.
        assert_eq!(over(&hub, || drop(keyed)), [false, false]);
        drop(key);
        assert!(group.is_over() && hub.wait_until_over(&group));
    }
}
