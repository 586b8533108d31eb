//! Bodies and return types on which attribute macros have failed: each compiles, without a
//! warning, and gives what it would give without the attribute.

#![deny(warnings)]
// Of the plain functions clippy says the same.
#![allow(
    clippy::never_loop,
    clippy::todo,
    clippy::unimplemented,
    clippy::unused_unit
)]

mod support;

use std::error::Error;
use std::fmt::Display;

use breakerbox::circuit_breaker;

use support::{Answer, PmsError, block_on, counted, pause};

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

#[circuit_breaker(open_error = |refused| panic!("{}", refused))]
async fn never() -> ! {
    panic!("as it does")
}

#[circuit_breaker(open_error = |refused| panic!("{}", refused))]
fn never_plain() -> ! {
    panic!("as it does")
}

#[circuit_breaker(
    timeout = "1ms",
    open_error = |refused| panic!("{}", refused),
    timeout_error = |late| panic!("{}", late)
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

mod that_only_leave {
    use super::*;

    #[circuit_breaker]
    async fn only_a_loop() -> Answer<u8> {
        loop {
            pause().await;
            break Ok(1);
        }
    }

    #[circuit_breaker]
    fn only_a_loop_plain() -> Answer<u8> {
        loop {
            break Ok(1);
        }
    }

    #[circuit_breaker]
    #[allow(clippy::needless_return)]
    async fn only_a_return() -> Answer<u8> {
        return Ok(1);
    }

    #[circuit_breaker]
    #[allow(clippy::needless_return)]
    fn returns_in_both_arms(n: u8) -> Answer<u8> {
        if n == 0 {
            return Err(PmsError::Down);
        } else {
            return Ok(n);
        }
    }

    #[circuit_breaker]
    async fn a_labeled_block(n: u8) -> Answer<u8> {
        let found = 'found: {
            pause().await;
            if n > 3 {
                break 'found Some(n);
            }
            None
        };
        found.ok_or(PmsError::Down)
    }

    #[circuit_breaker]
    fn nested_loops(rows: &[[u8; 2]]) -> Answer<u8> {
        'rows: for row in rows {
            for cell in row {
                match cell {
                    0 => continue 'rows,
                    1 => break 'rows,
                    cell => return Ok(*cell),
                }
            }
        }
        Err(PmsError::Down)
    }

    #[circuit_breaker(name = "body-panics")]
    async fn panics(how: &str) -> Answer<u8> {
        match how {
            "todo" => todo!("soon"),
            "unreachable" => unreachable!(),
            "assert" => {
                assert!(how.is_empty());
                Ok(1)
            }
            how => panic!("{}", how),
        }
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(only_a_loop().await.unwrap(), 1);
            assert_eq!(only_a_loop_plain().unwrap(), 1);
            assert_eq!(only_a_return().await.unwrap(), 1);
            assert!(returns_in_both_arms(0).is_err());
            assert_eq!(returns_in_both_arms(2).unwrap(), 2);
            assert!(a_labeled_block(3).await.is_err());
            assert_eq!(a_labeled_block(4).await.unwrap(), 4);
            assert_eq!(nested_loops(&[[0, 9], [7, 1]]).unwrap(), 7);
            assert!(nested_loops(&[[1, 9]]).is_err());
        });
    }

    #[test]
    fn each_kind_of_panic_counts() {
        let _scope = breakerbox::test::scope();
        for (count, how) in [(1, "todo"), (2, "unreachable"), (3, "assert"), (4, "other")] {
            let panicked = std::panic::catch_unwind(|| block_on(panics(how)));
            assert!(panicked.is_err(), "{}", how);
            assert_eq!(counted("body-panics"), count, "{}", how);
        }
    }
}

mod with_question_marks {
    use super::*;

    #[circuit_breaker(name = "body-option", classify_output = Option::is_none, open_error = |_| None)]
    async fn of_an_option(text: &str) -> Option<char> {
        let first = text.chars().next()?;
        pause().await;
        Some(first)
    }

    #[circuit_breaker(name = "body-inner")]
    async fn of_somebody_else(text: &str) -> Answer<u8> {
        let inner = |text: &str| -> Result<u8, std::num::ParseIntError> {
            if text == "seven" {
                return Ok(7);
            }
            let number: u8 = text.parse()?;
            Ok(number)
        };
        let waited: Result<u8, PmsError> = async {
            pause().await;
            if text.is_empty() {
                return Err(PmsError::Down);
            }
            Ok(1)
        }
        .await;
        Ok(inner(text).unwrap_or_default() + waited?)
    }

    #[circuit_breaker(name = "body-let-else")]
    fn by_let_else(pair: Option<(u8, Option<&str>)>) -> Answer<usize> {
        let Some((number, Some(text))) = pair else {
            return Err(PmsError::Down);
        };
        Ok(usize::from(number) + text.len())
    }

    #[test]
    fn leave_what_they_left_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(of_an_option("ab").await, Some('a'));
            assert_eq!(of_an_option("").await, None);
            assert_eq!(counted("body-option"), 1);
            assert_eq!(of_somebody_else("seven").await.unwrap(), 8);
            assert_eq!(of_somebody_else("2").await.unwrap(), 3);
            assert_eq!(of_somebody_else("x").await.unwrap(), 1);
            assert_eq!(counted("body-inner"), 0);
            assert!(of_somebody_else("").await.is_err());
            assert_eq!(counted("body-inner"), 1);
            assert_eq!(by_let_else(Some((1, Some("ab")))).unwrap(), 3);
            assert!(by_let_else(Some((1, None))).is_err());
            assert_eq!(counted("body-let-else"), 1);
        });
    }
}

mod with_items {
    use super::*;

    /// Every kind of item, some called as the expansion's own.
    #[circuit_breaker(timeout = "1s", fallback = |_| None)]
    async fn of_its_own() -> Answer<u32> {
        const LIMIT: u32 = 2;
        static COUNT: u32 = 3;
        struct Ended(u32);
        enum Way {
            Up,
        }
        impl Ended {
            fn get(&self) -> u32 {
                self.0
            }
        }
        trait Twice {
            fn twice(&self) -> u32;
        }
        impl Twice for Ended {
            fn twice(&self) -> u32 {
                self.get() * 2
            }
        }
        macro_rules! add {
            ($a:expr, $b:expr) => {
                $a + $b
            };
        }
        fn drop(n: u32) -> u32 {
            n
        }
        use std::convert::identity as same;
        type Number = u32;
        let Way::Up = Way::Up;
        let sum: Number = add!(LIMIT, COUNT);
        Ok(same(drop(sum)) + Ended(5).twice())
    }

    #[circuit_breaker]
    fn guarded_inside() -> Answer<u8> {
        #[circuit_breaker(name = "body-inside")]
        fn inside(n: u8) -> Answer<u8> {
            Ok(n)
        }
        inside(1)?;
        inside(2)
    }

    macro_rules! statements {
        ($name:ident = $value:expr; $($rest:tt)*) => {
            let $name = $value;
            $($rest)*
        };
    }

    #[circuit_breaker]
    async fn one_macro() -> Answer<u8> {
        statements! { n = 4; Ok(n) }
    }

    #[circuit_breaker(classify_output = Vec::is_empty, open_error = |_| Vec::new())]
    fn one_macro_plain() -> Vec<u8> {
        vec![1, 2]
    }

    #[test]
    fn as_without() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert_eq!(of_its_own().await.unwrap(), 15);
            assert_eq!(guarded_inside().unwrap(), 2);
            assert_eq!(one_macro().await.unwrap(), 4);
            assert_eq!(one_macro_plain(), [1, 2]);
        });
    }
}

mod that_call_themselves {
    use super::*;

    #[circuit_breaker(name = "body-even", threshold = 3)]
    async fn even(n: u32) -> Answer<bool> {
        match n {
            0 => Ok(true),
            n => Box::pin(odd(n - 1)).await,
        }
    }

    #[circuit_breaker(name = "body-odd", threshold = 3)]
    async fn odd(n: u32) -> Answer<bool> {
        match n {
            0 => Err(PmsError::Down),
            n => Box::pin(even(n - 1)).await,
        }
    }

    #[circuit_breaker(name = "body-halves", threshold = 3)]
    fn halves<T: Clone + Into<u32>>(n: T) -> Answer<u32> {
        match n.into() {
            0 => Err(PmsError::Down),
            1 => Ok(0),
            n => Ok(halves::<u32>(n / 2)? + 1),
        }
    }

    /// Each call is one of its own: what fails inside fails outside too, and counts twice.
    #[test]
    fn are_guarded_each_time() {
        let _scope = breakerbox::test::scope();
        block_on(async {
            assert!(even(4).await.unwrap());
            assert_eq!(halves(8_u8).unwrap(), 3);
            assert!(odd(2).await.is_err());
            assert_eq!((counted("body-even"), counted("body-odd")), (1, 2));
            assert!(matches!(halves(0_u16), Err(PmsError::Down)));
            assert_eq!(counted("body-halves"), 1);
            assert!(even(3).await.is_err());
            assert!(matches!(odd(1).await, Err(PmsError::Refused(_))));
        });
    }
}
