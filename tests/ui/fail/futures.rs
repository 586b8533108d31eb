//! Plain functions that return a future.

#![allow(unused)]

use std::pin::Pin;

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

#[circuit_breaker]
fn opaque() -> impl Future<Output = Answer> {
    async { Ok(1) }
}

#[circuit_breaker]
fn opaque_and_more() -> impl Send + std::future::Future<Output = Answer> {
    async { Ok(1) }
}

#[circuit_breaker]
fn pinned() -> Pin<Box<dyn Future<Output = Answer> + Send>> {
    Box::pin(async move { Ok(1) })
}

#[circuit_breaker]
fn pinned_opaque() -> std::pin::Pin<Box<impl Future<Output = Answer>>> {
    Box::pin(async move { Ok(1) })
}

#[circuit_breaker]
fn boxed() -> Box<dyn Future<Output = Answer> + Unpin> {
    Box::new(std::future::ready(Ok(1)))
}

#[circuit_breaker]
fn by_name<'a>() -> BoxFuture<'a, Answer> {
    Box::pin(async move { Ok(1) })
}

#[circuit_breaker]
fn unknown_form_of_async_trait<'async_trait>()
-> Pin<Box<dyn Future<Output = Answer> + 'async_trait>> {
    let future = async move { Ok(1) };
    Box::pin(future)
}

fn main() {}
