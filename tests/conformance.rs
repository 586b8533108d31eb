//! Plays the cases of the contract through the public API: all of `tests/conformance/*.jsonl`, or all in
//! the directory that `BREAKER_CASES` names. The format: `tests/conformance/README.md`.
//!
//! A line for each failing case, then `N passed, N failed`.
//! `cargo test --test conformance -- WORD` plays the cases that have WORD in `source/name`.

#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/config.rs"]
mod config;
#[path = "conformance/expect.rs"]
mod expect;
#[path = "conformance/files.rs"]
mod files;
#[path = "conformance/player.rs"]
mod player;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use case::Case;

/// What became of the cases.
#[derive(Debug, Default)]
struct Report {
    passed: u64,
    failed: u64,
}

fn main() -> ExitCode {
    let words = match Selection::from_args(std::env::args().skip(1)) {
        Selection::Nothing => return ExitCode::SUCCESS,
        Selection::Words(words) => words,
    };
    let mut report = Report::default();
    match files::cases() {
        Ok(lines) => {
            for line in lines {
                report.line(&line, &words);
            }
        }
        Err(error) => report.fail(&error),
    }
    report.close()
}

impl Report {
    fn line(&mut self, line: &files::Line, words: &[String]) {
        let place = format!("{}:{}", line.file, line.number);
        let case: Case = match &line.case {
            Ok(case) => case.clone(),
            Err(error) => return self.fail(&format!("{place}: {error}")),
        };
        let name = case.full_name();
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| player::play(&case))) {
            Ok(Ok(())) => self.passed += 1,
            Ok(Err(mismatch)) => self.fail(&format!("{place}: {name}: {mismatch}")),
            Err(_) => self.fail(&format!(
                "{place}: {name}: expected no panic, got the one above"
            )),
        }
    }

    fn fail(&mut self, what: &str) {
        println!("FAILED {what}");
        self.failed += 1;
    }

    fn close(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed);
        ExitCode::from(u8::from(self.failed > 0))
    }
}

/// What `cargo test` asks for; it passes to every test program what it was given.
enum Selection {
    /// A list of tests, or only ignored ones.
    Nothing,
    /// The cases with one of these words in their names; all if there are none.
    Words(Vec<String>),
}

impl Selection {
    /// The options of `cargo test` that take a value of their own.
    const WITH_VALUE: [&str; 7] = [
        "--color",
        "--format",
        "--logfile",
        "--shuffle-seed",
        "--skip",
        "--test-threads",
        "-Z",
    ];

    fn from_args(mut args: impl Iterator<Item = String>) -> Self {
        let mut words = Vec::new();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--list" | "--ignored" => return Self::Nothing,
                option if Self::WITH_VALUE.contains(&option) => drop(args.next()),
                option if option.starts_with('-') => {}
                _ => words.push(arg),
            }
        }
        Self::Words(words)
    }
}
