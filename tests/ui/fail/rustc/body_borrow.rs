//! What the borrow checker says of a body, and of a future that can't be sent, is about the user's
//! own lines.

#![allow(unused)]

use std::rc::Rc;

use breakerbox::{CallError, circuit_breaker};

type Answer<T> = Result<T, CallError<()>>;

async fn pause() {}

#[circuit_breaker]
async fn gives_its_own_variable(hotel: &str) -> Answer<&str> {
    let local = hotel.to_owned();
    pause().await;
    Ok(&local)
}

#[circuit_breaker]
fn gives_its_own_variable_plain(mut hotel: &str) -> Answer<&str> {
    let local = hotel.to_owned();
    hotel = &local;
    Ok(hotel)
}

#[circuit_breaker]
async fn uses_what_it_gave_away(hotel: String, nights: Vec<u8>) -> Answer<usize> {
    drop(hotel);
    pause().await;
    Ok(hotel.len() + nights.len())
}

#[circuit_breaker]
fn changes_what_is_not_mut(hotel: String, nights: Vec<u8>) -> Answer<usize> {
    hotel.push('!');
    Ok(hotel.len() + nights.len())
}

#[circuit_breaker]
async fn changes_what_is_shared(hotel: &String) -> Answer<()> {
    hotel.push('!');
    Ok(())
}

struct Client(String);

impl Client {
    #[circuit_breaker(shared)]
    fn gives_a_part_of_itself(&self) -> Answer<String> {
        Ok(self.0)
    }

    #[circuit_breaker(shared)]
    async fn gives_the_longer(&self, other: &str) -> Answer<&str> {
        Ok(other)
    }
}

#[circuit_breaker]
async fn keeps_an_rc(hotel: Rc<String>) -> Answer<usize> {
    pause().await;
    Ok(hotel.len())
}

#[circuit_breaker]
async fn keeps_an_rc_inside() -> Answer<usize> {
    let hotel = Rc::new(1);
    pause().await;
    Ok(*hotel)
}

fn send<T: Send>(_: T) {}

fn main() {
    send(keeps_an_rc(Rc::new(String::new())));
    send(keeps_an_rc_inside());
}
