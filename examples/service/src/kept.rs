//! The states of circuits, kept in a file over a restart: what the old process knew of an outage, the new one
//! need not find out again.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use breakerbox::registry::{self, Snapshots};

use crate::Trouble;

/// Circuits begin as the file says, if there is one. What of it makes no sense is told of, and keeps nobody
/// from starting: circuits then begin closed, as they do without a file.
pub fn restore(file: &Path) {
    match read(file) {
        Ok(None) => {}
        Ok(Some(snapshots)) => {
            for (circuit, why) in registry::restore(&snapshots).refused {
                warn(format_args!("circuit `{circuit}` begins closed: {why}"));
            }
        }
        Err(error) => warn(format_args!(
            "{}: {error}; circuits begin closed",
            file.display()
        )),
    }
}

fn read(file: &Path) -> Result<Option<Snapshots>, Trouble> {
    match fs::read(file) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes down how circuits are. The file is there as a whole, or as it was.
///
/// # Errors
/// Where it can't be written.
pub fn keep(file: &Path) -> Result<(), Trouble> {
    let mut beside = PathBuf::from(file);
    beside.as_mut_os_string().push(".new");
    let text = serde_json::to_vec_pretty(&registry::snapshot())?;
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, file))
        .map_err(|error| format!("{}: {error}", file.display()).into())
}

fn warn(line: impl std::fmt::Display) {
    // There is nobody to tell that it could not be written.
    let _ = writeln!(io::stderr(), "{line}");
}
