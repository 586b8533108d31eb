//! Parameters on which attribute macros have failed: each compiles, without a warning, and is
//! to the body what it would be without the attribute.

#![deny(warnings)]

mod support;

use std::fmt::Display;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;

use breakerbox::{Breaker, CallError, circuit_breaker};

use support::{Answer, PmsError, block_on, counted, log, pause, take_log};

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
async fn sometimes_dropped(#[cfg(not(unix))] a: String, b: String, c: String) -> Answer<String> {
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

guarded! { pub(crate) from_a_macro(x: &str = 2 + 1, failure) -> Answer<usize> { Ok(x.len()) } }

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

mod patterns_of_all_kinds {
    use super::*;

    struct Pair(String, u8);
    struct Guard {
        name: &'static str,
        number: u32,
    }
    impl Drop for Guard {
        fn drop(&mut self) {
            log(self.name);
        }
    }
    enum Only {
        One(String),
    }
    struct Conditional {
        #[cfg(unix)]
        a: String,
        #[cfg(not(unix))]
        b: Vec<u8>,
        c: String,
    }

    #[circuit_breaker]
    async fn all(
        Pair(mut text, number): Pair,
        Only::One(ref one): Only,
        whole @ [_, _]: [u8; 2],
        (): (),
        ((a, (b, ..)), .., c): ((u8, (u8, u8)), u8, u8),
        [first, rest @ ..]: [String; 3],
    ) -> Answer<String> {
        pause().await;
        text.push_str(one);
        let more: String = rest.concat();
        Ok(format!(
            "{}{}{:?}{}{}{}{}{}",
            text, number, whole, a, b, c, first, more
        ))
    }

    #[circuit_breaker]
    #[allow(clippy::toplevel_ref_arg)]
    fn all_plain(
        Pair(mut text, number): Pair,
        Only::One(one): Only,
        ref many @ [..]: [u8; 2],
        Guard { number: count, .. }: Guard,
        _: &mut String,
    ) -> Answer<String> {
        text.push_str(&one);
        Ok(format!("{}{}{:?}{}", text, number, many, count))
    }

    /// Copied out of what has a destructor, which then runs at the end.
    #[circuit_breaker]
    async fn out_of_a_guard(Guard { number, .. }: Guard, other: String) -> Answer<u32> {
        pause().await;
        log(other);
        Ok(number)
    }

    #[circuit_breaker]
    async fn conditional_fields(
        Conditional {
            #[cfg(unix)]
            mut a,
            #[cfg(not(unix))]
            mut b,
            c,
        }: Conditional,
        other: String,
    ) -> Answer<String> {
        #[cfg(unix)]
        a.push('!');
        #[cfg(not(unix))]
        b.push(1);
        pause().await;
        #[cfg(not(unix))]
        let a = format!("{:?}", b);
        Ok(a + &c + &other)
    }

    #[circuit_breaker(fallback = |_| Ok(other.len()))]
    fn conditional_fields_beside_a_fallback(
        Conditional {
            #[cfg(unix)]
            mut a,
            #[cfg(not(unix))]
            mut b,
            ..
        }: Conditional,
        other: String,
    ) -> Answer<usize> {
        #[cfg(unix)]
        a.push('!');
        #[cfg(not(unix))]
        let a = std::mem::take(&mut b);
        match a.len() {
            1 => Err(PmsError::Down),
            len => Ok(len + other.len()),
        }
    }

    /// Beside a fallback that wants some of them.
    #[circuit_breaker(name = "parameters-pattern", fallback = |_| Ok(format!("{}{}", text, count)))]
    async fn beside_a_fallback(
        Pair(text, _): Pair,
        (mut count, ref mut more): (u8, Vec<u8>),
        fail: bool,
    ) -> Answer<String> {
        count += 1;
        more.push(count);
        pause().await;
        if fail {
            return Err(PmsError::Down);
        }
        Ok(format!("{}{:?}", text, more))
    }

    #[test]
    fn are_matched() {
        let _scope = breakerbox::test::scope();
        let pair = || Pair("a".to_owned(), 1);
        let guard = |name| Guard { name, number: 7 };
        let strings = || ["x".to_owned(), "y".to_owned(), "z".to_owned()];
        block_on(async {
            let text = all(
                pair(),
                Only::One("b".to_owned()),
                [2, 3],
                (),
                ((4, (5, 0)), 0, 6),
                strings(),
            );
            assert_eq!(text.await.unwrap(), "ab1[2, 3]456xyz");
            let mut unused = String::new();
            let one = Only::One("b".to_owned());
            let text = all_plain(pair(), one, [2, 3], guard("guard"), &mut unused);
            assert_eq!(text.unwrap(), "ab1[2, 3]7");
            assert_eq!(take_log(), ["guard"]);
            let number = out_of_a_guard(guard("guard"), "other".to_owned()).await;
            assert_eq!(number.unwrap(), 7);
            assert_eq!(take_log(), ["other", "guard"]);
            #[cfg(unix)]
            let fields = Conditional {
                a: "a".to_owned(),
                c: "c".to_owned(),
            };
            #[cfg(unix)]
            assert_eq!(
                conditional_fields(fields, "d".to_owned()).await.unwrap(),
                "a!cd"
            );
            #[cfg(unix)]
            for (a, len) in [("", 3), ("a", 5)] {
                let fields = Conditional {
                    a: a.to_owned(),
                    c: "c".to_owned(),
                };
                let answer = conditional_fields_beside_a_fallback(fields, "def".to_owned());
                assert_eq!(answer.unwrap(), len);
            }
            let failing = beside_a_fallback(pair(), (1, vec![]), true);
            // It sees what the body has changed.
            assert_eq!(failing.await.unwrap(), "a2");
            assert_eq!(counted("parameters-pattern"), 1);
            let answered = beside_a_fallback(pair(), (1, vec![]), false);
            assert_eq!(answered.await.unwrap(), "a[2]");
        });
    }
}

mod types_of_all_kinds {
    use super::*;

    #[circuit_breaker(threshold = 2)]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    async fn all<'a, F, Fut>(
        once: impl FnOnce() -> String + Send,
        each: &dyn Fn(u8) -> u8,
        boxed: Box<dyn FnOnce(&str) -> usize + 'a>,
        pointer: fn(u8) -> u8,
        longest: impl for<'x> Fn(&'x str, &'x str) -> &'x str,
        calls: F,
        future: Pin<Box<dyn Future<Output = u8> + Send>>,
        iterator: &mut dyn Iterator<Item = u8>,
        text: impl AsRef<str> + Into<String>,
        marker: PhantomData<Rc<u8>>,
        nested: Option<&mut Vec<&'a str>>,
    ) -> Answer<String>
    where
        F: Fn(u8) -> Fut,
        Fut: Future<Output = Answer<u8>>,
    {
        let _ = marker;
        let mut parts = vec![once(), each(1).to_string(), boxed("abc").to_string()];
        parts.push(pointer(4).to_string());
        parts.push(longest("a", "bc").to_owned());
        parts.push(calls(6).await?.to_string());
        parts.push(future.await.to_string());
        parts.push(iterator.map(u32::from).sum::<u32>().to_string());
        parts.push(text.as_ref().to_owned() + &text.into());
        if let Some(nested) = nested {
            nested.push("pushed");
        }
        Ok(parts.join(" "))
    }

    #[circuit_breaker(breaker = breaker, fallback = |_| Ok(0))]
    fn the_breaker_itself(breaker: &Breaker, mut numbers: Vec<u8>, more: &[u8]) -> Answer<usize> {
        numbers.extend(more);
        match numbers.len() {
            0 => Err(PmsError::Down),
            len => Ok(len),
        }
    }

    #[circuit_breaker(breaker = pool[at % 2])]
    async fn one_of_many(pool: &[Breaker; 2], at: usize, ok: bool) -> Result<usize, CallError<()>> {
        match ok {
            true => Ok(at),
            false => Err(CallError::Call(())),
        }
    }

    #[test]
    fn reach_the_body() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            let mut nested = vec![];
            let mut numbers = [3, 5].iter().copied();
            let text = all(
                || "once".to_owned(),
                &|n| n + 1,
                Box::new(str::len),
                |n| n,
                |a, b| if a.len() > b.len() { a } else { b },
                |n| async move { Ok(n) },
                Box::pin(async { 7 }),
                &mut numbers,
                "9",
                PhantomData,
                Some(&mut nested),
            );
            assert_eq!(text.await.unwrap(), "once 2 3 4 bc 6 7 8 99");
            assert_eq!(nested, ["pushed"]);

            let settings = || breakerbox::Settings::new().threshold(1).must();
            let own = Breaker::new("parameters-own", settings());
            assert_eq!(the_breaker_itself(&own, vec![1], &[2]).unwrap(), 2);
            assert_eq!(the_breaker_itself(&own, vec![], &[]).unwrap(), 0);
            assert_eq!(own.state(), breakerbox::State::Open);

            let pool = [
                Breaker::new("parameters-0", settings()),
                Breaker::new("parameters-1", settings()),
            ];
            assert!(one_of_many(&pool, 3, false).await.is_err());
            assert!(matches!(
                one_of_many(&pool, 1, true).await,
                Err(CallError::Open(_))
            ));
            assert_eq!(one_of_many(&pool, 2, true).await, Ok(2));
        });
    }
}

mod names_of_all_kinds {
    use super::*;

    #[circuit_breaker(name = "parameters-raw", fallback = |_| Ok(format!("<{type}>")))]
    async fn raw(r#type: String, r#match: u8) -> Answer<String> {
        match r#match {
            0 => Err(PmsError::Down),
            n => Ok(format!("{}{}", r#type, n)),
        }
    }

    #[circuit_breaker(fallback = raw_fallback)]
    fn raw_plain(r#type: &str, mut r#async: Vec<u8>) -> Answer<usize> {
        r#async.push(1);
        match r#type {
            "" => Err(PmsError::Down),
            text => Ok(text.len() + r#async.len()),
        }
    }

    fn raw_fallback(_: &str, numbers: Vec<u8>) -> Answer<usize> {
        Ok(numbers.len() + 10)
    }

    #[circuit_breaker]
    #[allow(non_snake_case, clippy::just_underscores_and_digits)]
    async fn unusual(größe: String, Upper: String, _under: String, __: u8) -> Answer<String> {
        pause().await;
        Ok(größe + &Upper)
    }

    #[test]
    fn are_found() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(raw("a".to_owned(), 1).await.unwrap(), "a1");
            assert_eq!(raw("a".to_owned(), 0).await.unwrap(), "<a>");
            assert_eq!(counted("parameters-raw"), 1);
            assert_eq!(raw_plain("ab", vec![1]).unwrap(), 4);
            assert_eq!(raw_plain("", vec![1]).unwrap(), 12);
            let text = unusual("a".to_owned(), "b".to_owned(), "c".to_owned(), 1);
            assert_eq!(text.await.unwrap(), "ab");
        });
    }
}

mod attributes_of_parameters {
    use super::*;

    #[circuit_breaker]
    async fn levels(
        #[allow(unused_variables)] a: String,
        #[expect(unused_variables)] b: String,
        #[expect(unused_mut)] mut c: String,
    ) -> Answer<String> {
        Ok(c)
    }

    #[circuit_breaker]
    fn levels_without_mut(
        #[allow(unused_variables)] a: String,
        #[expect(unused_variables)] b: String,
        #[expect(unused_variables)] (c, _): (String, String),
        #[expect(unused_variables)] d: u8,
    ) -> Answer<()> {
        Ok(())
    }

    #[circuit_breaker]
    async fn levels_of_names(
        #[allow(unused_variables)] a: String,
        #[expect(unused_variables)] b: String,
        c: String,
    ) -> Answer<String> {
        Ok(c)
    }

    #[circuit_breaker(fallback = |_| Ok(b.len()))]
    async fn levels_beside_a_fallback(
        #[expect(unused_variables)] a: String,
        b: String,
        #[cfg_attr(unix, allow(unused_variables))] c: Vec<u8>,
        #[cfg_attr(not(unix), cfg(unix))] mut d: String,
    ) -> Answer<usize> {
        d.push('!');
        Ok(d.len())
    }

    #[test]
    fn are_kept() {
        let _scope = breakerbox::test::scope();
        let a = || "a".to_owned();
        block_on(async {
            assert_eq!(levels(a(), a(), a()).await.unwrap(), "a");
            levels_without_mut(a(), a(), (a(), a()), 1).unwrap();
            assert_eq!(levels_of_names(a(), a(), a()).await.unwrap(), "a");
            #[cfg(unix)]
            assert_eq!(
                levels_beside_a_fallback(a(), a(), vec![], a())
                    .await
                    .unwrap(),
                2
            );
        });
    }
}

mod out_of_macros {
    use super::*;

    macro_rules! guarded {
        ($name:ident<$life:lifetime>($p:pat => $t:ty, $q:ident: $u:ty) -> $r:ty, $value:expr, $by:path, $($body:tt)*) => {
            #[circuit_breaker(threshold = $value, classify = $by, fallback = |_| Ok($q.len()))]
            async fn $name<$life>($p: $t, $q: &$life $u) -> $r {
                pause().await;
                $($body)*
            }
        };
    }

    guarded! {
        pieces<'x>((mut a, b) => (String, u8), c: str) -> Answer<usize>, 1 + 1, always,
        a.push('!');
        match b {
            0 => Err(PmsError::Down),
            _ => Ok(a.len() + c.len()),
        }
    }

    fn always(_: &PmsError) -> bool {
        true
    }

    macro_rules! listed {
        ($($p:ident: $t:ty),*; $body:expr) => {
            #[circuit_breaker(fallback = as_many)]
            fn listed($(mut $p: $t),*) -> Answer<usize> {
                $($p.push('?');)*
                $body
            }
            fn as_many($($p: $t),*) -> Option<Answer<usize>> {
                Some(Ok(0 $(+ $p.len())*))
            }
        };
    }

    listed! { a: String, b: String; Err(PmsError::Down) }

    #[test]
    fn are_as_if_written() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(pieces(("a".to_owned(), 1), "bc").await.unwrap(), 4);
            assert_eq!(pieces(("a".to_owned(), 0), "bc").await.unwrap(), 2);
            // With what the body left of them.
            assert_eq!(listed("a".to_owned(), "bc".to_owned()).unwrap(), 5);
        });
    }
}
