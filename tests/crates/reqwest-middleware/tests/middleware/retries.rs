//! Beside `reqwest-retry`, on either side of it.

use super::*;
use breakerbox::reqwest_middleware::refusal;
use breakerbox::{Outcome, State, classify, test};
use reqwest_middleware::Error;
use reqwest_retry::policies::ExponentialBackoff;
use reqwest_retry::{RetryError, RetryTransientMiddleware};

fn retry(times: u32) -> impl Middleware {
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::from_millis(1), Duration::from_millis(2))
        .build_with_max_retries(times);
    RetryTransientMiddleware::new_with_policy(policy)
}

#[test]
fn a_retry_inside_is_one_call() {
    let _scope = test::scope();
    block_on(async {
        let (host, served) = serve().await;
        let settings = Settings::new().threshold(3).must();
        let pms = Arc::new(Breaker::new("pms", settings));
        let client = ClientBuilder::new(reqwest::Client::new())
            .with(guard(&pms))
            .with(retry(3))
            .build();
        let answer = client.get(format!("{host}/broken")).send().await.unwrap();
        assert_eq!(answer.status(), 500);
        assert_eq!(served.load(Ordering::Relaxed), 4);
        assert_eq!(pms.snapshot().consecutive, 1);
        // The error of its last try is within the retry's own.
        let error = client.get(nobody().await).send().await.unwrap_err();
        assert!(error.is_middleware());
        assert_eq!(classify::reqwest(&error), Outcome::Failure);
        assert_eq!(pms.snapshot().consecutive, 2);
    });
}

#[test]
fn a_retry_outside_stops_when_it_is_refused() {
    let scope = test::scope();
    block_on(async {
        let (host, served) = serve().await;
        let settings = Settings::new().threshold(3).reset(RESET).must();
        let pms = Arc::new(Breaker::new("pms", settings));
        let client = ClientBuilder::new(reqwest::Client::new())
            .with(retry(100))
            .with(guard(&pms))
            .build();
        let get = async |path| client.get(format!("{host}{path}")).send().await;
        let error = get("/broken").await.unwrap_err();
        assert_eq!(served.swap(0, Ordering::Relaxed), 3, "no storm");
        assert_eq!(pms.state(), State::Open);
        let refused = refusal(&error).expect("it is still to be found");
        assert_eq!(refused.retry_after(), Some(RESET));
        for _ in 0..10 {
            assert!(refusal(&get("/ok").await.unwrap_err()).is_some());
        }
        assert_eq!(served.load(Ordering::Relaxed), 0);
        scope.advance(refused.retry_after().unwrap());
        assert_eq!(get("/ok").await.unwrap().status(), 200);
    });
}

/// As the docs say it is to be done.
#[test]
fn what_a_retry_inside_hides_can_be_looked_into() {
    fn by_retry(error: &Error) -> Outcome {
        let retried = match error {
            Error::Middleware(error) => error.downcast_ref(),
            Error::Reqwest(_) => None,
        };
        match retried {
            Some(RetryError::Error(error) | RetryError::WithRetries { err: error, .. }) => {
                classify::reqwest(error)
            }
            None => classify::reqwest(error),
        }
    }

    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let inside = |guard| {
            let client = ClientBuilder::new(reqwest::Client::new());
            client.with_arc(guard).with(retry(3)).build()
        };
        let by_default = inside(Arc::new(guard(&pms)) as Arc<dyn Middleware>);
        assert!(by_default.get("ftp://localhost/").send().await.is_err());
        assert_eq!(pms.state(), State::Open, "it can't be seen");
        pms.close();
        let looked_into = inside(Arc::new(guard(&pms).classify(by_retry)));
        assert!(looked_into.get("ftp://localhost/").send().await.is_err());
        assert_eq!(pms.state(), State::Closed);
        assert!(looked_into.get(nobody().await).send().await.is_err());
        assert_eq!(pms.state(), State::Open);
    });
}
