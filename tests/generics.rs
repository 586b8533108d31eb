//! Generic functions: each compiles, without a warning, does what it would do without the
//! attribute, and has one breaker for all its types.

#![deny(warnings)]

mod support;

use std::fmt::{Debug, Display};
use std::future::Future;

use breakerbox::{Breaker, CallError, CircuitOpenError, Outcome, breaker, circuit_breaker};

use support::{Answer, PmsError, block_on, counted, pause};

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

breaker! { static PMS = { threshold: 2 } }

/// Where the breaker of a call comes from.
trait Guarded {
    fn breaker() -> &'static Breaker;
    const LIMIT: usize;
}

struct Pms;

impl Guarded for Pms {
    fn breaker() -> &'static Breaker {
        &PMS
    }
    const LIMIT: usize = 1;
}

#[circuit_breaker(breaker = T::breaker())]
async fn by_type<T: Guarded>(length: usize) -> Result<usize, CallError<()>> {
    match length > T::LIMIT {
        true => Err(CallError::Call(())),
        false => Ok(length),
    }
}

#[circuit_breaker(name = "generics-error", classify = E::counts, timeout = "1s", timeout_error = E::from)]
async fn own_error<T, E>(answer: Result<T, E>) -> Result<T, E>
where
    E: Kind + From<CircuitOpenError> + From<breakerbox::TimeoutError>,
{
    pause().await;
    answer
}

trait Kind: Sized {
    fn counts(error: &Self) -> Outcome;
}

impl Kind for PmsError {
    fn counts(error: &Self) -> Outcome {
        match error {
            PmsError::Down => Outcome::Failure,
            _ => Outcome::Ignored,
        }
    }
}

#[circuit_breaker(fallback = cached::<T, N>)]
fn turbofish<T: Default + Copy, const N: usize>(fail: bool) -> Answer<[T; N]> {
    match fail {
        true => Err(PmsError::Down),
        false => Ok([T::default(); N]),
    }
}

fn cached<T, const N: usize>(_: bool) -> Option<Answer<[T; N]>> {
    None
}

#[circuit_breaker]
async fn bounds<'a, 'b: 'a, T, F, Fut>(text: &'a T, more: &'b str, call: F) -> Answer<&'a str>
where
    T: AsRef<str> + ?Sized + 'a,
    F: for<'x> FnOnce(&'x str) -> Fut + 'b,
    Fut: Future<Output = bool>,
    for<'x> &'x str: PartialEq<&'x str>,
{
    pause().await;
    match call(more).await {
        true => Ok(more),
        false => Ok(text.as_ref()),
    }
}

#[circuit_breaker]
async fn async_closure(mut call: impl AsyncFnMut(u8) -> Answer<u8>) -> Answer<u8> {
    let first = call(1).await?;
    Ok(first + call(2).await?)
}

#[circuit_breaker(classify_output = Option::is_none, open_error = |_| None)]
fn of_associated_types<I>(items: I) -> Option<I::Item>
where
    I: IntoIterator<Item: Ord + Clone, IntoIter: Debug>,
{
    let items = items.into_iter();
    assert!(!format!("{:?}", items).is_empty());
    items.max()
}

#[circuit_breaker(name = "generics-size")]
fn of_no_size<T: ?Sized + Display>(value: &T) -> Answer<usize> {
    match value.to_string().len() {
        0 => Err(PmsError::Down),
        len => Ok(len),
    }
}

struct Wrapper<T, const N: usize = 2>([T; N]);

impl<T: Clone + Display, const N: usize> Wrapper<T, N> {
    const HALF: usize = N / 2;

    #[circuit_breaker(name = "generics-shared", shared, fallback = Self::none)]
    async fn get<U: From<T>>(&self, at: usize) -> Answer<Option<U>> {
        pause().await;
        match at {
            at if at > N => Err(PmsError::Down),
            at => Ok(self.0.get(at).cloned().map(U::from)),
        }
    }

    fn none<U>(&self, _: usize) -> Answer<Option<U>> {
        Ok(None)
    }

    #[circuit_breaker]
    fn halves(values: [T; N]) -> Answer<[Vec<T>; 2]> {
        let (first, second) = values.split_at(Self::HALF);
        Ok([first.to_vec(), second.to_vec()])
    }
}

#[test]
fn the_type_s_own() {
    let _scope = breakerbox::test::scope();
    block_on(async {
        assert_eq!(by_type::<Pms>(1).await, Ok(1));
        assert_eq!(by_type::<Pms>(2).await, Err(CallError::Call(())));
        assert_eq!(PMS.snapshot().consecutive, 1);
        let down: Answer<u8> = Err(PmsError::Down);
        assert!(own_error(down).await.is_err());
        assert_eq!(counted("generics-error"), 1);
        let ignored: Answer<&str> = turbofish::<u8, 2>(true).and(Ok(""));
        assert!(ignored.is_err());
        assert_eq!(turbofish::<u8, 2>(false).unwrap(), [0, 0]);
        let ready = |text: &str| std::future::ready(text == "b");
        assert_eq!(bounds("a", "b", ready).await.unwrap(), "b");
        assert_eq!(bounds(&"a".to_owned(), "c", ready).await.unwrap(), "a");
        let mut seen = vec![];
        let sum = async_closure(async |n| {
            seen.push(n);
            Ok(n * 2)
        });
        assert_eq!(sum.await.unwrap(), 6);
        assert_eq!(seen, [1, 2]);
        assert_eq!(of_associated_types([1, 3, 2]), Some(3));
    });
}

#[test]
fn one_breaker_for_all_types() {
    let _scope = breakerbox::test::scope();
    assert!(of_no_size("").is_err());
    assert_eq!(of_no_size::<dyn Display>(&5).unwrap(), 1);
    assert_eq!(counted("generics-size"), 0);
    assert!(of_no_size::<dyn Display>(&"").is_err());
    assert!(of_no_size(&String::new()).is_err());
    assert_eq!(counted("generics-size"), 2);
    block_on(async {
        let text = Wrapper(["a", "b"]).get::<String>(1).await.unwrap();
        assert_eq!(text.as_deref(), Some("b"));
        assert_eq!(Wrapper([1_u8]).get::<u64>(2).await.unwrap(), None);
        assert_eq!(Wrapper(["a"]).get::<&str>(2).await.unwrap(), None);
        assert_eq!(counted("generics-shared"), 2);
    });
    assert_eq!(Wrapper::halves([1, 2, 3]).unwrap(), [vec![1], vec![2, 3]]);
}
