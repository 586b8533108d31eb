//! What sharing is worth: the measurement behind the table in the docs, made smaller. Its counts hold on
//! any machine.

use std::time::Duration;

use test_fleet::measure::{Outage, Way, measure, table};
use test_fleet::plan::Circuit;

#[test]
fn a_fleet_fails_less_often_and_probes_once() {
    let (instances, threshold) = (8, 5);
    let outage = Outage {
        instances,
        circuit: Circuit {
            threshold,
            reset: 1_000,
            ..Circuit::default()
        },
        pause: Duration::from_millis(150),
        dead: Duration::from_millis(2_500),
    };
    let figures = Way::ALL.map(|way| (way, measure(way, &outage)));
    eprint!("{}", table(&outage, &figures));
    let [alone, shared, counted] = figures.map(|(_, figures)| figures);
    let all = instances * usize::try_from(threshold).unwrap();
    // Each has its own five failures, and its own probe.
    assert!(alone.before_open >= all, "{alone:?}");
    assert!(alone.probes >= instances, "{alone:?}");
    // Nobody has more than five, and one probes for all: in a dead service, once in each second.
    assert!(shared.before_open <= all, "{shared:?}");
    assert!(counted.before_open < all, "{counted:?}");
    for figures in [&shared, &counted] {
        assert_eq!(figures.probes, 1, "{figures:?}");
        assert!(
            figures.while_dead < alone.while_dead,
            "{figures:?} {alone:?}"
        );
    }
}
