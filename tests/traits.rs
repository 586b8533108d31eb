//! Methods of traits, `async fn` in them and `#[async_trait]`: each compiles, without a warning,
//! and does what it would do without the attribute.

#![deny(warnings)]

mod support;

use std::fmt::Display;
use std::future::Future;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use breakerbox::{Breaker, CallError, Settings, breaker, circuit_breaker, find};

use support::{Answer, PmsError, block_on, counted, pause};

breaker! { static PMS = {} }

/// `#[async_trait]` comes first, and this attribute sees what it makes of the methods.
mod boxed {
    use super::*;
    use async_trait::async_trait;

    struct Client(String);

    #[async_trait]
    trait Pms {
        async fn rooms(&self, hotel: &str, night: String) -> Answer<usize>;
        async fn nothing(&self) -> Answer<()>;
        async fn changed(&mut self, more: &[u8]) -> Result<&mut String, CallError<()>>;
        async fn number(self: Arc<Self>) -> u8;

        #[circuit_breaker(shared, timeout = "1s")]
        async fn provided(&self, hotel: String) -> Answer<usize>
        where
            Self: Sync,
        {
            self.nothing().await?;
            Ok(hotel.len())
        }

        #[circuit_breaker(breaker = PMS)]
        async fn without_self<T: Display + Send + Sync>(shown: T) -> Answer<String>
        where
            Self: Sized,
        {
            tokio::task::yield_now().await;
            Ok(shown.to_string())
        }
    }

    #[async_trait]
    impl Pms for Client {
        #[circuit_breaker(breaker = PMS, timeout = "1s", fallback = Self::cached(&night))]
        async fn rooms(&self, hotel: &str, night: String) -> Answer<usize> {
            tokio::task::yield_now().await;
            if hotel.is_empty() {
                Err(PmsError::Down)?;
            }
            Ok(self.0.len() + hotel.len() + night.len())
        }

        #[circuit_breaker(shared)]
        async fn nothing(&self) -> Answer<()> {
            let _ = &self.0;
            Ok(())
        }

        #[circuit_breaker(shared, failure_rate = 0.5, fallback = fetched().await)]
        async fn changed(&mut self, mut more: &[u8]) -> Result<&mut String, CallError<()>> {
            while let [first, rest @ ..] = more {
                tokio::task::yield_now().await;
                self.0.push(char::from(*first));
                more = rest;
            }
            Ok(&mut self.0)
        }

        #[circuit_breaker(breaker = PMS, classify_output = |n| *n == 0, fallback = |_| 9)]
        async fn number(self: Arc<Self>) -> u8 {
            tokio::task::yield_now().await;
            0
        }
    }

    async fn fetched<T>() -> Option<T> {
        None
    }

    impl Client {
        fn cached(night: &str) -> Answer<usize> {
            Ok(night.len())
        }
    }

    struct Local(Rc<u8>);

    #[async_trait(?Send)]
    trait LocalPms {
        async fn rooms(&self) -> Answer<Rc<u8>>;
    }

    #[async_trait(?Send)]
    impl LocalPms for Local {
        #[circuit_breaker(shared, fallback = |_| None)]
        async fn rooms(&self) -> Answer<Rc<u8>> {
            let kept = self.0.clone();
            tokio::task::yield_now().await;
            Ok(kept)
        }
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        let mut client = Client("abc".to_owned());
        block_on(async {
            assert_eq!(client.rooms("de", "f".to_owned()).await.unwrap(), 6);
            assert_eq!(client.rooms("", "fg".to_owned()).await.unwrap(), 2);
            client.nothing().await.unwrap();
            client.changed(b"de").await.unwrap().push('f');
            assert_eq!(client.0, "abcdef");
            assert_eq!(client.provided("gh".to_owned()).await.unwrap(), 2);
            assert_eq!(Client::without_self(5).await.unwrap(), "5");
            assert_eq!(Arc::new(client).number().await, 9);
            assert_eq!(*Local(Rc::new(4)).rooms().await.unwrap(), 4);
        });
    }
}

/// `async fn` and plain methods, without `#[async_trait]`.
mod plain {
    use super::*;

    trait Pms: Sync {
        type Room: Display + Send;
        const ROOMS: usize;

        fn breaker(&self) -> &Breaker;

        async fn fetch(&self, number: u8) -> Answer<Self::Room>;

        #[circuit_breaker(breaker = self.breaker(), fallback = self.cached(number))]
        async fn room(&self, number: u8) -> Answer<Self::Room> {
            pause().await;
            self.fetch(number).await
        }

        fn cached(&self, _: u8) -> Option<Answer<Self::Room>> {
            None
        }

        #[circuit_breaker(name = "traits-shown", shared, classify_output = String::is_empty, open_error = |_| String::new())]
        fn shown(&self, room: &Self::Room) -> String
        where
            Self: Sized,
        {
            format!("{}/{}", room, Self::ROOMS)
        }

        #[circuit_breaker(threshold = 2)]
        async fn count(ok: bool) -> Answer<usize>
        where
            Self: Sized,
        {
            match ok {
                true => Ok(Self::ROOMS),
                false => Err(PmsError::Down),
            }
        }
    }

    struct Adlon(Breaker);

    impl Pms for Adlon {
        type Room = u8;
        const ROOMS: usize = 2;

        fn breaker(&self) -> &Breaker {
            &self.0
        }

        #[circuit_breaker(name = "traits-adlon", shared, timeout = "1s")]
        async fn fetch(&self, number: u8) -> Answer<u8> {
            match number {
                0 => Err(PmsError::Down),
                number => Ok(number),
            }
        }
    }

    struct Wrapped<P>(P);

    impl<P: Deref<Target: Pms> + Sync> Pms for Wrapped<P> {
        type Room = <P::Target as Pms>::Room;
        const ROOMS: usize = <P::Target as Pms>::ROOMS + 1;

        fn breaker(&self) -> &Breaker {
            self.0.breaker()
        }

        #[circuit_breaker(name = "traits-wrapped", shared)]
        async fn fetch(&self, number: u8) -> Answer<Self::Room> {
            self.0.fetch(number + 1).await
        }
    }

    /// A generic function over it, and `dyn` where it can be.
    trait Rates {
        fn rate(&self) -> Answer<u8>;
    }

    impl<T: Clone + Into<u8>> Rates for T {
        #[circuit_breaker(shared)]
        fn rate(&self) -> Answer<u8> {
            Ok(self.clone().into())
        }
    }

    impl<'a> Rates for dyn Display + 'a {
        #[circuit_breaker(breaker = PMS)]
        fn rate(&self) -> Answer<u8> {
            self.to_string().parse().map_err(|_| PmsError::Down)
        }
    }

    /// The trait promises a future in its own words; the implementation is an `async fn`.
    trait Promises {
        fn rooms(&self) -> impl Future<Output = Answer<u8>> + Send;
        fn listed(&self) -> Answer<impl Iterator<Item = u8>>;
    }

    impl Promises for Adlon {
        #[circuit_breaker(breaker = self.0)]
        async fn rooms(&self) -> Answer<u8> {
            pause().await;
            Ok(2)
        }

        #[circuit_breaker(breaker = self.0)]
        fn listed(&self) -> Answer<impl Iterator<Item = u8>> {
            Ok(1..=2)
        }
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        let adlon = Adlon(Breaker::new("traits-own", Settings::new().must()));
        block_on(async {
            assert_eq!(adlon.room(4).await.unwrap(), 4);
            assert!(adlon.room(0).await.is_err());
            assert_eq!(counted("traits-adlon"), 1);
            assert_eq!(adlon.0.snapshot().consecutive, 1);
            let wrapped = Wrapped(&adlon);
            assert_eq!(wrapped.room(0).await.unwrap(), 1);
            assert_eq!(adlon.0.snapshot().consecutive, 0);
            assert_eq!(wrapped.shown(&5), "5/3");
            assert_eq!(counted("traits-shown"), 0);
            assert_eq!(4_u8.rate().unwrap(), 4);
            let shown: &dyn Display = &"7";
            assert_eq!(shown.rate().unwrap(), 7);
            fn send<T: Send>(value: T) -> T {
                value
            }
            assert_eq!(send(adlon.rooms()).await.unwrap(), 2);
            assert_eq!(adlon.listed().unwrap().sum::<u8>(), 3);
        });
    }

    /// A provided method has one breaker for every type that takes it.
    #[test]
    fn a_provided_method_is_shared() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(Adlon::count(true).await.unwrap(), 2);
            assert!(Adlon::count(false).await.is_err());
            assert!(Wrapped::<&Adlon>::count(false).await.is_err());
            assert!(matches!(
                Adlon::count(true).await,
                Err(PmsError::Refused(_))
            ));
        });
    }
}

mod boxed_more {
    use super::*;
    use async_trait::async_trait;
    use support::{Loud, log, take_log};

    #[async_trait]
    trait Pms: Send + Sync {
        async fn rooms(&self, hotel: &str) -> Answer<usize>;

        #[circuit_breaker(name = "traits-provided", shared, fallback = |_| Ok(0))]
        async fn all(&self, hotels: &[&str]) -> Answer<usize> {
            let mut sum = 0;
            for hotel in hotels {
                sum += self.rooms(hotel).await?;
            }
            Ok(sum)
        }
    }

    struct Lengths(Arc<Breaker>);

    #[async_trait]
    impl Pms for Lengths {
        #[circuit_breaker(breaker = self.0, timeout = "1s")]
        async fn rooms(&self, hotel: &str) -> Answer<usize> {
            #![allow(clippy::needless_return)]
            pause().await;
            if hotel.is_empty() {
                return Err(PmsError::Down);
            }
            return Ok(hotel.len());
        }
    }

    #[async_trait]
    impl<T: Pms + ?Sized> Pms for Box<T> {
        #[circuit_breaker(name = "traits-boxed", shared)]
        async fn rooms(&self, hotel: &str) -> Answer<usize> {
            (**self).rooms(hotel).await
        }
    }

    #[test]
    fn behind_dyn() {
        let scope = breakerbox::test::scope();
        let breaker = Breaker::shared("traits-dyn", Settings::new().threshold(2).must());
        let pms: Box<dyn Pms> = Box::new(Lengths(Arc::clone(&breaker)));
        block_on(async {
            assert_eq!(pms.rooms("ab").await.unwrap(), 2);
            assert_eq!(pms.all(&["a", "bc"]).await.unwrap(), 3);
            assert_eq!(pms.all(&["a", ""]).await.unwrap(), 0);
            assert_eq!(counted("traits-provided"), 1);
            assert!(pms.rooms("").await.is_err());
            assert!(matches!(pms.rooms("a").await, Err(PmsError::Refused(_))));
            scope.advance(std::time::Duration::from_secs(30));
            assert_eq!(pms.rooms("a").await.unwrap(), 1);
        });
        assert_eq!(breaker.state(), breakerbox::State::Closed);
        assert_eq!(counted("traits-boxed"), 0);
        assert!(find("traits-dyn").is_some());
    }

    #[async_trait]
    trait Drops {
        async fn plain(self, mut a: Loud, _: Loud, (b, _): (Loud, Loud)) -> Answer<usize>;
        async fn guarded(self, mut a: Loud, _: Loud, (b, _): (Loud, Loud)) -> Answer<usize>;
        async fn elided(&mut self, text: &str) -> Answer<&mut str>;
        async fn generic<T, const N: usize>(&self, values: [T; N]) -> Answer<usize>
        where
            T: Send + Sync + 'static;
        async fn opaque(&self, shown: impl Display + Send + Sync + 'async_trait) -> Answer<String>;
        async fn without_arrow(&mut self);
    }

    #[async_trait]
    impl Drops for Loud {
        async fn plain(self, mut a: Loud, _: Loud, (b, _): (Loud, Loud)) -> Answer<usize> {
            a.0 = "changed";
            pause().await;
            log(b.0);
            Ok(a.0.len())
        }

        #[circuit_breaker(shared)]
        async fn guarded(self, mut a: Loud, _: Loud, (b, _): (Loud, Loud)) -> Answer<usize> {
            a.0 = "changed";
            pause().await;
            log(b.0);
            Ok(a.0.len())
        }

        #[circuit_breaker(shared)]
        async fn elided(&mut self, text: &str) -> Answer<&mut str> {
            pause().await;
            log(text);
            Err(PmsError::Down)
        }

        #[circuit_breaker(shared, fallback = |_| Ok(values.len() + 1))]
        async fn generic<T, const N: usize>(&self, values: [T; N]) -> Answer<usize>
        where
            T: Send + Sync + 'static,
        {
            pause().await;
            match values.len() {
                0 => Err(PmsError::Down),
                n => Ok(n),
            }
        }

        #[circuit_breaker(shared)]
        async fn opaque(&self, shown: impl Display + Send + Sync + 'async_trait) -> Answer<String> {
            pause().await;
            Ok(shown.to_string())
        }

        #[circuit_breaker(shared, classify_output = |()| false, open_error = |_| ())]
        async fn without_arrow(&mut self) {
            pause().await;
            self.0 = "done";
        }
    }

    #[test]
    fn drops_as_without() {
        let _scope = breakerbox::test::scope();
        let four = || {
            (
                Loud("self"),
                Loud("a"),
                Loud("_"),
                (Loud("b"), Loud("rest")),
            )
        };
        block_on(async {
            let (this, a, unnamed, pair) = four();
            assert_eq!(this.plain(a, unnamed, pair).await.unwrap(), 7);
            let expected = take_log();
            let (this, a, unnamed, pair) = four();
            assert_eq!(this.guarded(a, unnamed, pair).await.unwrap(), 7);
            assert_eq!(take_log(), expected);

            let (this, a, unnamed, pair) = four();
            drop(this.plain(a, unnamed, pair));
            let expected = take_log();
            let (this, a, unnamed, pair) = four();
            drop(this.guarded(a, unnamed, pair));
            assert_eq!(take_log(), expected);

            let mut loud = Loud("self");
            assert!(loud.elided("x").await.is_err());
            assert_eq!(loud.generic([1, 2]).await.unwrap(), 2);
            assert_eq!(loud.generic::<u8, 0>([]).await.unwrap(), 1);
            assert_eq!(loud.opaque(5).await.unwrap(), "5");
            loud.without_arrow().await;
            assert_eq!(loud.0, "done");
        });
    }
}
