//! How large a breaker is: what a `static`, or a map of many, pays for one.

use breaker_core::{
    BareCircuit, Circuit, Config, Consecutive, Generation, LiveConfig, Sliding, Window,
};
use core::time::Duration;

#[test]
#[cfg(target_pointer_width = "64")]
fn a_circuit_is_two_words_its_settings_and_its_window() {
    assert_eq!(size_of::<Consecutive>(), 0);
    assert_eq!(size_of::<BareCircuit>(), 16);
    assert_eq!(size_of::<Config>(), 136);
    // Which of two banks holds, and nine words each.
    let overlay = 8 + 2 * 9 * 8;
    assert_eq!(size_of::<LiveConfig>(), size_of::<Config>() + overlay);
    assert_eq!(size_of::<Circuit>(), 16 + size_of::<LiveConfig>());
    // Settings of the rate, the head, the offset, the newest judged bucket; then 8 bytes a slot.
    let empty = size_of::<Sliding<0>>();
    assert_eq!(empty, 64);
    assert_eq!(Window::calls(100).slots(), 8);
    assert_eq!(Window::time(Duration::from_secs(10)).slots(), 10);
    assert_eq!(size_of::<Sliding<8>>(), empty + 8 * 8);
    assert_eq!(
        size_of::<Circuit<Sliding<8>>>(),
        size_of::<Circuit>() + empty + 64
    );
}

#[test]
fn a_generation_fits_beside_a_reference() {
    assert_eq!(size_of::<Generation>(), 4);
}
