//! What tonic makes of connections that fail.

use super::*;
use breakerbox::{Outcome, State, classify, test};

/// A port where nobody listens.
async fn nobody() -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

#[test]
fn no_connection_counts() {
    block_on(async {
        let channel = nobody().await.connect_lazy();
        let status = PmsClient::new(channel)
            .rooms(code(Code::Ok))
            .await
            .unwrap_err();
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(classify::tonic(&status), Outcome::Failure);
    });
}

#[test]
fn through_the_layer_no_connection_counts_and_is_called_the_same() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let layer = breakerbox::tower::CircuitBreakerLayer::new(Arc::clone(&pms)).tonic();
        let channel = nobody().await.connect_lazy();
        let mut client = PmsClient::new(layer.layer(channel));
        let status = client.rooms(code(Code::Ok)).await.unwrap_err();
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(classify::tonic(&status), Outcome::Failure);
        assert_eq!(pms.state(), State::Open);
        let refused = client.rooms(code(Code::Ok)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        assert_eq!(classify::tonic(&refused), Outcome::Ignored);
    });
}

#[test]
fn a_time_limit_of_tonics_client_counts() {
    block_on(async {
        let endpoint = serve().await.timeout(Duration::from_millis(1));
        let channel = endpoint.connect().await.unwrap();
        let hangs = Question {
            hangs: true,
            ..Question::default()
        };
        let status = PmsClient::new(channel).rooms(hangs).await.unwrap_err();
        assert_eq!(status.code(), Code::Cancelled, "that is how it calls it");
        assert_eq!(classify::tonic(&status), Outcome::Failure);
    });
}

/// What the connection does with a client, after its preface.
async fn serve_bytes(bytes: &'static [u8]) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.readable().await.unwrap();
            let mut preface = [0; 4096];
            let _ = stream.try_read(&mut preface);
            stream.writable().await.unwrap();
            let _ = stream.try_write(bytes);
        }
    });
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

#[test]
fn a_connection_that_breaks_off_counts() {
    block_on(async {
        for bytes in [b"".as_slice(), b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
            let channel = serve_bytes(bytes).await.connect_lazy();
            let status = PmsClient::new(channel)
                .rooms(code(Code::Ok))
                .await
                .unwrap_err();
            assert_eq!(classify::tonic(&status), Outcome::Failure, "{status:?}");
        }
    });
}

#[test]
fn what_the_caller_cancels_does_not_count() {
    block_on(async {
        let mut client = Grpc::new(serve().await.connect().await.unwrap());
        client.ready().await.unwrap();
        let mut request = Request::new(tokio_stream::pending());
        let handle = request.cancellation_handle();
        let path = PathAndQuery::from_static("/pms.Pms/Rooms");
        let codec = ProstCodec::<Question, Rooms>::default();
        let call = client.client_streaming(request, path, codec);
        let (answer, ()) = tokio::join!(call, async {
            tokio::task::yield_now().await;
            handle.cancel();
        });
        let status = answer.unwrap_err();
        assert_eq!(status.code(), Code::Cancelled);
        assert_eq!(classify::tonic(&status), Outcome::Ignored, "{status:?}");
    });
}
