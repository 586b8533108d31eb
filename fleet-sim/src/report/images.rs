//! The plots within the documentation.
//!
//! `rustdoc` copies no files beside its pages. The chapter names each plot by a reference, which it
//! defines as the file; what is written here stands before it there and defines the same references as the
//! files' contents. The first definition counts.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::plots::Plot;

/// The definitions of the references to all plots.
#[must_use]
pub fn definitions(plots: &[Plot]) -> String {
    let mut text = String::new();
    for Plot { name, svg } in plots {
        let data = STANDARD.encode(svg);
        // Writing to a string can't fail.
        let _ = writeln!(text, "[{name}]: data:image/svg+xml;base64,{data}");
    }
    text
}
