//! Numbers as people read them.

use crate::clock::{Moment, SECOND};

/// With a comma at each thousand.
///
/// ```
/// assert_eq!(fleet_sim::report::numbers::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In seconds, to a hundredth.
///
/// ```
/// assert_eq!(fleet_sim::report::numbers::seconds(1_234_567_890), "1.23 s");
/// ```
#[must_use]
pub fn seconds(time: Moment) -> String {
    format!("{:.2} s", time as f64 / SECOND as f64)
}

/// In milliseconds if it is short, else in seconds.
///
/// ```
/// use fleet_sim::report::numbers::time;
///
/// assert_eq!(time(1_234_567), "1.2 ms");
/// assert_eq!(time(1_234_567_890), "1.23 s");
/// ```
#[must_use]
pub fn time(time: Moment) -> String {
    if time < SECOND {
        format!("{:.1} ms", time as f64 / 1e6)
    } else {
        seconds(time)
    }
}
