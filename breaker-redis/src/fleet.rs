//! One process's part in a fleet.

use crate::background;
use crate::error::{FleetError, NotReady};
use crate::hub::Hub;
use crate::leaving;
use crate::protocol::{Prefix, Who};
use crate::settings::FleetBuilder;
use crate::share::sealed::To;
use crate::share::{Share, ShareKeyed};
use crate::status::FleetStatus;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One process's part in a fleet: its connection to Redis, and the thread that looks after it.
///
/// Nothing that a call does waits for it. The thread has a runtime of its own, so that it goes on while
/// the program's is busy or gone. While Redis can't be had, breakers are local ones.
///
/// ```no_run
/// use breaker_redis::{Fleet, FleetBreaker, Sharing};
/// use breakerbox::breaker;
/// use std::time::Duration;
///
/// breaker! { static PMS = { name: "pms", threshold: 5 } }
/// static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new());
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fleet = Fleet::builder("rediss://shop:secret@redis.internal:6379")
///     .prefix("shop")
///     .start()?;
/// fleet.share(&PMS_FLEET)?;
/// // If the program should begin with what the fleet knows:
/// if let Err(late) = fleet.ready(Duration::from_secs(2)) {
///     eprintln!("{late}: beginning with local breakers");
/// }
/// # Ok(())
/// # }
/// ```
///
/// Keep it for as long as breakers are to be shared, as above. `Fleet::start(url)?.share(&PMS_FLEET)?` would
/// drop it at the end of the line, and share nothing: where that happens, observers are told
/// ([`sharing_lost`](breakerbox::observe::Observer::sharing_lost)), so that the log says it.
///
/// Dropping it leaves the fleet: breakers go on locally, with the state they have. It waits for nothing but,
/// for a second at most, that Redis is told what an operator has just said: a command that opens a circuit
/// and ends doesn't take its word along. (Async code that has just said one drops it where a thread may be held
/// up, as in `tokio::task::spawn_blocking`.) Where that is in vain, observers are told, and whoever must know
/// asks [`ready`](Self::ready) before. What else happened until then is still told, and a lease given back,
/// if that can be done at once and the process goes on for so long; else the lease runs out. They can be
/// shared again, with another fleet.
/// The same is done for a breaker that is dropped while its fleet goes on, or before it, and for a key that is
/// given up: what an operator said of them is told as soon as Redis is reached.
///
/// In a process that forks (`fork` without `exec`) start it afterwards: a child has none of its parent's
/// threads, so what it has of the parent's fleet is not shared.
pub struct Fleet {
    hub: Arc<Hub>,
}

impl Fleet {
    /// How Redis is found and what the fleet's times are: see [`FleetBuilder`].
    ///
    /// The URL: `redis://[user[:password]@]host[:port][/database]`, `rediss://..` for TLS, or
    /// `unix:///path[?db=..&user=..&pass=..]`. It is not looked at before [`FleetBuilder::start`], which
    /// refuses what else is in it. What is special in a URL
    /// (`#`, `/`, `?`, `%` in a password) is written as `%23` and so on, or given by
    /// [`login`](FleetBuilder::login).
    #[must_use]
    pub fn builder(url: impl Into<String>) -> FleetBuilder {
        FleetBuilder::new(url.into())
    }

    /// [`builder`](Self::builder) with nothing else said, started.
    ///
    /// # Errors
    /// [`FleetError`]; never because Redis can't be reached.
    pub fn start(url: impl Into<String>) -> Result<Self, FleetError> {
        Self::builder(url).start()
    }

    pub(crate) fn run(
        me: Who,
        prefix: Prefix,
        settings: &FleetBuilder,
    ) -> Result<Self, FleetError> {
        let hub = Arc::new(Hub::new(me, prefix, settings));
        background::start(&hub, settings)?;
        Ok(Self { hub })
    }

    /// Shares a breaker's circuit from now on, for as long as this fleet is kept. What others know of it is
    /// asked for in the background; until that is known it stays as it is.
    ///
    /// # Errors
    /// [`FleetError::Sharing`], [`FleetError::AlreadyShared`], [`FleetError::NameTaken`],
    /// [`FleetError::Renamed`]. The breaker is then as local as before.
    pub fn share(&self, breaker: impl Share) -> Result<(), FleetError> {
        breaker.join(To(&self.hub))
    }

    /// Shares the circuits of all keys, those that are known and those to come. A key's circuit is
    /// asked for when the key is new here.
    ///
    /// # Errors
    /// As [`share`](Self::share).
    pub fn share_keyed(&self, breakers: impl ShareKeyed) -> Result<(), FleetError> {
        breakers.join(To(&self.hub))
    }

    /// How it goes: for health pages and tests. Waits for nothing.
    #[must_use]
    pub fn status(&self) -> FleetStatus {
        self.hub.status()
    }

    /// Waits until Redis has been reached, has told how each circuit stands that is shared by now, and
    /// was told what has happened to it here. For programs that would rather start a little later than
    /// not knowing, for those that end after an operator's word (a command that closes a circuit, say),
    /// and for tests. It holds up the thread: in async code call it where that is allowed, as in
    /// `tokio::task::spawn_blocking`.
    ///
    /// # Errors
    /// [`NotReady`] once that took as long as this. The fleet goes on trying.
    pub fn ready(&self, within: Duration) -> Result<(), NotReady> {
        let told = self.hub.wait_until_told(within);
        told.map_err(|error| NotReady { within, error })
    }

    /// What this instance is called in the fleet: the name that was given, and what makes it unique.
    #[must_use]
    pub fn instance(&self) -> &str {
        self.hub.me().as_str()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        leaving::tell_orders(&self.hub);
        self.hub.end();
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("instance", &self.instance())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FleetBreaker, FleetKeyedBreakers, Sharing};
    use breakerbox::Config;
    use std::sync::Weak;
    use std::time::Instant;

    fn is_dropped(hub: &Weak<Hub>) {
        let begun = Instant::now();
        while hub.strong_count() > 0 {
            let long = Duration::from_secs(60);
            assert!(begun.elapsed() < long, "somebody keeps it");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_a_dropped_fleet_has_is_kept_by_nobody() {
        let fleet = Fleet::start("redis://127.0.0.1:1").expect("a fleet");
        let config = Config::DEFAULT;
        let one = FleetBreaker::shared("of-a-fleet", config, Sharing::new()).expect("a breaker");
        let keyed = FleetKeyedBreakers::<_>::shared("keys-of-a-fleet", config, 10, Sharing::new());
        let keyed = keyed.expect("breakers");
        fleet.share(&one).expect("to be shared");
        fleet.share_keyed(&keyed).expect("to be shared");
        let known = keyed.get(&7_u64);
        let hub = Arc::downgrade(&fleet.hub);
        drop(fleet);
        is_dropped(&hub);
        drop((one, known));
    }

    #[test]
    fn what_is_shared_with_a_fleet_that_has_ended_can_be_shared_with_another() {
        let fleet = Fleet::start("redis://127.0.0.1:1").expect("a fleet");
        // As after a fault of ours.
        fleet.hub.end();
        let one = FleetBreaker::shared("of-an-ended-fleet", Config::DEFAULT, Sharing::new());
        let one = one.expect("a breaker");
        fleet.share(&one).expect("to be local");
        let never = Duration::MAX;
        assert_eq!(fleet.ready(never).expect_err("to be over").within, never);
        assert!(!fleet.status().is_connected);
        let other = Fleet::start("redis://127.0.0.1:1").expect("a fleet");
        other.share(&one).expect("to be shared");
        assert_eq!(other.status().circuits, 1);
        let hub = Arc::downgrade(&fleet.hub);
        drop(fleet);
        is_dropped(&hub);
    }
}
