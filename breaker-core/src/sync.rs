//! The only place that names the atomics, so that another implementation can
//! be swapped in for all of them at once.

pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
