//! A parameter that the body takes away and `last_good` wants after it.

#![allow(unused)]

use std::sync::Arc;

use breakerbox::{CallError, LastGood, Served, circuit_breaker};

type Answer = Result<Served<u8>, CallError<()>>;

struct Client {
    costs: LastGood<u8, u8>,
}

fn ask(client: Arc<Client>) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(last_good = client.costs, last_good_key = hotel)]
async fn case_0(client: Arc<Client>, hotel: u8) -> Answer {
    ask(client)
}

#[circuit_breaker(last_good = client.costs, last_good_key = hotel)]
fn case_1(client: Arc<Client>, hotel: u8) -> Answer {
    ask(client)
}

fn main() {}
