//! What happens when Redis is started again, and all instances of a fleet connect: real connections, each
//! of a [`Fleet`] of its own.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use breaker_redis::{Fleet, FleetBreaker, Sharing};
use breakerbox::{Breaker, Settings};

use crate::server::Server;
use crate::wait;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// Connections.
    pub instances: usize,
    /// How long Redis was gone.
    pub gone: Duration,
    /// From when it was there again until half of them knew how their circuits stand.
    pub half: Duration,
    /// Until all did.
    pub all: Duration,
    /// How long it ran on a processor until then.
    pub redis: Duration,
    /// The longest that somebody else waited for an answer meanwhile.
    pub others_wait: Duration,
    /// How many lost it again.
    pub lost: usize,
}

/// Measures it.
///
/// # Panics
/// If something doesn't come about that has to.
#[must_use]
pub fn storm(instances: usize, gone: Duration) -> Storm {
    let mut server = Server::start();
    let start = |number: usize| {
        let config = Settings::new().threshold(5).must();
        // Each is one of a process of its own: the registry needn't know of them.
        let breaker = FleetBreaker::new("storm", config, Sharing::new());
        let breaker: &'static FleetBreaker<Breaker> = Box::leak(Box::new(breaker));
        let fleet = Fleet::builder(server.url()).instance(format!("storm-{number}"));
        let fleet = fleet.start().expect("a fleet");
        fleet.share(breaker).expect("a circuit that is shared");
        fleet
    };
    let fleets: Vec<Fleet> = (0..instances).map(start).collect();
    for fleet in &fleets {
        fleet.ready(wait::LIMIT).expect("to be connected");
    }
    server.kill();
    wait::until_so("all to have lost it", || {
        fleets.iter().all(|fleet| !fleet.status().is_connected)
    });
    thread::sleep(gone);
    let before: Vec<u64> = fleets.iter().map(|fleet| fleet.status().answered).collect();

    server.run();
    let back = Instant::now();
    let mut other = server.connection().expect("a connection");
    let mut knew: Vec<Option<Duration>> = vec![None; instances];
    let mut others_wait = Duration::ZERO;
    while knew.iter().any(Option::is_none) {
        assert!(back.elapsed() < wait::LIMIT, "not all are back");
        let asked = Instant::now();
        let _: redis::Value = redis::cmd("PING").query(&mut other).expect("an answer");
        others_wait = others_wait.max(asked.elapsed());
        for ((fleet, before), knew) in fleets.iter().zip(&before).zip(&mut knew) {
            if knew.is_none() && fleet.status().answered > *before {
                *knew = Some(back.elapsed());
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    let redis = server.cpu();
    thread::sleep(Duration::from_secs(3));
    let lost = fleets
        .iter()
        .filter(|fleet| fleet.status().lost > 1)
        .count();
    let mut knew: Vec<Duration> = knew.into_iter().flatten().collect();
    knew.sort_unstable();
    Storm {
        instances,
        gone,
        half: knew[instances / 2],
        all: knew[instances - 1],
        redis,
        others_wait,
        lost,
    }
}

/// What was measured, as a table in Markdown.
#[must_use]
pub fn table(storms: &[Storm]) -> String {
    let mut text = String::from(
        "| connections | Redis was gone for | half know how it stands after | all after | Redis' processor until then \
         | longest that another client waited | lost it again |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let millis = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
    for storm in storms {
        let _ = writeln!(
            text,
            "| {} | {} s | {} | {} | {} | {} | {} |",
            storm.instances,
            storm.gone.as_secs(),
            millis(storm.half),
            millis(storm.all),
            millis(storm.redis),
            millis(storm.others_wait),
            storm.lost,
        );
    }
    text
}
