//! `cargo xtask bench compile`: what the attribute adds to the time of `cargo check`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::time::{Duration, Instant, SystemTime};

use crate::tools::cargo;
use crate::workspace;

const HEAD: &str = include_str!("compile.md");
const COMMON: &str = include_str!("compile/common.rs");
const FUNCTION: &str = include_str!("compile/function.rs");

/// A crate to be checked.
#[derive(Debug)]
struct Subject {
    package: &'static str,
    /// The attribute above each function, as the table shows it.
    shown: &'static str,
    attribute: &'static str,
    dependency: &'static str,
    besides: &'static str,
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        package: "bare",
        shown: "none",
        attribute: "",
        dependency: "",
        besides: "",
    },
    Subject {
        package: "traced",
        shown: "`#[tracing::instrument]`",
        attribute: "#[tracing::instrument]",
        dependency: "tracing = { version = \"0.1\", default-features = false, features = [\"attributes\", \"std\"] }",
        besides: "",
    },
    Subject {
        package: "guarded",
        shown: "`#[circuit_breaker(..)]`",
        attribute: "#[breakerbox::circuit_breaker(threshold = 3, reset = \"10s\", classify = PmsError::is_transient, fallback = last_good)]",
        dependency: "breakerbox = { path = \"ROOT\" }",
        besides: "impl From<breakerbox::CircuitOpenError> for PmsError {
    fn from(_: breakerbox::CircuitOpenError) -> Self {
        Self::Refused
    }
}
",
    },
];

const BARE: usize = 0;
const TRACED: usize = 1;
const GUARDED: usize = 2;

/// The largest ratio of guarded to traced that is fine.
const REACH: f64 = 1.5;

const TO_A_MODULE: usize = 50;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    functions: usize,
    rounds: usize,
}

impl Effort {
    const FULL: Self = Self {
        functions: 1_000,
        rounds: 5,
    };
    /// To see that it runs.
    const SMOKE: Self = Self {
        functions: 3,
        rounds: 1,
    };
}

/// Seconds of each subject, from nothing and again.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    whole: [f64; 3],
    again: [f64; 3],
}

impl Times {
    fn ratio(times: &[f64; 3]) -> f64 {
        times[GUARDED] / times[TRACED]
    }

    fn reached(&self) -> bool {
        Self::ratio(&self.whole) <= REACH
    }
}

/// What the job prints; `None` if there is no such option.
pub(crate) fn job(options: &[&str]) -> Option<io::Result<String>> {
    Some(match options {
        [] => section(),
        ["--json"] => measure(Effort::FULL).map(|times| json(&times)),
        ["--smoke"] => measure(Effort::SMOKE).map(|_| String::new()),
        _ => return None,
    })
}

/// The section of the page.
pub(crate) fn section() -> io::Result<String> {
    Ok(table(&measure(Effort::FULL)?))
}

fn table(times: &Times) -> String {
    let mut text = format!(
        "{HEAD}\nTo reach: from nothing <= {REACH} of the same with `#[tracing::instrument]`.\n\n\
         | attribute | from nothing, s | over bare | of traced | again, s | of traced | reached |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | --- |\n"
    );
    for (at, subject) in SUBJECTS.iter().enumerate() {
        let (whole, again) = (times.whole[at], times.again[at]);
        let reached = match (at, times.reached()) {
            (GUARDED, true) => "yes",
            (GUARDED, false) => "**no**",
            _ => "",
        };
        let _ = writeln!(
            text,
            "| {} | {whole:.2} | {:+.2} | {:.2} | {again:.2} | {:.2} | {reached} |",
            subject.shown,
            whole - times.whole[BARE],
            whole / times.whole[TRACED],
            again / times.again[TRACED],
        );
    }
    text
}

fn json(times: &Times) -> String {
    let rows: Vec<String> = SUBJECTS
        .iter()
        .enumerate()
        .map(|(at, subject)| {
            format!(
                "    {{ \"package\": \"{}\", \"whole_s\": {:.3}, \"again_s\": {:.3} }}",
                subject.package, times.whole[at], times.again[at]
            )
        })
        .collect();
    format!(
        "{{\n  \"reach\": {REACH},\n  \"ratio\": {:.3},\n  \"ratio_again\": {:.3},\n  \"reached\": {},\n  \"rows\": [\n{}\n  ]\n}}\n",
        Times::ratio(&times.whole),
        Times::ratio(&times.again),
        times.reached(),
        rows.join(",\n")
    )
}

fn measure(effort: Effort) -> io::Result<Times> {
    let crates = Crates::make(effort)?;
    let time = |keeps: bool| -> io::Result<[f64; 3]> {
        for subject in &SUBJECTS {
            crates.check(subject, keeps)?;
        }
        let mut rounds = Vec::new();
        for _ in 0..effort.rounds {
            let mut times = [0.0; 3];
            for (time, subject) in times.iter_mut().zip(&SUBJECTS) {
                *time = crates.check(subject, keeps)?.as_secs_f64();
            }
            rounds.push(times);
        }
        Ok([BARE, TRACED, GUARDED].map(|at| median(rounds.iter().map(|round| round[at]))))
    };
    Ok(Times {
        whole: time(false)?,
        again: time(true)?,
    })
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A temporary workspace of all subjects.
#[derive(Debug)]
struct Crates(PathBuf);

impl Crates {
    fn make(effort: Effort) -> io::Result<Self> {
        let crates = Self(std::env::temp_dir().join(format!("breakerbox-compile-{}", id())));
        let root = workspace::root();
        for subject in &SUBJECTS {
            let folder = crates.0.join(subject.package);
            fs::create_dir_all(folder.join("src"))?;
            fs::write(folder.join("Cargo.toml"), manifest(subject, &root))?;
            fs::write(source(&folder), text(subject, effort.functions))?;
        }
        let members = SUBJECTS.map(|subject| format!("\"{}\"", subject.package));
        let members = members.join(", ");
        fs::write(
            crates.0.join("Cargo.toml"),
            format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"),
        )?;
        // The same versions as ours.
        fs::copy(root.join("Cargo.lock"), crates.0.join("Cargo.lock"))?;
        Ok(crates)
    }

    /// The time of one check. The first one compiles what the crate depends on.
    fn check(&self, subject: &Subject, keeps: bool) -> io::Result<Duration> {
        let file = File::options()
            .append(true)
            .open(source(&self.0.join(subject.package)))?;
        file.set_modified(SystemTime::now())?;
        let started = Instant::now();
        let status = self.cargo(subject, keeps).status()?;
        let took = started.elapsed();
        match status.success() {
            true => Ok(took),
            false => Err(io::Error::other(format!(
                "the crate `{}` has errors",
                subject.package
            ))),
        }
    }

    fn cargo(&self, subject: &Subject, keeps: bool) -> Command {
        let mut command = cargo();
        command
            .current_dir(&self.0)
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env("CARGO_INCREMENTAL", if keeps { "1" } else { "0" })
            .args(["check", "--quiet", "--package", subject.package]);
        command
    }
}

impl Drop for Crates {
    fn drop(&mut self) {
        // What can't be removed is left to whoever cleans the folder of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn source(folder: &Path) -> PathBuf {
    folder.join("src/lib.rs")
}

fn manifest(subject: &Subject, root: &Path) -> String {
    // A path with a backslash is a literal string of TOML.
    let dependency = subject
        .dependency
        .replace("\"ROOT\"", &format!("'{}'", root.display()));
    format!(
        "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n",
        subject.package
    )
}

fn text(subject: &Subject, functions: usize) -> String {
    let mut text = format!("{COMMON}\n{}", subject.besides);
    for number in 0..functions {
        if number.is_multiple_of(TO_A_MODULE) {
            let close = if number > 0 { "}\n" } else { "" };
            let _ = write!(text, "{close}\npub mod m{number} {{\nuse super::*;\n");
        }
        let function = FUNCTION.replace("fn rooms(", &format!("fn rooms_{number}("));
        let _ = write!(text, "\n{}\n{function}", subject.attribute);
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::{SUBJECTS, Times, json, manifest, median, table, text};
    use std::path::Path;

    #[test]
    fn every_function_is_there_once_with_its_attribute() {
        for subject in &SUBJECTS {
            let text = text(subject, 120);
            assert_eq!(text.matches("async fn rooms_").count(), 120);
            assert!(text.contains("fn rooms_119("));
            assert_eq!(text.matches("pub mod ").count(), 3);
            assert_eq!(text.matches('{').count(), text.matches('}').count());
            if !subject.attribute.is_empty() {
                assert_eq!(text.matches(subject.attribute).count(), 120);
            }
        }
    }

    #[test]
    fn a_crate_depends_on_this_folder() {
        let manifest = manifest(&SUBJECTS[2], Path::new("/a b"));
        assert!(
            manifest.contains("breakerbox = { path = '/a b' }"),
            "{manifest}"
        );
    }

    #[test]
    fn the_median_of_an_odd_number_is_its_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert!(median([].into_iter()).is_nan());
    }

    #[test]
    fn shows_ratios_and_what_is_reached() {
        let times = Times {
            whole: [4.0, 10.0, 12.0],
            again: [1.0, 4.0, 2.0],
        };
        let text = table(&times);
        assert!(
            text.ends_with(
                "| none | 4.00 | +0.00 | 0.40 | 1.00 | 0.25 |  |\n\
                 | `#[tracing::instrument]` | 10.00 | +6.00 | 1.00 | 4.00 | 1.00 |  |\n\
                 | `#[circuit_breaker(..)]` | 12.00 | +8.00 | 1.20 | 2.00 | 0.50 | yes |\n"
            ),
            "{text}"
        );
        let slow = Times {
            whole: [4.0, 10.0, 16.0],
            ..times
        };
        assert!(table(&slow).contains("**no**"));
        let json = json(&slow);
        assert!(json.contains("\"ratio\": 1.600"), "{json}");
        assert!(json.contains("\"reached\": false"), "{json}");
    }
}
