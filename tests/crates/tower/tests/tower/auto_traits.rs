//! A guarded call, and a guarded body, are `Send`, `Sync` and `Unpin` exactly where what they guard is;
//! and a service that is none of it can be guarded.

use super::*;
use axum::body::Bytes;
use axum::http::{Request as HttpRequest, Response};
use breakerbox::tower::{AsCallError, AtHead, EveryErr, GuardedBody, Http, ResponseFuture};
use breakerbox::{KeyedBreaker, State, test};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::marker::{PhantomData, PhantomPinned};
use std::rc::Rc;

/// A call or a body that holds a `T`.
struct Holds<T>(PhantomData<T>);

impl<T> Future for Holds<T> {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        Poll::Pending
    }
}

impl<T> Body for Holds<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }
}

/// What a type has of its own is found before what it has by a trait.
struct Of<T>(PhantomData<T>);

trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNPIN: bool = false;
}

impl<T> Not for Of<T> {}

impl<T: Send> Of<T> {
    const SEND: bool = true;
}

impl<T: Sync> Of<T> {
    const SYNC: bool = true;
}

impl<T: Unpin> Of<T> {
    const UNPIN: bool = true;
}

/// Of a type that is written out.
macro_rules! auto_traits {
    ($type:ty) => {
        [Of::<$type>::SEND, Of::<$type>::SYNC, Of::<$type>::UNPIN]
    };
}

type Call<T, G> = ResponseFuture<Holds<T>, G, EveryErr, AsCallError, AtHead>;
type Page<T, G> = GuardedBody<Holds<T>, G, Http>;

#[test]
fn a_call_and_a_body_are_what_they_guard() {
    type Shared = Arc<Breaker>;
    type Static = &'static Breaker;
    type OfKey = KeyedBreaker<String>;
    type Cell = std::cell::Cell<u8>;

    macro_rules! all {
        ($holds:ty: $expected:expr) => {
            assert_eq!(auto_traits!(Holds<$holds>), $expected);
            assert_eq!(auto_traits!(Call<$holds, Shared>), $expected);
            assert_eq!(auto_traits!(Call<$holds, Static>), $expected);
            assert_eq!(auto_traits!(Call<$holds, OfKey>), $expected);
            assert_eq!(auto_traits!(Page<$holds, Shared>), $expected);
            assert_eq!(auto_traits!(Page<$holds, Static>), $expected);
            assert_eq!(auto_traits!(Page<$holds, OfKey>), $expected);
        };
    }
    all!(u8: [true, true, true]);
    all!(Rc<u8>: [false, false, true]);
    all!(Cell: [true, false, true]);
    all!(PhantomPinned: [true, true, false]);
}

#[test]
fn what_stays_on_its_thread_can_be_guarded() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    let served = Rc::new(std::cell::Cell::new(0));
    let count = Rc::clone(&served);
    let inner = tower::service_fn(move |request: HttpRequest<Holds<Rc<u8>>>| {
        let count = Rc::clone(&count);
        async move {
            count.set(count.get() + 1);
            Ok::<_, Rc<str>>(Response::new(request.into_body()))
        }
    });
    let errors = Rc::new(7);
    let mut service = layer(&pms)
        .classify(move |error: &Rc<str>| error.len() > *errors)
        .http()
        .at_end_of_body()
        .layer(inner);
    let request = HttpRequest::new(Holds(PhantomData));
    let answer = now(service.call(request)).unwrap();
    assert!(now(answer.into_body().collect()).is_ok());
    assert_eq!((served.get(), pms.state()), (1, State::Closed));
}
