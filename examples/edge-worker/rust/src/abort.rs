//! A request of a call that is dropped goes nowhere: it is aborted.

use worker::{AbortController, AbortSignal};

/// Aborts when it is dropped, unless it is defused before.
pub(crate) struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    pub(crate) fn new() -> (Self, AbortSignal) {
        let controller = AbortController::default();
        let signal = controller.signal();
        (Self(Some(controller)), signal)
    }

    pub(crate) fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}
