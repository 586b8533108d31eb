//! What counts.

use super::*;
use breakerbox::reqwest_middleware::refusal;
use breakerbox::{CallError, CircuitOpenError, Outcome, State, circuit_breaker, classify, test};
use reqwest_middleware::Error;
use std::io;

#[test]
fn errors_of_the_client_count_as_its_classifier_says() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let client = client(guard(&pms));
        let bad = client.get("ftp://localhost/").send().await.unwrap_err();
        assert_eq!(classify::reqwest(&bad), Outcome::Ignored);
        assert_eq!(pms.state(), State::Closed, "the caller's mistake");
        let nobody = client.get(nobody().await).send().await.unwrap_err();
        assert!(nobody.is_connect());
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn classify_is_of_errors_and_classify_output_of_all() {
    let _scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new());
        let by_error = client(guard(&pms).classify(|error: &Error| !error.is_connect()));
        assert!(by_error.get(nobody().await).send().await.is_err());
        assert_eq!(pms.state(), State::Closed);
        assert!(by_error.get(format!("{host}/broken")).send().await.is_ok());
        assert_eq!(pms.state(), State::Open);

        pms.close();
        let by_output = guard(&pms).classify_output(classify::at_most(
            Duration::from_secs(3),
            classify::result(classify::response, classify::reqwest),
        ));
        let by_output = client(by_output);
        assert!(by_output.get(format!("{host}/busy")).send().await.is_ok());
        assert_eq!(pms.snapshot().time_left, Duration::from_secs(3));
        pms.close();
        assert!(by_output.get(nobody().await).send().await.is_err());
        assert_eq!(pms.snapshot().time_left, RESET);
    });
}

#[test]
fn errors_of_other_middlewares_are_looked_into() {
    let pms = breaker(Settings::new());
    pms.force_open();
    let open = || pms.admit().unwrap_err();
    let refused = Error::from(open());
    assert_eq!(classify::reqwest(&refused), Outcome::Ignored);
    let within = Error::middleware(io::Error::other(open()));
    assert_eq!(refusal(&within), Some(&open()));
    assert_eq!(classify::reqwest(&within), Outcome::Ignored);
    let within = Error::middleware(Error::middleware(open()));
    assert_eq!(refusal(&within), Some(&open()));
    assert_eq!(classify::reqwest(&within), Outcome::Ignored);
    let unknown = Error::middleware(io::Error::other("no token"));
    assert_eq!(classify::reqwest(&unknown), Outcome::Failure);
    let call = CallError::from(open());
    assert_eq!(
        classify::reqwest::<CallError<Error>>(&call),
        Outcome::Ignored
    );

    block_on(async {
        let bad = reqwest::get("not a URL").await.unwrap_err();
        let within = Error::middleware(Error::from(bad));
        assert_eq!(classify::reqwest(&within), Outcome::Ignored);
        let down = reqwest::get(nobody().await).await.unwrap_err();
        assert_eq!(
            classify::reqwest(&Error::middleware(down)),
            Outcome::Failure
        );
    });
}

#[test]
fn it_may_be_the_error_of_an_annotated_function() {
    #[circuit_breaker(breaker = hotel, classify = classify::reqwest, timeout = "2s")]
    async fn offer(
        hotel: &Breaker,
        client: &ClientWithMiddleware,
        url: String,
    ) -> Result<u16, Error> {
        Ok(client.get(url).send().await?.status().as_u16())
    }

    #[circuit_breaker(breaker = hotel, classify = classify::reqwest)]
    async fn call_error(
        hotel: &Breaker,
        client: &ClientWithMiddleware,
        url: String,
    ) -> Result<u16, CallError<Error>> {
        Ok(client.get(url).send().await?.status().as_u16())
    }

    let _scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let (pms, hotel) = (breaker(Settings::new()), breaker(Settings::new()));
        let client = client(guard(&pms));
        pms.open_for(RESET);
        let url = || format!("{host}/ok");
        let refused = |error: &Error| refusal(error).map(CircuitOpenError::name) == Some("pms");
        let error = offer(&hotel, &client, url()).await.unwrap_err();
        assert!(refused(&error));
        let error = call_error(&hotel, &client, url()).await.unwrap_err();
        assert!(matches!(error, CallError::Call(error) if refused(&error)));
        assert_eq!(hotel.state(), State::Closed, "of the circuit further in");
        pms.close();
        assert_eq!(offer(&hotel, &client, url()).await.unwrap(), 200);
        hotel.force_open();
        let error = offer(&hotel, &client, url()).await.unwrap_err();
        let Error::Middleware(error) = error else {
            panic!("it is no error of the client");
        };
        assert_eq!(
            format!("{error:#}"),
            "circuit `pms` refused the request: circuit `pms` is held open by an operator"
        );
    });
}
