//! `open_error`: the error of a `Result`, or the whole output.

use std::io;

use breakerbox::{CallError, CircuitOpenError, circuit_breaker};

#[circuit_breaker]
async fn from() -> Result<u8, CallError<io::Error>> {
    Ok(1)
}

#[circuit_breaker]
async fn from_for_a_box() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
    Ok(1)
}

#[circuit_breaker(threshold = 1, open_error = |refused| io::Error::other(refused.to_string()))]
fn closure() -> Result<u8, io::Error> {
    Err(io::Error::other("down"))
}

fn refused(_: CircuitOpenError) -> io::Error {
    io::Error::other("refused")
}

#[circuit_breaker(open_error = refused)]
async fn function() -> io::Result<u8> {
    Ok(1)
}

#[circuit_breaker(open_error = io::Error::other)]
async fn path() -> io::Result<u8> {
    Ok(1)
}

#[circuit_breaker(open_error = |_| (hotel.clone(), 1))]
async fn over_a_parameter(hotel: String) -> Result<usize, (String, u8)> {
    Ok(hotel.len())
}

#[circuit_breaker(open_error = |_| 0, classify_output = |n| *n == 0)]
async fn whole_output() -> usize {
    1
}

enum Error {
    Refused(#[allow(dead_code)] CircuitOpenError),
}

#[circuit_breaker(open_error = Error::Refused)]
async fn variant() -> Result<(), Error> {
    Ok(())
}

/// Closures that are not written as such.
fn logged<F: FnOnce(CircuitOpenError) -> io::Error>(make: F) -> F {
    make
}

#[circuit_breaker(open_error = logged(|refused| io::Error::other(refused.to_string())))]
async fn call_of_a_closure() -> io::Result<u8> {
    Ok(1)
}

fn with_a_number(number: i32) -> impl Fn(CircuitOpenError) -> io::Error {
    move |_| io::Error::from_raw_os_error(number)
}

#[circuit_breaker(open_error = with_a_number(3))]
async fn call() -> io::Result<u8> {
    Ok(1)
}

#[circuit_breaker(open_error = Into::into)]
async fn into() -> Result<u8, CallError<u8>> {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(shared, open_error = Self::refused)]
    async fn associated(&self) -> Result<(), String> {
        Ok(())
    }

    fn refused(refused: CircuitOpenError) -> String {
        refused.to_string()
    }
}

fn main() {
    drop((
        from(),
        from_for_a_box(),
        function(),
        path(),
        whole_output(),
        variant(),
        call_of_a_closure(),
        call(),
        into(),
    ));
    drop((over_a_parameter(String::new()), Client.associated()));
    assert_eq!(closure().unwrap_err().to_string(), "down");
    assert_ne!(closure().unwrap_err().to_string(), "down");
}
