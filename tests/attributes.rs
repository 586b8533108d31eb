//! Qualifiers, and other attributes above and below: each compiles, without a warning, and keeps
//! its meaning.

#![deny(warnings)]

mod support;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use breakerbox::{CallError, State, circuit_breaker, find};

use support::{Answer, PmsError, block_on, counted, pause};

#[circuit_breaker]
#[allow(improper_ctypes_definitions)]
extern "C" fn foreign(x: u8) -> Answer<u8> {
    Ok(x)
}

#[circuit_breaker]
async fn inner_attributes(unused: u8) -> Answer<u8> {
    #![allow(unused_variables)]
    #![allow(unused_mut)]
    let mut x = 4;
    Ok(x)
}

#[circuit_breaker]
fn inner_attributes_plain(unused: u8) -> Answer<u8> {
    #![allow(unused_variables)]
    let x = 4;
    Ok(x)
}

#[inline]
#[circuit_breaker]
#[must_use = "use it"]
fn between_others() -> Answer<u8> {
    Ok(1)
}

#[circuit_breaker]
#[expect(dead_code)]
async fn expected_dead() -> Answer<u8> {
    Ok(1)
}

#[circuit_breaker]
#[expect(dead_code)]
fn expected_dead_plain() -> Answer<u8> {
    Ok(1)
}

#[circuit_breaker]
#[tokio::test]
async fn above_a_test() -> Answer<()> {
    tokio::task::yield_now().await;
    Ok(())
}

#[tokio::test]
#[circuit_breaker]
async fn below_a_test() -> Answer<()> {
    tokio::task::yield_now().await;
    Ok(())
}

#[circuit_breaker(name = "outer")]
#[circuit_breaker(name = "inner")]
async fn twice() -> Answer<u8> {
    Ok(1)
}

#[test]
fn as_without() {
    let _scope = breakerbox::test::scope();
    block_on(async {
        assert_eq!(foreign(5).unwrap(), 5);
        assert_eq!(inner_attributes(1).await.unwrap(), 4);
        assert_eq!(inner_attributes_plain(1).unwrap(), 4);
        assert_eq!(between_others().unwrap(), 1);
        assert_eq!(twice().await.unwrap(), 1);
    });
}

/// `#[tracing::instrument]`: which comes first decides whether a refused call has a span.
mod instrumented {
    use super::*;
    use async_trait::async_trait;
    use tracing::field::{Field, Visit};
    use tracing::instrument;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// Counts spans and their entries, and keeps the names of the fields.
    #[derive(Default)]
    struct Heard {
        spans: AtomicU32,
        entered: AtomicU32,
        events: AtomicU32,
        fields: std::sync::Mutex<Vec<String>>,
    }

    struct Names<'a>(&'a mut Vec<String>);

    impl Visit for Names<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            self.0.push(format!("{}={:?}", field.name(), value));
        }
    }

    struct Ears(Arc<Heard>);

    impl Subscriber for Ears {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            span.record(&mut Names(&mut self.0.fields.lock().unwrap()));
            let number = self.0.spans.fetch_add(1, Ordering::Relaxed);
            Id::from_u64(u64::from(number) + 1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.events.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &Id) {
            self.0.entered.fetch_add(1, Ordering::Relaxed);
        }
        fn exit(&self, _: &Id) {}
    }

    /// What is heard of two calls, of which the first fails and opens the circuit.
    fn heard(call: impl Fn()) -> (u32, Vec<String>, u32) {
        let heard = Arc::new(Heard::default());
        tracing::subscriber::with_default(Ears(Arc::clone(&heard)), || {
            let _scope = breakerbox::test::scope();
            call();
            call();
        });
        let fields = std::mem::take(&mut *heard.fields.lock().unwrap());
        let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        assert!(count(&heard.entered) >= count(&heard.spans));
        (count(&heard.spans), fields, count(&heard.events))
    }

    /// Not `Debug`: nobody may record it.
    struct Secret;

    #[instrument(err)]
    #[circuit_breaker(threshold = 1)]
    async fn above(hotel: &str, mut nights: u8) -> Answer<u8> {
        nights += 1;
        pause().await;
        if hotel.is_empty() {
            return Err(PmsError::Down);
        }
        Ok(nights)
    }

    #[circuit_breaker(threshold = 1)]
    #[instrument(err)]
    async fn below(hotel: &str, mut nights: u8) -> Answer<u8> {
        nights += 1;
        pause().await;
        if hotel.is_empty() {
            return Err(PmsError::Down);
        }
        Ok(nights)
    }

    #[instrument]
    #[circuit_breaker(threshold = 1)]
    fn above_plain(hotel: &str) -> Answer<u8> {
        Err(hotel
            .parse::<u8>()
            .map_or(PmsError::Down, |_| PmsError::Down))
    }

    #[circuit_breaker(threshold = 1)]
    #[instrument]
    fn below_plain(hotel: &str) -> Answer<u8> {
        Err(hotel
            .parse::<u8>()
            .map_or(PmsError::Down, |_| PmsError::Down))
    }

    #[test]
    fn the_outer_one_sees_all_calls() {
        let fields = |of: &[&str]| of.iter().map(|&field| field.to_owned()).collect::<Vec<_>>();
        let once = ["hotel=\"\"", "nights=1"];
        let twice = [once, once].concat();
        let above = heard(|| assert!(block_on(above("", 1)).is_err()));
        assert_eq!(above, (1, fields(&once), 1));
        let below = heard(|| assert!(block_on(below("", 1)).is_err()));
        assert_eq!(below, (2, fields(&twice), 2));
        let above = heard(|| assert!(above_plain("").is_err()));
        assert_eq!(above, (1, fields(&["hotel=\"\""]), 0));
        let below = heard(|| assert!(below_plain("").is_err()));
        assert_eq!(below, (2, fields(&["hotel=\"\"", "hotel=\"\""]), 0));
    }

    /// Parameters without a name stay without: they are recorded by their names.
    #[circuit_breaker(threshold = 1)]
    #[instrument(skip(a))]
    async fn nameless((a, _): (Secret, Secret), _: Secret, c: String) -> Answer<String> {
        let _ = &a;
        pause().await;
        Ok(c)
    }

    #[circuit_breaker(threshold = 1)]
    #[cfg_attr(all(), instrument(skip_all, fields(count = c.len())))]
    fn nameless_plain(_: Secret, (_, a): (Secret, Secret), mut c: String) -> Answer<String> {
        let _ = &a;
        c.push('!');
        Ok(c)
    }

    #[circuit_breaker(threshold = 1, fallback = |_| Ok(hotel.clone()))]
    #[instrument]
    async fn below_with_a_fallback(hotel: String) -> Answer<String> {
        pause().await;
        match hotel.len() {
            0..=3 => Err(PmsError::Down),
            _ => Ok(hotel.clone()),
        }
    }

    #[instrument(skip_all)]
    #[circuit_breaker(threshold = 1, fallback = |_| Ok(hotel.to_owned()))]
    async fn above_with_a_fallback(hotel: &str, _: Secret) -> Answer<String> {
        pause().await;
        Err(PmsError::Down)
    }

    #[test]
    fn beside_patterns_and_fallbacks() {
        let call = || {
            let text = nameless((Secret, Secret), Secret, "c".to_owned());
            assert_eq!(block_on(text).unwrap(), "c");
        };
        assert_eq!(heard(call).1, ["c=\"c\"", "c=\"c\""]);
        let call = || {
            let text = nameless_plain(Secret, (Secret, Secret), "c".to_owned());
            assert_eq!(text.unwrap(), "c!");
        };
        assert_eq!(heard(call).1, ["count=1", "count=1"]);
        let call = || {
            assert_eq!(
                block_on(below_with_a_fallback("a".to_owned())).unwrap(),
                "a"
            )
        };
        assert_eq!(heard(call).0, 2);
        let call = || assert_eq!(block_on(above_with_a_fallback("a", Secret)).unwrap(), "a");
        assert_eq!(heard(call).0, 1);
    }

    struct Client;

    impl Client {
        #[instrument(skip(self), ret)]
        #[circuit_breaker(shared, threshold = 1, open_error = |_| ())]
        async fn above(&self, hotel: &str) -> Result<u8, ()> {
            pause().await;
            hotel.parse().map_err(drop)
        }

        #[circuit_breaker(shared, threshold = 1, open_error = |_| ())]
        #[instrument(skip(self), ret)]
        fn below(self: Arc<Self>, hotel: &str) -> Result<u8, ()> {
            hotel.parse().map_err(drop)
        }
    }

    #[async_trait]
    trait Boxed {
        async fn above(&self, hotel: &str) -> Result<u8, CallError<()>>;
        async fn below(&self, hotel: String) -> Result<u8, CallError<()>>;
    }

    #[async_trait]
    impl Boxed for Client {
        #[instrument(skip(self))]
        #[circuit_breaker(shared, threshold = 1)]
        async fn above(&self, hotel: &str) -> Result<u8, CallError<()>> {
            pause().await;
            hotel.parse().map_err(|_| CallError::Call(()))
        }

        #[circuit_breaker(shared, threshold = 1, timeout = "1s")]
        #[instrument(skip(self))]
        async fn below(&self, hotel: String) -> Result<u8, CallError<()>> {
            pause().await;
            hotel.parse().map_err(|_| CallError::Call(()))
        }
    }

    #[test]
    fn in_methods_and_boxed_ones() {
        let client = || Arc::new(Client);
        let call = || assert_eq!(block_on(Client::above(&client(), "")), Err(()));
        assert_eq!(heard(call).0, 1);
        let call = || assert_eq!(Client::below(client(), ""), Err(()));
        assert_eq!(heard(call).0, 2);
        let call = || assert!(block_on(Boxed::above(&Client, "")).is_err());
        assert_eq!(heard(call).0, 1);
        let call = || assert!(block_on(Boxed::below(&Client, String::new())).is_err());
        assert_eq!(heard(call).0, 2);
    }
}

/// Attributes that make a test or a program of a function.
mod that_run_it {
    use super::*;

    static MAINS: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(name = "attributes-main-above")]
    #[tokio::main(flavor = "current_thread")]
    async fn main_below() -> Answer<u32> {
        pause().await;
        Ok(MAINS.fetch_add(1, Ordering::Relaxed))
    }

    #[tokio::main(flavor = "current_thread")]
    #[circuit_breaker(name = "attributes-main-below")]
    async fn main_above() -> Answer<u32> {
        pause().await;
        Err(PmsError::Down)
    }

    #[test]
    fn main_of_both_orders() {
        let _scope = breakerbox::test::scope();
        assert!(main_below().is_ok());
        assert!(main_above().is_err());
        assert_eq!(counted("attributes-main-above"), 0);
        assert_eq!(counted("attributes-main-below"), 1);
    }

    #[test]
    #[circuit_breaker]
    fn test_above() -> Answer<()> {
        Ok(())
    }

    #[circuit_breaker]
    #[test]
    fn test_below() -> Answer<()> {
        Ok(())
    }

    #[test]
    #[should_panic(expected = "as it does")]
    #[circuit_breaker(classify_output = |()| false, open_error = |_| ())]
    fn should_panic_between() {
        panic!("as it does")
    }

    #[circuit_breaker]
    #[test]
    #[ignore = "to see that it is"]
    fn ignored_between() -> Answer<()> {
        Err(PmsError::Down)
    }

    #[circuit_breaker(timeout = "10s")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn of_many_threads() -> Answer<()> {
        tokio::spawn(async { pause().await }).await.unwrap();
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_of_paused_time() {
        #[circuit_breaker(name = "attributes-paused", threshold = 1, timeout = "10s")]
        async fn hangs() -> Answer<()> {
            std::future::pending().await
        }
        let began = tokio::time::Instant::now();
        assert!(matches!(hangs().await, Err(PmsError::Late(_))));
        assert!(began.elapsed() >= Duration::from_secs(10));
        assert_eq!(find("attributes-paused").unwrap().state(), State::Open);
    }
}

/// The language's own attributes, and qualifiers beside each other.
mod the_languages_own {
    use super::*;

    #[cfg_attr(all(), circuit_breaker(name = "attributes-conditional"))]
    fn conditional(ok: bool) -> Answer<()> {
        ok.then_some(()).ok_or(PmsError::Down)
    }

    #[circuit_breaker]
    #[cfg(any())]
    fn not_there() -> NoSuchType {}

    #[cfg(not(any()))]
    #[circuit_breaker]
    #[cold]
    #[inline(never)]
    #[doc = "Documented."]
    #[doc(hidden)]
    #[deprecated = "to see that it is"]
    pub(in super::the_languages_own) fn many() -> Answer<u8> {
        Ok(1)
    }

    #[circuit_breaker]
    #[rustfmt::skip]
    #[clippy::msrv = "1.88"]
    async fn of_tools() -> Answer<u8> { Ok( 1 ) }

    #[circuit_breaker]
    #[allow(improper_ctypes_definitions)]
    pub(super) extern "C-unwind" fn foreign(x: u8) -> Answer<u8> {
        Ok(x)
    }

    #[circuit_breaker]
    #[allow(improper_ctypes_definitions)]
    async extern "C" fn foreign_async(x: u8) -> Answer<u8> {
        Ok(x)
    }

    #[circuit_breaker]
    #[warn(unused_variables)]
    #[expect(unused_variables, reason = "to see that it is expected")]
    async fn levels(unused: u8, unused_too: String, unused_three: String) -> Answer<u8> {
        Ok(1)
    }

    #[circuit_breaker]
    #[expect(unreachable_code)]
    fn never_gets_there() -> Answer<u8> {
        return Ok(1);
        Ok(2)
    }

    #[test]
    fn keep_their_meaning() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert!(conditional(false).is_err());
            assert_eq!(counted("attributes-conditional"), 1);
            #[expect(deprecated)]
            let many = many().unwrap();
            assert_eq!(many, 1);
            assert_eq!(of_tools().await.unwrap(), 1);
            assert_eq!(foreign(2).unwrap(), 2);
            assert_eq!(foreign_async(2).await.unwrap(), 2);
            let text = String::new;
            assert_eq!(levels(1, text(), text()).await.unwrap(), 1);
            assert_eq!(never_gets_there().unwrap(), 1);
        });
    }
}

/// Two breakers for one function: each guards what the other lets through. The lower attribute is
/// expanded last, and so is the one that is asked first.
mod twice {
    use super::{Answer, PmsError, State, block_on, find};
    use breakerbox::circuit_breaker;

    #[circuit_breaker(name = "twice-inside", threshold = 1)]
    #[circuit_breaker(name = "twice-outside", threshold = 2)]
    fn plain(taken: String) -> Answer<usize> {
        drop(taken);
        Err(PmsError::Down)
    }

    #[circuit_breaker(name = "twice-inside-async", threshold = 1)]
    #[circuit_breaker(name = "twice-outside-async", threshold = 2, timeout = "2s")]
    async fn later(mut taken: String, (a, _): (u8, String)) -> Answer<usize> {
        taken.push(a.into());
        Err(PmsError::Down)
    }

    fn states(names: [&str; 2]) -> [State; 2] {
        names.map(|name| find(name).map_or(State::Closed, |breaker| breaker.state()))
    }

    #[test]
    fn both_guard() {
        let _scope = breakerbox::test::scope();
        let names = ["twice-inside", "twice-outside"];
        assert!(plain(String::new()).is_err());
        assert_eq!(states(names), [State::Open, State::Closed]);
        assert!(plain(String::new()).is_err());
        assert_eq!(states(names), [State::Open, State::Open]);

        let names = ["twice-inside-async", "twice-outside-async"];
        let call = || block_on(later(String::new(), (65, String::new())));
        assert!(call().is_err());
        assert_eq!(states(names), [State::Open, State::Closed]);
        assert!(call().is_err());
        assert_eq!(states(names), [State::Open, State::Open]);
    }
}
