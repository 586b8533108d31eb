//! What a guarded future is: as large, and of the same auto traits, as the plain one.

#![deny(warnings)]

mod support;

use std::fmt::Display;
use std::future::Future;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use breakerbox::{
    Breaker, CallError, Cause, Config, Guard, Key, KeyedBreakers, KeyedGuard, circuit_breaker,
};

use support::{Answer, PmsError, block_on, pause};

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

/// A client by whatever breaker, and by whatever breakers by key.
struct Client<B, K> {
    breaker: B,
    hosts: K,
}

impl<B, K> Client<B, K>
where
    B: Guard + Sync,
    K: KeyedGuard + Sync,
    str: Key<Owned = K::Key>,
{
    #[circuit_breaker(breaker = &self.breaker)]
    async fn rooms(&self, x: &str) -> Answer<usize> {
        tokio::task::yield_now().await;
        Ok(x.len())
    }

    #[circuit_breaker(breaker = &self.breaker, timeout = "1s", fallback = Self::cached)]
    async fn rates(&self, x: &str) -> Answer<usize> {
        tokio::task::yield_now().await;
        Ok(x.len())
    }

    async fn cached(&self, x: &str) -> Answer<usize> {
        Ok(x.len())
    }

    #[circuit_breaker(breaker = &self.hosts, key = x)]
    async fn by_key(&self, x: &str) -> Answer<usize> {
        tokio::task::yield_now().await;
        Ok(x.len())
    }

    async fn all(&self, x: &str) -> usize {
        let (rooms, rates) = (self.rooms(x).await, self.rates(x).await);
        rooms.unwrap() + rates.unwrap() + self.by_key(x).await.unwrap()
    }
}

/// Nothing is known of the breakers but that they are some.
fn sendable_by<'a, B, K>(
    client: &'a Client<B, K>,
    x: &'a str,
) -> impl Future<Output = usize> + Send + 'a
where
    B: Guard + Sync,
    K: KeyedGuard + Sync,
    str: Key<Owned = K::Key>,
{
    client.all(x)
}

#[test]
fn send_by_whatever_breaker() {
    let _scope = breakerbox::test::scope();
    let client = Client {
        breaker: Breaker::shared("pms", Config::DEFAULT),
        hosts: KeyedBreakers::<String>::new("hosts", Config::DEFAULT),
    };
    assert_eq!(block_on(sendable_by(&client, "ab")), 6);
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
    assert!(grown <= 64, "{} bytes", grown);
    let size = size_of_val(&large_fallback());
    assert!(size < 512, "{} bytes", size);
    let grown =
        size_of_val(&large_parameter([0; 1024])) - size_of_val(&large_parameter_plain([0; 1024]));
    assert!(grown <= 64, "{} bytes", grown);
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

use auto_traits::HasNot as _;

/// Which auto traits a value has.
macro_rules! auto_traits {
    ($value:expr) => {{
        // In a statement, so that the future is dropped before the next is made.
        #[allow(clippy::let_and_return)]
        let traits = match auto_traits::Has(&$value) {
            has => [
                has.is_send(),
                has.is_sync(),
                has.is_unpin(),
                has.is_unwind_safe(),
                has.is_ref_unwind_safe(),
            ],
        };
        traits
    }};
}

mod auto_traits {
    use std::panic::{RefUnwindSafe, UnwindSafe};

    /// An inherent method is found before a trait's, where the bound of its `impl` holds.
    pub(crate) struct Has<'a, T>(pub(crate) &'a T);

    macro_rules! ask {
        ($($name:ident: $bound:ident)*) => {
            $(impl<T: $bound> Has<'_, T> {
                pub(crate) fn $name(&self) -> bool {
                    let _ = self.0;
                    true
                }
            })*
            pub(crate) trait HasNot {
                $(fn $name(&self) -> bool {
                    false
                })*
            }
        };
    }
    ask! {
        is_send: Send
        is_sync: Sync
        is_unpin: Unpin
        is_unwind_safe: UnwindSafe
        is_ref_unwind_safe: RefUnwindSafe
    }
    impl<T> HasNot for Has<'_, T> {}
}

/// Defines every function twice: plain, and guarded.
macro_rules! twice {
    ($($(#[$attr:meta])* async fn $name:ident$(<$life:lifetime>)?($($args:tt)*) -> $output:ty $body:block)+) => {
        mod plain {
            use super::*;
            $($(#[$attr])* pub(super) async fn $name$(<$life>)?($($args)*) -> $output $body)+
        }
        mod guarded {
            use super::*;
            $(#[circuit_breaker] $(#[$attr])* pub(super) async fn $name$(<$life>)?($($args)*) -> $output $body)+
        }
    };
}

twice! {
    async fn of_numbers(a: u8, b: &str) -> Answer<usize> {
        pause().await;
        Ok(usize::from(a) + b.len())
    }
    async fn of_an_rc(a: Rc<u8>) -> Answer<u8> {
        pause().await;
        Ok(*a)
    }
    async fn of_an_rc_that_is_gone(a: Rc<u8>) -> Answer<u8> {
        let number = *a;
        drop(a);
        pause().await;
        Ok(number)
    }
    async fn with_an_rc_inside() -> Answer<u8> {
        let number = Rc::new(1);
        pause().await;
        Ok(*number)
    }
    async fn with_an_rc_in_a_block() -> Answer<u8> {
        let number = {
            let number = Rc::new(1);
            *number
        };
        pause().await;
        Ok(number)
    }
    async fn of_a_cell(a: &std::cell::Cell<u8>) -> Answer<u8> {
        pause().await;
        Ok(a.get())
    }
    async fn of_a_mutable(a: &mut u8) -> Answer<u8> {
        pause().await;
        *a += 1;
        Ok(*a)
    }
    async fn of_a_pointer(a: *const u8) -> Answer<bool> {
        pause().await;
        Ok(a.is_null())
    }
    #[allow(clippy::await_holding_lock)]
    async fn with_a_guard(a: &std::sync::Mutex<u8>) -> Answer<u8> {
        let guard = a.lock().unwrap();
        let number = *guard;
        drop(guard);
        pause().await;
        Ok(number)
    }
    async fn gives_an_rc() -> Result<Rc<u8>, CallError<Rc<u8>>> {
        pause().await;
        Ok(Rc::new(1))
    }
    async fn of_dyn(a: Box<dyn Display>, b: &(dyn Display + Sync)) -> Answer<usize> {
        pause().await;
        Ok(a.to_string().len() + b.to_string().len())
    }
    async fn mutable_copies(mut a: u64, mut b: &str, c: String, d: Vec<u8>, _: String) -> Answer<usize> {
        a += 1;
        b = b.trim();
        pause().await;
        Ok((a as usize) + b.len() + c.len() + d.len())
    }
    async fn several(a: String, mut b: String, _: Vec<u8>) -> Answer<usize> {
        b.push_str(&a);
        pause().await;
        Ok(b.len())
    }
    async fn waits_for_many() -> Answer<u8> {
        for _ in 0..3 {
            pause().await;
        }
        let many = [pause(), pause()];
        for one in many {
            one.await;
        }
        Ok(1)
    }
}

/// Both, and what the guarded one has more, in bytes.
macro_rules! compare {
    ($($name:ident($($args:expr),*);)+) => {$(
        assert_eq!(
            auto_traits!(plain::$name($($args),*)),
            auto_traits!(guarded::$name($($args),*)),
            "Send, Sync, Unpin, UnwindSafe, RefUnwindSafe of {}", stringify!($name)
        );
        let plain = size_of_val(&plain::$name($($args),*));
        let guarded = size_of_val(&guarded::$name($($args),*));
        // A `mut` parameter that is dropped is there once more. (With the feature `tracing` there is
        // a pointer to the call's span.)
        let most = (plain + 72).max(plain * 2);
        assert!(guarded <= most, "{}: {} and {} bytes", stringify!($name), plain, guarded);
    )+};
}

#[test]
fn of_the_same_auto_traits_and_about_the_same_size() {
    let mut number = 1;
    let cell = std::cell::Cell::new(1);
    let mutex = std::sync::Mutex::new(1);
    compare! {
        of_numbers(1, "a");
        of_an_rc(Rc::new(1));
        of_an_rc_that_is_gone(Rc::new(1));
        with_an_rc_inside();
        with_an_rc_in_a_block();
        of_a_cell(&cell);
        of_a_mutable(&mut number);
        of_a_pointer(&number);
        with_a_guard(&mutex);
        gives_an_rc();
        of_dyn(Box::new(1), &1);
        mutable_copies(1, "a", String::new(), vec![], String::new());
        several(String::new(), String::new(), vec![]);
        waits_for_many();
    }
}

#[test]
fn auto_traits_are_told_apart() {
    assert_eq!(auto_traits!(5), [true; 5]);
    assert_eq!(
        auto_traits!(Rc::new(std::cell::Cell::new(5))),
        [false, false, true, false, false]
    );
    assert!(auto_traits!(guarded::of_numbers(1, "a"))[0]);
    assert!(!auto_traits!(guarded::of_an_rc(Rc::new(1)))[0]);
    assert!(auto_traits!(guarded::gives_an_rc())[0]);
}

/// Boxed, pinned, moved to another thread, kept with others, and polled there.
#[test]
fn goes_wherever_the_plain_one_goes() {
    use std::future::Future;
    use std::pin::Pin;

    type Boxed = Pin<Box<dyn Future<Output = Answer<usize>> + Send>>;
    let many: Vec<Boxed> = vec![
        Box::pin(guarded::of_numbers(1, "a")),
        Box::pin(guarded::several("b".to_owned(), "c".to_owned(), vec![])),
    ];
    let sum = std::thread::spawn(move || {
        block_on(async {
            let mut sum = 0;
            for one in many {
                sum += one.await.unwrap_or_default();
            }
            sum
        })
    });
    assert_eq!(sum.join().unwrap(), 4);
}

/// What was answered, or went wrong, is not kept: `Send` needs nothing of it.
#[test]
fn errors_need_not_be_send() {
    #[circuit_breaker(open_error = |_| Rc::from("refused"), threshold = 1)]
    async fn fails() -> Result<u8, Rc<str>> {
        pause().await;
        Err("down".into())
    }
    #[circuit_breaker(timeout = "1s", fallback = |_| None)]
    async fn recovers(fail: bool) -> Result<Rc<u8>, PmsError> {
        pause().await;
        match fail {
            true => Err(PmsError::Down),
            false => Ok(Rc::new(1)),
        }
    }
    let _scope = breakerbox::test::scope();
    assert!(auto_traits!(fails())[0] && auto_traits!(recovers(true))[0]);
    assert_eq!(&*block_on(fails()).unwrap_err(), "down");
    assert_eq!(&*block_on(fails()).unwrap_err(), "refused");
    assert_eq!(*block_on(recovers(false)).unwrap(), 1);
}
