//! breakerbox
