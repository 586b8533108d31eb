//! Finds the files of cases and reads them, line by line.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::case::Case;

/// A line of a file of cases.
#[derive(Debug)]
pub(crate) struct Line {
    /// The file's name, without its directory.
    pub(crate) file: String,
    pub(crate) number: usize,
    /// Or what is wrong with the line.
    pub(crate) case: Result<Case, String>,
}

/// Every line of every file that is to be played; an error if there are none.
pub(crate) fn cases() -> Result<Vec<Line>, String> {
    let directory = directory(std::env::var_os("BREAKER_CASES"));
    let mut lines = Vec::new();
    for path in files(&directory)? {
        lines.extend(read(&path)?);
    }
    if lines.is_empty() {
        return Err(format!("{}: no cases", directory.display()));
    }
    Ok(lines)
}

fn directory(named: Option<OsString>) -> PathBuf {
    match named {
        Some(named) => named.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"),
    }
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| {
        format!(
            "`{}` is not a directory of cases: {error}",
            directory.display()
        )
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: no *.jsonl", directory.display()));
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<Line>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let written = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    Ok(written
        .map(|(index, line)| Line {
            file: file.clone().into_owned(),
            number: index + 1,
            case: serde_json::from_slice(line).map_err(|error| format!("not a case: {error}")),
        })
        .collect())
}
