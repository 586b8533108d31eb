//! An answer in several pages is one call.

use breakerbox::State;
use cost_explorer::error::CostsError;
use cost_explorer::query::Dates;
use cost_explorer::server::{Answer, Fault};

use crate::stage::{ONE, Outcome, PAGES, Stage, TRIES, week};

#[tokio::test]
async fn all_pages_are_read_in_order() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    let report = stage.costs(ONE).await?.value;
    assert_eq!(stage.said(), [Answer::Page; PAGES]);

    let days: Vec<&str> = report.periods.iter().map(|period| &*period.from).collect();
    let week = ["01", "02", "03", "04", "05", "06", "07"].map(|day| format!("2026-11-{day}"));
    assert_eq!(days, week);
    // A day whose services came on two pages has them all.
    for period in &report.periods {
        let services: Vec<&str> = period.costs.iter().map(|cost| &*cost.service).collect();
        let compute = "Amazon Elastic Compute Cloud - Compute";
        assert_eq!(
            services,
            [compute, "Amazon Simple Storage Service", "AWS Lambda"]
        );
        assert!(period.costs.iter().all(|cost| cost.unit == "USD"));
    }
    assert_eq!(report.periods[0].costs[0].amount, "54.3475320472");
    assert!(
        report
            .periods
            .iter()
            .map(|period| period.estimated)
            .eq([false; 6].into_iter().chain([true]))
    );
    Ok(())
}

#[tokio::test]
async fn one_page_needs_one_request() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    let served = stage
        .explorer(ONE)
        .by_day(Dates::new("2026-11-01", "2026-11-02"))
        .await?;
    assert_eq!(served.value.periods.len(), 1);
    assert_eq!(stage.said(), [Answer::Page]);
    Ok(())
}

#[tokio::test]
async fn a_page_that_leads_to_itself_ends_the_call_and_counts() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(ONE, Fault::SamePage);
    assert!(matches!(stage.costs(ONE).await, Err(CostsError::SamePage)));
    assert_eq!(
        (stage.said(), stage.failures(ONE)),
        (vec![Answer::Page; 2], 1)
    );
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_given_up_and_is_nobodys_fault() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    let year = Dates::new("2025-11-01", "2026-11-01");
    assert!(matches!(
        stage.explorer(ONE).by_day(year).await,
        Err(CostsError::TooManyPages(50))
    ));
    assert_eq!((stage.said().len(), stage.failures(ONE)), (50, 0));
    assert_eq!(stage.state(ONE), State::Closed);
    Ok(())
}

#[tokio::test]
async fn half_an_answer_is_none() -> Outcome {
    let _scope = breakerbox::test::scope();
    let mut stage = Stage::new().await?;
    stage.server.play(ONE, Fault::BreaksOff);
    assert_eq!(
        stage.costs(ONE).await.unwrap_err().code(),
        Some("InternalFailure")
    );
    assert_eq!(stage.failures(ONE), 1);
    // The first page is asked for once, and the second alone again.
    let mut said = vec![Answer::Page];
    said.extend([Answer::Error; TRIES]);
    assert_eq!(stage.said(), said);
    // It was not kept as an answer either.
    assert!(stage.explorer(ONE).by_day(week()).await.is_err());
    Ok(())
}
