//! Processes that get no more threads from the system.

use crate::support::{LONG, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetError, Sharing};
use breakerbox::{Config, State};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Which test it is, in the environment of the process that is short of room.
const SHORT: &str = "FLEET_SHORT_OF_THREADS";

/// A thread's stack in that process, in bytes: what room is left for all else is much less.
const STACK: u64 = 256 << 20;

/// Runs this test in a process of its own; `true` in there.
fn is_short(test: &str) -> bool {
    if std::env::var(SHORT).is_ok_and(|short| short == test) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("threads::{test}"), "--nocapture"]);
    command
        .env(SHORT, test)
        .env("RUST_MIN_STACK", STACK.to_string())
        // For which there would be no room.
        .env("RUST_BACKTRACE", "0");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > LONG * 2 {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("1 passed"), "{said}\n{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    false
}

/// From now on there is room for so many threads, and for half of another.
fn room_for(threads: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB"))
        .expect("its size");
    let size = size.trim().parse::<u64>().unwrap() << 10;
    let limit = Rlimit {
        current: Some(size + threads * STACK + STACK / 2),
        ..getrlimit(Resource::As)
    };
    setrlimit(Resource::As, limit).unwrap();
    let spawned = (0..=threads).map(|_| std::thread::Builder::new().spawn(|| ()));
    let spawned: Vec<_> = spawned.collect();
    let failed = spawned.last().expect("one too many");
    assert!(failed.is_err(), "there is room");
    for thread in spawned.into_iter().flatten() {
        thread.join().unwrap();
    }
}

#[test]
fn a_fleet_for_which_there_is_no_thread_is_an_error() {
    if !is_short("a_fleet_for_which_there_is_no_thread_is_an_error") {
        return;
    }
    room_for(0);
    let refused = || {
        let error = Fleet::start("redis://127.0.0.1:1").expect_err("no thread");
        assert!(matches!(error, FleetError::Thread(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.starts_with("the fleet's background has no thread: "),
            "{text}"
        );
    };
    refused();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async { refused() });
    runtime.block_on(async { tokio::task::yield_now().await });
}

#[test]
fn a_name_for_which_there_is_no_thread_is_looked_up_later() {
    if !is_short("a_name_for_which_there_is_no_thread_is_looked_up_later") {
        return;
    }
    room_for(1);
    // Longer than a name's parts may be: nobody need be asked.
    let url = format!("redis://{}.invalid", "x".repeat(64));
    let fleet = Fleet::builder(url).connect(LONG);
    let fleet = fleet.start().expect("a fleet");
    let says = |what: &str| {
        until(what, || {
            let error = fleet.status().last_error;
            error.is_some_and(|error| error.to_string().contains(what))
        });
    };
    says("can't be reached: its name can't be resolved (Resource");
    let breaker = FleetBreaker::shared(name("short"), Config::DEFAULT, Sharing::new());
    let breaker = breaker.expect("a breaker");
    fleet.share(&breaker).expect("to be shared");
    breaker.open_for(Duration::from_secs(1));
    assert_eq!(breaker.state(), State::Open);
    // Then there is room again.
    let limit = getrlimit(Resource::As);
    let current = limit.maximum;
    setrlimit(Resource::As, Rlimit { current, ..limit }).unwrap();
    says("its name can't be resolved (failed to lookup");
}
