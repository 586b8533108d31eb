//! The breakers of the module: each is known to JavaScript by its address.
#![allow(unsafe_code)]

use crate::time::{Moment, nanos};
use alloc::boxed::Box;
use alloc::rc::Rc;
use breaker_core::{BareCircuit, Chosen, Circuit, CircuitRef, LiveConfig, Slot};
use core::ptr;

pub(crate) type Policy = Chosen<Box<[Slot]>>;

/// A breaker. Its word comes first, where JavaScript looks at it without a call:
/// see `js/module.ts`.
#[repr(C)]
pub(crate) struct Breaker {
    circuit: BareCircuit<Policy>,
    shared: Rc<Shared>,
}

/// What the breakers of a group have in common.
struct Shared {
    live: LiveConfig,
    /// Nanoseconds by which the clock may lag behind.
    resolution: u64,
}

impl Breaker {
    pub(crate) fn new(circuit: Circuit<Policy>, resolution: u64) -> Self {
        let (circuit, live) = circuit.into_parts();
        Self {
            shared: Rc::new(Shared { live, resolution }),
            circuit,
        }
    }

    /// Another one of the group, with nothing counted.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            circuit: self.circuit.fresh(),
            shared: Rc::clone(&self.shared),
        }
    }

    /// Its clock, read by JavaScript; without a random number, which only an
    /// opening needs.
    pub(crate) fn moment(&self, now: f64) -> Moment {
        Moment {
            now: nanos(now),
            random: 0.0,
            resolution: self.shared.resolution,
        }
    }

    pub(crate) fn by_ref(&self) -> CircuitRef<'_, Policy> {
        self.circuit.with(&self.shared.live)
    }

    /// Gives it to JavaScript.
    pub(crate) fn give(self) -> usize {
        Box::into_raw(Box::new(self)).expose_provenance()
    }

    /// The breaker of a number that [`give`](Self::give) gave, and
    /// [`take`](Self::take) has not taken.
    pub(crate) fn at<'a>(number: usize) -> &'a Self {
        // SAFETY: JavaScript gives a number back when nobody holds its breaker any
        // more, and knows no others; nothing but a reference is ever made of it
        // before.
        unsafe { &*ptr::with_exposed_provenance(number) }
    }

    /// Takes back what was given.
    pub(crate) fn take(number: usize) -> Box<Self> {
        // SAFETY: as in `at`; it is given back once.
        unsafe { Box::from_raw(ptr::with_exposed_provenance_mut(number)) }
    }
}
