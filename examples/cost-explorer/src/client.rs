//! The SDK's client: where it connects to, as whom, and how it retries.

use aws_credential_types::provider::ProvideCredentials;
use aws_sdk_costexplorer::config::retry::RetryConfig;
use aws_sdk_costexplorer::config::timeout::TimeoutConfig;
use aws_sdk_costexplorer::config::{BehaviorVersion, Builder, Region, SharedCredentialsProvider};
use aws_sdk_costexplorer::{Client, Config};
use aws_smithy_http_client::Builder as HttpClient;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

use crate::breaker::REGION;
use crate::pace::Pace;

/// One that asks AWS, over TLS.
#[must_use]
pub fn of_aws(credentials: impl ProvideCredentials + 'static, pace: &Pace) -> Client {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let http = HttpClient::new().tls_provider(tls).build_https();
    Client::from_conf(config(credentials, pace).http_client(http).build())
}

/// One that asks a server on loopback, in plain HTTP.
#[must_use]
pub fn of_endpoint(
    url: &str,
    credentials: impl ProvideCredentials + 'static,
    pace: &Pace,
) -> Client {
    let http = HttpClient::new().build_http();
    Client::from_conf(
        config(credentials, pace)
            .http_client(http)
            .endpoint_url(url)
            .build(),
    )
}

/// What both have in common.
///
/// The retries are the SDK's own. They know which errors are worth another try, end when too many of
/// them fail, and repeat the one request that failed: a retry around the whole call would ask, and
/// pay, for all pages again. As the call is guarded, they stand inside: what they mend is no failure.
fn config(credentials: impl ProvideCredentials + 'static, pace: &Pace) -> Builder {
    let retries = RetryConfig::standard()
        .with_max_attempts(pace.attempts)
        .with_initial_backoff(pace.first_pause);
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(pace.attempt)
        .build();
    Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static(REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .retry_config(retries)
        .timeout_config(timeouts)
}
