//! Names: the user's never meet the expansion's, whatever either is called.

#![deny(warnings)]

mod support;

use breakerbox::circuit_breaker;

use support::{Answer, PmsError, block_on, counted};

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
/// Not even the prelude is there.
#[no_implicit_prelude]
mod without_a_prelude {
    use ::breakerbox::{breaker, circuit_breaker};
    use ::std::option::Option::{self, None, Some};
    use ::std::result::Result::{Err, Ok};
    use ::std::string::String;

    use super::{Answer, PmsError};

    breaker! {
        pub(super) static PMS = { failure_rate: 0.5, window: "10s", slow: "1s", slow_rate: 1 }
    }

    #[circuit_breaker(
        threshold = 2,
        reset = "10s",
        backoff = 2,
        on_cancel = failure,
        classify = |_| true,
        timeout = "1s",
        fallback = |_| None,
        open_error = PmsError::Refused,
        timeout_error = PmsError::Late
    )]
    pub(super) async fn with_everything(
        mut a: String,
        _: String,
        (b, _): (String, u8),
    ) -> Answer<String> {
        a.push_str(&b);
        match a.is_empty() {
            true => Err(PmsError::Down),
            false => Ok(a),
        }
    }

    #[circuit_breaker(breaker = PMS, classify_output = Option::is_none, fallback = none)]
    pub(super) fn plain(length: Option<usize>) -> Option<usize> {
        length
    }

    fn none(_: Option<usize>) -> Option<usize> {
        Some(0)
    }

    pub(super) struct Client;

    impl Client {
        #[circuit_breaker(failure_rate = 0.1, window = 10, shared)]
        pub(super) async fn method(&self) -> Answer<u8> {
            Ok(1)
        }
    }
}

/// Everything that the expansion might call is called something else here.
#[allow(
    dead_code,
    unused_macros,
    non_camel_case_types,
    clippy::upper_case_acronyms
)]
mod with_other_names {
    use ::breakerbox::circuit_breaker;

    use super::PmsError;

    mod alloc {}
    mod breaker_core {}
    mod breaker_macros {}
    mod breakerbox {}
    mod core {}
    mod std {}
    mod tokio {}

    struct Box;
    struct Breaker;
    struct Duration;
    struct Fn;
    struct FnOnce;
    struct Future;
    struct Option;
    struct Result;
    struct Settings;
    struct String;
    enum Never {}
    trait Send {}
    trait Sized {}
    trait Copy {}
    trait Into {}
    trait From {}

    macro_rules! shadowed {
        ($($name:ident)*) => {$(
            macro_rules! $name {
                () => {
                    compile_error!("not this one")
                };
            }
        )*};
    }
    shadowed! { concat module_path file line panic unreachable matches stringify todo }

    type bool = ();
    type u8 = ();
    type u32 = ();
    type u64 = ();
    type f64 = ();
    type str = ();

    #[circuit_breaker(
        failure_rate = 0.5,
        window = 100,
        min_calls = 10,
        jitter = 0.5,
        backoff = 2.0,
        max_reset = "1m",
        classify = |_| true,
        timeout = "1s",
        fallback = |_| Ok(1)
    )]
    pub(super) async fn with_everything<T: ::core::marker::Copy>(
        value: T,
    ) -> ::core::result::Result<i32, PmsError> {
        let _ = value;
        Ok(1)
    }

    #[circuit_breaker(threshold = 3, fallback = |_| Ok(1))]
    pub(super) fn plain() -> super::Answer<i32> {
        Ok(1)
    }
}

/// Traits with methods for every type, called as those of the library.
mod with_other_methods {
    use super::*;

    trait Everything: Sized {
        fn cause(&self) -> u8 {
            1
        }
        fn must(&self) -> u8 {
            2
        }
        fn threshold(self, _: u32) -> u8 {
            3
        }
        fn outcome(&self) -> u8 {
            4
        }
        fn is_some(&self) -> u8 {
            5
        }
        fn map(self) -> u8 {
            6
        }
        fn poll(&self) -> u8 {
            7
        }
        fn error(&self) -> u8 {
            8
        }
        fn answer(self) -> u8 {
            9
        }
        fn ask(self) -> u8 {
            10
        }
    }

    impl<T> Everything for T {}

    #[circuit_breaker(
        name = "hygiene-methods",
        threshold = 3,
        timeout = "1s",
        classify = |_| true,
        fallback = |cause| Some(Ok(().cause() + u8::from(matches!(cause, breakerbox::Cause::Failed(_))))),
        open_error = PmsError::Refused
    )]
    pub(super) async fn guarded(fail: bool) -> Answer<u8> {
        match fail {
            true => Err(PmsError::Down),
            false => Ok([().must(), ().outcome(), ().error(), ().answer()]
                .iter()
                .sum()),
        }
    }

    #[circuit_breaker(threshold = 3, fallback = |_| Ok(().ask()))]
    pub(super) fn guarded_plain() -> Answer<u8> {
        Ok(().poll() + ().map() + 1.threshold(2) + ().is_some())
    }
}

#[test]
fn whatever_they_are_called() {
    let _scope = breakerbox::test::scope();
    let text = |text: &str| text.to_owned();
    block_on(async {
        let parts = without_a_prelude::with_everything(text("a"), text("b"), (text("c"), 1));
        assert_eq!(parts.await.unwrap(), "ac");
        assert_eq!(without_a_prelude::plain(None), Some(0));
        assert_eq!(without_a_prelude::PMS.state(), breakerbox::State::Closed);
        assert_eq!(without_a_prelude::Client.method().await.unwrap(), 1);
        assert_eq!(with_other_names::with_everything(1).await.unwrap(), 1);
        assert_eq!(with_other_names::plain().unwrap(), 1);
        assert_eq!(with_other_methods::guarded(false).await.unwrap(), 23);
        assert_eq!(with_other_methods::guarded(true).await.unwrap(), 2);
        assert_eq!(counted("hygiene-methods"), 1);
        assert_eq!(with_other_methods::guarded_plain().unwrap(), 21);
    });
}
