//! `fallback`: a function of the same parameters, a call, a closure; of the function's own
//! type or an `Option` of it; a future too where the function is async.

use breakerbox::{CallError, Cause, circuit_breaker};

type Answer<T = usize> = Result<T, CallError<()>>;

fn own_type(hotel: &str, nights: u8) -> Answer {
    Ok(hotel.len() + usize::from(nights))
}

fn option(hotel: &str, nights: u8) -> Option<Answer> {
    Some(own_type(hotel, nights))
}

async fn future(hotel: &str, nights: u8) -> Answer {
    own_type(hotel, nights)
}

async fn future_of_option(hotel: &str, nights: u8) -> Option<Answer> {
    option(hotel, nights)
}

#[circuit_breaker(fallback = own_type)]
async fn path(hotel: &str, nights: u8) -> Answer {
    Ok(hotel.len() + usize::from(nights))
}

#[circuit_breaker(fallback = option)]
fn path_to_option(hotel: &str, nights: u8) -> Answer {
    Ok(hotel.len() + usize::from(nights))
}

#[circuit_breaker(fallback = future)]
async fn path_to_future(hotel: &str, nights: u8) -> Answer {
    Ok(hotel.len() + usize::from(nights))
}

#[circuit_breaker(fallback = future_of_option)]
async fn path_to_future_of_option(hotel: &str, nights: u8) -> Answer {
    Ok(hotel.len() + usize::from(nights))
}

#[circuit_breaker(fallback = own_type(hotel, 1))]
async fn call(hotel: &str) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = future(hotel, 1).await)]
async fn awaited_call(hotel: &str) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = own_type(&hotel, 1))]
async fn borrowing_call(hotel: String) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = Ok(hotel.len()))]
async fn expression(hotel: String) -> Answer {
    let kept = hotel.clone();
    Ok(kept.len())
}

#[circuit_breaker(fallback = |_| None)]
async fn never_an_answer() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = u8::default(), classify_output = |_| false, open_error = |_| 0)]
fn inferred() -> u8 {
    1
}

#[circuit_breaker(fallback = |cause| match cause {
    Cause::Open(open) => Ok(open.name().len()),
    Cause::Failed(Ok(_)) => Ok(0),
    Cause::Failed(Err(_)) => Ok(1),
    Cause::TimedOut(late) => Ok(late.name().len()),
})]
async fn closure() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| own_type(hotel, 1))]
fn closure_with_parameters(hotel: &str) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = |_| future(hotel, 1))]
async fn closure_with_future(hotel: &str) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = |_| async { future(&hotel, 1).await })]
async fn closure_with_block(hotel: String) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = async |_| future(&hotel, 1).await)]
async fn async_closure(hotel: String) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = async |cause| {
    let answer = future(&hotel, 1).await;
    match cause {
        Cause::Open(_) => answer,
        _ => Ok(0),
    }
})]
async fn async_closure_with_cause(hotel: String) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = |_| Ok(format!("{hotel}").len()))]
async fn in_a_format_string(hotel: String) -> Answer {
    Ok(hotel.len())
}

/// The body takes what the fallback does not want.
#[circuit_breaker(fallback = own_type(&hotel, 1))]
async fn body_consumes_another(hotel: String, other: Vec<u8>) -> Answer {
    drop(other);
    Ok(hotel.len())
}

/// What is `Copy`, both may take.
#[derive(Clone, Copy)]
struct Id(usize);

fn by_id(id: Id) -> Answer {
    Ok(id.0)
}

#[circuit_breaker(fallback = by_id)]
async fn both_consume_a_copy(id: Id) -> Answer {
    by_id(id)
}

/// Another variable of the same name is another variable.
fn by_name(name: String) -> Answer {
    Ok(name.len())
}

#[circuit_breaker(fallback = by_name)]
async fn shadowed(name: String) -> Answer {
    let length = name.len();
    let name = length.to_string();
    by_name(name)
}

#[circuit_breaker(fallback = by_name)]
async fn mutable(mut name: String) -> Answer {
    name.push('!');
    Ok(name.len())
}

/// One that always answers needs no `From`.
struct NoFrom;

async fn always() -> Result<u8, NoFrom> {
    Ok(9)
}

#[circuit_breaker(fallback = Ok(9))]
fn always_plain() -> Result<u8, NoFrom> {
    Err(NoFrom)
}

#[circuit_breaker(fallback = always, timeout = "2s")]
async fn always_awaited() -> Result<u8, NoFrom> {
    Err(NoFrom)
}

#[circuit_breaker(fallback = |_| Ok(9), fallback_on = open)]
async fn always_on_open() -> Result<u8, NoFrom> {
    Err(NoFrom)
}

#[circuit_breaker(fallback = |_| None, open_error = |_| NoFrom, timeout = "2s", timeout_error = |_| NoFrom)]
async fn never_with_own_errors() -> Result<u8, NoFrom> {
    Err(NoFrom)
}

#[circuit_breaker(fallback = |_| 9, classify_output = |n| *n == 0)]
async fn always_a_number() -> u8 {
    0
}

#[circuit_breaker(fallback = |_| (), classify_output = |()| false)]
fn always_nothing() {}

/// A constant.
const NO_ROOMS: Answer = Ok(0);

#[circuit_breaker(fallback = {NO_ROOMS})]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = { NO_ROOMS })]
fn constant_of_plain() -> Answer {
    Ok(1)
}

/// One that never returns.
#[circuit_breaker(fallback = |_| -> Answer { std::process::exit(1) })]
async fn exits() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| todo!())]
async fn to_do() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| todo!(), timeout = "1s")]
async fn without_from() -> Result<u8, NoFrom> {
    Ok(1)
}

#[circuit_breaker(fallback = |cause| panic!("{cause:?}"))]
fn panics() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| -> Answer { todo!() })]
fn with_its_type() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| {
    let rooms = 3;
    std::unreachable!("{rooms}")
})]
fn after_a_statement() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| {
    if true {
        return None;
    }
    unreachable!();
})]
fn with_another_way_out() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = todo!())]
async fn without_closure() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = async |_| unimplemented!())]
async fn later() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| async { todo!() })]
async fn block_later() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| todo!())]
async fn opaque() -> Result<impl Iterator<Item = u8>, NoFrom> {
    Ok(0..4)
}

#[circuit_breaker(fallback = |_| todo!(), classify_output = |_| false)]
fn opaque_alone() -> impl Iterator<Item = u8> {
    0..4
}

#[circuit_breaker(fallback = |_| todo!(), classify_output = |output| output.is_none())]
async fn own_option() -> Option<u8> {
    None
}

struct Client(String);

impl Client {
    #[circuit_breaker(shared, fallback = Self::cached)]
    async fn method(&self, hotel: &str) -> Answer {
        Ok(hotel.len())
    }

    #[circuit_breaker(shared, fallback = self.cached(hotel))]
    fn method_call(&mut self, hotel: &str) -> Answer {
        self.0.push('!');
        Ok(hotel.len())
    }

    #[circuit_breaker(shared, fallback = Self::kept)]
    async fn value(self) -> Answer {
        Ok(self.0.len())
    }

    fn cached(&self, hotel: &str) -> Answer {
        Ok(self.0.len() + hotel.len())
    }

    fn kept(self) -> Answer {
        Ok(self.0.len())
    }
}

fn main() {
    drop((
        path("", 1),
        path_to_future("", 1),
        path_to_future_of_option("", 1),
    ));
    let _ = (
        path_to_option("", 1),
        inferred(),
        closure_with_parameters(""),
    );
    let text = String::new;
    drop((
        call(""),
        awaited_call(""),
        borrowing_call(text()),
        expression(text()),
    ));
    drop((never_an_answer(), closure(), closure_with_future("")));
    drop((
        closure_with_block(text()),
        async_closure(text()),
        async_closure_with_cause(text()),
        in_a_format_string(text()),
    ));
    drop((
        body_consumes_another(text(), vec![]),
        both_consume_a_copy(Id(1)),
    ));
    drop((shadowed(text()), mutable(text())));
    let _ = (always_plain(), always_nothing());
    drop((always_awaited(), always_on_open(), always_a_number()));
    drop(never_with_own_errors());
    drop((constant(), to_do(), without_from(), without_closure()));
    let _ = (constant_of_plain(), panics(), with_its_type());
    let _ = (after_a_statement(), with_another_way_out(), opaque_alone());
    drop((later(), exits(), block_later(), opaque(), own_option()));
    let mut client = Client(text());
    let _ = client.method_call("");
    drop(client.method(""));
    drop(client.value());
}
