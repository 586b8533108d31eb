//! The layer around clients, and in servers.

use super::*;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{CircuitOpenError, Outcome, State, circuit_breaker, classify, test};
use std::error::Error;
use tower::ServiceBuilder;

#[test]
fn a_refusal_of_the_layer_is_not_counted_further_out() {
    #[circuit_breaker(breaker = hotel, classify = classify::tonic)]
    async fn offer<T>(
        hotel: &Breaker,
        client: &mut PmsClient<T>,
        question: Question,
    ) -> Result<u32, CallError<Status>>
    where
        T: GrpcService<Body>,
        T::Error: Into<Box<dyn Error + Send + Sync>>,
        T::ResponseBody:
            BodyExt<Data: Send, Error: Into<Box<dyn Error + Send + Sync>> + Send> + Send + 'static,
    {
        Ok(client.rooms(question).await?)
    }

    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let hotel = Breaker::new("hotel", Settings::new().threshold(2).must());
        let channel = serve().await.connect().await.unwrap();
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let mut client = PmsClient::new(ServiceBuilder::new().layer(layer).service(channel));
        assert!(
            offer(&hotel, &mut client, code(Code::Internal))
                .await
                .is_err()
        );
        assert_eq!(pms.state(), State::Open);
        for _ in 0..10 {
            let Err(CallError::Call(status)) = offer(&hotel, &mut client, code(Code::Ok)).await
            else {
                panic!("the inner one is open");
            };
            let refused = status.source().unwrap();
            let refused = refused.downcast_ref::<CircuitOpenError>().unwrap();
            assert_eq!(refused.name(), "pms");
            assert_eq!(refused.retry_after(), Some(RESET));
        }
        assert_eq!(hotel.state(), State::Closed);
        assert_eq!(hotel.snapshot().consecutive, 1);
    });
}

#[test]
fn without_being_told_of_tonic_a_refusal_comes_as_unknown() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let channel = serve().await.connect().await.unwrap();
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms)).grpc();
        let mut client = PmsClient::new(layer.layer(channel));
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
        pms.open_for(RESET);
        let status = client.rooms(code(Code::Ok)).await.unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        assert_eq!(status.message(), "circuit `pms` is open: retry in 30s");
        let source = status.source().unwrap();
        let source = source.downcast_ref::<CallError<tonic::transport::Error>>();
        assert!(matches!(source, Some(CallError::Open(_))));
    });
}

#[test]
fn a_server_answers_for_what_is_behind_it() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let endpoint = serve_by(Server::builder().layer(layer).add_service(Pms)).await;
        let mut client = PmsClient::new(endpoint.connect().await.unwrap());
        let missing = client.rooms(code(Code::NotFound)).await.unwrap_err();
        assert_eq!(missing.code(), Code::NotFound);
        let failed = client.rooms(code(Code::Unavailable)).await.unwrap_err();
        assert_eq!(failed.code(), Code::Unavailable);
        assert_eq!(pms.state(), State::Open);
        let refused = client.rooms(code(Code::Ok)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        assert_eq!(refused.message(), "circuit `pms` is open: retry in 30s");
        // The client's own circuit opens for as long as the server's.
        let outcome = classify::tonic(&refused);
        assert_eq!(outcome, Outcome::Overloaded(RESET));
        scope.advance(RESET);
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
    });
}
