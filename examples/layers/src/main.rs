//! The breaker as a layer of tower's: around a client of hyper's and one of tonic's, and in an axum
//! server. Each meets a real server on loopback that is down for a while.

mod axum_server;
mod hotel;
mod hyper_client;
mod tonic_client;

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

/// Longer than a circuit is open here: 1 s, and up to a tenth of it by chance.
const RESET_IS_OVER: Duration = Duration::from_millis(1_200);

type Failed = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    hyper_client::show().await?;
    tonic_client::show().await?;
    axum_server::show().await
}

/// Prints what came. An error if it is not what was to come.
fn expect(who: &str, came: impl Display, expected: &str) -> Result<(), Failed> {
    let came = came.to_string();
    println!("{who:<14} {came}");
    match came.starts_with(expected) {
        true => Ok(()),
        false => Err(format!("{who}: `{expected}` was to come").into()),
    }
}
