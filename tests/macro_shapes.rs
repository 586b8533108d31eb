//! Kinds of functions on which attribute macros have failed: each compiles, without a warning,
//! and does what it would do without the attribute.

#![deny(warnings)]
// Of the plain functions clippy says the same.
#![allow(
    clippy::needless_arbitrary_self_type,
    clippy::unimplemented,
    clippy::unused_unit
)]

use std::error::Error;
use std::fmt::{self, Display};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use breakerbox::{CallError, Cause, CircuitOpenError, TimeoutError, breaker, circuit_breaker};

#[derive(Debug)]
enum PmsError {
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
            PmsError::Refused(refused) => write!(f, "{refused}"),
            PmsError::Late(late) => write!(f, "{late}"),
            PmsError::Down => f.write_str("down"),
        }
    }
}

impl Error for PmsError {}

type Answer<T> = Result<T, PmsError>;

breaker! { static PMS = {} }

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

mod body_and_return_type {
    use super::*;

    #[circuit_breaker]
    async fn reassigned(mut name: &str) -> Answer<usize> {
        let local = format!("{name}!");
        if name.len() < 10 {
            name = &local;
        }
        Ok(name.len())
    }

    #[circuit_breaker]
    fn reassigned_plain(mut name: &str) -> Answer<usize> {
        let local = format!("{name}!");
        if name.len() < 10 {
            name = &local;
        }
        Ok(name.len())
    }

    #[circuit_breaker]
    async fn reassigned_in_a_pattern((mut name, more): (&str, usize)) -> Answer<usize> {
        let local = format!("{name}!");
        if name.len() < 10 {
            name = &local;
        }
        Ok(name.len() + more)
    }

    #[circuit_breaker(open_error = |refused| panic!("{refused}"))]
    async fn never() -> ! {
        panic!("as it does")
    }

    #[circuit_breaker(open_error = |refused| panic!("{refused}"))]
    fn never_plain() -> ! {
        panic!("as it does")
    }

    #[circuit_breaker(
        timeout = "1ms",
        open_error = |refused| panic!("{refused}"),
        timeout_error = |late| panic!("{late}")
    )]
    async fn never_in_time() -> ! {
        std::future::pending::<std::convert::Infallible>().await;
        unreachable!()
    }

    #[circuit_breaker(open_error = |refused| refused.into())]
    async fn coerces_to_a_box(fail: bool) -> Result<Box<dyn Display>, Box<dyn Error>> {
        if fail {
            Err("no")?;
        }
        Ok(Box::new(5))
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| Box::new(0))]
    async fn is_a_box() -> Box<dyn Display> {
        Box::new(5)
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| Box::new(0))]
    fn is_a_box_plain() -> Box<dyn Display> {
        Box::new(5)
    }

    #[allow(non_camel_case_types, dead_code, clippy::upper_case_acronyms)]
    enum Shadows {
        Some,
        None,
        Ok,
        Err,
        Done,
        Failed,
        Open,
        __BREAKER,
        __ended,
        __output,
        __hint,
    }

    #[circuit_breaker(fallback = |_| None)]
    async fn imports_names_of_the_expansion() -> Answer<u8> {
        #[allow(unused_imports)]
        use Shadows::*;
        let _ = (Some, None, __BREAKER, __ended, __output, __hint);
        Result::Ok(1)
    }

    #[circuit_breaker]
    async fn gives_its_argument(x: &mut String) -> Answer<&mut String> {
        x.push('!');
        Ok(x)
    }

    #[circuit_breaker]
    fn gives_its_argument_plain(x: &mut String) -> Answer<&mut String> {
        x.push('!');
        Ok(x)
    }

    #[circuit_breaker]
    fn gives_a_part(x: &mut (u8, String)) -> Answer<&mut str> {
        Ok(&mut x.1)
    }

    #[circuit_breaker]
    async fn gives_one_of_two<'a, 'b: 'a>(x: &'a str, y: &'b str) -> Answer<&'a str> {
        Ok(if x.is_empty() { y } else { x })
    }

    #[circuit_breaker]
    #[allow(unused)]
    async fn unimplemented() -> Answer<String> {
        unimplemented!()
    }

    #[circuit_breaker]
    #[allow(unused)]
    fn unimplemented_plain() -> Answer<String> {
        unimplemented!()
    }

    #[circuit_breaker]
    async fn returns_early(n: u32) -> Answer<u32> {
        if n == 0 {
            return Ok(100);
        }
        let half: u32 = n.checked_sub(10).ok_or(PmsError::Down)?;
        Ok(half)
    }

    /// Beside a fallback that borrows another parameter, too.
    #[circuit_breaker(fallback = |_| { let _ = &other; None })]
    async fn gives_a_part_beside_a_fallback<'a>(
        x: &'a mut (u8, String),
        mut name: &str,
        other: String,
    ) -> Answer<&'a mut String> {
        let local = format!("{name}{other}");
        name = &local;
        x.1.push_str(name);
        Ok(&mut x.1)
    }

    #[circuit_breaker(fallback = |_| { let _ = &other; None })]
    fn gives_a_part_beside_a_fallback_plain<'a>(
        x: &'a mut (u8, String),
        mut name: &str,
        other: String,
    ) -> Answer<&'a mut String> {
        let local = format!("{name}{other}");
        name = &local;
        x.1.push_str(name);
        Ok(&mut x.1)
    }

    #[circuit_breaker]
    async fn recursive(n: u32) -> Answer<u32> {
        if n == 0 {
            return Ok(0);
        }
        Ok(n + Box::pin(recursive(n - 1)).await?)
    }

    #[circuit_breaker]
    fn recursive_plain(n: u32) -> Answer<u32> {
        Ok(if n == 0 {
            0
        } else {
            n + recursive_plain(n - 1)?
        })
    }

    #[circuit_breaker]
    async fn opaque(n: u32) -> Answer<impl Iterator<Item = u32>> {
        if n > 100 {
            return Err(PmsError::Down);
        }
        Ok(0..n)
    }

    #[circuit_breaker(timeout = "1s", fallback = |_| None, classify = |_| true)]
    async fn opaque_with_everything(n: u32) -> Answer<(Option<impl Display>, [impl Display; 1])> {
        Ok((Some(n), ["x"]))
    }

    #[circuit_breaker]
    fn opaque_plain(n: u32) -> Answer<impl Iterator<Item = u32>> {
        Ok(0..n)
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| 1)]
    async fn all_opaque() -> impl Display {
        5
    }

    #[circuit_breaker(classify_output = |()| false, open_error = |_| ())]
    async fn unit() {}

    #[circuit_breaker(classify_output = |()| false, open_error = |_| ())]
    fn unit_plain() {}

    #[circuit_breaker(classify_output = |()| false, open_error = |_| ())]
    fn unit_by_name() -> () {
        let _ = 4;
    }

    #[circuit_breaker]
    #[rustfmt::skip]
    fn braces_in_braces() -> Answer<u8> {{ Ok({ 4 }) }}

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(reassigned("abc").await.unwrap(), 4);
            assert_eq!(reassigned_plain("abc").unwrap(), 4);
            assert_eq!(reassigned_in_a_pattern(("abc", 2)).await.unwrap(), 6);
            assert!(coerces_to_a_box(true).await.is_err());
            assert_eq!(coerces_to_a_box(false).await.unwrap().to_string(), "5");
            assert_eq!(is_a_box().await.to_string(), "5");
            assert_eq!(is_a_box_plain().to_string(), "5");
            assert_eq!(imports_names_of_the_expansion().await.unwrap(), 1);
            let mut text = String::from("a");
            gives_its_argument(&mut text).await.unwrap().push('?');
            gives_its_argument_plain(&mut text).unwrap().push('?');
            assert_eq!(text, "a!?!?");
            assert_eq!(
                gives_a_part(&mut (1, String::from("part"))).unwrap(),
                "part"
            );
            let mut pair = (1, String::new());
            gives_a_part_beside_a_fallback(&mut pair, "a", "b".to_owned())
                .await
                .unwrap()
                .push('c');
            gives_a_part_beside_a_fallback_plain(&mut pair, "d", "e".to_owned())
                .unwrap()
                .push('f');
            assert_eq!(pair.1, "abcdef");
            assert_eq!(gives_one_of_two("", "b").await.unwrap(), "b");
            assert_eq!(returns_early(0).await.unwrap(), 100);
            assert!(returns_early(5).await.is_err());
            assert_eq!(returns_early(15).await.unwrap(), 5);
            assert_eq!(recursive(4).await.unwrap(), 10);
            assert_eq!(recursive_plain(4).unwrap(), 10);
            assert_eq!(opaque(3).await.unwrap().count(), 3);
            let (number, [text]) = opaque_with_everything(3).await.unwrap();
            assert_eq!(number.unwrap().to_string(), "3");
            assert_eq!(text.to_string(), "x");
            assert_eq!(opaque_plain(3).unwrap().count(), 3);
            assert_eq!(all_opaque().await.to_string(), "5");
            unit().await;
            unit_plain();
            unit_by_name();
            assert_eq!(braces_in_braces().unwrap(), 4);
        });
    }

    #[test]
    #[should_panic(expected = "as it does")]
    fn never_comes_back() {
        let _scope = breakerbox::test::scope();
        block_on(async { never().await })
    }

    #[test]
    #[should_panic(expected = "as it does")]
    fn never_comes_back_plain() {
        let _scope = breakerbox::test::scope();
        never_plain()
    }

    #[test]
    #[should_panic(expected = "never_in_time")]
    fn never_comes_back_in_time() {
        block_on(async { never_in_time().await })
    }
}

mod parameters {
    use super::*;

    struct Stay {
        from: u32,
        to: u32,
    }

    #[circuit_breaker]
    async fn mutable(mut b: String) -> Answer<String> {
        b.push('!');
        Ok(b)
    }

    #[circuit_breaker]
    async fn patterns(
        (a, ref mut b, ref c): (String, String, String),
        Stay { from, mut to }: Stay,
        [first, .., last]: [u8; 4],
        &count: &u8,
    ) -> Answer<String> {
        b.push('!');
        to += 1;
        Ok(format!("{a}{b}{c}{}{first}{last}{count}", to - from))
    }

    #[circuit_breaker]
    fn patterns_plain(
        (a, ref mut b, ref c): (String, String, String),
        Stay { from, to }: Stay,
        _: Vec<u8>,
    ) -> Answer<String> {
        b.push('!');
        Ok(format!("{a}{b}{c}{}", to - from))
    }

    /// Names that an expansion might use itself.
    #[circuit_breaker(timeout = "1s", fallback = taken_names_fallback)]
    #[allow(clippy::too_many_arguments)]
    async fn taken_names(
        key: &str,
        result: u8,
        breaker: u8,
        permit: u8,
        now: u8,
        cause: u8,
        __breaker: u8,
        __ended: u8,
        __output: u8,
        __refused: u8,
    ) -> Answer<String> {
        let sum = result + breaker + permit + now + cause;
        let more = __breaker + __ended + __output + __refused;
        Ok(format!("{key}{sum}{more}"))
    }

    #[allow(clippy::too_many_arguments)]
    fn taken_names_fallback(
        _: &str,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
        _: u8,
    ) -> Option<Answer<String>> {
        None
    }

    #[circuit_breaker]
    async fn takes_impl(mut each: impl FnMut(&str), shown: &impl Display) -> Answer<()> {
        each(&shown.to_string());
        Ok(())
    }

    #[circuit_breaker(fallback = |_| Ok(0))]
    async fn optional(hotel: Option<&str>) -> Answer<usize> {
        Ok(hotel.map_or(0, str::len))
    }

    #[circuit_breaker]
    async fn sometimes(
        #[cfg(unix)] mut a: String,
        #[cfg(not(unix))] a: u8,
        b: String,
    ) -> Answer<String> {
        #[cfg(unix)]
        a.push('!');
        Ok(format!("{a}{b}"))
    }

    #[circuit_breaker]
    async fn sometimes_dropped(
        #[cfg(not(unix))] a: String,
        b: String,
        c: String,
    ) -> Answer<String> {
        #[cfg(not(unix))]
        drop(a);
        Ok(b + &c)
    }

    macro_rules! guarded {
        ($(#[$attr:meta])* $vis:vis $name:ident($p:ident: $t:ty = $limit:expr, $word:ident) -> $r:ty $body:block) => {
            #[circuit_breaker(threshold = $limit, on_cancel = $word, reset = concat_duration!($limit))]
            $vis async fn $name($p: $t) -> $r $body
        };
    }
    macro_rules! concat_duration {
        ($limit:expr) => {
            std::time::Duration::from_secs($limit)
        };
    }

    guarded! { pub(super) from_a_macro(x: &str = 2 + 1, failure) -> Answer<usize> { Ok(x.len()) } }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(mutable("a".to_owned()).await.unwrap(), "a!");
            let abc = || ("a".to_owned(), "b".to_owned(), "c".to_owned());
            let stay = || Stay { from: 1, to: 3 };
            assert_eq!(
                patterns(abc(), stay(), [1, 2, 3, 4], &5).await.unwrap(),
                "ab!c3145"
            );
            assert_eq!(patterns_plain(abc(), stay(), vec![]).unwrap(), "ab!c2");
            assert_eq!(
                taken_names("k", 1, 2, 3, 4, 5, 6, 7, 8, 9).await.unwrap(),
                "k1530"
            );
            let mut seen = String::new();
            takes_impl(|text| seen.push_str(text), &5).await.unwrap();
            assert_eq!(seen, "5");
            assert_eq!(optional(Some("abc")).await.unwrap(), 3);
            #[cfg(unix)]
            assert_eq!(
                sometimes("a".to_owned(), "b".to_owned()).await.unwrap(),
                "a!b"
            );
            #[cfg(unix)]
            assert_eq!(
                sometimes_dropped("b".to_owned(), "c".to_owned())
                    .await
                    .unwrap(),
                "bc"
            );
            assert_eq!(from_a_macro("abc").await.unwrap(), 3);
        });
    }
}

mod self_and_traits {
    use super::*;

    struct Client {
        breaker: Arc<breakerbox::Breaker>,
        name: String,
    }

    fn client() -> Client {
        Client {
            breaker: breakerbox::Breaker::shared("client", breakerbox::Config::DEFAULT),
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
}

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

mod qualifiers_and_attributes {
    use super::*;

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
    #[track_caller]
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
}

mod generics_and_names {
    use super::*;

    #[circuit_breaker(threshold = 2)]
    async fn generic<T, const N: usize>(value: T, fail: bool) -> Answer<[T; N]>
    where
        T: Copy + Send,
    {
        if fail {
            return Err(PmsError::Down);
        }
        Ok([value; N])
    }

    /// One breaker for all `T`.
    #[test]
    fn all_instances_share_it() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(generic::<u8, 2>(1, false).await.unwrap(), [1, 1]);
            assert!(generic::<u8, 1>(1, true).await.is_err());
            assert!(generic::<&str, 1>("", true).await.is_err());
            assert!(matches!(
                generic::<char, 1>('a', false).await,
                Err(PmsError::Refused(_))
            ));
        });
    }

    #[allow(dead_code)]
    mod own_core_and_std {
        use breakerbox::circuit_breaker;

        mod core {}
        mod std {}
        mod breakerbox_ {}
        type Result<T> = super::Answer<T>;
        struct Option;
        struct Some;
        struct None;
        fn drop() {}

        #[circuit_breaker(classify = |_| true, timeout = "1s", fallback = |_| Ok(1), name = "own")]
        pub(super) async fn guarded() -> Result<u8> {
            Ok(1)
        }

        #[circuit_breaker(fallback = |_| Ok(1))]
        pub(super) fn guarded_plain() -> Result<u8> {
            Ok(1)
        }
    }

    mod renamed {
        pub(super) mod hidden {
            pub(crate) use breakerbox as circuit;
        }

        #[hidden::circuit::circuit_breaker(crate = hidden::circuit, open_error = |_| ())]
        pub(super) async fn guarded() -> Result<u8, ()> {
            Ok(1)
        }

        hidden::circuit::breaker! { pub(super) static RENAMED = { crate: self::hidden::circuit, threshold: 2 } }
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(own_core_and_std::guarded().await.unwrap(), 1);
            assert_eq!(own_core_and_std::guarded_plain().unwrap(), 1);
            assert_eq!(renamed::guarded().await.unwrap(), 1);
            assert!(renamed::RENAMED.name().ends_with("renamed::RENAMED"));
        });
    }

    fn inside_a_function() -> impl Fn() -> Answer<u8> {
        #[circuit_breaker]
        fn inner() -> Answer<u8> {
            Ok(1)
        }
        inner
    }

    #[test]
    fn an_item_in_a_body() {
        let _scope = breakerbox::test::scope();
        assert_eq!(inside_a_function()().unwrap(), 1);
    }
}

mod futures {
    use super::*;

    #[circuit_breaker(timeout = "1s", classify = |_| true)]
    async fn sendable(x: &str) -> Answer<usize> {
        tokio::task::yield_now().await;
        Ok(x.len())
    }

    #[circuit_breaker(fallback = cached)]
    async fn sendable_with_fallback(x: String) -> Answer<usize> {
        tokio::task::yield_now().await;
        Ok(x.len())
    }

    async fn cached(x: String) -> Answer<usize> {
        Ok(x.len())
    }

    #[circuit_breaker]
    async fn counted(x: Rc<u8>) -> Answer<u8> {
        tokio::task::yield_now().await;
        Ok(*x)
    }

    #[circuit_breaker]
    async fn recursive(n: u32) -> Answer<u32> {
        if n == 0 {
            return Ok(0);
        }
        Ok(n + Box::pin(recursive(n - 1)).await?)
    }

    #[test]
    fn send_where_the_body_is() {
        fn send<T: Send>(value: T) -> T {
            value
        }
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(send(recursive(4)).await.unwrap(), 10);
            assert_eq!(send(sendable("a")).await.unwrap(), 1);
            assert_eq!(
                send(sendable_with_fallback("a".to_owned())).await.unwrap(),
                1
            );
            assert_eq!(counted(Rc::new(4)).await.unwrap(), 4);
        });
    }

    type Unsent = Result<Rc<u8>, CallError<Rc<u8>>>;

    fn a_value() -> Unsent {
        Ok(Rc::new(9))
    }

    fn an_option() -> Option<Unsent> {
        None
    }

    #[circuit_breaker]
    async fn gives_an_rc() -> Unsent {
        tokio::task::yield_now().await;
        Ok(Rc::new(1))
    }

    #[circuit_breaker(fallback = a_value, timeout = "1s")]
    async fn gives_an_rc_or_a_value() -> Unsent {
        tokio::task::yield_now().await;
        Err(CallError::Call(Rc::new(1)))
    }

    #[circuit_breaker(fallback = an_option())]
    async fn gives_an_rc_or_an_option() -> Unsent {
        tokio::task::yield_now().await;
        Err(CallError::Call(Rc::new(1)))
    }

    #[circuit_breaker(fallback = |cause| match cause {
        Cause::Failed(Err(_)) => Some(Ok(Rc::new(8))),
        _ => None,
    })]
    async fn gives_an_rc_or_asks_a_closure() -> Unsent {
        tokio::task::yield_now().await;
        Err(CallError::Call(Rc::new(1)))
    }

    #[circuit_breaker(fallback = |_| Ok(Default::default()), classify = |_| true)]
    async fn gives_something_opaque() -> Result<impl Default + Display, CallError<Rc<u8>>> {
        tokio::task::yield_now().await;
        Ok(1)
    }

    /// Unless a fallback is awaited, no output is kept while something else is.
    #[test]
    fn send_whatever_the_output() {
        fn send<T: Send>(value: T) -> T {
            value
        }
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(*send(gives_an_rc()).await.unwrap(), 1);
            assert_eq!(*send(gives_an_rc_or_a_value()).await.unwrap(), 9);
            assert!(send(gives_an_rc_or_an_option()).await.is_err());
            assert_eq!(*send(gives_an_rc_or_asks_a_closure()).await.unwrap(), 8);
            let opaque = send(gives_something_opaque()).await;
            assert_eq!(opaque.unwrap().to_string(), "1");
        });
    }

    #[circuit_breaker]
    async fn large() -> Answer<u8> {
        let data = [1_u8; 4096];
        tokio::task::yield_now().await;
        Ok(data[4095])
    }

    async fn large_plain() -> Answer<u8> {
        let data = [1_u8; 4096];
        tokio::task::yield_now().await;
        Ok(data[4095])
    }

    #[circuit_breaker(fallback = |_| Ok([1; 4096]))]
    async fn large_fallback() -> Answer<[u8; 4096]> {
        tokio::task::yield_now().await;
        Ok([0; 4096])
    }

    #[circuit_breaker]
    async fn large_parameter(data: [u8; 1024]) -> Answer<u8> {
        tokio::task::yield_now().await;
        Ok(data[1023])
    }

    async fn large_parameter_plain(data: [u8; 1024]) -> Answer<u8> {
        tokio::task::yield_now().await;
        Ok(data[1023])
    }

    #[test]
    fn hardly_larger() {
        let grown = size_of_val(&large()) - size_of_val(&large_plain());
        assert!(grown <= 64, "{grown} bytes");
        let size = size_of_val(&large_fallback());
        assert!(size < 512, "{size} bytes");
        let grown = size_of_val(&large_parameter([0; 1024]))
            - size_of_val(&large_parameter_plain([0; 1024]));
        assert!(grown <= 64, "{grown} bytes");
    }

    static CALLS: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(open_error = CallError::Open)]
    async fn lazy() -> Result<(), CallError<()>> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[test]
    fn nothing_runs_before_the_first_poll() {
        drop(lazy());
        assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    }
}
