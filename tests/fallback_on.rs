//! `fallback_on = open`: the fallback runs only where the body never did, so what the body
//! consumes is there for it. So it is for `open_error`, where nothing else runs after the body.

#![deny(warnings)]

mod support;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use breakerbox::{
    AnyBreaker as _, Breaker, CallError, Cause, CircuitOpenError, Config, KeyedBreakers, Settings,
    State, circuit_breaker, find,
};

use support::{Answer, Loud, PmsError, block_on, counted, log, pause, poll, take_log};

/// It can't be copied or cloned.
struct Query(&'static str);

fn fetch(query: Query) -> Answer<String> {
    match query.0 {
        "down" => Err(PmsError::Down),
        "panic" => panic!("a body that panics"),
        hotel => Ok(format!("fresh {}", hotel)),
    }
}

fn cached(query: Query) -> Answer<String> {
    Ok(format!("cached {}", query.0))
}

async fn cached_later(query: Query) -> Answer<String> {
    pause().await;
    cached(query)
}

fn cached_by(query: Query, cause: Cause<'_, Answer<String>>) -> Answer<String> {
    match cause {
        Cause::Open(open) => Ok(format!("cached {} of {}", query.0, open.name())),
        Cause::Failed(_) | Cause::TimedOut(_) => unreachable!("only refused calls have it"),
    }
}

/// Takes a failure, then refuses.
fn opened(call: impl Fn(Query) -> Answer<String>, cached: &str) {
    let _scope = breakerbox::test::scope();
    assert_eq!(call(Query("Adlon")).unwrap(), "fresh Adlon");
    assert!(matches!(call(Query("down")), Err(PmsError::Down)));
    for _ in 0..2 {
        assert_eq!(call(Query("Adlon")).unwrap(), cached);
    }
}

mod plain {
    use super::*;

    #[circuit_breaker(threshold = 1, fallback = cached, fallback_on = open)]
    fn by_path(query: Query) -> Answer<String> {
        fetch(query)
    }

    #[circuit_breaker(threshold = 1, fallback = cached(query), fallback_on = open)]
    fn by_call(query: Query) -> Answer<String> {
        let query = query;
        fetch(query)
    }

    #[circuit_breaker(
        name = "plain",
        threshold = 1,
        fallback = |cause| cached_by(query, cause),
        fallback_on = open
    )]
    fn by_closure(query: Query) -> Answer<String> {
        fetch(query)
    }

    #[circuit_breaker(threshold = 1, fallback = |_| Some(cached(query)), fallback_on = open)]
    fn inside_a_closure(query: Query) -> Answer<String> {
        let call = move || fetch(query);
        call()
    }

    #[circuit_breaker(threshold = 1, fallback = cached(query.into()), fallback_on = open)]
    fn opaque(query: impl Into<Query>) -> Answer<String> {
        fetch(query.into())
    }

    #[circuit_breaker(
        threshold = 1,
        classify = |error| matches!(error, PmsError::Down),
        fallback = cached,
        fallback_on = open
    )]
    fn mutable(mut query: Query) -> Answer<String> {
        if query.0.is_empty() {
            query.0 = "Adlon";
        }
        fetch(query)
    }

    #[test]
    fn what_the_body_consumes_is_there_for_the_fallback() {
        opened(by_path, "cached Adlon");
        opened(by_call, "cached Adlon");
        opened(by_closure, "cached Adlon of plain");
        opened(inside_a_closure, "cached Adlon");
        opened(opaque, "cached Adlon");
        opened(mutable, "cached Adlon");
    }
}

mod waiting {
    use super::*;

    #[circuit_breaker(threshold = 1, fallback = cached, fallback_on = open)]
    async fn by_path(query: Query) -> Answer<String> {
        pause().await;
        fetch(query)
    }

    #[circuit_breaker(threshold = 1, fallback = cached_later(query), fallback_on = open)]
    async fn by_call(query: Query) -> Answer<String> {
        pause().await;
        let query = query;
        fetch(query)
    }

    #[circuit_breaker(
        name = "waiting",
        threshold = 1,
        fallback = |cause| cached_by(query, cause),
        fallback_on = open
    )]
    async fn by_closure(query: Query) -> Answer<String> {
        pause().await;
        fetch(query)
    }

    #[circuit_breaker(threshold = 1, fallback = |_| cached_later(query), fallback_on = open)]
    async fn inside_a_block(query: Query) -> Answer<String> {
        let call = async move {
            pause().await;
            fetch(query)
        };
        call.await
    }

    #[circuit_breaker(
        threshold = 1,
        timeout = "2s",
        classify = |error| matches!(error, PmsError::Down | PmsError::Late(_)),
        fallback = cached_later,
        fallback_on = open
    )]
    async fn with_a_timeout(query: Query) -> Answer<String> {
        if query.0 == "late" {
            std::future::pending::<()>().await;
        }
        fetch(query)
    }

    #[test]
    fn what_the_body_consumes_is_there_for_the_fallback() {
        opened(|query| block_on(by_path(query)), "cached Adlon");
        opened(|query| block_on(by_call(query)), "cached Adlon");
        opened(
            |query| block_on(by_closure(query)),
            "cached Adlon of waiting",
        );
        opened(|query| block_on(inside_a_block(query)), "cached Adlon");
        opened(|query| block_on(with_a_timeout(query)), "cached Adlon");
    }

    #[test]
    fn a_timeout_is_no_refusal() {
        let scope = breakerbox::test::scope();
        block_on(async {
            let mut late = pin!(with_a_timeout(Query("late")));
            assert!(poll(late.as_mut()).is_pending());
            scope.advance(Duration::from_secs(2));
            assert!(matches!(late.await, Err(PmsError::Late(_))));
            let answer = with_a_timeout(Query("Adlon")).await;
            assert_eq!(answer.unwrap(), "cached Adlon");
        });
    }
}

/// Beside whatever says which breaker it is.
mod breakers {
    use super::*;

    struct Client {
        breaker: Arc<Breaker>,
        hotel: &'static str,
    }

    impl Client {
        #[circuit_breaker(breaker = self.breaker.clone(), fallback = Self::cached, fallback_on = open)]
        async fn consumes_itself(self, query: Query) -> Answer<String> {
            let Self { hotel, .. } = self;
            pause().await;
            fetch(query).map(|answer| answer + hotel)
        }

        async fn cached(self, query: Query) -> Answer<String> {
            cached(query).map(|answer| answer + self.hotel)
        }

        #[circuit_breaker(breaker = self.breaker.clone(), fallback = self.cached_here(query), fallback_on = open)]
        fn borrows_itself(&mut self, query: Query) -> Answer<String> {
            self.hotel = "!";
            fetch(query).map(|answer| answer + self.hotel)
        }

        fn cached_here(&self, query: Query) -> Option<Answer<String>> {
            Some(cached(query).map(|answer| answer + self.hotel))
        }
    }

    #[test]
    fn a_method() {
        let breaker = Breaker::shared("pms", Settings::new().threshold(1).must());
        let client = || Client {
            breaker: Arc::clone(&breaker),
            hotel: "?",
        };
        let consumed = |query| block_on(client().consumes_itself(query));
        assert_eq!(consumed(Query("Adlon")).unwrap(), "fresh Adlon?");
        let here = |query| client().borrows_itself(query);
        assert_eq!(here(Query("Adlon")).unwrap(), "fresh Adlon!");
        breaker.force_open();
        assert_eq!(consumed(Query("Adlon")).unwrap(), "cached Adlon?");
        assert_eq!(here(Query("Adlon")).unwrap(), "cached Adlon?");
    }

    #[circuit_breaker(
        key = query.0.len(),
        threshold = 1,
        fallback = cached,
        fallback_on = open
    )]
    fn by_key(query: Query) -> Answer<String> {
        fetch(query)
    }

    static BY_KEY: KeyedBreakers<String> = KeyedBreakers::new("fallback-by-key", Config::DEFAULT);

    #[circuit_breaker(
        breaker = BY_KEY,
        key = query.0,
        fallback = |_| cached_later(query),
        fallback_on = open
    )]
    async fn by_key_elsewhere(query: Query) -> Answer<String> {
        pause().await;
        fetch(query)
    }

    #[test]
    fn a_breaker_of_a_key() {
        let _scope = breakerbox::test::scope();
        assert!(by_key(Query("down")).is_err());
        assert_eq!(by_key(Query("Ritz")).unwrap(), "cached Ritz");
        assert_eq!(by_key(Query("Adlon")).unwrap(), "fresh Adlon");
        block_on(async {
            BY_KEY.get("Ritz").force_open();
            let (ritz, adlon) = (Query("Ritz"), Query("Adlon"));
            assert_eq!(by_key_elsewhere(ritz).await.unwrap(), "cached Ritz");
            assert_eq!(by_key_elsewhere(adlon).await.unwrap(), "fresh Adlon");
        });
    }

    trait Rooms {
        fn rooms<'a>(
            &'a self,
            query: Query,
        ) -> Pin<Box<dyn Future<Output = Answer<String>> + Send + 'a>>;
    }

    #[async_trait::async_trait]
    trait Boxed {
        async fn rooms(&self, query: Query) -> Answer<String>;
    }

    #[async_trait::async_trait]
    impl Boxed for u8 {
        #[circuit_breaker(shared, threshold = 1, fallback = cached(query), fallback_on = open)]
        async fn rooms(&self, query: Query) -> Answer<String> {
            pause().await;
            fetch(query)
        }
    }

    impl Rooms for u8 {
        fn rooms<'a>(
            &'a self,
            query: Query,
        ) -> Pin<Box<dyn Future<Output = Answer<String>> + Send + 'a>> {
            Boxed::rooms(self, query)
        }
    }

    #[test]
    fn a_boxed_future() {
        opened(|query| block_on(Rooms::rooms(&1, query)), "cached Adlon");
    }
}

/// A part of a `&mut` parameter may be given back, whoever gives it.
#[circuit_breaker(
    name = "fallback-parts",
    fallback = Ok(&mut parts.1),
    fallback_on = open
)]
fn a_part(parts: &mut (u8, u8)) -> Answer<&mut u8> {
    Ok(&mut parts.0)
}

#[test]
fn a_part_of_a_parameter() {
    let _scope = breakerbox::test::scope();
    let mut parts = (1, 2);
    *a_part(&mut parts).unwrap() += 10;
    find("fallback-parts").unwrap().force_open();
    *a_part(&mut parts).unwrap() += 20;
    assert_eq!(parts, (11, 22));
}

/// An error that says what was asked for.
#[derive(Debug, PartialEq)]
enum Of {
    Refused(String),
    Down,
}

#[circuit_breaker(threshold = 1, open_error = |_| Of::Refused(query))]
fn refused_of(query: String) -> Result<String, Of> {
    match query.is_empty() {
        true => Err(Of::Down),
        false => Ok(query),
    }
}

#[circuit_breaker(
    threshold = 1,
    fallback = |_| None,
    fallback_on = open,
    open_error = |_: CircuitOpenError| Of::Refused(query)
)]
async fn refused_of_later(query: String) -> Result<String, Of> {
    pause().await;
    match query.is_empty() {
        true => Err(Of::Down),
        false => Ok(query),
    }
}

#[circuit_breaker(name = "fallback-never", open_error = |open| panic!("{}: {}", name, open.name()))]
fn never(name: String) -> ! {
    std::panic::panic_any(name)
}

#[test]
fn what_the_body_consumes_is_there_for_the_error() {
    let _scope = breakerbox::test::scope();
    let refused = Of::Refused("a".to_owned());
    assert_eq!(refused_of("a".to_owned()).unwrap(), "a");
    assert_eq!(refused_of(String::new()), Err(Of::Down));
    assert_eq!(refused_of("a".to_owned()).unwrap_err(), refused);
    block_on(async {
        assert_eq!(refused_of_later("a".to_owned()).await.unwrap(), "a");
        assert_eq!(refused_of_later(String::new()).await, Err(Of::Down));
        assert_eq!(refused_of_later("a".to_owned()).await.unwrap_err(), refused);
    });
    let said = |name: &str| {
        let said = catch_unwind(|| never(name.to_owned())).unwrap_err();
        *said.downcast::<String>().unwrap()
    };
    assert_eq!(said("a"), "a");
    find("fallback-never").unwrap().force_open();
    assert_eq!(said("a"), "a: fallback-never");
}

/// An output that has to be inferred.
#[circuit_breaker(threshold = 1, fallback = |_| Ok(query.0.len()), fallback_on = open)]
async fn opaque(query: Query) -> Result<impl ToString, PmsError> {
    pause().await;
    fetch(query).map(|answer| answer.len())
}

#[circuit_breaker(
    name = "fallback-drops",
    threshold = 1,
    fallback = serve(argument, other),
    fallback_on = open
)]
async fn drops(argument: Loud, other: Loud, fails: bool) -> Answer<&'static str> {
    pause().await;
    log("body");
    drop(argument);
    pause().await;
    match fails {
        true => Err(PmsError::Down),
        false => Ok(other.0),
    }
}

async fn serve(argument: Loud, other: Loud) -> Answer<&'static str> {
    log("fallback");
    drop(other);
    pause().await;
    Ok(argument.0)
}

#[test]
fn dropped_where_it_was_consumed() {
    let scope = breakerbox::test::scope();
    let call = |fails| drops(Loud("argument"), Loud("other"), fails);
    assert_eq!(block_on(call(false)).unwrap(), "other");
    assert_eq!(take_log(), ["body", "drop argument", "drop other"]);

    drop(call(false));
    assert_eq!(take_log().len(), 2);
    let breaker = find("fallback-drops").unwrap();
    for polls in 1..=2 {
        let mut call = Box::pin(call(false));
        for _ in 0..polls {
            assert!(poll(call.as_mut()).is_pending());
        }
        drop(call);
        assert_eq!(take_log().iter().filter(|line| *line != "body").count(), 2);
        assert_eq!(counted("fallback-drops"), 0);
    }

    assert!(block_on(call(true)).is_err());
    take_log();
    assert_eq!(block_on(call(false)).unwrap(), "argument");
    assert_eq!(take_log(), ["fallback", "drop other", "drop argument"]);

    // One that is given up while it probes leaves the probe to the next.
    scope.advance(Duration::from_secs(60));
    let mut probe = Box::pin(call(false));
    assert!(poll(probe.as_mut()).is_pending());
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(block_on(call(false)).unwrap(), "argument");
    drop(probe);
    assert_eq!(block_on(call(false)).unwrap(), "other");
    assert_eq!(breaker.state(), State::Closed);
    take_log();
}

#[circuit_breaker(name = "fallback-panics", threshold = 3, fallback = cached, fallback_on = open)]
fn panics(query: Query) -> Answer<String> {
    fetch(query)
}

#[circuit_breaker(name = "fallback-panics-later", threshold = 3, fallback = cached, fallback_on = open)]
async fn panics_later(query: Query) -> Answer<String> {
    pause().await;
    fetch(query)
}

#[test]
fn a_panic_is_a_failure() {
    let _scope = breakerbox::test::scope();
    for failures in 1..=2 {
        assert!(catch_unwind(|| panics(Query("panic"))).is_err());
        assert_eq!(counted("fallback-panics"), failures);
        let later = AssertUnwindSafe(|| block_on(panics_later(Query("panic"))));
        assert!(catch_unwind(later).is_err());
        assert_eq!(counted("fallback-panics-later"), failures);
    }
}

mod sizes {
    use super::*;

    async fn fetch_all(query: [u8; 512], more: String) -> Answer<usize> {
        pause().await;
        Ok(query.len() + more.len())
    }

    #[circuit_breaker]
    async fn bare(query: Box<[u8; 512]>, more: String) -> Answer<usize> {
        fetch_all(*query, more).await
    }

    #[circuit_breaker(fallback = kept(&query, &more), fallback_on = open)]
    async fn lent(query: Box<[u8; 512]>, more: String) -> Answer<usize> {
        fetch_all(*query, more).await
    }

    #[circuit_breaker(fallback = kept_later(query, more), fallback_on = open)]
    async fn awaited(query: Box<[u8; 512]>, more: String) -> Answer<usize> {
        fetch_all(*query, more).await
    }

    fn kept(query: &[u8; 512], more: &str) -> Answer<usize> {
        Ok(query.len() + more.len() + 1)
    }

    async fn kept_later(query: Box<[u8; 512]>, more: String) -> Answer<usize> {
        pause().await;
        kept(&query, &more)
    }

    fn send<T: Send>(value: T) -> T {
        value
    }

    /// Only one of them ever has the parameters, and only one is ever awaited.
    #[test]
    fn hardly_larger() {
        let query = || Box::new([0; 512]);
        let bare = bare(query(), String::new());
        let lent = send(lent(query(), String::new()));
        let awaited = send(awaited(query(), String::new()));
        let grown = [size_of_val(&lent), size_of_val(&awaited)].map(|n| n - size_of_val(&bare));
        assert!(grown[0] <= 16 && grown[1] <= 64, "{:?} bytes", grown);
    }
}

#[test]
fn an_opaque_output() {
    let _scope = breakerbox::test::scope();
    let rooms = |query| block_on(opaque(query)).map(|rooms| rooms.to_string());
    assert_eq!(rooms(Query("Adlon")).unwrap(), "11");
    assert!(matches!(rooms(Query("down")), Err(PmsError::Down)));
    assert_eq!(rooms(Query("Ritz")).unwrap(), "4");
}

#[test]
fn a_part_of_a_call_error() {
    #[circuit_breaker(threshold = 1, fallback = Err(CallError::Call(query)), fallback_on = open)]
    fn own(query: String) -> Result<String, CallError<String>> {
        Err(CallError::Call(query + "!"))
    }
    let _scope = breakerbox::test::scope();
    let call = || own("a".to_owned()).unwrap_err();
    assert_eq!(call(), CallError::Call("a!".to_owned()));
    assert_eq!(call(), CallError::Call("a".to_owned()));
}
