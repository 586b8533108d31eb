//! What the client that asks AWS does, as far as it can be seen without asking AWS.

use std::time::Duration;

use aws_sdk_costexplorer::Config;
use aws_sdk_costexplorer::error::SdkError;
use breakerbox::{Outcome, classify};
use cost_explorer::client;
use cost_explorer::pace::Pace;
use cost_explorer::server::credentials;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::stage::{ONE, Outcome as Tested, PACE};

#[test]
fn it_asks_in_the_only_region_there_is() {
    let client = client::of_aws(credentials(ONE), &PACE);
    assert_eq!(
        client.config().region().map(AsRef::as_ref),
        Some("us-east-1")
    );
}

/// The first byte of a TLS record that opens a connection.
const HANDSHAKE: u8 = 22;

#[tokio::test]
async fn it_speaks_tls_and_nothing_else() -> Tested {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let here = format!("https://localhost:{}", listener.local_addr()?.port());
    let pace = Pace {
        attempts: 1,
        ..PACE
    };
    let client = client::of_aws(credentials(ONE), &pace);
    let request = client.get_cost_and_usage().customize();
    let request = request.config_override(Config::builder().endpoint_url(here));
    let listen = async {
        let (mut stream, _) = listener.accept().await?;
        stream.read_u8().await
    };
    // So that a client that never connects is a failure of the test's, and no wait.
    let listen = timeout(Duration::from_secs(60), listen);
    let (answer, first) = tokio::join!(request.send(), listen);
    assert_eq!(first??, HANDSHAKE);
    let error = answer.unwrap_err();
    assert!(matches!(error, SdkError::DispatchFailure(_)), "{error:?}");
    assert_eq!(classify::aws(&error), Outcome::Failure);
    Ok(())
}
