//! The service for the tests in a browser: `serve [PORT]`. Says where it listens, and ends when
//! its input does, so that none outlives its test.

use std::error::Error;
use std::io::Read as _;
use std::sync::Arc;
use test_status_page::circuits::Circuits;
use test_status_page::{Running, app};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = match std::env::args().nth(1) {
        Some(port) => port.parse()?,
        None => 0,
    };
    let running = Running::start(port, app(Arc::new(Circuits::default()))).await?;
    println!("{}", running.address);
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}
