//! Around tonic's channel: codes of gRPC, and a refusal that is a `Status` as well.

use crate::{Failed, RESET_IS_OVER, expect};
use breakerbox::breaker;
use breakerbox::tower::CircuitBreakerLayer;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Endpoint, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::ServiceBuilder;

breaker! {
    static GRPC = { name: "grpc", threshold: 3, reset: "1s" }
}

pub(crate) async fn show() -> Result<(), Failed> {
    let server = serve("127.0.0.1:0".parse()?).await?;
    let address = server.address;
    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect_lazy();
    let guarded = ServiceBuilder::new()
        .layer(CircuitBreakerLayer::new(&GRPC).tonic())
        .service(channel);
    let mut client = HealthClient::new(guarded);
    let mut ask = async |service: &str| {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        match client.check(request).await {
            Ok(answer) => format!("{:?}", answer.into_inner().status()),
            Err(status) => format!("{:?}: {}", status.code(), status.message()),
        }
    };
    expect("tonic", ask("").await, "Serving")?;
    for _ in 0..5 {
        expect("tonic", ask("unknown").await, "NotFound")?; // an answer, and no outage
    }
    server.stop().await?;
    for _ in 0..3 {
        expect("tonic", ask("").await, "Unavailable")?;
    }
    expect(
        "tonic",
        ask("").await,
        "Unavailable: circuit `grpc` is open",
    )?;

    let _running = serve(address).await?;
    tokio::time::sleep(RESET_IS_OVER).await;
    expect("tonic", ask("").await, "Serving")
}

/// A server on loopback, as long as it isn't told to stop.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Running {
    /// Its connections are closed, too.
    async fn stop(self) -> Result<(), Failed> {
        drop(self.stop);
        Ok(self.server.await??)
    }
}

/// gRPC's own service of health checks.
async fn serve(at: SocketAddr) -> Result<Running, Failed> {
    let listener = TcpListener::bind(at).await?;
    let address = listener.local_addr()?;
    let (_, health) = tonic_health::server::health_reporter();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::builder()
        .add_service(health)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
            let _ = stopped.await;
        });
    let server = tokio::spawn(server);
    Ok(Running {
        address,
        stop,
        server,
    })
}
