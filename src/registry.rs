//! Every breaker of the process, by name: to look at it, and to operate it.
//!
//! ```
//! use breakerbox::{Breaker, Config, State, registry};
//!
//! # let _scope = breakerbox::test::scope();
//! let pms = Breaker::shared("pms", Config::DEFAULT);
//! registry::find("pms").unwrap().force_open();
//! assert_eq!(pms.state(), State::ForcedOpen);
//! assert_eq!(registry::all().len(), 1);
//! ```
//!
//! | | |
//! | --- | --- |
//! | [`all()`] | every breaker that is listed, sorted by name |
//! | [`find()`], [`find_keyed`] | those of one name |
//! | [`watch()`] | hears of what enters, leaves or changes its state |
//! | [`snapshot()`], [`restore()`] | the states of all of them, for another process or run |
//! | [`problems()`] | what could not be applied |

mod all;
mod any;
mod any_keyed;
mod arrive;
mod book;
mod enter;
mod find;
mod found;
mod held;
mod names;
mod origin;
mod problems;
mod snapshots;
mod waiting;
mod watch;

pub use all::{Registered, all};
pub use any::AnyBreaker;
pub use find::{find, find_keyed};
pub use found::{Found, FoundKeyed};
pub use origin::{Kind, Place};
pub use problems::{Problem, ProblemCause, problems};
pub use snapshots::{
    CircuitName, RestoreError, Restored, SnapshotOf, Snapshots, restore, snapshot,
};
pub use watch::{DEFAULT_KEPT_NEWS, Happened, Heard, News, Watch, watch};

pub(crate) use any_keyed::AnyKeyed;
pub(crate) use arrive::NewKey;
#[cfg(feature = "test-util")]
pub(crate) use book::Book;
#[cfg(feature = "test-util")]
pub(crate) use enter::next_id;
pub(crate) use enter::{
    Declaration, Listing, enter, enter_keyed, enter_method, enter_shared, enter_shared_keyed,
    enter_static_keyed, method_name,
};
#[cfg(feature = "test-util")]
pub(crate) use enter::{arrive_in, note_keyed_in};
