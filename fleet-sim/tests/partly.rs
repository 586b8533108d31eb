//! Whose circuits open where only a part fails, in figures that can be found without the simulation.

use breaker_core::ConfigError;
use fleet_sim::clock::SECOND;
use fleet_sim::figures::Tick;
use fleet_sim::partly::keys::{ByKey, Circuits};
use fleet_sim::partly::rates::ByRate;
use fleet_sim::partly::{Fails, Outcome};

fn by_key(circuits: Circuits) -> Result<Outcome, ConfigError> {
    let fleet = ByKey {
        instances: 10,
        keys: 50,
        circuits,
    };
    fleet.play(42)
}

fn by_rate(fails: Fails, together: bool) -> Result<Outcome, ConfigError> {
    let fleet = ByRate {
        instances: 10,
        fails,
        together,
    };
    fleet.play(42)
}

#[test]
fn every_call_has_one_fate_and_redis_is_asked_where_circuits_are_shared() -> Result<(), ConfigError>
{
    let outcomes = [
        (by_key(Circuits::Alone)?, false),
        (by_key(Circuits::Counting)?, true),
        (by_rate(Fails::Calls(0.6), false)?, false),
        (by_rate(Fails::Calls(0.6), true)?, true),
    ];
    for (number, (outcome, is_shared)) in outcomes.iter().enumerate() {
        let figures = &outcome.figures;
        let sum = |of: fn(&Tick) -> u32| -> u64 {
            figures.ticks.iter().map(|tick| u64::from(of(tick))).sum()
        };
        assert_eq!(figures.fates.sum(), figures.calls, "{number}");
        let failed = figures.dead_until_open + figures.dead_later;
        assert_eq!(failed, figures.fates.failed, "{number}");
        assert_eq!(
            sum(|tick| tick.commands),
            figures.redis.commands,
            "{number}"
        );
        assert_eq!(
            sum(|tick| tick.messages),
            figures.redis.messages,
            "{number}"
        );
        assert_eq!(
            figures.redis.messages,
            figures.redis.published * 10,
            "{number}"
        );
        assert_eq!(figures.redis.commands > 0, *is_shared, "{number}");
        assert_eq!((outcome.hit.now, outcome.others.now), (0, 0), "{number}");
    }
    Ok(())
}

#[test]
fn a_shard_opens_its_own_keys_and_no_other() -> Result<(), ConfigError> {
    for circuits in [Circuits::Alone, Circuits::Shared, Circuits::Counting] {
        let outcome = by_key(circuits)?;
        let what = format!("{circuits:?}");
        assert_eq!((outcome.hit.all, outcome.hit.most), (50, 50), "{what}");
        assert_eq!(
            (outcome.others.all, outcome.others.most),
            (450, 0),
            "{what}"
        );
        assert_eq!(outcome.refused_needlessly, 0, "{what}");
        // Five for each circuit, or each key: and what was under way, and probes of those that were first.
        let failed = outcome.figures.dead_until_open;
        let expected = match circuits {
            Circuits::Alone => 250..330,
            Circuits::Counting => 25..30,
            _ => 25..250,
        };
        assert!(expected.contains(&failed), "{what}: {failed}");
    }
    Ok(())
}

#[test]
fn one_circuit_for_all_shards_refuses_what_is_well() -> Result<(), ConfigError> {
    let outcome = by_key(Circuits::OneForAll)?;
    assert_eq!((outcome.hit.all, outcome.others.most), (0, 10));
    // 500 calls a second for a minute, nine tenths for other shards: most of them.
    let refused = outcome.refused_needlessly;
    assert!((20_000..28_000).contains(&refused), "{refused}");
    Ok(())
}

#[test]
fn who_fails_is_open_alone_until_they_are_half_of_all() -> Result<(), ConfigError> {
    for (share, hit, others) in [(0.1, 1, 0), (0.4, 4, 0), (0.6, 6, 4)] {
        let outcome = by_rate(Fails::Instances(share), true)?;
        assert_eq!(
            (outcome.hit.most, outcome.others.most),
            (hit, others),
            "{share}"
        );
        assert_eq!(outcome.hit.all, hit, "{share}");
        // Half of a window of a hundred calls, at five a second, for each of them at most.
        assert!(outcome.figures.dead_until_open <= 50 * hit + 5, "{share}");
        let alone = by_rate(Fails::Instances(share), false)?;
        assert_eq!((alone.hit.most, alone.others.most), (hit, 0), "{share}");
    }
    Ok(())
}

#[test]
fn all_open_together_once_half_of_the_window_of_all_has_failed() -> Result<(), ConfigError> {
    let together = by_rate(Fails::Calls(1.0), true)?;
    let alone = by_rate(Fails::Calls(1.0), false)?;
    assert_eq!(alone.figures.dead_until_open, 500);
    // The fastest trip first, and count as failing with their whole window.
    let failed = together.figures.dead_until_open;
    assert!((300..=500).contains(&failed), "{failed}");
    let after = together.figures.all_open_after.unwrap_or(u64::MAX);
    assert!(after < 11 * SECOND, "{after}");
    let none = by_rate(Fails::Calls(0.2), true)?;
    assert_eq!((none.hit.most, none.figures.all_open_after), (0, None));
    Ok(())
}
