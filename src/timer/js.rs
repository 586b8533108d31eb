//! The timer of JavaScript.

use super::Timer;
use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;

/// JavaScript's timer: `setTimeout`, in a browser, an edge worker or Node.
///
/// It is set when a call is first pending, and cleared when the call has ended or
/// is dropped. Times are rounded up to whole milliseconds.
///
/// In an edge worker it fires only while its request lasts, as everything there. A
/// browser may fire it up to a second late in a tab that is not looked at. Where
/// there is no `setTimeout` at all, such as in an `AudioWorklet`, no call ends by it.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsTimer;

impl Timer for JsTimer {
    type Sleep = JsSleep;

    fn sleep(&self, after: Duration) -> JsSleep {
        let millis = after.as_nanos().div_ceil(1_000_000);
        JsSleep {
            left: u64::try_from(millis).unwrap_or(u64::MAX),
            armed: None,
        }
    }
}

/// A future of [`JsTimer`].
///
/// It is `Send`, so that a guarded future is where its body is. Polled by another
/// thread than the one before, it begins anew there what it was waiting for.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct JsSleep {
    /// Milliseconds after those that are armed.
    left: u64,
    armed: Option<Armed>,
}

/// What `setTimeout` was asked for.
#[derive(Debug)]
struct Armed {
    key: u64,
    thread: Thread,
    millis: u64,
}

/// The most that `setTimeout` takes: more fires at once.
const MAX_MILLIS: i32 = i32::MAX;

impl Future for JsSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(armed) = &self.armed {
            if armed.thread != Thread::this() {
                self.left = self.left.saturating_add(armed.millis);
            } else if is_running(armed.key, context.waker()) {
                return Poll::Pending;
            }
            self.armed = None;
        }
        if self.left == 0 {
            return Poll::Ready(());
        }
        let millis = i32::try_from(self.left).unwrap_or(MAX_MILLIS);
        if let Some(armed) = arm(millis, context.waker()) {
            self.left -= armed.millis;
            self.armed = Some(armed);
        }
        Poll::Pending
    }
}

impl Drop for JsSleep {
    fn drop(&mut self) {
        if let Some(armed) = &self.armed
            && let Some(running) = take(armed.key, armed.thread)
        {
            // Refused where the request is over that it was set in, and then it is cleared.
            let _ = clear_timeout(&running.handle);
        }
    }
}

/// A thread, by where its timers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread(usize);

impl Thread {
    fn this() -> Self {
        Self(TIMERS.with(|timers| core::ptr::from_ref(timers).addr()))
    }
}

thread_local! {
    static TIMERS: RefCell<Timers> = const { RefCell::new(Timers::NONE) };
    /// One function for all timers of the thread; it is told which.
    static FIRE: Closure<dyn Fn(f64)> = Closure::new(fire);
}

/// The timers of a thread that have not fired.
struct Timers {
    /// Never reaches what JavaScript's numbers can't tell apart.
    last: u64,
    running: BTreeMap<u64, Running>,
}

impl Timers {
    const NONE: Self = Self {
        last: 0,
        running: BTreeMap::new(),
    };
}

struct Running {
    handle: JsValue,
    waker: Waker,
}

/// `None` where JavaScript refuses.
fn arm(millis: i32, waker: &Waker) -> Option<Armed> {
    let waker = waker.clone();
    let key = TIMERS.with_borrow_mut(|timers| {
        timers.last += 1;
        let handle = JsValue::UNDEFINED;
        timers
            .running
            .insert(timers.last, Running { handle, waker });
        timers.last
    });
    let thread = Thread::this();
    // Nothing is borrowed: somebody's own `setTimeout` may do anything.
    match FIRE.with(|fire| set_timeout(fire, millis, key as f64)) {
        Ok(handle) => {
            TIMERS.with_borrow_mut(|timers| {
                if let Some(running) = timers.running.get_mut(&key) {
                    running.handle = handle;
                }
            });
            let millis = u64::from(millis.unsigned_abs());
            Some(Armed {
                key,
                thread,
                millis,
            })
        }
        Err(_) => {
            drop(take(key, thread));
            None
        }
    }
}

/// Whether the timer has not fired; who is to be woken then.
fn is_running(key: u64, waker: &Waker) -> bool {
    let waker_before = TIMERS.with_borrow_mut(|timers| {
        let running = timers.running.get_mut(&key)?;
        let same = running.waker.will_wake(waker);
        Some((!same).then(|| core::mem::replace(&mut running.waker, waker.clone())))
    });
    // Outside the borrow: a waker's destructor may do anything.
    waker_before.is_some()
}

/// Called by JavaScript.
fn fire(key: f64) {
    if let Some(running) = take(key as u64, Thread::this()) {
        running.waker.wake();
    }
}

fn take(key: u64, thread: Thread) -> Option<Running> {
    if thread != Thread::this() {
        return None;
    }
    TIMERS.with_borrow_mut(|timers| timers.running.remove(&key))
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = setTimeout)]
    fn set_timeout(fire: &Closure<dyn Fn(f64)>, ms: i32, key: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = clearTimeout)]
    fn clear_timeout(handle: &JsValue) -> Result<(), JsValue>;
}
