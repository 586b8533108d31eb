//! One circuit for a fleet: breakers of [`breakerbox`] that share their state through Redis.
//!
//! A trip of one instance opens the circuit of all, one probe speaks for all, and nobody's call ever
//! waits for Redis: a call reads what its own process knows, and the rest goes on in the background.
//!
//! | to | look at |
//! | --- | --- |
//! | share a breaker | [`FleetBreaker`], or [`FleetKeyedBreakers`] of one per key |
//! | say how it is shared: counting together, a quorum | [`Sharing`] |
//! | connect a process | [`Fleet`], [`FleetBuilder`] |
//! | see how it goes | [`Fleet::status`], and the observers of [`breakerbox::observe`] |
//!
//! | feature | with it |
//! | --- | --- |
//! | `tls` (default) | `rediss://`, by rustls |
//! | `cluster` | Redis may be a cluster, also over TLS: [`FleetBuilder::node`] |

mod background;
mod breaker;
mod circuit;
mod error;
mod fleet;
mod group;
mod hub;
pub mod instance;
mod kept;
mod keyed;
mod leaving;
mod membership;
pub mod protocol;
mod settings;
mod share;
mod sharing;
mod status;

pub use breaker::{FleetBreaker, RateFleetBreaker, SharedFleetBreaker};
pub use error::{ConnectionError, FleetError, NotReady, Right, Trouble};
pub use fleet::Fleet;
pub use kept::{Kept, KeptKeyed};
pub use keyed::{FleetKeyedBreakers, SharedFleetKeyedBreakers, SharedKeyedError};
pub use settings::FleetBuilder;
pub use share::{Share, ShareKeyed};
pub use sharing::{MAX_LEASE, MAX_QUORUM, MAX_SLOW_START, MIN_LEASE, Sharing, SharingError};
pub use status::{FleetStatus, Nonsense};

/// What is shown there, compiled.
#[cfg(doctest)]
mod shown {
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../../src/guide/sharing.md")]
    mod guide {}

    #[doc = include_str!("../../src/guide/operating_fleets.md")]
    mod operating {}
}
