//! What can not be guarded.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker]
const fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker]
pub(crate) const unsafe fn constant_and_unsafe() -> Answer {
    Ok(1)
}

#[circuit_breaker]
struct Struct;

#[circuit_breaker]
pub enum Enum {}

#[circuit_breaker]
union Union {
    field: u8,
}

#[circuit_breaker]
trait Trait {
    #[circuit_breaker(shared)]
    async fn without_body(&self) -> Answer;

    #[circuit_breaker(shared, threshold = 0)]
    fn without_body_either(&self) -> Answer;
}

#[circuit_breaker]
impl Struct {
    #[circuit_breaker]
    const LIMIT: u32 = 5;
}

#[circuit_breaker]
unsafe impl Send for Enum {}

#[circuit_breaker]
mod module {}

#[circuit_breaker]
const CONSTANT: u8 = 5;

#[circuit_breaker]
static STATIC: u8 = 5;

#[circuit_breaker]
type Alias = u8;

#[circuit_breaker]
use std::fmt as import;

#[circuit_breaker]
macro_rules! macro_ {
    () => {};
}

#[circuit_breaker]
unsafe extern "C" {
    #[circuit_breaker]
    fn foreign() -> u8;
}

fn main() {}
