//! The attribute.
