//! Accounts have circuits, limits and answers of their own.

use std::num::NonZeroU32;
use std::time::Duration;

use breakerbox::{AnyBreaker, State};
use cost_explorer::error::CostsError;
use cost_explorer::pace::Pace;
use cost_explorer::server::{Answer, Fault};
use governor::Quota;

use crate::stage::{ONE, OTHER, Outcome, PACE, PAGES, Stage, THRESHOLD};

#[tokio::test]
async fn what_throttles_one_leaves_the_others_closed() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage
        .break_down(ONE, Fault::Throttled { retry_after: None })
        .await;
    for _ in 0..10 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
        assert!(!stage.costs(OTHER).await?.stale);
        assert_eq!(stage.said(), [Answer::Page; PAGES]);
    }
    assert_eq!(
        (stage.state(ONE), stage.state(OTHER)),
        (State::Open, State::Closed)
    );
    assert_eq!(stage.failures(OTHER), 0);
    Ok(())
}

#[tokio::test]
async fn a_circuit_is_of_account_region_and_api() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.break_down(ONE, Fault::Error).await;
    let Err(CostsError::Open(refused)) = stage.costs(ONE).await else {
        panic!("called")
    };
    let circuit = "circuit `cost-explorer[111111111111/us-east-1/GetCostAndUsage]` is open";
    assert!(refused.to_string().starts_with(circuit), "{refused}");
    Ok(())
}

#[tokio::test]
async fn accounts_have_costs_of_their_own() -> Outcome {
    let _scope = breakerbox::test::scope();
    let stage = Stage::new().await?;
    assert_ne!(
        stage.costs(ONE).await?.value,
        stage.costs(OTHER).await?.value
    );
    Ok(())
}

#[tokio::test]
async fn who_waits_too_long_for_a_turn_is_told_so_and_the_circuit_never_hears_of_it() -> Outcome {
    let _scope = breakerbox::test::scope();
    let twice_an_hour = Quota::per_hour(NonZeroU32::new(2).unwrap());
    let queue = Duration::from_millis(50);
    let mut stage = Stage::at(Pace {
        calls: twice_an_hour,
        queue,
        ..PACE
    })
    .await?;
    for _ in 0..2 {
        assert!(!stage.costs(ONE).await?.stale);
    }
    stage.said();
    for _ in 0..5 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Queue)));
    }
    assert_eq!(
        (stage.said(), stage.state(ONE), stage.failures(ONE)),
        (vec![], State::Closed, 0)
    );
    // Another account has a turn of its own.
    assert!(!stage.costs(OTHER).await?.stale);
    Ok(())
}

/// As many turns as a circuit needs to open, and no other for an hour.
async fn with_the_turns_of_an_outage() -> Result<Stage, Box<dyn std::error::Error>> {
    let turns = NonZeroU32::new(THRESHOLD as u32).unwrap();
    Stage::at(Pace {
        calls: Quota::per_hour(NonZeroU32::MIN).allow_burst(turns),
        queue: Duration::from_millis(50),
        ..PACE
    })
    .await
}

#[tokio::test]
async fn who_is_refused_neither_waits_for_a_turn_nor_takes_one() -> Outcome {
    let scope = breakerbox::test::scope();
    let mut stage = with_the_turns_of_an_outage().await?;
    stage.break_down(ONE, Fault::Error).await;
    for _ in 0..10 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    }
    // A probe asks, and so waits for its turn like any other call. There is none left.
    scope.advance(PACE.reset * 2);
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Queue)));
    assert_eq!((stage.said(), stage.state(ONE)), (vec![], State::Open));
    // Nor does anybody wait for what an operator doesn't let through.
    stage.explorer(ONE).circuit().force_open();
    for _ in 0..10 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    }
    stage.explorer(ONE).circuit().close();
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::Queue)));
    Ok(())
}

#[tokio::test]
async fn refusals_leave_the_turns_to_who_asks_when_all_is_well() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = with_the_turns_of_an_outage().await?;
    stage.explorer(ONE).circuit().force_open();
    for _ in 0..10 {
        assert!(matches!(stage.costs(ONE).await, Err(CostsError::Open(_))));
    }
    stage.explorer(ONE).circuit().close();
    for _ in 0..THRESHOLD {
        assert!(!stage.costs(ONE).await?.stale);
    }
    assert_eq!(stage.said().len(), THRESHOLD * PAGES);
    Ok(())
}
