//! What somebody makes up who may write to Redis, or publish there: it costs a while, and is over.

use super::world;
use crate::forge::{AHEAD, DAY, Epoch, Forged};
use crate::world::{MS, Order, SECOND, World};
use breaker_redis::protocol::Cause;
use breakerbox::State;

const MAX: u64 = 1 << 52;

const FORCED: Forged = Forged {
    epoch: Epoch::At(MAX),
    counter: MAX,
    state: State::ForcedOpen,
    wait: 0,
    lease: 0,
    cause: Cause::Operator,
    by: 100,
};

/// As far ahead as is believed, beyond it, and at the end of all numbers.
const EPOCHS: [Epoch; 7] = [
    Epoch::Same,
    Epoch::Edge(-1),
    Epoch::Edge(0),
    Epoch::Edge(1),
    Epoch::Edge(2),
    Epoch::At(MAX - 1),
    Epoch::At(MAX),
];

/// An operator's word, and a trip after it, are everywhere at once; also after the key was deleted, and
/// without any restart.
#[track_caller]
fn goes_on(world: &mut World, what: &str) {
    for emptied in [false, true] {
        if emptied {
            world.empty();
            world.run(7 * SECOND);
        }
        for order in [Order::Disable, Order::Close] {
            world.order(0, order);
            world.run(10 * MS);
            assert_eq!(world.states(), [order.state(); 3], "{what}, {emptied}");
        }
        world.trip(1);
        assert_eq!(world.states(), [State::Open; 3], "{what}, {emptied}");
        world.calls_come(100 * MS);
        world.run(6 * SECOND);
        assert_eq!(world.states(), [State::Closed; 3], "{what}, {emptied}");
        world.calls_stop();
        world.run(SECOND);
    }
}

/// Fleets of three that an operator has closed, each with another version to be forged, and what it is.
fn each_with_another_version() -> impl Iterator<Item = (World, Forged, String)> {
    EPOCHS.into_iter().flat_map(|epoch| {
        [1, MAX - 1, MAX].map(|counter| {
            let mut world = world(3);
            world.order(0, Order::Close);
            world.run(SECOND);
            let forged = Forged {
                epoch,
                counter,
                ..FORCED
            };
            (world, forged, format!("{epoch:?}, {counter}"))
        })
    })
}

#[test]
fn no_message_is_the_last_one() {
    for (mut world, forged, what) in each_with_another_version() {
        world.publish(forged);
        world.run(10 * MS);
        world.order(0, Order::Close);
        world.run(7 * SECOND);
        goes_on(&mut world, &what);
    }
}

#[test]
fn what_was_only_heard_and_can_not_be_believed_is_forgotten_with_the_next_poll() {
    let mut world = world(3);
    world.order(0, Order::Close);
    world.run(SECOND);
    world.publish(FORCED);
    world.run(10 * MS);
    assert_eq!(world.states(), [State::ForcedOpen; 3]);
    world.run(7 * SECOND);
    assert_eq!(world.states(), [State::Closed; 3]);
    assert_eq!(world.published, 1, "the order");
    goes_on(&mut world, "heard");
}

#[test]
fn no_record_is_the_last_one() {
    for (mut world, forged, what) in each_with_another_version() {
        world.write(forged);
        world.run(7 * SECOND);
        let believed = matches!(forged.epoch, Epoch::Same | Epoch::Edge(_));
        let state = match believed {
            true => State::ForcedOpen,
            false => State::Closed,
        };
        assert_eq!(world.states(), [state; 3], "{what}");
        goes_on(&mut world, &what);
    }
}

#[test]
fn a_lease_of_nobody_is_over_when_any_would_be() {
    for heard in [false, true] {
        let mut world = world(3);
        world.trip(0);
        let forged = Forged {
            epoch: Epoch::Edge(0),
            counter: 1,
            state: State::HalfOpen,
            wait: 0,
            lease: DAY,
            cause: Cause::Leased,
            by: 100,
        };
        match heard {
            true => world.publish(forged),
            false => world.write(forged),
        }
        world.calls_come(100 * MS);
        let (probes, mut passed) = (world.probes(), 0);
        while world.probes() == probes {
            world.run(SECOND);
            passed += 1;
            assert!(passed < 90, "{heard}: it is held");
        }
        // Its breakers' `probe_timeout`, or until they have asked.
        let is_held = passed > 55;
        assert_eq!(is_held, !heard, "{passed} s");
        world.run(SECOND);
        assert_eq!(world.states(), [State::Closed; 3]);
    }
}

#[test]
fn a_clock_that_was_years_ahead_is_set_right() {
    for (there, back) in [
        (3 * AHEAD, 3 * AHEAD),
        (0, 40 * AHEAD),
        (40 * AHEAD, 20 * AHEAD),
    ] {
        let mut world = world(3);
        world.ahead += there;
        world.order(0, Order::Disable);
        world.run(SECOND);
        world.ahead -= back;
        world.run(7 * SECOND);
        assert_eq!(world.states(), [State::Disabled; 3], "{there} {back}");
        let now = world.now + world.ahead;
        assert!(world.stands().version.epoch <= now, "of the present");
        goes_on(&mut world, "set right");
    }
}

#[test]
fn an_order_stands_over_what_its_author_never_heard_of() {
    let orders = [
        Order::Disable,
        Order::ForceOpen,
        Order::Shadow,
        Order::Close,
    ];
    for (order, lost) in orders
        .iter()
        .flat_map(|order| orders.map(|lost| (*order, lost)))
    {
        // Who knows the order, and who knows what was lost, but for the first: the last, in a process that
        // has just started.
        let mut world = world(2);
        world.order(0, Order::Close);
        world.run(SECOND);
        world.keep();
        for _ in 0..5 {
            world.order(0, lost);
            world.run(SECOND);
        }
        world.unlink(0);
        world.unlink(1);
        world.roll_back(0);
        let young = world.join(super::options);
        world.run(SECOND);
        world.order(young, order);
        world.run(SECOND);
        world.link(0);
        world.link(1);
        world.run(7 * SECOND);
        assert_eq!(world.states(), [order.state(); 3], "{lost:?}, {order:?}");
        assert_eq!(world.stands().shared.state, order.state());
    }
}
