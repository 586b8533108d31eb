//! `cargo xtask size`: what a breaker adds to a program without an operating system.

use object::{BinaryFormat, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use thiserror::Error;

use crate::target::{Build, CORE, Source};
use crate::workspace;

const HEAD: &str = include_str!("size.md");

/// The program that has nothing in it but what every program has.
const NOTHING: &str = "nothing";

/// Those with a breaker, and what it is.
const PROGRAMS: [(&str, &str); 2] = [
    ("consecutive", "failures in a row"),
    ("rate", "by rate, `Sliding`"),
];

/// How they are optimised.
const LEVELS: [&str; 2] = ["z", "3"];

pub(crate) const BUILDS: [Build<'static>; 3] = [
    programs("thumbv7em-none-eabi"),
    programs("thumbv6m-none-eabi"),
    programs("wasm32v1-none"),
];

const fn programs(target: &'static str) -> Build<'static> {
    Build {
        package: "test-size",
        target,
        library: CORE,
        arguments: &["--bins"],
    }
}

/// Why there is no table.
#[derive(Debug, Error)]
pub(crate) enum Unsized {
    #[error("{}", Source::NONE)]
    NoSource,
    #[error("the programs don't build for {0}")]
    Build(&'static str),
    #[error("{0}: {1}")]
    Io(PathBuf, std::io::Error),
    #[error("{0}: {1}")]
    Object(PathBuf, object::Error),
}

/// Bytes of a linked program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    code: u64,
    data: u64,
    zeroed: u64,
}

impl Size {
    fn over(self, nothing: Self) -> Self {
        Self {
            code: self.code.saturating_sub(nothing.code),
            data: self.data.saturating_sub(nothing.data),
            zeroed: self.zeroed.saturating_sub(nothing.zeroed),
        }
    }
}

/// What is known of a linked program.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    size: Size,
    /// The functions in it that panic.
    panics: Vec<String>,
}

pub(crate) fn job() -> ExitCode {
    match section() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("can't measure sizes: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The section of the page.
pub(crate) fn section() -> Result<String, Unsized> {
    let source = Source::find().ok_or(Unsized::NoSource)?;
    let compiler = source.describe().unwrap_or_else(|| "unknown".to_owned());
    let mut text = format!(
        "{HEAD}\nCompiler: {compiler}.\n\n| | target | `opt-level` | code | data | zeroed | what can panic |\n\
         | --- | --- | --- | ---: | ---: | ---: | --- |\n"
    );
    for build in &BUILDS {
        for level in LEVELS {
            let files = link(build, &source, level)?;
            let nothing = read_file(&files, NOTHING)?;
            for (name, what) in PROGRAMS {
                let program = read_file(&files, name)?;
                let Size { code, data, zeroed } = program.size.over(nothing.size);
                let panics = match program.panics.as_slice() {
                    [] => "nothing".to_owned(),
                    panics => format!("`{}`", panics.join("`, `")),
                };
                let target = build.target;
                let _ = writeln!(
                    text,
                    "| {what} | `{target}` | {level} | {code} | {data} | {zeroed} | {panics} |"
                );
            }
        }
    }
    Ok(text)
}

/// Whether the programs that are there for a target are free of panics: what is
/// there for an embedded program must not bring a panic's formatting along.
pub(crate) fn cannot_panic(build: &Build<'static>) -> Result<(), String> {
    let files = folder(build);
    for (name, what) in PROGRAMS {
        let program = read_file(&files, name).map_err(|error| error.to_string())?;
        if !program.panics.is_empty() {
            return Err(format!(
                "a breaker ({what}) can panic on {}: {} is linked",
                build.target,
                program.panics.join(", ")
            ));
        }
    }
    Ok(())
}

/// Where the programs for a target are.
fn folder(build: &Build<'static>) -> PathBuf {
    workspace::target_dir().join(build.target).join("release")
}

/// Makes the programs, and says where they are.
fn link(build: &Build<'static>, source: &Source, level: &str) -> Result<PathBuf, Unsized> {
    let mut command = build.command(source);
    command
        .arg("--quiet")
        .arg("--target-dir")
        .arg(workspace::target_dir());
    optimise(&mut command, level);
    let done = command.status();
    if !done.is_ok_and(|status| status.success()) {
        return Err(Unsized::Build(build.target));
    }
    Ok(folder(build))
}

/// As a small program is built.
pub(crate) fn optimise(command: &mut Command, level: &str) {
    for (key, value) in [
        ("OPT_LEVEL", level),
        ("LTO", "fat"),
        ("CODEGEN_UNITS", "1"),
        ("PANIC", "abort"),
        // Names say what can panic.
        ("STRIP", "none"),
    ] {
        command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
}

fn read_file(files: &Path, name: &str) -> Result<Program, Unsized> {
    let elf = files.join(name);
    let path = if elf.exists() {
        elf
    } else {
        elf.with_extension("wasm")
    };
    let bytes = fs::read(&path).map_err(|error| Unsized::Io(path.clone(), error))?;
    read(&bytes).map_err(|error| Unsized::Object(path, error))
}

fn read(bytes: &[u8]) -> Result<Program, object::Error> {
    let file = object::File::parse(bytes)?;
    // Of WebAssembly these are declarations.
    let zeroes = file.format() != BinaryFormat::Wasm;
    let mut size = Size::default();
    for section in file.sections() {
        let bytes = match section.kind() {
            SectionKind::Text => &mut size.code,
            SectionKind::Data
            | SectionKind::ReadOnlyData
            | SectionKind::ReadOnlyDataWithRel
            | SectionKind::ReadOnlyString => &mut size.data,
            SectionKind::UninitializedData if zeroes => &mut size.zeroed,
            _ => continue,
        };
        *bytes = bytes.saturating_add(section.size());
    }
    let names = file.symbols().filter_map(|symbol| symbol.name().ok());
    Ok(Program {
        size,
        panics: panics(names),
    })
}

/// What the programs' panic handler calls: it is there if anything can panic.
const HANDLER: &str = "test_size::bare::panicked";

/// What every other panic goes through.
const GENERAL: [&str; 2] = ["panic_fmt", "panicked"];

/// Of these symbols, what leads to the panic handler, by the last of its path.
fn panics<'a>(symbols: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut panics: Vec<String> = symbols
        .map(|symbol| format!("{:#}", rustc_demangle::demangle(symbol)))
        .filter(|path| path.starts_with("core::") || path == HANDLER)
        .filter_map(|path| path.rsplit("::").next().map(str::to_owned))
        .filter(|name| {
            name.starts_with("panic") || name.ends_with("_fail") || name.ends_with("_failed")
        })
        .collect();
    panics.sort();
    panics.dedup();
    for general in GENERAL.iter().rev() {
        if panics.len() > 1 {
            panics.retain(|name| name != general);
        }
    }
    panics
}

#[cfg(test)]
mod tests {
    use super::{Program, Size, panics, read};

    /// A function that does nothing, and a byte.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\
        \x01\x04\x01\x60\0\0\
        \x03\x02\x01\0\
        \x05\x03\x01\0\x01\
        \x0a\x04\x01\x02\0\x0b\
        \x0b\x07\x01\0\x41\0\x0b\x01\x2a";

    #[test]
    fn reads_the_sections_of_webassembly() {
        let size = Size {
            code: 4,
            data: 7,
            zeroed: 0,
        };
        let panics = Vec::new();
        assert_eq!(read(MODULE).unwrap(), Program { size, panics });
    }

    #[test]
    fn reads_a_program_of_this_system() {
        let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        // It may be of a format that is none of these targets'.
        if let Ok(program) = read(&this) {
            assert!(program.size.code > 0 && program.size.data > 0);
            assert!(!program.panics.is_empty());
        }
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let cut = &MODULE[..12];
        for bytes in [&b""[..], b"no program", b"\x7fELF", b"\0asm", cut] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn knows_what_panics() {
        let found = |symbols: &[&str]| panics(symbols.iter().copied());
        let fmt = "_RNvNtCsaFjvQsOnSLx_4core9panicking9panic_fmt";
        let by_zero = "_RNvNtNtCsaFjvQsOnSLx_4core9panicking11panic_const23panic_const_div_by_zero";
        assert_eq!(found(&[fmt, by_zero]), ["panic_const_div_by_zero"]);
        let handler = "_RNvNtCsaFjvQsOnSLx_9test_size4bare8panicked";
        assert_eq!(found(&[handler, fmt]), ["panic_fmt"]);
        assert_eq!(found(&[handler]), ["panicked"]);
        assert!(found(&["main", "", "_ZN1a5panic17h0123456789abcdefE"]).is_empty());
    }

    #[test]
    fn nothing_is_less_than_nothing() {
        let (small, large) = (
            Size::default(),
            Size {
                code: 1,
                data: 2,
                zeroed: 3,
            },
        );
        assert_eq!(large.over(small), large);
        assert_eq!(small.over(large), small);
    }
}
