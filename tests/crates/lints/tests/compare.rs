//! The same code with the attribute and without, under every lint of rustc and clippy.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Clippy's groups, all of them.
const GROUPS: [&str; 5] = [
    "clippy::all",
    "clippy::pedantic",
    "clippy::nursery",
    "clippy::restriction",
    "clippy::cargo",
];

/// A lint and where it was set off: file and line.
type Warning = (String, String, u64);

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().expect("it can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The compiler's lints that are off unless asked for.
fn silent_lints() -> Vec<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    stdout(Command::new(rustc).args(["-W", "help"]))
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            (words.next()? == "allow").then(|| name.to_owned())
        })
        .collect()
}

/// What clippy says of the code.
fn warnings(code: &str) -> BTreeSet<Warning> {
    let mut clippy = cargo();
    clippy
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["clippy", "--lib", "--message-format=json", "--"])
        .args(["--cfg", &format!("code=\"{code}\"")]);
    for lint in silent_lints().iter().map(String::as_str).chain(GROUPS) {
        clippy.args(["-W", lint]);
    }
    stdout(&mut clippy)
        .lines()
        .filter_map(|line| warning(&serde_json::from_str(line).expect("JSON")))
        .collect()
}

fn warning(message: &Value) -> Option<Warning> {
    let target = message.pointer("/target/name")?.as_str()?;
    if target != "test_lints" {
        return None;
    }
    let lint = message.pointer("/message/code/code")?.as_str()?;
    let spans = message.pointer("/message/spans")?.as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true);
    let file = primary.map_or("", |span| span["file_name"].as_str().unwrap_or_default());
    let line = primary.map_or(0, |span| span["line_start"].as_u64().unwrap_or_default());
    Some((lint.to_owned(), file.to_owned(), line))
}

#[test]
fn the_attribute_sets_off_no_lint_and_silences_none_of_note() {
    if !cargo()
        .args(["clippy", "--version"])
        .output()
        .is_ok_and(|found| found.status.success())
    {
        assert!(
            std::env::var_os("CI").is_none(),
            "clippy is missing: rustup component add clippy"
        );
        println!("skipped: clippy is missing");
        return;
    }
    let plain = warnings("plain");
    let guarded = warnings("guarded");
    assert!(
        plain.len() > 100,
        "{} warnings are too few to be all",
        plain.len()
    );
    let more: Vec<_> = guarded
        .difference(&plain)
        .map(|(lint, file, line)| format!("{lint} in {file}:{line}"))
        .collect();
    let more = more.join("\n");
    assert!(more.is_empty(), "only of the annotated code:\n{more}");

    let lines = include_str!("../src/lines.rs");
    let expected = lines.lines().zip(2..).filter_map(|(line, number)| {
        let (_, lint) = line.split_once("//~ ")?;
        Some((lint, number))
    });
    for (lint, number) in expected {
        for (code, warnings) in [("plain", &plain), ("guarded", &guarded)] {
            let is_it = |(of, file, at): &Warning| {
                of == lint && file.ends_with("lines.rs") && *at == number
            };
            assert!(
                warnings.iter().any(is_it),
                "{code}: no {lint} in line {number}"
            );
        }
    }
}
