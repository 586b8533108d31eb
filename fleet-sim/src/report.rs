//! What is shown of the figures: tables and plots.

pub mod images;
pub mod numbers;
pub mod partly;
pub mod plots;
pub mod table;
