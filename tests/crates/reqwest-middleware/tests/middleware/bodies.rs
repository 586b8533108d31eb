//! Outcomes that are settled at the end of a response's body.

use super::*;
use breakerbox::{OnCancel, Outcome, State, test};

const CUT_SHORT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nrooms";
const CHUNK_THEN_NOTHING: &str =
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nrooms\r\n";

#[test]
fn a_body_that_is_cut_short_counts_if_it_is_waited_for() {
    let _scope = test::scope();
    block_on(async {
        let host = serve_bytes(CUT_SHORT, true).await;
        let pms = breaker(Settings::new());
        let response = client(guard(&pms)).get(&host).send().await.unwrap();
        let at_head = response.text().await.unwrap_err();
        assert_eq!(pms.state(), State::Closed);

        let waits = client(guard(&pms).at_end_of_body());
        let response = waits.get(&host).send().await.unwrap();
        assert_eq!(pms.state(), State::Closed);
        let error = response.text().await.unwrap_err();
        assert_eq!(pms.state(), State::Open);
        // It is called the same.
        assert_eq!(error.is_body(), at_head.is_body());
        assert_eq!(error.is_decode(), at_head.is_decode());
        assert_eq!(
            breakerbox::classify::reqwest(&error),
            breakerbox::classify::reqwest(&at_head)
        );
    });
}

#[test]
fn errors_of_the_body_are_classified() {
    let _scope = test::scope();
    block_on(async {
        let host = serve_bytes(CUT_SHORT, true).await;
        let pms = breaker(Settings::new());
        let ignores = guard(&pms)
            .at_end_of_body()
            .classify_body(|_: &reqwest::Error| Outcome::Ignored);
        let response = client(ignores).get(&host).send().await.unwrap();
        assert!(response.text().await.is_err());
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn a_body_settles_when_all_of_it_is_read_or_when_it_is_dropped() {
    let scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new());
        let client = client(guard(&pms).at_end_of_body());
        let get = async |path| {
            half_open(&scope, &pms);
            client.get(format!("{host}{path}")).send().await.unwrap()
        };
        let response = get("/ok").await;
        assert_eq!(pms.state(), State::HalfOpen);
        assert!(pms.admit().is_err(), "it is being read");
        assert_eq!(response.text().await.unwrap(), "rooms");
        assert_eq!(pms.state(), State::Closed);

        drop(get("/ok").await);
        assert_eq!(pms.state(), State::HalfOpen, "given up");
        assert!(pms.admit().is_ok());

        let _empty = get("/empty").await;
        assert_eq!(pms.state(), State::Closed, "there is nothing to read");

        let broken = get("/broken").await;
        assert_eq!(pms.state(), State::Open, "its head said so");
        assert_eq!(broken.status(), 500);
    });
}

#[test]
fn a_time_limit_of_the_request_counts_in_the_body_too() {
    let _scope = test::scope();
    block_on(async {
        let host = serve_bytes(CHUNK_THEN_NOTHING, false).await;
        let pms = breaker(Settings::new());
        let client = client(guard(&pms).at_end_of_body());
        let request = client.get(&host).timeout(Duration::from_millis(50));
        // It may also end before the head is there: then that counts.
        if let Ok(response) = request.send().await {
            assert!(response.text().await.unwrap_err().is_timeout());
        }
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn everything_of_the_response_passes_through() {
    let _scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new());
        let url = format!("{host}/ok?hotel=Adlon");
        let plain = reqwest::get(&url).await.unwrap();
        let guarded = client(guard(&pms).at_end_of_body()).get(&url).send();
        let guarded = guarded.await.unwrap();
        assert_eq!(guarded.url().as_str(), url);
        assert_eq!(guarded.content_length(), Some(5));
        assert_eq!(guarded.status(), plain.status());
        assert_eq!(guarded.version(), plain.version());
        assert_eq!(guarded.remote_addr(), plain.remote_addr());
        assert!(guarded.remote_addr().is_some());
        assert_eq!(
            guarded.headers()["content-type"],
            plain.headers()["content-type"]
        );
        assert_eq!(
            guarded.error_for_status().unwrap().bytes().await.unwrap(),
            "rooms"
        );
    });
}

#[test]
fn an_upgrade_passes_through_and_is_no_body() {
    const UPGRADED: &str = "HTTP/1.1 101 Switching Protocols\r\n\
         connection: upgrade\r\nupgrade: rooms\r\n\r\nAdlon";
    let scope = test::scope();
    block_on(async {
        let host = serve_bytes(UPGRADED, false).await;
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        half_open(&scope, &pms);
        let request = client(guard(&pms).at_end_of_body())
            .get(&host)
            .header("connection", "upgrade")
            .header("upgrade", "rooms");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 101);
        assert_eq!(pms.state(), State::Closed);
        let mut upgraded = response.upgrade().await.unwrap();
        let mut said = [0; 5];
        upgraded.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"Adlon");
        drop(upgraded);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn an_answer_to_head_has_no_body() {
    let scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        half_open(&scope, &pms);
        let client = client(guard(&pms).at_end_of_body());
        let answer = client.head(format!("{host}/ok")).send().await.unwrap();
        assert_eq!(answer.headers()["content-length"], "5");
        assert_eq!(pms.state(), State::Closed);
        drop(answer);
        assert_eq!(pms.state(), State::Closed);
    });
}
