//! What a link is told beside calls: operators, snapshots, shadow.

use super::link::Written;
use super::{RESET, breaker, fail};
use breakerbox::{AnyBreaker, Breaker, Change, Config, Settings, Snapshot, State, registry};

type Order = fn(&dyn AnyBreaker) -> Change;

#[test]
fn what_an_operator_does_is_told() {
    let ((pms, _), link) = (breaker("operated"), Written::new());
    pms.link(link.clone()).unwrap();
    let orders: [(Order, &str); 6] = [
        (|pms| pms.force_open(), "forced_open"),
        (|pms| pms.disable(), "disabled"),
        (|pms| pms.shadow(), "shadow"),
        (|pms| pms.open_for(RESET), "open"),
        (|pms| pms.close(), "closed"),
        (|pms| pms.clear(), "closed"),
    ];
    let mut from = "closed";
    for (order, to) in orders {
        order(&pms);
        assert_eq!(link.take(), [format!("{from} -> {to}: operator")]);
        from = to;
    }
}

#[test]
fn what_is_restored_is_told_by_whatever_way() {
    let link = Written::new();
    let pms = Breaker::shared("restored-one", Config::DEFAULT);
    pms.link(link.clone()).unwrap();
    let snapshot = Snapshot {
        state: State::Open,
        time_left: RESET,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    pms.restore(&snapshot).unwrap();
    assert_eq!(link.take(), ["closed -> open: restored"]);
    let name = registry::CircuitName {
        breaker: "restored-one".to_owned(),
        key: None,
    };
    let snapshots = registry::snapshot();
    let one = snapshots.iter().find(|of| of.circuit == name).cloned();
    let report = registry::restore(&registry::Snapshots::from_iter(one));
    assert_eq!(report.restored.len(), 1);
    assert_eq!(link.take(), ["open -> open: restored"]);
    let nonsense = Snapshot {
        state: State::Closed,
        ..snapshot
    };
    pms.restore(&nonsense).unwrap_err();
    assert!(link.take().is_empty());
}

#[test]
fn in_shadow_what_it_would_have_done_is_told_once_and_no_change() {
    let ((pms, _), link) = (breaker("shadowed"), Written::new());
    pms.shadow();
    pms.link(link.clone()).unwrap();
    (0..5).for_each(|_| fail(&pms));
    assert_eq!(link.take(), ["Failure of 1: would trip"]);
}

#[test]
fn while_it_is_disabled_or_held_open_calls_are_not_told() {
    let ((pms, _), link) = (breaker("disabled"), Written::new());
    pms.link(link.clone()).unwrap();
    pms.disable();
    (0..5).for_each(|_| fail(&pms));
    pms.force_open();
    assert!(pms.admit().is_err());
    assert_eq!(
        link.take(),
        [
            "closed -> disabled: operator",
            "disabled -> forced_open: operator"
        ]
    );
}

#[test]
fn settings_laid_over_hold_for_what_is_told_of_slow_calls() {
    use breakerbox::{Overrides, Sliding, Window};
    let (clock, link) = (super::by_hand(), Written::new());
    let rate = Settings::new()
        .failure_rate(0.5)
        .window(Window::calls(10))
        .min_calls(10)
        .slow(RESET)
        .slow_rate(0.5)
        .build_rate()
        .unwrap();
    let pms: Breaker<_, Sliding<1>> = Breaker::by_rate_with_clock("slower", rate, clock).unwrap();
    pms.link(link.clone()).unwrap();
    let call = |pms: &Breaker<_, Sliding<1>>| {
        let permit = pms.admit().unwrap();
        clock.advance(super::SECOND);
        permit.success();
    };
    call(&pms);
    assert!(link.take().is_empty());
    pms.reconfigure(&Overrides::new().slow(super::SECOND / 2))
        .unwrap();
    call(&pms);
    assert_eq!(link.take(), ["Success of 0: counted"]);
}
