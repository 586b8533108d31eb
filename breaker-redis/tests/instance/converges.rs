//! What holds for every fleet, whatever happened to it.

use crate::histories::{Act, Needed, Rules, anything, by_calls, by_calls_of_some, rates, rules};
use crate::world::{MS, Order, SECOND, World};
use breakerbox::State;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm, TestCaseError};

type Check = Result<(), TestCaseError>;

/// What each property plays where `BREAKER_HISTORIES` says nothing.
const NORMALLY: u32 = 200;

fn histories() -> ProptestConfig {
    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instance.regressions");
    ProptestConfig {
        cases: match std::env::var("BREAKER_HISTORIES") {
            Err(_) => NORMALLY,
            Ok(number) => number.parse().expect("BREAKER_HISTORIES is a number"),
        },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(KEPT))),
        max_shrink_iters: 3_000,
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    }
}

/// All stand as Redis has it, and know that version.
fn agree(world: &World) -> Check {
    let told = world.told();
    for (id, node) in &world.nodes {
        let known = node.instance.known();
        let stored = told.as_ref().map(|told| told.version);
        prop_assert_eq!(
            known,
            stored,
            "{} knows another version than {:?}",
            id,
            told
        );
        let state = told
            .as_ref()
            .map_or(State::Closed, |told| told.shared.state);
        let stands = match state {
            State::Open | State::HalfOpen => is_open(node.state()),
            state => node.state() == state,
        };
        prop_assert!(stands, "{} is {} and not {}", id, node.state(), state);
    }
    Ok(())
}

fn is_open(state: State) -> bool {
    matches!(state, State::Open | State::HalfOpen)
}

/// What an operator set, that no call ends.
fn is_kept(world: &World) -> bool {
    let state = world.told().map(|told| told.shared.state);
    matches!(
        state,
        Some(State::ForcedOpen | State::Disabled | State::Shadow)
    )
}

fn all_closed(world: &World) -> Check {
    agree(world)?;
    for (id, node) in &world.nodes {
        prop_assert_eq!(node.state(), State::Closed, "{}", id);
    }
    Ok(())
}

/// Nothing happens: nobody has anything to say but that it is there.
fn is_quiet(world: &mut World) -> Check {
    let asked = |world: &World| -> Vec<_> {
        let all = world.nodes.values();
        all.map(|node| (node.asks, node.follows)).collect()
    };
    let (published, before) = (world.published, asked(world));
    world.run(12 * SECOND);
    prop_assert_eq!(world.published, published, "there was nothing to tell");
    for (after, before) in asked(world).into_iter().zip(before) {
        prop_assert_eq!(after.1, before.1, "there was nothing to follow");
        // A poll each 750 to 1250 ms.
        let asks = after.0 - before.0;
        prop_assert!((9..=17).contains(&asks), "{} questions in 12 s", asks);
    }
    Ok(())
}

/// An outage and its end.
fn outage(world: &mut World, rules: Rules) -> Check {
    world.all_dead = true;
    world.run(6 * SECOND);
    let probes = |world: &World| -> u64 { world.nodes.values().map(|node| node.probes).sum() };
    let (before, published, time) = (probes(world), world.published, 9 * SECOND);
    let asked = world.asks();
    for _ in 0..9 {
        world.run(time / 9);
        for (id, node) in &world.nodes {
            prop_assert!(
                is_open(node.state()),
                "{} is {} in an outage",
                id,
                node.state()
            );
        }
    }
    if rules.quorum == Needed::One {
        let most = time / (rules.reset * 1_000) + 1;
        let trials = probes(world) - before;
        prop_assert!(
            trials <= most * u64::from(rules.probes.min(rules.close_after)),
            "{} probes, {} at most",
            trials,
            most
        );
        // Each trial is told when it begins and when it ends.
        let messages = world.published - published;
        prop_assert!(
            messages <= 2 * most + 1,
            "{} messages of {} trials",
            messages,
            most
        );
    }
    // A poll each 750 ms or more; and of each trial the lease, twice if it wasn't got, and the result.
    let each = 12 + 4 * (time / (rules.reset * MS) + 1);
    let (asked, most) = (world.asks() - asked, each * world.nodes.len() as u64);
    prop_assert!(asked <= most, "{} questions, {} at most", asked, most);
    world.all_dead = false;
    world.run(12 * SECOND);
    all_closed(world)
}

/// After all of this, and some quiet, all stand alike, and go on as any fleet does.
fn converges(rules: Rules, mut world: World, acts: Vec<Act>) -> Check {
    for act in acts {
        world.act(rules, act);
    }
    world.calm();
    world.run(15 * SECOND);
    agree(&world)?;
    if !is_kept(&world) {
        all_closed(&world)?;
    }
    is_quiet(&mut world)?;
    if !is_kept(&world) {
        outage(&mut world, rules)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(histories())]

    #[test]
    fn a_fleet_converges_whatever_happened(
        rules in rules(),
        instances in 2..6_usize,
        acts in anything(),
        seed in any::<u64>(),
    ) {
        converges(rules, rules.world(instances, seed), acts)?;
    }

    #[test]
    fn no_two_have_the_lease(
        rules in rules(),
        instances in 2..6_usize,
        acts in by_calls(),
        seed in any::<u64>(),
    ) {
        let mut world = rules.world(instances, seed);
        world.one_lease = true;
        world.neutral = 20;
        for act in acts {
            world.act(rules, act);
        }
        world.calm();
        world.run(8 * SECOND);
        all_closed(&world)?;
    }

    #[test]
    fn a_fleet_that_trips_by_rate_converges_likewise(
        rules in rates(),
        instances in 2..6_usize,
        acts in anything(),
        seed in any::<u64>(),
    ) {
        converges(rules, rules.world(instances, seed), acts)?;
    }

    #[test]
    fn no_rate_opens_what_those_that_are_reached_have_not_seen(
        rules in rates(),
        instances in 2..6_usize,
        acts in by_calls_of_some(),
        seed in any::<u64>(),
    ) {
        let rules = Rules { counting: true, ..rules };
        let mut world = rules.world(instances, seed);
        world.judged = true;
        world.run(SECOND);
        for act in acts {
            world.act(rules, act);
        }
        world.calm();
        world.run(8 * SECOND);
        all_closed(&world)?;
        // A second of traffic fills a window with failures.
        world.all_dead = true;
        world.run(4 * SECOND);
        for (id, node) in &world.nodes {
            prop_assert!(is_open(node.state()), "{} is {}", id, node.state());
        }
        if world.nodes.len() > 1 || rules.quorum != Needed::Two {
            prop_assert_eq!(world.told().map(|told| is_open(told.shared.state)), Some(true));
        }
    }

    #[test]
    fn the_last_word_of_an_operator_stands(
        rules in rules(),
        instances in 2..6_usize,
        before in anything(),
        by in 0..6_usize,
        orders in prop::collection::vec(
            select(vec![Order::ForceOpen, Order::Disable, Order::Shadow, Order::Close]), 0..3),
        order in select(vec![Order::ForceOpen, Order::Disable, Order::Shadow]),
        after in by_calls(),
        seed in any::<u64>(),
    ) {
        let mut world = rules.world(instances, seed);
        for act in before {
            world.act(rules, act);
        }
        world.calm();
        // Those of others have been told.
        world.run(3 * SECOND);
        let id = world.one(by).expect("one is left");
        for order in orders.into_iter().chain([order]) {
            world.order(id, order);
            world.run(1);
        }
        for act in after {
            let is_its_end = matches!(act, Act::Crash(which) if world.one(which) == Some(id));
            if !is_its_end {
                world.act(rules, act);
            }
        }
        world.calm();
        world.run(6 * SECOND);
        agree(&world)?;
        prop_assert_eq!(world.told().map(|told| told.shared.state), Some(order.state()));
    }
}
