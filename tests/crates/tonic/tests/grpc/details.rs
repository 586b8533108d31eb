//! How long a server wants to be left alone.

use super::*;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{Outcome, classify, test};
use proptest::prelude::*;
use prost::Message;
use tonic_types::{ErrorDetails, RetryInfo, StatusExt};

/// As Google's services say it, in bytes of a `google.rpc.Status`.
fn retry_info(code: Code, wait: Duration) -> Vec<u8> {
    let mut details = ErrorDetails::with_quota_failure_violation("clientip:1", "too many calls");
    details.set_retry_info(Some(wait));
    details.set_debug_info(["main.rs:1".to_owned()], "somewhere");
    Status::with_error_details(code, "busy", details)
        .details()
        .to_vec()
}

fn with(code: Code, key: &str, value: &str, details: Vec<u8>) -> Question {
    Question {
        code: code.into(),
        key: key.into(),
        value: value.into(),
        details,
        ..Question::default()
    }
}

#[test]
fn a_wait_opens_for_just_that_long() {
    const PUSHBACK: &str = "grpc-retry-pushback-ms";
    let secs = Duration::from_secs;
    let millis = Duration::from_millis;
    let exhausted = |key, value| with(Code::ResourceExhausted, key, value, Vec::new());
    let info = |code, wait| with(code, "", "", retry_info(code, wait));
    let cases = [
        (info(Code::Unavailable, millis(4_250)), Some(millis(4_250))),
        (info(Code::ResourceExhausted, secs(300)), Some(secs(300))),
        (info(Code::Unavailable, secs(0)), None),
        (exhausted(PUSHBACK, "1500"), Some(millis(1_500))),
        (exhausted(PUSHBACK, "-1"), None),
        (exhausted(PUSHBACK, "0"), None),
        (exhausted(PUSHBACK, "soon"), None),
        (exhausted("retry-after", "7"), Some(secs(7))),
        (exhausted("retry-after", "-7"), None),
        (exhausted("", ""), None),
        // The details say it best.
        (
            with(
                Code::Unavailable,
                PUSHBACK,
                "1",
                retry_info(Code::Unavailable, secs(9)),
            ),
            Some(secs(9)),
        ),
        (
            with(Code::Unavailable, PUSHBACK, "1500", vec![0xff; 40]),
            Some(millis(1_500)),
        ),
    ];
    // Of each length that the last group of base64 may have.
    let ends = [10_000, 200_000, 50_000_000]
        .map(|nanos: u32| (any(30, nanos as i32), Duration::new(30, nanos)));
    let lengths: Vec<_> = ends.iter().map(|(details, _)| details.len() % 3).collect();
    assert!(
        (0..3).all(|length| lengths.contains(&length)),
        "{lengths:?}"
    );
    let ends = ends.map(|(details, wait)| (with(Code::Unavailable, "", "", details), Some(wait)));
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let channel = serve().await.connect().await.unwrap();
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let mut client = PmsClient::new(channel.clone());
        let mut guarded = PmsClient::new(layer.layer(channel));
        for (question, wait) in cases.into_iter().chain(ends) {
            let status = client.rooms(question.clone()).await.unwrap_err();
            let expected = wait.map_or(Outcome::Failure, Outcome::Overloaded);
            assert_eq!(classify::tonic(&status), expected, "{question:?}");
            // In the layer it is read from the headers.
            guarded.rooms(question.clone()).await.unwrap_err();
            assert_eq!(
                pms.snapshot().time_left,
                wait.unwrap_or(RESET),
                "{question:?}"
            );
            pms.close();
        }
    });
}

#[test]
fn a_wait_beside_any_other_code_is_not_looked_at() {
    for code in [Code::Aborted, Code::Internal, Code::NotFound] {
        let details = retry_info(code, Duration::from_secs(9));
        let status = Status::with_details(code, "no", details.into());
        let outcome = classify::tonic(&status);
        assert!(
            matches!(outcome, Outcome::Failure | Outcome::Ignored),
            "{code:?}"
        );
    }
}

fn classified(details: Vec<u8>) -> Outcome {
    classify::tonic(&Status::with_details(Code::Unavailable, "", details.into()))
}

/// A `RetryInfo` as it stands among the details.
fn any(seconds: i64, nanos: i32) -> Vec<u8> {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Pair {
        #[prost(int64, tag = "1")]
        seconds: i64,
        #[prost(int32, tag = "2")]
        nanos: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Info {
        #[prost(message, tag = "1")]
        delay: Option<Pair>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Any {
        #[prost(string, tag = "1")]
        kind: String,
        #[prost(bytes = "vec", tag = "2")]
        value: Vec<u8>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Details {
        #[prost(int32, tag = "1")]
        code: i32,
        #[prost(message, repeated, tag = "3")]
        details: Vec<Any>,
    }

    let delay = Some(Pair { seconds, nanos });
    let any = Any {
        kind: RetryInfo::TYPE_URL.into(),
        value: Info { delay }.encode_to_vec(),
    };
    Details {
        code: 14,
        details: vec![any],
    }
    .encode_to_vec()
}

#[test]
fn nonsense_is_no_wait() {
    assert_eq!(
        classified(any(9, 5)),
        Outcome::Overloaded(Duration::new(9, 5))
    );
    for (seconds, nanos) in [(-1, 0), (0, -1), (0, 0), (1, 1_000_000_000), (i64::MIN, 0)] {
        assert_eq!(
            classified(any(seconds, nanos)),
            Outcome::Failure,
            "{seconds} {nanos}"
        );
    }
}

proptest! {
    #[test]
    fn bytes_of_any_kind_are_read_without_harm(details: Vec<u8>) {
        let _ = classified(details);
    }

    #[test]
    fn what_is_cut_or_bent_is_read_without_harm(
        seconds in 0..i64::MAX,
        nanos in 0..999_999_999,
        length in 0..80_usize,
        at in 0..80_usize,
        to: u8,
    ) {
        let mut details = any(seconds, nanos);
        prop_assert!(matches!(classified(details.clone()), Outcome::Overloaded(_)) || (seconds, nanos) == (0, 0));
        if let Some(byte) = details.get_mut(at) {
            *byte = to;
        }
        let _ = classified(details.clone());
        details.truncate(length);
        let _ = classified(details);
    }

    #[test]
    fn headers_of_any_kind_are_read_without_harm(status in "[ -~]{0,4}", details in "[ -~]{0,60}") {
        use tower::Service;

        let pms = breaker(Settings::new());
        let head = move |()| {
            let head = http::Response::builder()
                .header("grpc-status", &status)
                .header("grpc-status-details-bin", &details)
                .body(());
            std::future::ready(head)
        };
        let mut service = CircuitBreakerLayer::new(pms).grpc().layer(tower::service_fn(head));
        let answered = block_on(service.call(()));
        prop_assert!(answered.is_ok());
    }
}
