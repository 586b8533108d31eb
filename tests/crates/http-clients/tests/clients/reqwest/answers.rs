//! What servers say, and how much of it.

use std::time::{Duration, SystemTime};

use breakerbox::classify::{self, ErrorWithRetryAfter, WithRetryAfter};
use breakerbox::{CallError, circuit_breaker};
use reqwest::StatusCode;

use super::{Answer, client, counted_at, counted_from, response, rooms, rooms_by_status};
use crate::server::{Reply, Server};
use crate::verdict::{Counted, PMS, WAITS, counted, headers, of_status, prepare};

/// Answers with the status in the path.
fn statuses() -> Server {
    Server::by_path(|path| Reply::new(&format!("{path} Whatever"), "{\"free\":3}"))
}

#[tokio::test]
async fn by_status_in_an_error() {
    let _scope = breakerbox::test::scope();
    let (server, client) = (statuses(), client());
    for status in (200..600).filter(|status| ![204, 304].contains(status)) {
        let counted = counted_at(&client, &server.url(&status.to_string())).await;
        assert_eq!(counted, of_status(status), "{status}");
    }
}

#[tokio::test]
async fn by_status_in_the_output() {
    let _scope = breakerbox::test::scope();
    let (server, client) = (statuses(), client());
    for status in 200..1000 {
        prepare();
        let answer = response(&client, client.get(server.url(&status.to_string())).build()).await;
        assert_eq!(answer.unwrap().status(), status); // as it is
        assert_eq!(counted(), of_status(status), "{status}");
    }
}

#[tokio::test]
async fn a_wait_is_kept_by_the_error_and_read_from_the_output() {
    let _scope = breakerbox::test::scope();
    let client = client();
    for status in [429, 503] {
        for &(wait, date, expected) in WAITS {
            let head = format!("{status} Busy\r\n{}", headers(wait, date));
            let server = Server::new(Reply::new(&head, ""));
            let request = || client.get(server.url("")).build();

            prepare();
            let Err(CallError::Call(error)) = rooms(&client, request()).await else {
                panic!("{head}");
            };
            assert_eq!(counted(), expected, "{head}");
            assert_eq!(error.error().status().unwrap(), status);
            assert_eq!(
                error
                    .retry_after()
                    .map_or(Counted::Failure, Counted::Overloaded),
                expected
            );

            prepare();
            assert_eq!(response(&client, request()).await.unwrap().status(), status);
            assert_eq!(counted(), expected, "{head}");

            // Lost by reqwest's own.
            prepare();
            assert!(rooms_by_status(&client, request()).await.is_err());
            assert_eq!(counted(), Counted::Failure, "{head}");
        }
    }
}

/// Refused for as long, and then a probe goes out.
#[tokio::test]
async fn an_overloaded_server_is_left_alone_for_as_long_as_it_says() {
    let scope = breakerbox::test::scope();
    let busy = Server::new(Reply::new("503 Busy\r\nRetry-After: 20", ""));
    let well = Server::new(Reply::new("200 OK", "{\"free\":3}"));
    let client = client();
    assert!(
        rooms(&client, client.get(busy.url("")).build())
            .await
            .is_err()
    );
    scope.advance(Duration::from_secs(20) - Duration::from_nanos(1));
    let refused = rooms(&client, client.get(well.url("")).build()).await;
    assert!(matches!(refused, Err(CallError::Open(_))), "{refused:?}");
    assert_eq!((busy.requests(), well.requests()), (1, 0));
    scope.advance(Duration::from_nanos(1));
    let rooms = rooms(&client, client.get(well.url("")).build()).await;
    assert_eq!((rooms.unwrap().free, well.requests()), (3, 1));
}

#[tokio::test]
async fn a_date_without_another_is_by_this_machine_s_clock() {
    const HOUR: Duration = Duration::from_secs(3600);
    let _scope = breakerbox::test::scope();
    let then = httpdate::fmt_http_date(SystemTime::now() + HOUR);
    let server = Server::new(Reply::new(&format!("429 No\r\nRetry-After: {then}"), ""));
    let client = client();
    prepare();
    assert!(
        rooms(&client, client.get(server.url("")).build())
            .await
            .is_err()
    );
    let Counted::Overloaded(wait) = counted() else {
        panic!("{:?}", counted());
    };
    assert!(wait <= HOUR && wait > HOUR / 2, "{wait:?}");
}

/// A wait is for what is overloaded: it means something else beside these.
#[tokio::test]
async fn a_wait_beside_another_status_is_not_looked_at() {
    let _scope = breakerbox::test::scope();
    for status in [200, 301, 404, 413, 500, 502, 504] {
        let server = Server::new(Reply::new(
            &format!("{status} So\r\nRetry-After: 20"),
            "{\"free\":3}",
        ));
        assert_eq!(counted_from(&server).await, of_status(status), "{status}");
        prepare();
        let request = client().get(server.url("")).build();
        assert_eq!(response(&client(), request).await.unwrap().status(), status);
        assert_eq!(counted(), of_status(status), "{status}");
    }
}

#[circuit_breaker(
    breaker = PMS,
    classify = classify::at_most(Duration::from_secs(300), classify::reqwest),
)]
async fn for_a_while(url: String) -> Answer<WithRetryAfter<reqwest::Error>> {
    let response = client().get(url).send().await?;
    Ok(response.error_with_retry_after()?.json().await?)
}

#[tokio::test]
async fn a_year_is_cut_to_what_one_is_ready_to_wait() {
    const YEAR: Duration = Duration::from_secs(31_536_000);
    let _scope = breakerbox::test::scope();
    for wait in ["31536000", "18446744073709551615"] {
        let server = Server::new(Reply::new(&format!("503 Bye\r\nRetry-After: {wait}"), ""));
        prepare();
        assert!(for_a_while(server.url("")).await.is_err());
        assert_eq!(counted(), Counted::Overloaded(Duration::from_secs(300)));

        // Without that, it is as the server says.
        prepare();
        let request = client().get(server.url("")).build();
        assert!(rooms(&client(), request).await.is_err());
        assert!(
            matches!(counted(), Counted::Overloaded(wait) if wait >= YEAR),
            "{:?}",
            counted()
        );
    }
}

/// By one who looks at two statuses alone, and by one who looks at all but one.
#[tokio::test]
async fn codes_choose_among_statuses() {
    #[circuit_breaker(
        breaker = PMS,
        classify = classify::only([StatusCode::BAD_GATEWAY, StatusCode::IM_A_TEAPOT]),
    )]
    async fn these(url: String) -> Result<u64, CallError<reqwest::Error>> {
        let response = client().get(url).send().await?.error_for_status()?;
        Ok(response.content_length().unwrap_or_default())
    }

    #[circuit_breaker(breaker = PMS, classify_output = classify::result(
        classify::all((
            classify::response,
            classify::not(classify::only([StatusCode::NOT_IMPLEMENTED])),
        )),
        classify::reqwest,
    ))]
    async fn all_but(url: String) -> Result<reqwest::Response, CallError<reqwest::Error>> {
        Ok(client().get(url).send().await?)
    }

    let _scope = breakerbox::test::scope();
    let server = statuses();
    for (status, counts) in [(500, false), (502, true), (418, true), (404, false)] {
        prepare();
        assert!(these(server.url(&status.to_string())).await.is_err());
        assert_eq!(counted() == Counted::Failure, counts, "{status}");
    }
    for (status, expected) in [
        (500, Counted::Failure),
        (501, Counted::Success),
        (404, Counted::Ignored),
        (200, Counted::Success),
    ] {
        prepare();
        assert!(all_but(server.url(&status.to_string())).await.is_ok());
        assert_eq!(counted(), expected, "{status}");
    }
    prepare();
    assert!(these(Server::gone()).await.is_err());
    assert_eq!(counted(), Counted::Ignored); // no status
    prepare();
    assert!(all_but(Server::gone()).await.is_err());
    assert_eq!(counted(), Counted::Failure);
}

#[tokio::test]
async fn a_body_that_is_no_json_is_a_failure_and_json_of_another_shape_an_answer() {
    let _scope = breakerbox::test::scope();
    for (body, expected) in [
        ("{\"free\":3}", Counted::Success),
        ("{\"free\":3,\"more\":[]}", Counted::Success),
        ("<html>Bad Gateway</html>", Counted::Failure),
        ("", Counted::Failure),
        ("{\"free\":", Counted::Failure),
        ("{\"free\":3}}", Counted::Failure),
        ("null", Counted::Ignored),
        ("{}", Counted::Ignored),
        ("{\"free\":\"none\"}", Counted::Ignored),
        ("{\"free\":-1}", Counted::Ignored),
        ("[]", Counted::Ignored),
    ] {
        let server = Server::new(Reply::new("200 OK", body));
        assert_eq!(counted_from(&server).await, expected, "{body}");
    }
}

#[tokio::test]
async fn an_upgrade_that_fails_is_a_failure() {
    #[circuit_breaker(breaker = PMS, classify = classify::reqwest)]
    async fn upgraded(url: String) -> Result<(), CallError<reqwest::Error>> {
        client().get(url).send().await?.upgrade().await?;
        Ok(())
    }

    let _scope = breakerbox::test::scope();
    let server = Server::new(Reply::new("200 OK", ""));
    prepare();
    assert!(upgraded(server.url("")).await.is_err());
    assert_eq!(counted(), Counted::Failure);
}

/// Its responses are of another type, and their errors of the same: the wait is put beside them by hand.
#[test]
fn the_blocking_client_too() {
    #[circuit_breaker(breaker = PMS, classify = classify::reqwest)]
    fn blocking(url: String) -> Result<String, CallError<WithRetryAfter<reqwest::Error>>> {
        let response = reqwest::blocking::Client::builder()
            .no_proxy()
            .build()?
            .get(url)
            .send()?;
        let wait = classify::retry_after(response.headers());
        let response = response.error_for_status();
        Ok(response
            .map_err(|error| WithRetryAfter::new(error, wait))?
            .text()?)
    }

    let _scope = breakerbox::test::scope();
    for (reply, expected) in [
        (Reply::new("200 OK", "3"), Counted::Success),
        (
            Reply::new("404 No\r\nRetry-After: 20", ""),
            Counted::Ignored,
        ),
        (
            Reply::new("503 Busy\r\nRetry-After: 20", ""),
            Counted::Overloaded(Duration::from_secs(20)),
        ),
        (Reply::raw(""), Counted::Failure),
    ] {
        let server = Server::new(reply);
        prepare();
        let _ = blocking(server.url(""));
        assert_eq!(counted(), expected);
    }
}
