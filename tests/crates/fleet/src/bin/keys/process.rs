//! A process with a shared circuit for each of many keys.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use breaker_redis::{Fleet, FleetKeyedBreakers, SharedFleetKeyedBreakers, Sharing};
use breakerbox::{Settings, State};
use serde::Serialize;
use test_fleet::keys::{Order, Plan, Stands};
use test_fleet::usage;
use test_fleet::wait::monotonic;

/// Does as it is told, until its input ends.
pub(crate) fn run(plan: &Plan) -> Result<(), Box<dyn Error>> {
    let config = Settings::new().reset(Duration::from_secs(30)).build()?;
    let mut sharing = Sharing::new();
    if plan.counting {
        sharing = sharing.counting().quorum(2);
    }
    let keys = FleetKeyedBreakers::<_>::shared("keys", config, plan.keys, sharing)?;
    let keyed: &SharedFleetKeyedBreakers<u32> = &keys;
    for key in 0..plan.keys {
        keyed.get(&key).admit()?.success();
    }
    let me = std::process::id();
    let before = usage::memory(me);
    let fleet = Fleet::start(&plan.redis)?;
    fleet.share_keyed(&keys)?;
    for line in io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Order::Look => {
                let status = fleet.status();
                say(Stands {
                    before,
                    since: usage::memory(me),
                    answered: status.answered,
                    heard: status.heard,
                    lost: status.lost,
                })?;
            }
            Order::Know => {
                fleet.ready(Duration::from_secs(120))?;
                say(monotonic())?;
            }
            Order::Lose => {
                until(|| !fleet.status().is_connected);
                say(monotonic())?;
            }
            Order::Trip(key) => {
                trip(keyed, key);
                say(monotonic())?;
            }
            Order::Follow(key) => {
                follow(keyed, key);
                say(monotonic())?;
            }
            Order::TripAll => {
                let began = monotonic();
                (0..plan.keys).for_each(|key| trip(keyed, key));
                say(began)?;
            }
        }
    }
    Ok(())
}

fn trip(keyed: &SharedFleetKeyedBreakers<u32>, key: u32) {
    let breaker = keyed.get(&key);
    while breaker.state() == State::Closed {
        if let Ok(permit) = breaker.admit() {
            permit.failure();
        }
    }
}

fn follow(keyed: &SharedFleetKeyedBreakers<u32>, key: u32) {
    let breaker = keyed.get(&key);
    until(|| breaker.state() != State::Closed);
}

fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_micros(50));
    }
}

fn say(what: impl Serialize) -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &what)?;
    output.write_all(b"\n")?;
    output.flush()?;
    Ok(())
}
