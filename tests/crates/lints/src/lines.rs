//! Code of which the compiler has something to say, with the attribute too: above the line in
//! question `//~` names the lint.

#![allow(clippy::all, reason = "it is about those of the compiler")]

#[cfg(code = "guarded")]
use breakerbox::circuit_breaker;

use crate::{Error, pause};

#[cfg_attr(code = "guarded", circuit_breaker)]
//~ dead_code
async fn never_called() -> Result<(), Error> {
    pause().await;
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
//~ dead_code
fn never_called_plain() -> Result<(), Error> {
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) async fn unused(
    //~ unused_variables
    a: String,
    //~ unused_variables
    b: Vec<u8>,
    //~ unused_variables
    c: u8,
) -> Result<(), Error> {
    //~ unused_variables
    let d = 1;
    pause().await;
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn unused_plain(
    //~ unused_variables
    (a, b): (String, String),
    //~ unused_variables
    c: String,
    //~ unused_variables
    d: String,
) -> Result<String, Error> {
    Ok(b)
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) async fn unused_mut(
    //~ unused_mut
    mut a: String,
    //~ unused_mut
    mut b: u8,
    //~ unused_variables
    c: Vec<u8>,
) -> Result<usize, Error> {
    //~ unused_mut
    let mut d = 1;
    pause().await;
    Ok(a.len() + usize::from(b) + d)
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn unused_mut_plain(
    //~ unused_mut
    mut a: String,
    //~ unused_mut
    (mut b, _): (String, u8),
) -> Result<usize, Error> {
    Ok(a.len() + b.len())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) async fn unreachable(first: bool) -> Result<u8, Error> {
    if first {
        return Ok(1);
        //~ unreachable_code
        pause().await;
    }
    Err(Error::Down)
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn must_be_used() -> Result<(), Error> {
    //~ unused_must_use
    nothing_used();
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
fn nothing_used() -> Result<(), Error> {
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) async fn must_be_awaited() -> Result<(), Error> {
    //~ unused_must_use
    awaited();
    awaited().await
}

#[cfg_attr(code = "guarded", circuit_breaker)]
async fn awaited() -> Result<(), Error> {
    pause().await;
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
#[deprecated]
pub(crate) fn old() -> Result<(), Error> {
    Ok(())
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn calls_old() -> Result<(), Error> {
    //~ deprecated
    old()
}

pub(crate) struct Client;

impl Client {
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    //~ dead_code
    pub(crate) async fn never_called(&self) -> Result<(), Error> {
        Ok(())
    }

    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    pub(crate) fn unused(
        self,
        //~ unused_variables
        a: String,
        //~ unused_mut
        mut b: String,
    ) -> Result<String, Error> {
        Ok(b)
    }
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn braces() -> Result<u8, Error> {
    let a = { 1 };
    //~ unused_parens
    let b = (a);
    //~ unused_parens
    if (b > 1) {
        return Err(Error::Down);
    }
    //~ unused_braces
    Ok({ b })
}

#[cfg_attr(code = "guarded", circuit_breaker)]
pub(crate) fn assigned(mut a: u8, b: String) -> Result<String, Error> {
    //~ unused_assignments
    a = 2;
    //~ unused_assignments
    a = 3;
    Ok(b)
}
