//! What sharing is worth, in figures: a fleet against a service that fails and comes back.

use std::fmt::{self, Display, Write};
use std::thread;
use std::time::Duration;

use crate::fleet::{Fleet, Settings};
use crate::instance::Instance;
use crate::plan::{Circuit, Sharing};
use crate::server::{self, Server};
use crate::service::{Arrival, Health};
use crate::wait::{self, monotonic};

/// How a fleet shares its circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each instance for itself.
    Alone,
    /// One trip opens all.
    Shared,
    /// And failures count together.
    Counted,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Alone, Self::Shared, Self::Counted];
}

impl Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alone => "each for itself",
            Self::Shared => "shared",
            Self::Counted => "shared, counting together",
        })
    }
}

/// The fleet and the outage.
#[derive(Clone, Debug)]
pub struct Outage {
    /// How many instances.
    pub instances: usize,
    /// The circuit of all.
    pub circuit: Circuit,
    /// Between two calls of an instance.
    pub pause: Duration,
    /// How long the service stays dead once all circuits are open.
    pub dead: Duration,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// From the first failure until the last instance's circuit was open.
    pub to_open: Duration,
    /// From when the first instance's circuit was open until the last one's was.
    pub to_spread: Duration,
    /// Calls that reached the dead service until then.
    pub before_open: usize,
    /// Calls that reached it after that: probes.
    pub while_dead: usize,
    /// Probes that the service got when it was back, until each instance's circuit was closed.
    pub probes: usize,
    /// From when the service was back until the last instance's circuit was closed.
    pub to_close: Duration,
    /// Calls in all.
    pub calls: usize,
    /// The longest of them.
    pub longest: Duration,
}

/// Plays an outage.
///
/// # Panics
/// If something doesn't come about that has to: a fleet that doesn't trip, or recover.
#[must_use]
pub fn measure(way: Way, outage: &Outage) -> Figures {
    let settings = Settings {
        instances: outage.instances,
        shared: way != Way::Alone,
        circuit: outage.circuit.clone(),
        sharing: Sharing {
            counted: way == Way::Counted,
            ..Sharing::default()
        },
        ..Settings::default()
    };
    let server = match way {
        Way::Alone => Server::stopped(server::Settings::default()),
        Way::Shared | Way::Counted => Server::start(),
    };
    let mut fleet = Fleet::start(settings, server);
    if way != Way::Alone {
        fleet.connected();
    }
    fleet.go(u64::try_from(outage.pause.as_micros()).unwrap_or(u64::MAX));
    fleet.call_on(5);

    fleet.service.turns(Health::Down);
    let opened = each(&fleet, |instance| {
        instance.until("to open", |seen| {
            let mut changes = seen.changes.iter();
            changes
                .find(|change| change.to == "open")
                .map(|change| change.at)
        })
    });
    let first_opened = opened.iter().copied().min().unwrap_or(0);
    let last_opened = opened.iter().copied().max().unwrap_or(0);
    // The service is dead for so long: this is what is measured, not what is waited for.
    thread::sleep(outage.dead);

    let back = monotonic();
    fleet.service.turns(Health::Up);
    let closed = each(&fleet, |instance| {
        wait::until("a circuit to close", || {
            instance.seen(|seen| {
                let last = seen.changes.last().filter(|change| change.to == "closed");
                last.map(|change| change.at)
            })
        })
    });
    let last_closed = closed.iter().copied().max().unwrap_or(0);
    fleet.call_on(3);
    // Nothing of this is as long as the limit for hangs.
    fleet.end(wait::LIMIT);

    let log = fleet.service.log();
    let dead = || log.iter().filter(|arrival| arrival.health == Health::Down);
    let first = dead().map(|arrival| arrival.at).min().unwrap_or(0);
    let before_open = dead().filter(|arrival| arrival.at <= last_opened).count();
    let is_probe = |arrival: &&Arrival| {
        let mut numbers = fleet.instances.iter().zip(&closed);
        let of = numbers.find(|(instance, _)| instance.name() == arrival.instance);
        of.is_some_and(|(_, closed)| arrival.at >= back && arrival.at <= *closed)
    };
    let calls = |instance: &Instance| instance.seen(|seen| seen.calls.clone());
    let calls: Vec<_> = fleet.instances.iter().flat_map(calls).collect();
    Figures {
        to_open: Duration::from_micros(last_opened.saturating_sub(first)),
        to_spread: Duration::from_micros(last_opened - first_opened),
        before_open,
        while_dead: dead().count() - before_open,
        probes: log.iter().filter(is_probe).count(),
        to_close: Duration::from_micros(last_closed.saturating_sub(back)),
        calls: calls.len(),
        longest: calls.iter().map(|call| call.took).max().unwrap_or_default(),
    }
}

fn each(fleet: &Fleet, look: impl Fn(&Instance) -> u64) -> Vec<u64> {
    fleet.instances.iter().map(look).collect()
}

/// What was measured of each way, as a table in Markdown.
#[must_use]
pub fn table(outage: &Outage, figures: &[(Way, Figures)]) -> String {
    let mut text = String::new();
    let of = |text: &mut String, what: &str, look: &dyn Fn(&Figures) -> String| {
        let _ = write!(text, "| {what} |");
        for (_, figures) in figures {
            let _ = write!(text, " {} |", look(figures));
        }
        text.push('\n');
    };
    let _ = write!(text, "| {} processes |", outage.instances);
    for (way, _) in figures {
        let _ = write!(text, " {way} |");
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(figures.len()));
    text.push('\n');
    let millis = |duration: Duration| format!("{:.1} ms", duration.as_secs_f64() * 1e3);
    of(
        &mut text,
        "from the first failure until the last circuit is open",
        &|figures| millis(figures.to_open),
    );
    of(
        &mut text,
        "from the first open circuit until the last is",
        &|figures| millis(figures.to_spread),
    );
    of(
        &mut text,
        "calls that reach the dead service until then",
        &|figures| figures.before_open.to_string(),
    );
    let dead = outage.dead.as_secs_f64();
    of(
        &mut text,
        &format!("probes in the {dead} s that it stays dead"),
        &|figures| figures.while_dead.to_string(),
    );
    of(
        &mut text,
        "probes when it is back, until all are closed",
        &|figures| figures.probes.to_string(),
    );
    of(
        &mut text,
        "from when it is back until the last circuit is closed",
        &|figures| millis(figures.to_close),
    );
    text
}
