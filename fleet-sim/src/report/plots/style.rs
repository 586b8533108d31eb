//! How plots look: the same on a light page and on a dark one, and for who can't tell all colours.

use plotters::style::{Color, RGBColor, ShapeStyle, TextStyle};
use plotters::style::{FontFamily, IntoFont};

use crate::scenario::{Scenario, Together};

/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(0x22, 0x26, 0x2B);
/// Lines of the grid.
pub(super) const GRID: RGBColor = RGBColor(0xDD, 0xDF, 0xE2);
/// The page.
pub(super) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// On a dark page, the same are these. The colours of the lines are readable on both.
const DARK: &str = "\n<style>@media (prefers-color-scheme: dark) { \
    text, [fill=\"#22262B\"] { fill: #D7DCE2 } \
    [stroke=\"#22262B\"] { stroke: #AEB6BF } \
    [stroke=\"#DDDFE2\"] { stroke: #343B43 } \
    [fill=\"#FFFFFF\"] { fill: #12161B } }</style>\n";

/// The colour of a scenario: those of Okabe and Ito, which are told apart by all.
pub(super) fn colour(scenario: Scenario) -> RGBColor {
    match scenario {
        Scenario::Alone { jitter: 0.0 } => RGBColor(0xD5, 0x5E, 0x00),
        Scenario::Alone { jitter: 0.1 } => RGBColor(0xE6, 0x9F, 0x00),
        Scenario::Alone { .. } => RGBColor(0xCC, 0x79, 0xA7),
        Scenario::Shared(Together::AnyTrip) => RGBColor(0x2A, 0x84, 0xC6),
        Scenario::Shared(Together::Counting) => RGBColor(0x56, 0xB4, 0xE9),
        Scenario::Shared(Together::Quorum) => RGBColor(0x00, 0x9E, 0x73),
        Scenario::Shared(Together::SlowStart) => RGBColor(0x8A, 0x6F, 0xD1),
    }
}

pub(super) fn line(colour: RGBColor) -> ShapeStyle {
    colour.stroke_width(2)
}

pub(super) fn text(size: i32) -> TextStyle<'static> {
    (FontFamily::SansSerif, size).into_font().color(&INK)
}

/// The picture, readable on a dark page too.
pub(super) fn for_dark_pages(svg: &str) -> String {
    match svg.split_once('>') {
        Some((head, rest)) => format!("{head}>{DARK}{}\n", rest.trim()),
        None => svg.to_owned(),
    }
}
