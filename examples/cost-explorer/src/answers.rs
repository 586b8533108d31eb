//! Last good answers, in a file: a program that is started in an outage has them too.

use std::path::Path;
use std::time::Duration;

use breakerbox::LastGood;
use breakerbox::last_good::{Disk, DiskError, DiskSettings, Replaced};

use crate::query::Query;
use crate::report::Report;

/// The last good answer to each question.
pub type Answers = LastGood<Query, Report, Disk<Query, Report>>;

/// How old an answer may be that is of use: over a long weekend.
const TIME_TO_LIVE: Duration = Duration::from_secs(4 * 24 * 60 * 60);

/// Opens the file, or makes it. One that is damaged is moved aside, and said to be: it only ever
/// held what can be asked for again.
///
/// # Errors
/// Where there can be no file.
pub fn open(file: &Path) -> Result<(Answers, Option<Replaced>), DiskError> {
    let (disk, replaced) = Disk::open_or_replace(file, DiskSettings::new())?;
    Ok((LastGood::in_store(disk, TIME_TO_LIVE), replaced))
}
