//! Streams: settled at their head, or by the status at their end.

use super::*;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{State, test};

/// Answers, and then a code.
fn then(answers: u32, end: Code) -> Question {
    Question {
        answers,
        ..code(end)
    }
}

/// Reads a stream to its end.
async fn read(mut stream: Streaming<Rooms>) -> (u32, Code) {
    let mut read = 0;
    loop {
        match stream.message().await {
            Ok(Some(_)) => read += 1,
            Ok(None) => return (read, Code::Ok),
            Err(status) => return (read, status.code()),
        }
    }
}

#[test]
fn at_its_head_a_stream_counts_for_what_the_head_says() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let channel = serve().await.connect().await.unwrap();
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let mut client = PmsClient::new(layer.layer(channel));
        let stream = client.watch(then(3, Code::Internal)).await.unwrap();
        assert_eq!(read(stream).await, (3, Code::Internal));
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn at_its_end_a_stream_counts_for_its_status() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let channel = serve().await.connect().await.unwrap();
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms))
            .tonic()
            .at_end_of_body();
        let mut client = PmsClient::new(layer.layer(channel));
        for (end, state) in [
            (Code::Ok, State::Closed),
            (Code::NotFound, State::HalfOpen),
            (Code::Internal, State::Open),
        ] {
            pms.close();
            pms.open_for(RESET);
            scope.advance(RESET);
            let stream = client.watch(then(3, end)).await.unwrap();
            assert_eq!(pms.state(), State::HalfOpen, "{end:?}");
            assert!(pms.admit().is_err(), "it is being read");
            assert_eq!(read(stream).await, (3, end));
            assert_eq!(pms.state(), state, "{end:?}");
        }
        // A single answer ends with its status, too.
        pms.close();
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
        pms.open_for(RESET);
        scope.advance(RESET);
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn a_stream_that_is_dropped_was_given_up() {
    let scope = test::scope();
    block_on(async {
        let channel = serve().await.connect().await.unwrap();
        for (on_cancel, state) in [
            (OnCancel::Ignore, State::HalfOpen),
            (OnCancel::Failure, State::Open),
        ] {
            let pms = breaker(Settings::new().on_cancel(on_cancel));
            let layer = CircuitBreakerLayer::new(Arc::clone(&pms))
                .tonic()
                .at_end_of_body();
            let mut client = PmsClient::new(layer.layer(channel.clone()));
            pms.open_for(RESET);
            scope.advance(RESET);
            let hangs = Question {
                hangs: true,
                ..then(2, Code::Ok)
            };
            let mut stream = client.watch(hangs).await.unwrap();
            assert!(stream.message().await.unwrap().is_some());
            assert!(pms.admit().is_err());
            drop(stream);
            assert_eq!(pms.state(), state);
            scope.advance(RESET);
            assert!(pms.admit().is_ok());
        }
    });
}

#[test]
fn in_a_server_a_stream_counts_for_the_status_that_it_is_sent_with() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        let layer = CircuitBreakerLayer::new(Arc::clone(&pms));
        let layer = layer.tonic().at_end_of_body();
        let endpoint = serve_by(Server::builder().layer(layer).add_service(Pms)).await;
        let mut client = PmsClient::new(endpoint.connect().await.unwrap());
        for (end, state) in [
            (Code::Ok, State::Closed),
            (Code::NotFound, State::HalfOpen),
            (Code::Internal, State::Open),
        ] {
            pms.close();
            pms.open_for(RESET);
            scope.advance(RESET);
            let stream = client.watch(then(3, end)).await.unwrap();
            assert_eq!(read(stream).await, (3, end));
            assert_eq!(pms.state(), state, "{end:?}");
        }
        let refused = client.watch(then(3, Code::Ok)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        pms.close();
        // A single answer, and an error in its place.
        assert_eq!(client.rooms(code(Code::Ok)).await.unwrap(), 7);
        assert!(client.rooms(code(Code::NotFound)).await.is_err());
        assert_eq!(pms.state(), State::Closed);
        assert!(client.rooms(code(Code::DataLoss)).await.is_err());
        assert_eq!(pms.state(), State::Open);
    });
}
