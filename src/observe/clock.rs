//! The clock of what waits between events.

/// The clock of [`InOrder`](super::InOrder) and [`FirstThenCounts`](super::FirstThenCounts) that
/// name no other: the platform's, or in a test scope the scope's.
#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOfEvents(());

/// There is no clock here: give one of the platform's.
#[cfg(not(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
)))]
pub type ClockOfEvents = crate::clock::DefaultClock;

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
impl breaker_core::Clock for ClockOfEvents {
    fn now(&self) -> u64 {
        #[cfg(feature = "test-util")]
        if let Some(scope) = crate::test::current() {
            return scope.now();
        }
        crate::clock::DEFAULT.now()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}
