//! What the tests of the attribute's inputs share: an error, a way to run, and what is dropped.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test uses what it needs of it"
)]

use std::cell::RefCell;
use std::error::Error;
use std::fmt::{self, Display};
use std::future::Future;
use std::task::{Context, Poll, Waker};

use breakerbox::{CircuitOpenError, TimeoutError};

/// The error of the tests' functions.
#[derive(Debug)]
pub enum PmsError {
    Refused(CircuitOpenError),
    Late(TimeoutError),
    Down,
}

impl From<CircuitOpenError> for PmsError {
    fn from(refused: CircuitOpenError) -> Self {
        PmsError::Refused(refused)
    }
}

impl From<TimeoutError> for PmsError {
    fn from(late: TimeoutError) -> Self {
        PmsError::Late(late)
    }
}

impl Display for PmsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PmsError::Refused(refused) => write!(f, "{}", refused),
            PmsError::Late(late) => write!(f, "{}", late),
            PmsError::Down => f.write_str("down"),
        }
    }
}

impl Error for PmsError {}

pub type Answer<T> = Result<T, PmsError>;

/// Runs a future that needs no runtime but tokio's timer.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

/// Polls a future once.
pub fn poll<F: Future + ?Sized>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Pending once.
pub async fn pause() {
    let mut paused = false;
    std::future::poll_fn(|context| match std::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// How many failures in a row the breaker of this name has counted.
pub fn counted(breaker: &str) -> u32 {
    let found = breakerbox::find(breaker).expect("it was called");
    found.snapshot().consecutive
}

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub fn log(line: impl Into<String>) {
    LOG.with(|log| log.borrow_mut().push(line.into()));
}

pub fn take_log() -> Vec<String> {
    LOG.with(|log| log.take())
}

/// Says when it is dropped.
pub struct Loud(pub &'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        log(format!("drop {}", self.0));
    }
}
