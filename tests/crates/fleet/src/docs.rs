//! Where figures stand in the docs.

use std::env;
use std::fs;
use std::process::ExitCode;

/// Prints a table, and with `--into FILE` among the program's arguments also writes it there, between the
/// lines `<!-- NAME -->` and `<!-- /NAME -->`.
#[must_use]
pub fn show(name: &str, table: &str) -> ExitCode {
    print!("{table}");
    let mut arguments = env::args().skip_while(|argument| argument != "--into");
    let (Some(_), file) = (arguments.next(), arguments.next()) else {
        return ExitCode::SUCCESS;
    };
    let Some(file) = file else {
        eprintln!("into which file? --into FILE");
        return ExitCode::from(2);
    };
    match write(&file, name, table) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(file: &str, name: &str, table: &str) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let parts = text.split_once(&begin);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("no lines {begin} and {end}"))?;
    let text = format!("{before}{begin}{table}{end}{after}");
    fs::write(file, text).map_err(|error| error.to_string())
}
