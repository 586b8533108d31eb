//! What a crate offers that wraps breakerbox under a name of its own.

pub use circuits;

/// The macros' path of the library, as others reach it through this crate.
pub mod guards {
    pub use circuits as inner;
}
