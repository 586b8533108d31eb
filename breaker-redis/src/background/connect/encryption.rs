//! TLS on the way to a Redis, where the feature is there and the URL asks for it.

#[cfg(feature = "tls")]
use crate::background::trouble;
use crate::error::{FleetError, Trouble};
use crate::settings::FleetBuilder;
#[cfg(feature = "tls")]
use std::sync::Arc;
use tokio::net::TcpStream;

/// How to speak TLS.
#[cfg(feature = "tls")]
pub(super) type Config = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(super) type Config = std::convert::Infallible;

/// The same, and with whom.
#[cfg(feature = "tls")]
pub(super) type Tls = (Config, rustls::pki_types::ServerName<'static>);
#[cfg(not(feature = "tls"))]
pub(super) type Tls = std::convert::Infallible;

#[cfg(feature = "tls")]
pub(super) fn tls(settings: &FleetBuilder) -> Result<Config, FleetError> {
    let client = settings.client_certificate.as_ref();
    crate::background::tls::client(
        settings.root_certificates.as_deref(),
        client.map(|(certificates, key)| (&**certificates, &**key)),
    )
}

#[cfg(not(feature = "tls"))]
pub(super) fn tls(_: &FleetBuilder) -> Result<Config, FleetError> {
    Err(FleetError::Feature {
        feature: "tls",
        what: "TLS, which `rediss://` asks for,",
    })
}

/// Over TLS, with a host of this name.
#[cfg(feature = "tls")]
pub(super) fn with(config: &Config, host: &str) -> Result<Tls, FleetError> {
    match host.to_owned().try_into() {
        Ok(name) => Ok((Arc::clone(config), name)),
        Err(_) => Err(FleetError::Certificate(
            "the host in the address is no name that a certificate can be for: write the one that the \
             certificate of redis has"
                .to_owned(),
        )),
    }
}

#[cfg(not(feature = "tls"))]
pub(super) fn with(config: &Config, _: &str) -> Result<Tls, FleetError> {
    match *config {}
}

#[cfg(feature = "tls")]
pub(super) async fn shake_hands(
    (config, name): &Tls,
    stream: TcpStream,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Trouble> {
    let connector = tokio_rustls::TlsConnector::from(Arc::clone(config));
    let shaken = connector.connect(name.clone(), stream).await;
    shaken.map_err(|error| match crate::background::tls::why(&error) {
        Some(why) => Trouble::Tls(why),
        None => Trouble::Tls(trouble::of_handshake(&error)),
    })
}

#[cfg(not(feature = "tls"))]
pub(super) async fn shake_hands(tls: &Tls, _: TcpStream) -> Result<TcpStream, Trouble> {
    match *tls {}
}
