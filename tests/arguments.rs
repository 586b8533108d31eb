//! The attribute's own arguments, in every form that means a value: each reaches the breaker.

#![deny(warnings)]

mod support;

use std::time::Duration;

use breakerbox::{Config, OnCancel, breaker, circuit_breaker, find};

use support::{Answer, PmsError, block_on, counted};

/// The configuration of an annotated function's breaker, after its first call.
fn config(name: &str) -> Config {
    find(name).expect("it was called").config()
}

const LIMIT: u32 = 7;
const WAIT: Duration = Duration::from_secs(7);

mod settings {
    pub(crate) const SHARE: f64 = 0.25;
    pub(crate) const fn probes() -> u32 {
        3
    }
}

#[circuit_breaker(
    name = "arguments-literals",
    threshold = 0x1_0u32,
    reset = r"1m30s",
    backoff = 2,
    max_reset = "1.5h",
    jitter = 0.,
    probes = 0b11,
    close_after = 4_u32,
    probe_timeout = "90000ms",
    on_cancel = failure,
)]
fn literals() -> Answer<u8> {
    Ok(1)
}

#[circuit_breaker(
    name = concat!("arguments", "-", "expressions"),
    threshold = LIMIT * 2,
    reset = WAIT,
    backoff = 1.0 + settings::SHARE,
    max_reset = Duration::from_secs(if LIMIT > 5 { 60 } else { 30 }),
    jitter = settings::SHARE,
    probes = (const { settings::probes() }),
    close_after = { let n = LIMIT; n + 1 },
    probe_timeout = WAIT.saturating_mul(10)
)]
async fn expressions() -> Answer<u8> {
    Ok(1)
}

#[test]
fn literals_and_expressions() {
    let _scope = breakerbox::test::scope();
    literals().unwrap();
    let literals = config("arguments-literals");
    assert_eq!(literals.threshold(), 16);
    assert_eq!(literals.reset(), Duration::from_secs(90));
    assert_eq!(literals.max_reset(), Some(Duration::from_secs(5_400)));
    assert_eq!((literals.backoff(), literals.jitter()), (2.0, 0.0));
    assert_eq!((literals.probes(), literals.close_after()), (3, Some(4)));
    assert_eq!(literals.probe_timeout(), Duration::from_secs(90));
    assert_eq!(literals.on_cancel(), OnCancel::Failure);

    block_on(expressions()).unwrap();
    let expressions = config("arguments-expressions");
    assert_eq!(expressions.threshold(), 14);
    assert_eq!(expressions.reset(), WAIT);
    assert_eq!(expressions.max_reset(), Some(Duration::from_secs(60)));
    assert_eq!(expressions.backoff(), 1.25);
    assert_eq!(expressions.jitter(), 0.25);
    assert_eq!(expressions.probes(), 3);
    assert_eq!(expressions.close_after(), Some(8));
    assert_eq!(expressions.probe_timeout(), WAIT * 10);
}

/// Every kind of fragment of a surrounding macro.
mod fragments {
    use super::*;

    macro_rules! guarded {
        ($name:ident $text:literal $count:expr, $wait:literal, $share:tt, $word:ident, $by:path, $close:expr) => {
            #[circuit_breaker(
                name = $text,
                threshold = $count,
                reset = $wait,
                jitter = $share,
                on_cancel = $word,
                classify = $by,
                fallback = $close
            )]
            fn $name(fail: bool) -> Answer<u8> {
                match fail {
                    true => Err(PmsError::Down),
                    false => Ok(1),
                }
            }
        };
        ($name:ident: $($options:tt)*) => {
            #[circuit_breaker($($options)*)]
            async fn $name() -> Answer<u8> {
                Err(PmsError::Down)
            }
        };
        (@ $name:ident $body:block $($option:ident = $value:expr),*) => {
            #[circuit_breaker($($option = $value,)*)]
            fn $name() -> Answer<u8> $body
        };
        (# $(#[$attr:meta])* $vis:vis $name:ident $output:ty) => {
            $(#[$attr])*
            #[circuit_breaker]
            $vis fn $name() -> $output {
                Ok(0..3)
            }
        };
    }

    fn counts(_: &PmsError) -> bool {
        true
    }

    guarded! { each "arguments-each" 2 + 2, "4s", 0.5, failure, counts, |_| Some(Ok(9)) }
    guarded! { all: name = "arguments-all", threshold = 3, fallback = |_| Ok(8) }
    guarded! { @ pairs { Ok(2) } name = "arguments-pairs", threshold = 1 + 1, probes = 2 }
    guarded! { # #[inline] pub(super) opaque Answer<impl Iterator<Item = u8>> }

    macro_rules! breakers {
        ($($vis:vis $name:ident = $limit:expr;)*) => {
            breaker! { $($vis static $name = { threshold: $limit })* }
        };
    }
    breakers! { FIRST = 2; pub(super) SECOND = 1 + 2; }

    #[test]
    fn mean_what_they_hold() {
        let _scope = breakerbox::test::scope();
        assert_eq!(each(false).unwrap(), 1);
        assert_eq!(each(true).unwrap(), 9);
        assert_eq!(counted("arguments-each"), 1);
        let each = config("arguments-each");
        assert_eq!((each.threshold(), each.jitter()), (4, 0.5));
        assert_eq!(each.reset(), Duration::from_secs(4));
        assert_eq!(each.on_cancel(), OnCancel::Failure);
        assert_eq!(block_on(all()).unwrap(), 8);
        assert_eq!(config("arguments-all").threshold(), 3);
        assert_eq!(pairs().unwrap(), 2);
        let pairs = config("arguments-pairs");
        assert_eq!((pairs.threshold(), pairs.probes()), (2, 2));
        assert_eq!(opaque().unwrap().count(), 3);
        let limits = [FIRST.config().threshold(), SECOND.config().threshold()];
        assert_eq!(limits, [2, 3]);
    }
}

/// The attribute by other names and in other brackets.
mod spellings {
    use super::*;
    use breakerbox::circuit_breaker as guard;

    #[guard]
    fn by_another_name() -> Answer<u8> {
        Ok(1)
    }

    #[breakerbox::circuit_breaker(name = "arguments-path", threshold = 2)]
    fn by_path() -> Answer<u8> {
        Ok(2)
    }

    #[::breakerbox::circuit_breaker()]
    fn by_absolute_path() -> Answer<u8> {
        Ok(3)
    }

    #[circuit_breaker { name = "arguments-braces", threshold = 2 }]
    fn in_braces() -> Answer<u8> {
        Ok(4)
    }

    #[circuit_breaker[name = "arguments-brackets", threshold = 2]]
    fn in_brackets() -> Answer<u8> {
        Ok(5)
    }

    #[cfg_attr(all(), circuit_breaker(name = "arguments-if", threshold = 2), inline)]
    fn conditionally() -> Answer<u8> {
        Ok(6)
    }

    #[test]
    fn are_all_the_same() {
        let _scope = breakerbox::test::scope();
        let answers = [
            by_another_name(),
            by_path(),
            by_absolute_path(),
            in_braces(),
            in_brackets(),
            conditionally(),
        ];
        let answers: Vec<u8> = answers.iter().flatten().copied().collect();
        assert_eq!(answers, [1, 2, 3, 4, 5, 6]);
        for name in ["path", "braces", "brackets", "if"] {
            assert_eq!(config(&format!("arguments-{}", name)).threshold(), 2);
        }
    }
}

/// In parentheses, braces and with more around them than they need.
mod wrapped {
    use super::*;

    const NO_ROOMS: Answer<u8> = Err(PmsError::Down);
    const SOME_ROOMS: u8 = 3;

    breaker! { static PMS = { threshold: 1, name: "arguments-wrapped" } }

    #[circuit_breaker(
        breaker = (PMS),
        classify = (|_: &PmsError| true),
        fallback = {NO_ROOMS},
        open_error = (PmsError::Refused)
    )]
    fn a_constant() -> Answer<u8> {
        Err(PmsError::Down)
    }

    #[circuit_breaker(breaker = &PMS, fallback = { Ok(SOME_ROOMS) })]
    async fn an_expression() -> Answer<u8> {
        Ok(1)
    }

    #[circuit_breaker(breaker = { &PMS }, fallback = (waits(SOME_ROOMS).await))]
    async fn a_future() -> Answer<u8> {
        Ok(1)
    }

    async fn waits(rooms: u8) -> Option<Answer<u8>> {
        Some(Ok(rooms + 1))
    }

    #[test]
    fn mean_the_same() {
        let _scope = breakerbox::test::scope();
        assert!(matches!(a_constant(), Err(PmsError::Down)));
        assert_eq!(PMS.state(), breakerbox::State::Open);
        assert!(matches!(a_constant(), Err(PmsError::Down)));
        assert_eq!(block_on(an_expression()).unwrap(), 3);
        assert_eq!(block_on(a_future()).unwrap(), 4);
    }
}
