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

mod all;
mod any;
mod any_keyed;
mod book;
mod enter;
mod find;
mod found;
mod held;
mod names;
mod origin;

pub use all::{Registered, all};
pub use any::AnyBreaker;
pub use find::{find, find_keyed};
pub use found::{Found, FoundKeyed};
pub use origin::{Kind, Place};

pub(crate) use any_keyed::AnyKeyed;
#[cfg(feature = "test-util")]
pub(crate) use book::Book;
#[cfg(feature = "test-util")]
pub(crate) use enter::next_id;
pub(crate) use enter::{
    Declaration, Listing, enter, enter_keyed, enter_method, enter_shared, enter_shared_keyed,
    enter_static_keyed, method_name,
};
