//! The six states, and the generations that entries into them start.

use crate::word::GENERATION_BITS;
use core::fmt;
use core::str::FromStr;

/// What a breaker does with the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Calls go through; failures are counted.
    Closed,
    /// Calls are refused until the wait is over.
    Open,
    /// A few probes find out whether the dependency is back.
    HalfOpen,
    /// An operator's: every call is refused until another operator call.
    ForcedOpen,
    /// An operator's: every call goes through, nothing is recorded.
    Disabled,
    /// An operator's: every call goes through; what the breaker would have
    /// done is recorded and reported.
    Shadow,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Closed,
        Self::Open,
        Self::HalfOpen,
        Self::ForcedOpen,
        Self::Disabled,
        Self::Shadow,
    ];

    /// The state's name in snapshots, logs and labels: `closed`, `open`,
    /// `half_open`, `forced_open`, `disabled` or `shadow`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::Disabled => "disabled",
            Self::Shadow => "shadow",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of a [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a breaker state: expected closed, open, half_open, forced_open, disabled or shadow")]
pub struct UnknownState;

impl FromStr for State {
    type Err = UnknownState;

    /// Reads what [`State::as_str`] writes.
    ///
    /// # Errors
    /// [`UnknownState`] for any other text.
    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Ok(match text {
            "closed" => Self::Closed,
            "open" => Self::Open,
            "half_open" => Self::HalfOpen,
            "forced_open" => Self::ForcedOpen,
            "disabled" => Self::Disabled,
            "shadow" => Self::Shadow,
            _ => return Err(UnknownState),
        })
    }
}

/// The number of an entry into a state. Every entry starts a new generation;
/// an outcome counts only in the generation that admitted its call.
///
/// 26 bits wide: after 67,108,864 entries a number comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generation(pub(crate) u32);

impl Generation {
    /// The generation of no breaker: an outcome of it is always late.
    pub const NONE: Self = Self(u32::MAX);

    /// The generation of a number that [`get`](Self::get) gave: for a caller who
    /// can keep nothing but numbers.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The bare number, below 67,108,864 (of [`NONE`](Self::NONE): above).
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Whether it began later than another one of the same breaker, also where the numbers have
    /// begun anew in between: for events that are told in another order than they happened in.
    ///
    /// ```
    /// use breaker_core::Generation;
    ///
    /// let number = Generation::from_number;
    /// assert!(number(8).is_after(number(7)));
    /// assert!(!number(7).is_after(number(7)) && !number(7).is_after(number(8)));
    /// assert!(number(0).is_after(number(67_108_863)));
    /// ```
    #[must_use]
    pub const fn is_after(self, other: Self) -> bool {
        let ahead = self.0.wrapping_sub(other.0) & ((1 << GENERATION_BITS) - 1);
        ahead != 0 && ahead < 1 << (GENERATION_BITS - 1)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
