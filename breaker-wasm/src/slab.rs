//! The breakers of the module, each at a number.

use crate::time::Moment;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use breaker_core::{BareCircuit, Chosen, Circuit, CircuitRef, Config, Slot};

pub(crate) type Policy = Chosen<Box<[Slot]>>;

/// A breaker.
pub(crate) struct Breaker {
    pub(crate) circuit: BareCircuit<Policy>,
    pub(crate) shared: Rc<Shared>,
}

/// What the breakers of a group have in common.
pub(crate) struct Shared {
    pub(crate) config: Config,
    /// Nanoseconds by which the clock may lag behind.
    pub(crate) resolution: u64,
}

impl Breaker {
    pub(crate) fn new(circuit: Circuit<Policy>, resolution: u64) -> Self {
        Self {
            shared: Rc::new(Shared {
                config: *circuit.config(),
                resolution,
            }),
            circuit: circuit.into_bare(),
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
            now,
            random: 0.0,
            resolution: self.shared.resolution,
        }
    }

    pub(crate) fn by_ref(&self) -> CircuitRef<'_, Policy> {
        self.circuit.with(&self.shared.config)
    }
}

/// All breakers. A number that was freed is given out again.
pub(crate) struct Slab {
    places: Vec<Place>,
    /// The last number that was freed; [`NONE`] if there is none.
    free: u32,
}

enum Place {
    Taken(Breaker),
    /// With the number that was freed before.
    Free(u32),
}

const NONE: u32 = u32::MAX;

impl Slab {
    pub(crate) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: NONE,
        }
    }

    /// `None`: no memory is left.
    pub(crate) fn add(&mut self, breaker: Breaker) -> Option<u32> {
        let number = self.free;
        if let Some(place) = self.places.get_mut(number as usize) {
            if let Place::Free(before) = *place {
                self.free = before;
            }
            *place = Place::Taken(breaker);
            return Some(number);
        }
        let number = self.places.len() as u32;
        self.places.try_reserve(1).ok()?;
        self.places.push(Place::Taken(breaker));
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Breaker> {
        match self.places.get(number as usize) {
            Some(Place::Taken(breaker)) => Some(breaker),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        if let Some(place @ Place::Taken(_)) = self.places.get_mut(number as usize) {
            *place = Place::Free(self.free);
            self.free = number;
        }
    }
}
