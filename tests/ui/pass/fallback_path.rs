//! `fallback = cached`: whatever a call with the function's parameters would take.

#![deny(warnings)]

use std::fmt::Display;
use std::sync::LazyLock;

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<String, CallError<()>>;

const DOWN: Answer = Err(CallError::Call(()));

fn of_text(hotel: &str) -> Answer {
    Ok(hotel.to_owned())
}

#[circuit_breaker(fallback = of_text)]
fn a_string_is_lent(_hotel: &String) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = of_text)]
fn a_box_is_lent(_hotel: &Box<str>) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = of_text)]
fn a_unique_reference(_hotel: &mut str) -> Answer {
    DOWN
}

fn of_numbers(numbers: &[u8], more: &dyn Display) -> Answer {
    Ok(format!("{numbers:?}{more}"))
}

#[circuit_breaker(fallback = of_numbers)]
async fn unsized_ones(_numbers: &[u8; 2], _more: &u8) -> Answer {
    DOWN
}

fn of_anything(it: Box<dyn Display>) -> Answer {
    Ok(it.to_string())
}

#[circuit_breaker(fallback = of_anything)]
fn a_box(_it: Box<u8>) -> Answer {
    DOWN
}

fn generic<T: Display + ?Sized, U: Into<u32>>(it: &T, number: U) -> Answer {
    Ok(format!("{it}{}", number.into()))
}

#[circuit_breaker(fallback = generic)]
async fn by_a_generic_one(_it: &str, _number: u8) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = generic)]
fn by_a_generic_one_in_part(_it: &String, _number: u8) -> Answer {
    DOWN
}

fn opaque(it: impl Display, text: &str) -> Answer {
    Ok(format!("{it}{text}"))
}

#[circuit_breaker(fallback = opaque)]
fn by_an_opaque_one(_it: &str, _text: &String) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = opaque)]
fn opaque_itself(_it: impl Display, _text: &str) -> Answer {
    DOWN
}

fn longer<'a: 'a>(one: &'a str, other: &'a str) -> Result<&'a str, CallError<()>> {
    Ok(if one.len() > other.len() { one } else { other })
}

#[circuit_breaker(fallback = longer)]
fn early_lifetimes<'a>(one: &'a str, other: &'static str) -> Result<&'a str, CallError<()>> {
    match one.len() + other.len() {
        0 => Ok(one),
        _ => Err(CallError::Call(())),
    }
}

struct Client<'a>(&'a str);

impl<'a> Client<'a> {
    #[circuit_breaker(shared, fallback = Self::cached)]
    fn rooms(&self, _hotel: &'static str, _other: &'a str) -> Result<&'a str, CallError<()>> {
        Err(CallError::Call(()))
    }

    fn cached(&self, hotel: &'a str, other: &'a str) -> Result<&'a str, CallError<()>> {
        Ok([self.0, hotel, other][0])
    }

    #[circuit_breaker(shared, fallback = Client::shared)]
    async fn mutable(&mut self, _n: u8) -> Answer {
        DOWN
    }

    async fn shared(&self, n: u8) -> Answer {
        Ok(format!("{}{n}", self.0))
    }
}

trait Cache {
    fn get(hotel: &str) -> Answer;

    #[circuit_breaker(fallback = Self::get)]
    fn fetch(_hotel: &String) -> Answer {
        DOWN
    }
}

impl Cache for u8 {
    fn get(hotel: &str) -> Answer {
        of_text(hotel)
    }
}

#[circuit_breaker(fallback = T::get)]
async fn by_a_parameter_of_types<T: Cache>(_hotel: &str) -> Answer {
    DOWN
}

#[allow(non_upper_case_globals)]
static pointer: fn(&str) -> Answer = of_text;
#[allow(non_upper_case_globals)]
const constant: fn(&str) -> Answer = of_text;
#[allow(non_upper_case_globals)]
static later: LazyLock<Box<dyn Fn(&str) -> Answer + Send + Sync>> =
    LazyLock::new(|| Box::new(of_text));

#[circuit_breaker(fallback = pointer)]
fn by_a_pointer(_hotel: &String) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = constant)]
fn by_a_constant(_hotel: &str) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = later)]
fn by_what_leads_to_a_function(_hotel: &String) -> Answer {
    DOWN
}

#[circuit_breaker(fallback = Ok)]
fn by_a_variant(_hotel: String) -> Answer {
    DOWN
}

#[allow(improper_ctypes_definitions)]
extern "C" fn foreign(number: u8) -> Option<Answer> {
    Some(Ok(number.to_string()))
}

#[circuit_breaker(fallback = foreign)]
fn by_a_foreign_one(_number: u8) -> Answer {
    DOWN
}

/// # Safety
/// None is needed.
unsafe fn unsafe_one(hotel: &str) -> Answer {
    of_text(hotel)
}

#[allow(unsafe_op_in_unsafe_fn)]
mod of_an_unsafe_function {
    use super::*;

    /// # Safety
    /// None is needed.
    #[circuit_breaker(fallback = unsafe_one)]
    pub unsafe fn by_an_unsafe_one(_hotel: &str) -> Answer {
        DOWN
    }
}

fn by_pointers(first: fn(&'static str) -> u8, second: *const u8) -> Answer {
    Ok(format!("{}{}", first("a"), second.is_null()))
}

#[circuit_breaker(fallback = by_pointers)]
fn converted_pointers(_first: for<'a> fn(&'a str) -> u8, _second: *mut u8) -> Answer {
    DOWN
}

fn of_nine(a: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, i: &str) -> Answer {
    Ok(format!("{a}{i}"))
}

#[circuit_breaker(fallback = of_nine)]
fn nine(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: &String) -> Answer {
    let _ = (a, b, c, d, e, f, g, h, i);
    DOWN
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

fn main() {
    let text = || Ok("a".to_owned());
    assert_eq!(a_string_is_lent(&"a".to_owned()), text());
    assert_eq!(a_box_is_lent(&"a".into()), text());
    assert_eq!(a_unique_reference(&mut "a".to_owned()), text());
    assert_eq!(block_on(unsized_ones(&[1, 2], &3)).unwrap(), "[1, 2]3");
    assert_eq!(a_box(Box::new(1)).unwrap(), "1");
    assert_eq!(block_on(by_a_generic_one("a", 1)).unwrap(), "a1");
    assert_eq!(by_a_generic_one_in_part(&"a".to_owned(), 1).unwrap(), "a1");
    assert_eq!(by_an_opaque_one("a", &"b".to_owned()).unwrap(), "ab");
    assert_eq!(opaque_itself(1, "b").unwrap(), "1b");
    assert_eq!(early_lifetimes(&"ab".to_owned(), "a"), Ok("ab"));
    let mut client = Client("a");
    assert_eq!(client.rooms("b", "c"), Ok("a"));
    assert_eq!(block_on(client.mutable(1)).unwrap(), "a1");
    assert_eq!(u8::fetch(&"a".to_owned()), text());
    assert_eq!(block_on(by_a_parameter_of_types::<u8>("a")), text());
    assert_eq!(by_a_pointer(&"a".to_owned()), text());
    assert_eq!(by_a_constant("a"), text());
    assert_eq!(by_what_leads_to_a_function(&"a".to_owned()), text());
    assert_eq!(by_a_variant("a".to_owned()), text());
    assert_eq!(by_a_foreign_one(1).unwrap(), "1");
    assert_eq!(unsafe { of_an_unsafe_function::by_an_unsafe_one("a") }, text());
    assert_eq!(converted_pointers(|_| 1, std::ptr::null_mut()).unwrap(), "1true");
    assert_eq!(nine(1, 2, 3, 4, 5, 6, 7, 8, &"a".to_owned()).unwrap(), "1a");
}
