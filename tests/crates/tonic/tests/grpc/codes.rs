//! Every code, over the wire, as the error of an annotated function.

use super::*;
use breakerbox::classify::{self, only};
use breakerbox::{Outcome, State, circuit_breaker, test};

#[circuit_breaker(breaker = pms, classify = classify::tonic)]
async fn rooms(
    pms: &Breaker,
    client: &mut PmsClient<Channel>,
    question: Question,
) -> Result<u32, CallError<Status>> {
    Ok(client.rooms(question).await?)
}

const ALL: [(Code, Outcome); 16] = [
    (Code::Cancelled, Outcome::Ignored),
    (Code::Unknown, Outcome::Failure),
    (Code::InvalidArgument, Outcome::Ignored),
    (Code::DeadlineExceeded, Outcome::Failure),
    (Code::NotFound, Outcome::Ignored),
    (Code::AlreadyExists, Outcome::Ignored),
    (Code::PermissionDenied, Outcome::Ignored),
    (Code::ResourceExhausted, Outcome::Failure),
    (Code::FailedPrecondition, Outcome::Ignored),
    (Code::Aborted, Outcome::Ignored),
    (Code::OutOfRange, Outcome::Ignored),
    (Code::Unimplemented, Outcome::Ignored),
    (Code::Internal, Outcome::Failure),
    (Code::Unavailable, Outcome::Failure),
    (Code::DataLoss, Outcome::Failure),
    (Code::Unauthenticated, Outcome::Ignored),
];

#[test]
fn each_code_counts_as_the_table_says() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let mut client = client().await;
        assert_eq!(rooms(&pms, &mut client, code(Code::Ok)).await.unwrap(), 7);
        for (kind, outcome) in ALL {
            let Err(CallError::Call(status)) = rooms(&pms, &mut client, code(kind)).await else {
                panic!("{kind:?} did not come");
            };
            assert_eq!(status.code(), kind);
            assert_eq!(classify::tonic(&status), outcome, "{kind:?}");
            let counted = pms.state() == State::Open;
            assert_eq!(counted, outcome == Outcome::Failure, "{kind:?}");
            pms.close();
        }
    });
}

#[test]
fn the_layer_says_the_same_of_each_code() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let channel = serve().await.connect().await.unwrap();
        let layer = breakerbox::tower::CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let mut client = PmsClient::new(layer.layer(channel));
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
        for (kind, outcome) in ALL {
            let status = client.rooms(code(kind)).await.unwrap_err();
            assert_eq!(status.code(), kind);
            let counted = pms.state() == State::Open;
            assert_eq!(counted, outcome == Outcome::Failure, "{kind:?}");
            pms.close();
        }
    });
}

#[test]
fn a_time_limit_of_tonics_server_counts() {
    let _scope = test::scope();
    block_on(async {
        let server = Server::builder().timeout(Duration::from_millis(1));
        let endpoint = serve_by({ server }.add_service(Pms)).await;
        let channel = endpoint.connect().await.unwrap();
        let hangs = Question {
            hangs: true,
            ..Question::default()
        };
        let status = PmsClient::new(channel.clone()).rooms(hangs.clone()).await;
        let status = status.unwrap_err();
        // That is how it calls it.
        assert_eq!(
            (status.code(), status.message()),
            (Code::Cancelled, "Timeout expired")
        );
        assert_eq!(classify::tonic(&status), Outcome::Failure);

        let pms = breaker(Settings::new());
        let layer = breakerbox::tower::CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let _late = PmsClient::new(layer.layer(channel)).rooms(hangs).await;
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn a_status_may_be_the_error_itself() {
    #[circuit_breaker(breaker = pms, classify = classify::tonic, timeout = "2s")]
    async fn rooms(pms: &Breaker, question: Question) -> Result<u32, Status> {
        end(&question).await?;
        Ok(7)
    }

    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        assert_eq!(rooms(&pms, code(Code::Ok)).await.unwrap(), 7);
        let hangs = Question {
            hangs: true,
            ..Question::default()
        };
        let (late, ()) = tokio::join!(rooms(&pms, hangs), async {
            tokio::task::yield_now().await;
            scope.advance(Duration::from_secs(2));
        });
        let late = late.unwrap_err();
        assert_eq!(late.code(), Code::DeadlineExceeded);
        assert_eq!(
            late.message(),
            "call through circuit `pms` timed out after 2s"
        );
        assert_eq!(classify::tonic(&late), Outcome::Failure);

        scope.advance(Duration::from_micros(1_500));
        let refused = rooms(&pms, code(Code::Ok)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        assert!(
            refused
                .message()
                .starts_with("circuit `pms` is open: retry in ")
        );
        let pushback = refused.metadata().get("grpc-retry-pushback-ms").unwrap();
        assert_eq!(pushback, "29999", "rounded up");
        assert_eq!(
            classify::tonic(&refused),
            Outcome::Ignored,
            "nobody was asked"
        );

        pms.force_open();
        let refused = rooms(&pms, code(Code::Ok)).await.unwrap_err();
        assert!(refused.metadata().is_empty());
        assert_eq!(classify::tonic(&refused), Outcome::Ignored);
    });
}

#[test]
fn a_call_error_becomes_a_status() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let call =
        |answer: Result<u32, Status>| -> Result<u32, Status> { Ok(pms.call_sync(|| answer)?) };
    assert_eq!(call(Ok(7)).unwrap(), 7);
    assert_eq!(
        call(Err(Status::internal("down"))).unwrap_err().code(),
        Code::Internal
    );
    assert_eq!(call(Ok(7)).unwrap_err().code(), Code::Unavailable);
}

#[test]
fn codes_can_be_chosen() {
    let unavailable = only([Code::Unavailable, Code::Internal]);
    assert!(unavailable(&Status::internal("down")));
    assert!(!unavailable(&Status::unknown("down")));
    let unavailable = only([Code::Unavailable]);
    assert!(unavailable(&CallError::Call(Status::unavailable("down"))));
}
