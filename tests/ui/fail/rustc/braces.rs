//! Bodies without braces, which the compiler takes for what they are meant to be.

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker]
fn an_expression() -> Answer = Ok(1);

struct Client;

impl Client {
    #[circuit_breaker(shared)]
    async fn a_method(&self) -> Answer = Ok(1);
}

fn main() {}
