//! What is asked for.

use std::fmt;
use std::hash::Hash;
use std::time::{Duration, SystemTime};

use aws_sdk_costexplorer::error::BuildError;

use aws_sdk_costexplorer::types::{DateInterval, Granularity as SdkGranularity};
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use breakerbox::Key;
use serde::{Deserialize, Serialize};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Days, as Cost Explorer writes them: `2026-11-30`. It alone judges whether they make sense.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dates {
    /// The first day.
    pub from: String,
    /// The day after the last.
    pub until: String,
}

impl Dates {
    /// From a day until before another.
    #[must_use]
    pub fn new(from: impl Into<String>, until: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            until: until.into(),
        }
    }

    /// So many whole days before this time, by UTC, as AWS bills.
    #[must_use]
    pub fn days_before(now: SystemTime, days: u32) -> Self {
        Self {
            from: day(now
                .checked_sub(DAY * days)
                .unwrap_or(SystemTime::UNIX_EPOCH)),
            until: day(now),
        }
    }

    /// In the SDK's words.
    pub(crate) fn interval(&self) -> Result<DateInterval, BuildError> {
        DateInterval::builder()
            .start(&self.from)
            .end(&self.until)
            .build()
    }
}

fn day(time: SystemTime) -> String {
    let timestamp = DateTime::from(time)
        .fmt(Format::DateTime)
        .unwrap_or_default();
    timestamp.chars().take("2026-11-30".len()).collect()
}

impl fmt::Display for Dates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} until {}", self.from, self.until)
    }
}

/// What a row of the answer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Granularity {
    /// A day.
    Daily,
    /// A month.
    Monthly,
}

impl From<Granularity> for SdkGranularity {
    fn from(granularity: Granularity) -> Self {
        match granularity {
            Granularity::Daily => Self::Daily,
            Granularity::Monthly => Self::Monthly,
        }
    }
}

/// All that decides what the answer is. It is the key of the last good answer, so it has to be all:
/// what is missing here, an answer to another question would be served for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Query {
    /// The account that pays.
    pub account: String,
    /// Of which days.
    pub dates: Dates,
    /// By day or by month.
    pub granularity: Granularity,
}

impl Key for Query {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}, {:?}",
            owned.account, owned.dates, owned.granularity
        )
    }
}
