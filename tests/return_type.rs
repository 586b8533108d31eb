//! Return types on which attribute macros have failed: types that the body's value coerces to,
//! that borrow, that are opaque. Each compiles, without a warning, and gives what it would give
//! without the attribute.

#![deny(warnings)]
// Of the plain functions clippy says the same.
#![allow(clippy::ptr_arg)]

mod support;

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::sync::Arc;

use breakerbox::{CallError, circuit_breaker};

use support::{Answer, PmsError, block_on, counted, pause};

mod that_coerce {
    use super::*;

    #[circuit_breaker(classify_output = |_| false, open_error = |_| &[])]
    async fn to_a_slice(numbers: &[u8; 3]) -> &[u8] {
        numbers
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| "")]
    fn by_deref(text: &String) -> &str {
        text
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| Arc::new(0))]
    async fn to_an_arc(arc: Arc<u8>) -> Arc<dyn Display + Send + Sync> {
        arc
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| |n| n)]
    fn to_a_function() -> fn(u8) -> u8 {
        |n| n + 1
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| Box::new(|n| n))]
    async fn to_a_boxed_closure(more: u8) -> Box<dyn Fn(u8) -> u8> {
        Box::new(move |n| n + more)
    }

    #[circuit_breaker]
    async fn inside_ok(shown: &u8) -> Answer<&dyn Debug> {
        Ok(shown)
    }

    #[circuit_breaker]
    fn early(text: &str) -> Answer<Box<dyn Display + '_>> {
        if text.is_empty() {
            return Ok(Box::new(0));
        }
        Ok(Box::new(text))
    }

    #[circuit_breaker(open_error = |refused| refused.into())]
    fn by_question_mark(text: &str) -> Result<u8, Box<dyn Error + Send + Sync>> {
        let number: u8 = text.parse()?;
        if number == 0 {
            return Err("nothing".into());
        }
        Ok(number)
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(to_a_slice(&[1, 2, 3]).await, [1, 2, 3]);
            assert_eq!(by_deref(&"a".to_owned()), "a");
            assert_eq!(to_an_arc(Arc::new(5)).await.to_string(), "5");
            assert_eq!(to_a_function()(1), 2);
            assert_eq!(to_a_boxed_closure(2).await(1), 3);
            assert_eq!(format!("{:?}", inside_ok(&4).await.unwrap()), "4");
            assert_eq!(early("").unwrap().to_string(), "0");
            assert_eq!(early("a").unwrap().to_string(), "a");
            assert_eq!(by_question_mark("5").unwrap(), 5);
            assert!(by_question_mark("x").is_err());
            assert_eq!(by_question_mark("0").unwrap_err().to_string(), "nothing");
        });
    }
}

mod that_borrow {
    use super::*;

    #[circuit_breaker]
    async fn a_cow(text: &str, owned: bool) -> Answer<Cow<'_, str>> {
        pause().await;
        Ok(match owned {
            true => Cow::Owned(text.to_uppercase()),
            false => Cow::Borrowed(text),
        })
    }

    #[circuit_breaker]
    fn an_iterator<'a>(words: &'a [&'a str]) -> Answer<impl Iterator<Item = &'a str> + 'a> {
        Ok(words.iter().copied().filter(|word| word.len() > 1))
    }

    #[circuit_breaker]
    async fn a_part_of_many(rows: &mut Vec<String>, at: usize) -> Answer<Option<&mut String>> {
        pause().await;
        Ok(rows.get_mut(at))
    }

    #[circuit_breaker]
    fn first_or_pushed(rows: &mut Vec<String>) -> Answer<&mut String> {
        if rows.is_empty() {
            rows.push("new".to_owned());
        }
        rows.first_mut().ok_or(PmsError::Down)
    }

    #[circuit_breaker]
    async fn reborrowed_in_a_loop(mut list: &[u8]) -> Answer<(&[u8], u32)> {
        let mut sum = 0;
        while let [first, rest @ ..] = list {
            if *first == 0 {
                break;
            }
            sum += u32::from(*first);
            list = rest;
            pause().await;
        }
        Ok((list, sum))
    }

    #[circuit_breaker]
    async fn forever(which: bool) -> Answer<&'static str> {
        Ok(if which { "a" } else { "b" })
    }

    #[circuit_breaker]
    async fn closures(
        more: &str,
    ) -> Answer<(impl Fn(&str) -> String + '_, impl FnMut() -> u8 + use<>)> {
        let mut n = 0;
        Ok((
            move |text: &str| format!("{}{}", text, more),
            move || {
                n += 1;
                n
            },
        ))
    }

    #[circuit_breaker(classify_output = |_| false, open_error = |_| None)]
    async fn opaque_in_an_option() -> Option<Box<impl Display>> {
        Some(Box::new(1))
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(a_cow("a", true).await.unwrap(), "A");
            assert!(matches!(
                a_cow("a", false).await.unwrap(),
                Cow::Borrowed("a")
            ));
            let words = ["a", "bc"];
            assert_eq!(an_iterator(&words).unwrap().next(), Some("bc"));
            let mut rows = Vec::new();
            first_or_pushed(&mut rows).unwrap().push('!');
            if let Some(row) = a_part_of_many(&mut rows, 0).await.unwrap() {
                row.push('?');
            }
            assert_eq!(rows, ["new!?"]);
            let (rest, sum) = reborrowed_in_a_loop(&[1, 2, 0, 5]).await.unwrap();
            assert_eq!((rest, sum), (&[0, 5][..], 3));
            assert_eq!(forever(false).await.unwrap(), "b");
            let more = "!".to_owned();
            let (shout, mut count) = closures(&more).await.unwrap();
            assert_eq!((shout("a").as_str(), count(), count()), ("a!", 1, 2));
            assert_eq!(opaque_in_an_option().await.unwrap().to_string(), "1");
        });
    }
}

/// A future as the answer is an answer like any other.
#[test]
fn an_answer_that_is_a_future() {
    #[circuit_breaker(name = "body-future")]
    async fn gives_a_future() -> Answer<impl Future<Output = Answer<u8>>> {
        Ok(async { Err(PmsError::Down) })
    }

    #[circuit_breaker(name = "body-function", open_error = CallError::Open)]
    async fn gives_a_function() -> Result<fn() -> u8, CallError<()>> {
        Ok(|| 1)
    }

    let _scope = breakerbox::test::scope();
    block_on(async {
        assert!(gives_a_future().await.unwrap().await.is_err());
        assert_eq!(counted("body-future"), 0);
        assert_eq!(gives_a_function().await.unwrap()(), 1);
    });
}
