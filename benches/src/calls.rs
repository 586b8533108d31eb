//! Making one call.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Makes a future's call, which must be ready at once.
#[inline(always)]
pub(crate) fn poll<F: Future>(future: F) -> F::Output {
    poll_out_of_line(pin!(future))
}

/// The same function for all of them, as an executor would be.
#[inline(never)]
fn poll_out_of_line<F: Future>(future: Pin<&mut F>) -> F::Output {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("every measured future is ready at once"),
    }
}

/// Uses the answer as a caller would.
#[inline(always)]
pub(crate) fn consume<T, E>(answer: Result<T, E>) {
    if let Ok(answer) = answer {
        black_box(answer);
    }
}
