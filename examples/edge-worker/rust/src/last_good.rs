//! The last good answers: as long as the isolate lives, like its breaker.

use crate::pms::{Hotel, Inventory, PmsError};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// So many hotels are kept; for one more, any other is given up.
const MOST: usize = 1_000;

thread_local! {
    static ROOMS: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn keep(hotel: Hotel<'_>, rooms: u32) {
    ROOMS.with_borrow_mut(|kept| {
        kept.insert(hotel.name().to_owned(), rooms);
        if kept.len() > MOST {
            kept.pop_first();
        }
    });
}

/// The fallback: `None` gives the caller the original error.
pub(crate) fn of(hotel: Hotel<'_>) -> Option<Result<Inventory, PmsError>> {
    let rooms = ROOMS.with_borrow(|kept| kept.get(hotel.name()).copied())?;
    Some(Ok(Inventory { rooms, stale: true }))
}
