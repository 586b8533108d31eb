//! Parameters and variables are dropped when, and in the order in which, the plain function
//! would drop them.

#![allow(unused_variables)]

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use breakerbox::{CallError, circuit_breaker};

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn log(line: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(line.into()));
}

fn take_log() -> Vec<String> {
    LOG.with_borrow_mut(std::mem::take)
}

struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        log(format!("drop {}", self.0));
    }
}

type Answer = Result<u8, CallError<()>>;

/// Pending once.
async fn pause() {
    let mut paused = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Defines every function twice: plain, and guarded.
macro_rules! twice {
    ($($(#[$attr:meta])* ($($kind:tt)+) $name:ident($($args:tt)*) $body:block)+) => {
        mod plain {
            use super::*;
            $(pub(super) $($kind)+ $name($($args)*) -> Answer $body)+
        }
        mod guarded {
            use super::*;
            $(#[circuit_breaker] pub(super) $($kind)+ $name($($args)*) -> Answer $body)+
        }
    };
}

twice! {
    (async fn) all_used(a: Loud, b: Loud, c: Loud) {
        let _local = Loud("local");
        log(format!("{}{}{}", c.0, a.0, b.0));
        pause().await;
        log(format!("{}{}{}", c.0, a.0, b.0));
        Ok(1)
    }
    (async fn) some_used(a: Loud, b: Loud, c: Loud) {
        log(b.0);
        pause().await;
        log(b.0);
        Ok(1)
    }
    (async fn) unnamed(a: Loud, _: Loud, c: Loud, _: Loud) {
        log(c.0);
        pause().await;
        log(c.0);
        Ok(1)
    }
    (async fn) mutable(a: Loud, mut b: Loud, _: Loud, c: Loud) {
        let _local = Loud("local");
        b.0 = "changed";
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) patterns((a, b): (Loud, Loud), [mut c, d]: [Loud; 2], e: Loud) {
        c.0 = "changed";
        pause().await;
        log(e.0);
        log(a.0);
        Ok(1)
    }
    (async fn) consumed(a: Loud, b: Loud, c: Loud) {
        pause().await;
        drop(b);
        pause().await;
        Ok(1)
    }
    (async fn) parts(pair: (Loud, Loud), c: Loud) {
        let first = pair.0;
        pause().await;
        log(first.0);
        log(c.0);
        Ok(1)
    }
    (async fn) early(a: Loud, b: Loud) {
        let _local = Loud("local");
        if b.0 == "p1" {
            return Ok(2);
        }
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) single(a: Loud) {
        let _local = Loud("local");
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) tail_temporary(a: Loud, b: Loud) {
        pause().await;
        Ok(Loud("temporary").0.len() as u8 + a.0.len() as u8 + b.0.len() as u8)
    }
}

mod in_plain_functions {
    use super::*;

    twice! {
        (fn) all_used(a: Loud, b: Loud, c: Loud) {
            let _local = Loud("local");
            log(format!("{}{}{}", c.0, a.0, b.0));
            Ok(1)
        }
        (fn) some_used(a: Loud, b: Loud, c: Loud) {
            log(b.0);
            Ok(1)
        }
        (fn) unnamed(a: Loud, _: Loud, c: Loud, _: Loud) {
            log(c.0);
            Ok(1)
        }
        (fn) mutable(a: Loud, mut b: Loud, _: Loud, c: Loud) {
            b.0 = "changed";
            log(a.0);
            Ok(1)
        }
        (fn) patterns((a, b): (Loud, Loud), [mut c, d]: [Loud; 2], e: Loud) {
            c.0 = "changed";
            log(e.0);
            log(a.0);
            Ok(1)
        }
        (fn) parts(pair: (Loud, Loud), c: Loud) {
            let first = pair.0;
            log(first.0);
            log(c.0);
            Ok(1)
        }
        (fn) early(a: Loud, b: Loud) {
            let _local = Loud("local");
            if b.0 == "p1" {
                return Ok(2);
            }
            log(a.0);
            Ok(1)
        }
    }

    /// Runs both and compares what they logged.
    macro_rules! compare {
        ($($name:ident($($args:expr),*);)+) => {$(
            plain::$name($($args),*).unwrap();
            let expected = take_log();
            guarded::$name($($args),*).unwrap();
            assert_eq!(take_log(), expected, stringify!($name));
        )+};
    }

    #[test]
    fn called() {
        let p = || (Loud("p0"), Loud("p1"), Loud("p2"), Loud("p3"));
        compare! {
            all_used(p().0, p().1, p().2);
            some_used(p().0, p().1, p().2);
            unnamed(p().0, p().1, p().2, p().3);
            mutable(p().0, p().1, p().2, p().3);
            patterns((p().0, p().1), [p().2, p().3], Loud("p4"));
            parts((p().0, p().1), p().2);
            early(p().0, p().1);
        }
    }
}

/// Polls `future` at most `polls` times, then drops it.
fn run(future: impl Future<Output = Answer>, polls: usize) -> Vec<String> {
    take_log();
    {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..polls {
            if future.as_mut().poll(&mut context).is_ready() {
                log("ready");
                break;
            }
        }
        log("end");
    }
    take_log()
}

/// Runs both, stopped after any number of polls, and compares what they logged.
macro_rules! compare {
    ($($name:ident($($args:expr),*);)+) => {$(
        for polls in 0..4 {
            let expected = run(plain::$name($($args),*), polls);
            let found = run(guarded::$name($($args),*), polls);
            assert_eq!(found, expected, "{} polled {polls} times", stringify!($name));
        }
    )+};
}

#[test]
fn futures_polled_and_dropped() {
    compare! {
        all_used(Loud("p0"), Loud("p1"), Loud("p2"));
        some_used(Loud("p0"), Loud("p1"), Loud("p2"));
        unnamed(Loud("p0"), Loud("p1"), Loud("p2"), Loud("p3"));
        mutable(Loud("p0"), Loud("p1"), Loud("p2"), Loud("p3"));
        patterns((Loud("p0"), Loud("p1")), [Loud("p2"), Loud("p3")], Loud("p4"));
        consumed(Loud("p0"), Loud("p1"), Loud("p2"));
        parts((Loud("p0"), Loud("p1")), Loud("p2"));
        early(Loud("p0"), Loud("p1"));
        single(Loud("p0"));
        tail_temporary(Loud("p0"), Loud("p1"));
    }
}

/// What the body only borrows outlives it for the fallback, and is dropped at the end, in order.
#[test]
fn beside_a_fallback() {
    #[circuit_breaker(threshold = 1, fallback = fallback(&a, &b))]
    async fn guarded(a: Loud, b: Loud) -> Answer {
        log(format!("body {}{}", b.0, a.0));
        Err(CallError::Call(()))
    }
    fn fallback(a: &Loud, b: &Loud) -> Answer {
        log(format!("fallback {}{}", a.0, b.0));
        Ok(7)
    }

    let _scope = breakerbox::test::scope();
    let found = run(guarded(Loud("p0"), Loud("p1")), 1);
    assert_eq!(
        found,
        [
            "body p1p0",
            "fallback p0p1",
            "drop p1",
            "drop p0",
            "ready",
            "end"
        ]
    );
    let refused = run(guarded(Loud("p0"), Loud("p1")), 1);
    assert_eq!(
        refused,
        ["fallback p0p1", "drop p1", "drop p0", "ready", "end"]
    );
}
