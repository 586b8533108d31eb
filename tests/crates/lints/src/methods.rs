//! Methods of many kinds.

use core::fmt::Debug;
use std::sync::Arc;

#[cfg(code = "guarded")]
use breakerbox::circuit_breaker;

use crate::{Error, pause};

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    name: String,
}

impl Client {
    /// With a name.
    #[must_use]
    pub const fn new(name: String) -> Self {
        Self { name }
    }

    /// By reference.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    pub async fn rooms(&self, hotel: &str) -> Result<usize, Error> {
        pause().await;
        Ok(self.name.len() + hotel.len())
    }

    /// By reference.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    pub fn rename(&mut self, mut name: String) -> Result<&mut String, Error> {
        name.push('!');
        self.name = name;
        Ok(&mut self.name)
    }

    /// By value.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    pub async fn into_name(mut self, more: String, _: Vec<u8>) -> Result<String, Error> {
        pause().await;
        self.name.push_str(&more);
        Ok(self.name)
    }

    /// By `Arc`.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared, fallback = self.last(), timeout = "1s"))]
    pub async fn by_arc(self: Arc<Self>) -> Result<usize, Error> {
        pause().await;
        Ok(self.name.len())
    }

    /// As a cache would.
    #[must_use]
    pub fn last(&self) -> Option<Result<usize, Error>> {
        Some(Ok(self.name.len()))
    }

    /// Makes one.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker)]
    pub async fn connect(name: &str) -> Result<Self, Error> {
        pause().await;
        Ok(Self {
            name: name.to_owned(),
        })
    }
}

/// A trait.
pub trait Rates {
    /// By reference.
    ///
    /// # Errors
    /// When down.
    fn rate(&self, night: u32) -> Result<u32, Error>;

    /// Provided.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    fn highest(&self, nights: u32) -> Result<u32, Error> {
        let mut highest = 0;
        for night in 0..nights {
            highest = highest.max(self.rate(night)?);
        }
        Ok(highest)
    }
}

impl Rates for Client {
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    fn rate(&self, night: u32) -> Result<u32, Error> {
        u32::try_from(self.name.len()).map_or(Err(Error::Down), |rate| Ok(rate + night))
    }
}

/// Of any type.
#[derive(Debug)]
pub struct Wrapper<T>(T);

impl<T: Debug + Sync> Wrapper<T> {
    /// Shown.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    pub async fn shown(&self) -> Result<String, Error> {
        pause().await;
        Ok(format!("{:?}", self.0))
    }
}

/// A trait of boxed futures.
#[async_trait::async_trait]
pub trait Boxed {
    /// By reference.
    ///
    /// # Errors
    /// When down.
    async fn rooms(&self, hotel: &str, mut more: String, _: Vec<u8>) -> Result<usize, Error>;

    /// Provided.
    ///
    /// # Errors
    /// When down.
    #[cfg_attr(code = "guarded", circuit_breaker(shared))]
    async fn provided(&self) -> Result<usize, Error>
    where
        Self: Sync,
    {
        self.rooms("", String::new(), Vec::new()).await
    }
}

#[async_trait::async_trait]
impl Boxed for Client {
    #[cfg_attr(code = "guarded", circuit_breaker(shared, timeout = "1s"))]
    async fn rooms(&self, hotel: &str, mut more: String, _: Vec<u8>) -> Result<usize, Error> {
        more.push_str(&self.name);
        pause().await;
        Ok(hotel.len() + more.len())
    }
}
