//! The module's one state.
#![allow(unsafe_code)]

use crate::report::Report;
use crate::slab::Slab;
use core::cell::UnsafeCell;

/// What the module keeps from call to call.
pub(crate) struct State {
    pub(crate) slab: Slab,
    /// What the last call says beside its result.
    pub(crate) report: Report,
}

struct Single(UnsafeCell<State>);

// SAFETY: without the `atomics` feature, which this module is never built with,
// a WebAssembly instance has one thread.
unsafe impl Sync for Single {}

const _: () = assert!(!cfg!(target_feature = "atomics"));

static STATE: Single = Single(UnsafeCell::new(State {
    slab: Slab::new(),
    report: Report::NONE,
}));

/// Lends the state to an exported function. `work` can't call it again: the
/// module imports nothing, so no code but its own runs meanwhile, and only
/// exported functions ask for the state, once each.
pub(crate) fn with<T>(work: impl FnOnce(&mut State) -> T) -> T {
    // SAFETY: there is one thread, and no call within a call (see above), so
    // nobody else holds a reference.
    work(unsafe { &mut *STATE.0.get() })
}
