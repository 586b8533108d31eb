//! The file of answers is taken away while it is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use breakerbox::State;
use breakerbox::observe::{self, LastGoodFailed, Observer};
use cost_explorer::server::Fault;

use crate::stage::{ONE, Outcome, Stage};

/// Hears of answers that could not be kept.
#[derive(Default)]
struct Lost(AtomicUsize);

impl Observer for Lost {
    fn last_good_failed(&self, _: &LastGoodFailed<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_answer_that_can_not_be_kept_is_given_all_the_same_and_told_of() -> Outcome {
    let _scope = breakerbox::test::scope();
    let lost = Arc::new(Lost::default());
    let _installed = observe::install(Arc::clone(&lost));
    let stage = Stage::new().await?;
    stage.lose_answers()?;
    assert!(!stage.costs(ONE).await?.stale);
    assert_eq!(lost.0.load(Ordering::Relaxed), 1);
    assert_eq!(stage.state(ONE), State::Closed);

    stage.server.play(ONE, Fault::Error);
    assert_eq!(
        stage.costs(ONE).await.unwrap_err().code(),
        Some("InternalFailure")
    );
    Ok(())
}
