//! What `jitter` is drawn from, and where it is off.

use breaker_core::{Change, Circuit, Clock, Effect, ManualClock, Outcome, Settings};
use std::collections::BTreeSet;
use std::time::Duration;

const RESET: Duration = Duration::from_secs(1_000);

/// A clock of production: it stands still at 0, and has entropy.
#[derive(Clone, Copy)]
struct Production(u64);

impl Clock for Production {
    fn now(&self) -> u64 {
        0
    }

    fn entropy(&self) -> Option<u64> {
        Some(self.0)
    }
}

fn circuit(settings: Settings) -> Circuit {
    Circuit::new(settings.threshold(1).reset(RESET).must())
}

fn wait(change: Option<&Change>) -> Duration {
    change.and_then(|change| change.wait).expect("not opened")
}

fn trip(circuit: &Circuit, clock: impl Clock) -> Duration {
    wait(circuit.admit(clock).unwrap().failure().change())
}

/// The waits of a trip and so many reopenings.
fn reopenings(circuit: &Circuit, clock: impl Clock + Copy, count: u32) -> Vec<Duration> {
    let mut waits = vec![trip(circuit, clock)];
    for _ in 0..count {
        // Over at once, so that the clock may stand still.
        let mut snapshot = circuit.snapshot(&clock);
        snapshot.time_left = Duration::ZERO;
        circuit.restore(&snapshot, &clock).unwrap();
        waits.push(wait(circuit.admit(clock).unwrap().failure().change()));
    }
    waits
}

fn distinct(waits: &[Duration]) -> usize {
    waits.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn two_processes_draw_differently() {
    // In one place, so that only the entropy differs.
    let settings = Settings::new().jitter(1.0);
    let mut here = Box::new(circuit(settings));
    let mut waits = |entropy| {
        *here = circuit(settings);
        reopenings(&here, Production(entropy), 9)
    };
    assert_eq!(waits(1), waits(1));
    let (one, another) = (waits(1), waits(2));
    let same = one.iter().zip(&another).filter(|(a, b)| a == b).count();
    assert!(same <= 1, "{one:?} {another:?}");
}

#[test]
fn each_reopening_draws_anew() {
    for settings in [
        Settings::new().jitter(1.0),
        Settings::new().jitter(1.0).jitter_seed(7),
    ] {
        let waits = reopenings(&circuit(settings), Production(1), 19);
        assert!(distinct(&waits) > 10, "{waits:?}");
    }
}

#[test]
fn two_breakers_of_a_process_draw_differently() {
    let settings = Settings::new().jitter(1.0);
    let breakers: [Circuit; 20] = std::array::from_fn(|_| circuit(settings));
    let waits = breakers
        .each_ref()
        .map(|circuit| trip(circuit, Production(1)));
    assert!(distinct(&waits) > 10, "{waits:?}");
}

#[test]
fn a_seed_decides_alone() {
    // All at once, so that no two stand in one place.
    let [one, another, elsewhere] = [(7, 1), (7, 2), (8, 1)].map(|(seed, entropy)| {
        let settings = Settings::new().jitter(1.0).jitter_seed(seed);
        (Box::new(circuit(settings)), Production(entropy))
    });
    let waits = |(circuit, clock): &(Box<Circuit>, Production)| reopenings(circuit, *clock, 9);
    let [one, another, elsewhere] = [one, another, elsewhere].each_ref().map(waits);
    assert_eq!(one, another);
    assert_ne!(one, elsewhere);
}

#[test]
fn in_production_the_default_jitter_is_up_to_a_tenth() {
    let draws = reopenings(&circuit(Settings::new()), Production(1), 99);
    let longest = RESET + RESET / 10;
    assert!(
        draws.iter().all(|wait| (RESET..longest).contains(wait)),
        "{draws:?}"
    );
    assert!(distinct(&draws) > 50, "{draws:?}");
    let most = draws.iter().max().unwrap();
    assert!(*most > RESET + RESET / 20, "only up to {most:?}");
}

#[test]
fn the_default_jitter_is_off_under_a_clock_without_entropy() {
    for settings in [Settings::new(), Settings::new().jitter_seed(7)] {
        let clock = ManualClock::new(0);
        let draws = reopenings(&circuit(settings), &clock, 9);
        assert!(draws.iter().all(|wait| *wait == RESET), "{draws:?}");
    }
}

#[test]
fn the_default_jitter_is_off_at_an_explicit_time() {
    let circuit = circuit(Settings::new());
    let permit = circuit.admit_at(0).unwrap();
    let effect = permit.settle_at(Outcome::Failure, 0);
    assert_eq!(wait(effect.change()), RESET);
}

#[test]
fn a_jitter_that_was_set_repeats_under_a_clock_without_entropy() {
    let settings = Settings::new().jitter(1.0);
    let breakers: [Circuit; 2] = std::array::from_fn(|_| circuit(settings));
    let [one, another] = breakers
        .each_ref()
        .map(|circuit| reopenings(circuit, &ManualClock::new(0), 9));
    assert_eq!(one, another);
    assert!(distinct(&one) > 5, "{one:?}");
    assert!(one.iter().all(|wait| (RESET..RESET * 2).contains(wait)));
}

#[test]
fn jitter_is_added_after_max_reset() {
    let cap = RESET * 2;
    let settings = Settings::new().backoff(10.0).max_reset(cap).jitter(1.0);
    let waits = reopenings(&circuit(settings.jitter_seed(7)), Production(1), 20);
    let capped = &waits[1..];
    assert!(
        capped.iter().all(|wait| (cap..cap * 2).contains(wait)),
        "{capped:?}"
    );
    assert!(capped.iter().any(|wait| *wait > cap + RESET), "{capped:?}");
}

#[test]
fn what_was_drawn_is_what_is_waited() {
    let circuit = circuit(Settings::new().jitter(1.0));
    let wait = trip(&circuit, Production(1));
    let refused = circuit.admit(Production(1)).unwrap_err();
    assert_eq!(refused.retry_after, Some(wait));
    assert_eq!(circuit.snapshot(&Production(1)).time_left, wait);
}

#[test]
fn a_wait_that_was_asked_for_has_no_jitter() {
    let asked = Duration::from_secs(7);
    let circuit = circuit(Settings::new().jitter(1.0));
    let Effect::Tripped(change) = circuit.admit(Production(1)).unwrap().overloaded(asked) else {
        panic!("did not trip");
    };
    assert_eq!(change.wait, Some(asked));
    assert_eq!(
        circuit.open_for(asked, &Production(1)).wait,
        Some(asked),
        "by an operator"
    );
}
