//! Every kind of `self`, and `Self` in every place: each compiles, without a warning, and means
//! what it would mean without the attribute.

#![deny(warnings)]
// Of the plain functions clippy says the same.
#![allow(clippy::needless_arbitrary_self_type)]

mod support;

use std::fmt::Display;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use breakerbox::{Breaker, CallError, breaker, circuit_breaker};

use support::{Answer, Loud, PmsError, block_on, counted, log, pause, take_log};

breaker! { static PMS = {} }

struct Client {
    breaker: Arc<Breaker>,
    name: String,
}

fn client() -> Client {
    Client {
        breaker: Breaker::shared("client", breakerbox::Config::DEFAULT),
        name: "client".to_owned(),
    }
}

impl Client {
    const SEVEN: usize = 7;

    #[circuit_breaker(breaker = self.breaker)]
    async fn by_reference(&self) -> Answer<usize> {
        Ok(self.name.len())
    }

    #[circuit_breaker(breaker = self.breaker.clone())]
    async fn by_unique_reference(&mut self) -> Answer<&mut String> {
        self.name.push('!');
        Ok(&mut self.name)
    }

    #[circuit_breaker(breaker = &self.breaker)]
    async fn by_arc(self: Arc<Self>) -> Answer<usize> {
        Ok(self.name.len())
    }

    #[circuit_breaker(breaker = Arc::clone(&self.breaker))]
    async fn by_value(mut self) -> Answer<String> {
        self.name.push('!');
        Ok(self.name)
    }

    #[circuit_breaker(shared)]
    async fn by_typed_reference(self: &Self, other: String) -> Answer<usize> {
        Ok(self.name.len() + other.len())
    }

    #[circuit_breaker(shared)]
    async fn self_in_a_macro(&self) -> Answer<String> {
        Ok(format!("{}{}", self.name, vec![Self::SEVEN].len()))
    }

    #[circuit_breaker(shared)]
    fn plain(&mut self) -> Answer<&mut String> {
        self.name.push('!');
        Ok(&mut self.name)
    }

    #[circuit_breaker(threshold = 2)]
    async fn without_self(name: &str) -> Answer<Self> {
        Ok(Self {
            name: name.to_owned(),
            ..client()
        })
    }

    #[circuit_breaker(shared, classify = Self::counts, fallback = Self::other)]
    async fn helped_by_self(&self, n: usize) -> Answer<usize> {
        if n > Self::SEVEN {
            return Err(PmsError::Down);
        }
        Ok(n)
    }

    fn counts(error: &PmsError) -> bool {
        matches!(error, PmsError::Down)
    }

    async fn other(&self, n: usize) -> Option<Answer<usize>> {
        Some(Ok(self.name.len() + n))
    }
}

struct Tuple(u8);

impl Tuple {
    #[circuit_breaker]
    async fn make() -> Answer<Self> {
        Ok(Self(4))
    }
}

trait Pms {
    async fn rooms(&self, hotel: &str) -> Answer<usize>;

    #[circuit_breaker(shared)]
    async fn provided(&self, hotel: &str) -> Answer<usize> {
        self.rooms(hotel).await
    }

    #[circuit_breaker(shared)]
    fn provided_plain(&self) -> Answer<usize> {
        Ok(size_of_val(self))
    }
}

impl Pms for Client {
    #[circuit_breaker(breaker = PMS)]
    async fn rooms(&self, hotel: &str) -> Answer<usize> {
        Ok(self.name.len() + hotel.len())
    }
}

struct Generic<'a, T>(&'a T);

impl<T: Display> Pms for Generic<'_, T> {
    #[circuit_breaker(shared)]
    async fn rooms(&self, hotel: &str) -> Answer<usize> {
        Ok(self.0.to_string().len() + hotel.len())
    }
}

#[test]
fn as_without() {
    let _scope = breakerbox::test::scope();
    block_on(async {
        let mut one = client();
        assert_eq!(one.by_reference().await.unwrap(), 6);
        one.by_unique_reference().await.unwrap().push('?');
        one.plain().unwrap().push('?');
        assert_eq!(one.name, "client!?!?");
        assert_eq!(one.by_typed_reference("x".to_owned()).await.unwrap(), 11);
        assert_eq!(one.self_in_a_macro().await.unwrap(), "client!?!?1");
        assert_eq!(one.helped_by_self(7).await.unwrap(), 7);
        assert_eq!(one.helped_by_self(8).await.unwrap(), 18);
        assert_eq!(one.rooms("ab").await.unwrap(), 12);
        assert_eq!(one.provided("ab").await.unwrap(), 12);
        assert_eq!(one.provided_plain().unwrap(), size_of::<Client>());
        assert_eq!(one.by_value().await.unwrap(), "client!?!?!");
        assert_eq!(Arc::new(client()).by_arc().await.unwrap(), 6);
        assert_eq!(Client::without_self("x").await.unwrap().name, "x");
        assert_eq!(Tuple::make().await.unwrap().0, 4);
        assert_eq!(Generic(&5).provided("ab").await.unwrap(), 3);
    });
}

mod receivers_of_all_kinds {
    use super::*;

    #[derive(Default)]
    struct Client {
        name: String,
        calls: u32,
    }

    impl Client {
        #[circuit_breaker(shared)]
        async fn by_value(self) -> Answer<String> {
            pause().await;
            Ok(self.name)
        }

        #[circuit_breaker(shared)]
        fn by_value_plain(mut self) -> Answer<Self> {
            self.calls += 1;
            Ok(self)
        }

        #[circuit_breaker(shared)]
        async fn by_box(mut self: Box<Self>) -> Answer<Box<Self>> {
            pause().await;
            self.calls += 1;
            Ok(self)
        }

        #[circuit_breaker(shared)]
        fn by_rc(self: &Rc<Self>) -> Answer<usize> {
            Ok(Rc::strong_count(self))
        }

        #[circuit_breaker(shared)]
        async fn by_arc(self: Arc<Self>, more: u32) -> Answer<Arc<Self>> {
            match more {
                0 => Ok(self),
                more => {
                    let this = Arc::clone(&self);
                    Box::pin(this.by_arc(more - 1)).await
                }
            }
        }

        #[circuit_breaker(shared)]
        async fn by_pin(mut self: Pin<&mut Self>) -> Answer<u32> {
            self.calls += 1;
            pause().await;
            Ok(self.as_ref().calls)
        }

        #[circuit_breaker(shared)]
        fn by_pinned_box(self: Pin<Box<Self>>) -> Answer<u32> {
            Ok(self.calls)
        }

        #[circuit_breaker(shared)]
        fn by_typed_mut(self: &mut Self, by: u32) -> Answer<&mut u32> {
            self.calls += by;
            Ok(&mut self.calls)
        }

        #[circuit_breaker(shared)]
        async fn with_lifetimes<'a, 'b>(
            &'a mut self,
            name: &'b str,
        ) -> Answer<(&'a mut str, &'b str)> {
            self.name.push_str(name);
            pause().await;
            Ok((&mut self.name, name))
        }

        #[circuit_breaker(shared, fallback = self.last(name), classify = Self::is_down)]
        async fn with_a_fallback(&mut self, name: &str) -> Answer<String> {
            self.name.push_str(name);
            pause().await;
            Err(PmsError::Down)
        }

        fn last(&mut self, name: &str) -> Answer<String> {
            Ok(format!("{}{}", self.name, name))
        }

        const fn is_down(error: &PmsError) -> bool {
            matches!(error, PmsError::Down)
        }

        /// In closures, async blocks and macros.
        #[circuit_breaker(shared)]
        async fn used_everywhere(&mut self) -> Answer<String> {
            let name = || format!("{}!", self.name);
            let text = name();
            async { self.calls += 1 }.await;
            let calls = vec![self.calls, Self::default().calls];
            Ok(format!("{}{:?}", text, calls))
        }
    }

    #[test]
    fn are_the_caller_s() {
        let _scope = breakerbox::test::scope();
        let client = || Client {
            name: "a".to_owned(),
            calls: 4,
        };
        block_on(async {
            assert_eq!(client().by_value().await.unwrap(), "a");
            assert_eq!(client().by_value_plain().unwrap().calls, 5);
            assert_eq!(Box::new(client()).by_box().await.unwrap().calls, 5);
            assert_eq!(Rc::new(client()).by_rc().unwrap(), 1);
            assert_eq!(Arc::new(client()).by_arc(3).await.unwrap().calls, 4);
            let mut own = client();
            assert_eq!(Pin::new(&mut own).by_pin().await.unwrap(), 5);
            assert_eq!(Box::pin(client()).by_pinned_box().unwrap(), 4);
            *own.by_typed_mut(2).unwrap() += 1;
            assert_eq!(own.calls, 8);
            let (name, more) = own.with_lifetimes("b").await.unwrap();
            name.make_ascii_uppercase();
            assert_eq!(more, "b");
            assert_eq!(own.name, "AB");
            assert_eq!(own.with_a_fallback("c").await.unwrap(), "ABcc");
            assert_eq!(own.used_everywhere().await.unwrap(), "ABc![9, 0]");
        });
    }
}

mod self_types {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Rooms {
        Some { rooms: u8 },
        Few(u8),
        Soldout,
    }

    impl Rooms {
        const FEW: u8 = 3;

        #[circuit_breaker(shared)]
        async fn one_less(self) -> Answer<Self> {
            pause().await;
            Ok(match self {
                Self::Some { rooms } if rooms > Self::FEW + 1 => Self::Some { rooms: rooms - 1 },
                Self::Some { .. } => Self::Few(Self::FEW),
                Self::Few(1) => Self::Soldout,
                Self::Few(rooms) => Self::Few(rooms - 1),
                Self::Soldout => return Err(PmsError::Down),
            })
        }

        #[circuit_breaker(classify_output = |rooms| *rooms == Self::Soldout, open_error = |_| Self::Soldout)]
        fn parse(text: &str) -> Self {
            text.parse()
                .map_or(Self::Soldout, |rooms| Self::Some { rooms })
        }
    }

    trait HasError {
        type Error: From<breakerbox::CircuitOpenError>;
        const LIMIT: usize;
    }

    struct Typed<T>(T);

    impl<T> HasError for Typed<T> {
        type Error = PmsError;
        const LIMIT: usize = 2;
    }

    impl<T: Display> Typed<T>
    where
        Self: HasError,
    {
        #[circuit_breaker(name = "receivers-typed", shared)]
        async fn shown(&self) -> Result<String, <Self as HasError>::Error>
        where
            <Self as HasError>::Error: From<PmsError>,
        {
            let text = self.0.to_string();
            if text.len() > <Self as HasError>::LIMIT {
                return Err(PmsError::Down.into());
            }
            Ok(text)
        }

        #[circuit_breaker(open_error = |_| PmsError::Down)]
        fn new(value: T) -> Result<Self, PmsError> {
            Ok(Self(value))
        }
    }

    #[test]
    fn mean_the_same() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            let rooms = Rooms::parse("5").one_less().await.unwrap();
            assert_eq!(rooms, Rooms::Some { rooms: 4 });
            assert_eq!(rooms.one_less().await.unwrap(), Rooms::Few(3));
            assert_eq!(Rooms::Few(1).one_less().await.unwrap(), Rooms::Soldout);
            assert!(Rooms::Soldout.one_less().await.is_err());
            assert_eq!(Rooms::parse("x"), Rooms::Soldout);
            assert_eq!(Typed::new(12).unwrap().shown().await.unwrap(), "12");
            assert!(Typed("abc").shown().await.is_err());
            assert_eq!(counted("receivers-typed"), 1);
        });
    }
}

/// Methods that a macro writes, with the caller's own `self`.
mod out_of_macros {
    use super::*;

    macro_rules! client {
        ($name:ident { $($(#[$attr:meta])* $method:ident(&$this:ident) $body:block)+ }) => {
            struct $name(u8);
            impl $name {
                $($(#[$attr])* async fn $method(&$this) -> Answer<u8> $body)+
            }
        };
    }

    client! {
        Client {
            #[circuit_breaker(breaker = PMS)]
            first(&self) { Ok(self.0) }

            #[circuit_breaker(shared, fallback = |_| Ok(self.0))]
            second(&self) { pause().await; Err(PmsError::Down) }
        }
    }

    #[test]
    fn are_as_if_written() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(Client(4).first().await.unwrap(), 4);
            assert_eq!(Client(5).second().await.unwrap(), 5);
        });
    }
}

/// `self` by value is dropped when it would be.
mod dropped {
    use super::*;

    impl Loud {
        async fn plain(self, _other: Loud) -> Answer<()> {
            pause().await;
            log("body");
            Ok(())
        }

        #[circuit_breaker(shared)]
        async fn guarded(self, _other: Loud) -> Answer<()> {
            pause().await;
            log("body");
            Ok(())
        }

        fn plain_sync(self, mut other: Loud, (_, _last): (Loud, Loud)) -> Answer<()> {
            other.0 = "changed";
            log(self.0);
            Ok(())
        }

        #[circuit_breaker(shared)]
        fn guarded_sync(self, mut other: Loud, (_, _last): (Loud, Loud)) -> Answer<()> {
            other.0 = "changed";
            log(self.0);
            Ok(())
        }
    }

    #[test]
    fn in_the_same_order() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            Loud("self").plain(Loud("other")).await.unwrap();
            let expected = take_log();
            Loud("self").guarded(Loud("other")).await.unwrap();
            assert_eq!(take_log(), expected);
            assert_eq!(expected, ["body", "drop other", "drop self"]);
        });
        let last = || (Loud("a"), Loud("b"));
        Loud("self").plain_sync(Loud("other"), last()).unwrap();
        let expected = take_log();
        Loud("self").guarded_sync(Loud("other"), last()).unwrap();
        assert_eq!(take_log(), expected);
    }
}

/// One breaker in each instance, reached in every way there is.
#[test]
fn breakers_of_instances() {
    struct Client {
        breaker: Arc<Breaker>,
        inner: Inner,
    }
    struct Inner {
        breaker: Breaker,
    }
    impl Client {
        fn breaker(&self) -> &Breaker {
            &self.breaker
        }

        #[circuit_breaker(breaker = self.breaker())]
        async fn by_method(&self) -> Result<(), CallError<()>> {
            Err(CallError::Call(()))
        }

        #[circuit_breaker(breaker = self.inner.breaker)]
        fn by_path(self: &Arc<Self>) -> Result<(), CallError<()>> {
            Err(CallError::Call(()))
        }

        #[circuit_breaker(breaker = Arc::clone(&self.breaker))]
        async fn by_clone(self: Box<Self>) -> Result<(), CallError<()>> {
            drop(self);
            Err(CallError::Call(()))
        }
    }
    let _scope = breakerbox::test::scope();
    let settings = breakerbox::Settings::new().must();
    let client = |name: &'static str| Client {
        breaker: Breaker::shared(name, settings),
        inner: Inner {
            breaker: Breaker::new("receivers-inner", settings),
        },
    };
    let one = Arc::new(client("receivers-one"));
    let two = Box::new(client("receivers-two"));
    let breaker = Arc::clone(&two.breaker);
    block_on(async {
        for _ in 0..3 {
            assert!(one.by_method().await.is_err());
        }
        assert!(one.by_path().is_err());
        assert!(two.by_clone().await.is_err());
    });
    assert_eq!(counted("receivers-one"), 3);
    assert_eq!(one.inner.breaker.snapshot().consecutive, 1);
    assert_eq!(breaker.snapshot().consecutive, 1);
}
