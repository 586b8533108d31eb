//! Parameters and variables are dropped when, and in the order in which, the plain function
//! would drop them.

#![allow(unused_variables, unused_assignments, clippy::toplevel_ref_arg)]

mod support;

use std::future::Future;
use std::pin::pin;

use breakerbox::{CallError, circuit_breaker};

use support::{Loud, log, pause, poll, take_log};

type Answer = Result<u8, CallError<()>>;

#[allow(dead_code)]
struct Stay {
    from: Loud,
    to: Loud,
    nights: u8,
}

fn stay() -> Stay {
    Stay {
        from: Loud("from"),
        to: Loud("to"),
        nights: 1,
    }
}

#[allow(dead_code)]
struct Pair(Loud, Loud);

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
    (async fn) partly_unnamed((_, a): (Loud, Loud), b: Loud, (c, _): (Loud, Loud)) {
        let _local = Loud("local");
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) one_pattern(Stay { from, to, .. }: Stay) {
        let _local = Loud("local");
        let first = &from;
        pause().await;
        log(first.0);
        Ok(1)
    }
    (async fn) one_tuple((a, b): (Loud, Loud)) {
        let first = &a;
        pause().await;
        log(first.0);
        Ok(1)
    }
    (async fn) by_reference(ref a: Loud, b: Loud, ref mut c: Loud) {
        let _local = Loud("local");
        c.0 = "changed";
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) with_rest(Stay { to, .. }: Stay, Pair(a, _): Pair, [b, .., c]: [Loud; 3], d: Loud) {
        pause().await;
        log(to.0);
        Ok(1)
    }
    (async fn) mutable_and_partly_unnamed((mut a, _): (Loud, Loud), mut b: Loud, (_, c): (Loud, Loud)) {
        a.0 = "changed";
        pause().await;
        b.0 = "changed too";
        Ok(1)
    }
    (async fn) mutable_by_reference(a: Loud, ref mut b: Loud, mut c: Loud) {
        b.0 = "changed";
        pause().await;
        c.0 = "changed too";
        Ok(1)
    }
    (async fn) whole_and_parts(whole @ (_, _): (Loud, Loud), b: Loud) {
        pause().await;
        log((whole.0).0);
        Ok(1)
    }
    (async fn) underscored(_a: Loud, _b: Loud, _: Loud) {
        let _local = Loud("local");
        pause().await;
        Ok(1)
    }
    (async fn) boxed(a: Box<Loud>, b: Option<Loud>, c: Vec<Loud>, d: std::sync::Arc<Loud>) {
        pause().await;
        drop(b);
        log(a.0);
        Ok(1)
    }
    (async fn) given_away_in_a_branch(a: Loud, b: Loud, c: Loud) {
        if c.0 == "p2" {
            drop(a);
        }
        pause().await;
        log(b.0);
        Ok(1)
    }
    (async fn) replaced(mut a: Loud, b: Loud) {
        pause().await;
        a = Loud("new");
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) unit_parameters(_: (), a: Loud, (): (), b: Loud) {
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) lent(a: &Loud, b: Loud, c: &mut Loud, d: Loud) {
        c.0 = "changed";
        pause().await;
        log(a.0);
        Ok(1)
    }
    (async fn) shadowed(a: Loud, b: Loud) {
        let a = Loud("shadow");
        pause().await;
        let b = Loud("shadow of b");
        log(a.0);
        Ok(1)
    }
    (async fn) in_a_closure(a: Loud, b: Loud, c: Loud) {
        let take = move || log(b.0);
        take();
        pause().await;
        log(c.0);
        Ok(1)
    }
    (async fn) fails(a: Loud, b: Loud) {
        let _local = Loud("local");
        pause().await;
        Err(CallError::Call(()))?;
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
        (fn) partly_unnamed((_, a): (Loud, Loud), b: Loud, (c, _): (Loud, Loud)) {
            log(a.0);
            Ok(1)
        }
        (fn) mutable_and_partly_unnamed((mut a, _): (Loud, Loud), b: Loud, (_, c): (Loud, Loud)) {
            a.0 = "changed";
            Ok(1)
        }
        (fn) by_reference(ref a: Loud, b: Loud, ref mut c: Loud) {
            c.0 = "changed";
            Ok(1)
        }
        (fn) one_pattern(Stay { from, to, .. }: Stay) {
            let first = &from;
            log(first.0);
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
            partly_unnamed((p().0, p().1), p().2, (p().3, Loud("p4")));
            mutable_and_partly_unnamed((p().0, p().1), p().2, (p().3, Loud("p4")));
            by_reference(p().0, p().1, p().2);
            one_pattern(stay());
            early(p().0, p().1);
        }
    }
}

/// Polls `future` at most `polls` times, then drops it.
fn run(future: impl Future<Output = Answer>, polls: usize) -> Vec<String> {
    take_log();
    {
        let mut future = pin!(future);
        for _ in 0..polls {
            if poll(future.as_mut()).is_ready() {
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
        partly_unnamed((Loud("p0"), Loud("p1")), Loud("p2"), (Loud("p3"), Loud("p4")));
        one_pattern(stay());
        one_tuple((Loud("p0"), Loud("p1")));
        by_reference(Loud("p0"), Loud("p1"), Loud("p2"));
        with_rest(stay(), Pair(Loud("p0"), Loud("p1")), [Loud("p2"), Loud("p3"), Loud("p4")], Loud("p5"));
        mutable_and_partly_unnamed((Loud("p0"), Loud("p1")), Loud("p2"), (Loud("p3"), Loud("p4")));
        mutable_by_reference(Loud("p0"), Loud("p1"), Loud("p2"));
        whole_and_parts((Loud("p0"), Loud("p1")), Loud("p2"));
        underscored(Loud("p0"), Loud("p1"), Loud("p2"));
        boxed(Box::new(Loud("p0")), Some(Loud("p1")), vec![Loud("p2"), Loud("p3")], Loud("p4").into());
        given_away_in_a_branch(Loud("p0"), Loud("p1"), Loud("p2"));
        given_away_in_a_branch(Loud("p0"), Loud("p1"), Loud("other"));
        replaced(Loud("p0"), Loud("p1"));
        unit_parameters((), Loud("p0"), (), Loud("p1"));
        lent(&Loud("p0"), Loud("p1"), &mut Loud("p2"), Loud("p3"));
        shadowed(Loud("p0"), Loud("p1"));
        in_a_closure(Loud("p0"), Loud("p1"), Loud("p2"));
        fails(Loud("p0"), Loud("p1"));
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
