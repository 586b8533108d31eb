//! Instances of one process: each a fleet and a breaker of its own, of the same name.

use crate::server::Server;
use breaker_redis::{Fleet, FleetBreaker, FleetBuilder, SharedFleetBreaker, Sharing};
use breakerbox::observe::{self, Installed, Observer, SharingLost, SharingRestored};
use breakerbox::{Breaker, Config};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// For hangs only.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Somebody who may vouch for others, and never did.
pub(crate) const ROOT: &str = "\
-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUFus3dvkt2Vg9OfVgO4lve1aX4ywwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGbm9ib2R5MB4XDTI2MTEzMDIwMzgzNVoXDTM2MTEyNzIwMzgz
NVowETEPMA0GA1UEAwwGbm9ib2R5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
p001uufzOjmOkMIIRmUuCyqpcCaqEH5LjHNZca8OSD+PcYXpNIlsKu8qHRuK/2ND
rD3nhX8X1ewJOpvuyRzXLKNTMFEwHQYDVR0OBBYEFBlC83raBxa8pOrXChuvnxCd
5BYZMB8GA1UdIwQYMBaAFBlC83raBxa8pOrXChuvnxCd5BYZMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgCFhUXotc68BZCgEggfs0WR/qXHhhfsV2
zYqOgFpHSucCIQDMO1WuXTSf60NCmdQyz8IvDeoML54Y5N4/O/ADUHJUSA==
-----END CERTIFICATE-----";

/// A circuit's name that no other test has.
pub(crate) fn name(of: &str) -> &'static str {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{of}-{number}").leak()
}

/// A fleet of this server, with times that make tests short.
pub(crate) fn builder(server: &Server) -> FleetBuilder {
    Fleet::builder(server.url())
        .poll(Duration::from_millis(500))
        .alive(Duration::from_secs(5))
}

/// One instance of a circuit.
pub(crate) struct Instance {
    pub(crate) fleet: Fleet,
    pub(crate) breaker: Arc<SharedFleetBreaker>,
}

impl Instance {
    pub(crate) fn new(
        fleet: FleetBuilder,
        name: &'static str,
        config: Config,
        sharing: Sharing,
    ) -> Self {
        let fleet = fleet.start().expect("a fleet");
        // By hand: in the registry, names of one process differ.
        let breaker = Arc::new(Breaker::new(name, config));
        let breaker = Arc::new(FleetBreaker::of(breaker, sharing));
        fleet.share(&breaker).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        Self { fleet, breaker }
    }

    pub(crate) fn fail(&self) {
        let failed = self.breaker.call_sync(|| Err::<(), _>("no answer"));
        drop(failed);
    }

    pub(crate) fn succeed(&self) -> bool {
        self.breaker.call_sync(|| Ok::<_, &str>(())).is_ok()
    }
}

/// So many instances of one circuit.
pub(crate) fn instances<const N: usize>(
    server: &Server,
    config: Config,
    sharing: Sharing,
) -> [Instance; N] {
    let name = name("circuit");
    std::array::from_fn(|_| Instance::new(builder(server), name, config, sharing))
}

/// Waits for what another thread does.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What observers are told of one fleet.
pub(crate) struct Lines {
    heard: Arc<Heard>,
    _installed: Installed,
}

struct Heard {
    fleet: &'static str,
    lines: Mutex<Vec<String>>,
}

impl Lines {
    /// Of the fleet with this prefix, from now on.
    pub(crate) fn of(fleet: &'static str) -> Self {
        let lines = Mutex::default();
        let heard = Arc::new(Heard { fleet, lines });
        Self {
            _installed: observe::install(heard.clone()),
            heard,
        }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.heard.lines.lock().unwrap().clone()
    }
}

impl Observer for Heard {
    fn sharing_lost(&self, event: &SharingLost<'_>) {
        if event.fleet == self.fleet {
            self.lines.lock().unwrap().push(event.to_string());
        }
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        if event.fleet == self.fleet {
            self.lines.lock().unwrap().push("restored".to_owned());
        }
    }
}
