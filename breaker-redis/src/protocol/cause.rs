//! Why a circuit is in its state.

/// What brought a state about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Nothing happened yet: an instance had something to count where nothing was held.
    Founded,
    /// A breaker of the fleet opened, or reopened.
    Tripped {
        /// The failures that led to it.
        failures: u32,
    },
    /// The fleet's failures together.
    Counted {
        /// The failures that led to it.
        failures: u32,
    },
    /// As many instances as the quorum wants had opened theirs.
    Voted {
        /// The instances.
        instances: u32,
    },
    /// A dependency said that it is overloaded.
    Overloaded,
    /// The wait was over, and an instance got the lease.
    Leased,
    /// The trial came to nothing, and its lease was given back.
    Released,
    /// The trial succeeded.
    Recovered,
    /// An operator.
    Operator,
}

impl Cause {
    /// Its word and its number (0 where it has none).
    pub(crate) fn as_words(self) -> (&'static str, u32) {
        match self {
            Self::Founded => ("founded", 0),
            Self::Tripped { failures } => ("tripped", failures),
            Self::Counted { failures } => ("counted", failures),
            Self::Voted { instances } => ("voted", instances),
            Self::Overloaded => ("overloaded", 0),
            Self::Leased => ("leased", 0),
            Self::Released => ("released", 0),
            Self::Recovered => ("recovered", 0),
            Self::Operator => ("operator", 0),
        }
    }

    /// What [`as_words`](Self::as_words) gave.
    pub(crate) fn from_words(word: &str, number: u32) -> Option<Self> {
        let cause = match word {
            "founded" => Self::Founded,
            "tripped" => Self::Tripped { failures: number },
            "counted" => Self::Counted { failures: number },
            "voted" => Self::Voted { instances: number },
            "overloaded" => Self::Overloaded,
            "leased" => Self::Leased,
            "released" => Self::Released,
            "recovered" => Self::Recovered,
            "operator" => Self::Operator,
            _ => return None,
        };
        (cause.as_words().1 == number).then_some(cause)
    }
}
