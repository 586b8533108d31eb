//! One circuit for each account, region and API: what AWS throttles apart, and what fails apart.

use std::sync::Arc;
use std::time::Duration;

use breakerbox::{ConfigError, KeyedBreakers, Settings};

/// Cost Explorer's only region. It is no setting: requests to another one go nowhere.
pub const REGION: &str = "us-east-1";

/// The API that is called. Another one of the same service would have a circuit of its own.
pub const API: &str = "GetCostAndUsage";

/// Account, region and API.
pub type ApiKey = (String, String, String);

/// The circuits of all accounts.
pub type Breakers = KeyedBreakers<ApiKey>;

/// More accounts than an organization has by default; circuits that are closed and idle make room for more.
const MAX_ACCOUNTS: u32 = 1_000;

/// Circuits that open after three calls in a row have failed, each with all its retries.
///
/// The wait before a probe is `reset`, twice as long after each probe that failed, up to ten times,
/// and up to a quarter longer by chance: many processes that watch one account don't probe in step.
///
/// # Errors
/// A `reset` of zero, or one that is too long.
pub fn breakers(reset: Duration) -> Result<Arc<Breakers>, ConfigError> {
    let config = Settings::new()
        .threshold(3)
        .reset(reset)
        .backoff(2.0)
        .max_reset(reset.saturating_mul(10))
        .jitter(0.25)
        .build()?;
    KeyedBreakers::shared("cost-explorer", config, MAX_ACCOUNTS)
}
