//! What caused an error.

use super::{REFUSED_WITHIN, TIMED_OUT_WITHIN};
use crate::error::{CallError, CircuitOpenError, TimeoutError};
use breaker_core::Outcome;
use std::error::Error;
use std::{io, iter};

/// The error and its causes, also those that an [`io::Error`] wraps, which names
/// only their causes.
pub(crate) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| {
        match error.downcast_ref().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
}

/// What an error counts as that a circuit further in has caused, if one has.
pub(crate) fn circuit(error: &(dyn Error + 'static)) -> Option<Outcome> {
    chain(error).find_map(|error| {
        if error.is::<CircuitOpenError>() {
            return Some(REFUSED_WITHIN);
        }
        if error.is::<TimeoutError>() {
            return Some(TIMED_OUT_WITHIN);
        }
        match error.downcast_ref()? {
            CallError::<io::Error>::Call(_) => None,
            CallError::Open(_) => Some(REFUSED_WITHIN),
            CallError::TimedOut(_) => Some(TIMED_OUT_WITHIN),
        }
    })
}
