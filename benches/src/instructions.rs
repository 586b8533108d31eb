//! Instructions of a call, counted by `valgrind --tool=callgrind`: the same in every run.
//!
//! This program is run again under valgrind, which writes down what it counted each time that
//! [`Bench::make_counted`](crate::harness::Bench::make_counted) made a piece of a subject's calls.

use crate::callgrind::{self, Malformed, Part};
use crate::harness::{COUNTED, COUNTED_CALLS, COUNTING, Id};
use crate::names::Name;
use addr2line::Loader;
use object::{Object as _, ObjectSymbol as _};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io, process};
use thiserror::Error;

/// The option that makes the calls to be counted, of these subjects.
pub(crate) const OPTION: &str = "--counted";

/// Which observer is installed while they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nobody,
    /// One that hears of refused calls.
    Observer,
    /// One that hears of the end of each call.
    Told,
}

impl Beside {
    const ALL: [(&'static str, Self); 3] = [
        ("nobody", Self::Nobody),
        ("observer", Self::Observer),
        ("told", Self::Told),
    ];

    /// Of the option's second value.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, beside)| *beside)
    }

    fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// Instructions of a call, by the function that they stand in; one that was inlined has its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    by_function: BTreeMap<String, f64>,
}

impl Profile {
    #[cfg(test)]
    pub(crate) fn of(functions: &[(&str, f64)]) -> Self {
        let functions = functions.iter().copied();
        Self {
            by_function: functions
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
        }
    }

    pub(crate) fn total(&self) -> f64 {
        self.by_function.values().sum()
    }

    /// The differences to another.
    pub(crate) fn over(&self, bare: &Self) -> Self {
        let mut over = self.clone();
        for (function, instructions) in &bare.by_function {
            *over.by_function.entry(function.clone()).or_default() -= instructions;
        }
        over
    }

    /// The functions with the most instructions first, without those that make no difference.
    pub(crate) fn functions(&self) -> Vec<(&str, f64)> {
        let mut functions: Vec<(&str, f64)> = self
            .by_function
            .iter()
            .map(|(function, instructions)| (function.as_str(), *instructions))
            .filter(|(_, instructions)| instructions.abs() >= 0.05)
            .collect();
        functions.sort_by(|a, b| b.1.total_cmp(&a.1));
        functions
    }
}

/// What was counted, by subject.
pub(crate) type Profiles = HashMap<Id, Profile>;

/// Why nothing was counted.
#[derive(Debug, Error)]
pub(crate) enum NotCounted {
    #[error("valgrind is missing: `apt-get install valgrind`, or as your system installs it")]
    NoValgrind,
    #[error("valgrind: {0}")]
    Io(#[from] io::Error),
    #[error("valgrind ended with {0}: {1}")]
    Ended(process::ExitStatus, String),
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("this program has no symbols")]
    NoSymbol,
    #[error("valgrind wrote {found} parts of {expected}")]
    Parts { found: usize, expected: usize },
}

/// Counts the instructions of these subjects.
pub(crate) fn count(ids: &[Id], beside: Beside) -> Result<Profiles, NotCounted> {
    if ids.is_empty() {
        return Ok(Profiles::new());
    }
    let program = env::current_exe()?;
    let written = Written::new();
    let symbol = symbol_of(&program, COUNTING).ok_or(NotCounted::NoSymbol)?;
    run(&program, &symbol, ids, beside, &written.0)?;
    let parts = callgrind::parse(&String::from_utf8_lossy(&fs::read(&written.0)?))?;
    let expected = ids.len() * COUNTED as usize;
    // The last one is what the program did after them.
    if parts.len() != expected + 1 {
        let found = parts.len().saturating_sub(1);
        return Err(NotCounted::Parts { found, expected });
    }
    let mut functions = Functions::of(&program);
    let pieces = parts.chunks_exact(COUNTED as usize);
    let profiles = ids.iter().zip(pieces).map(|(id, pieces)| {
        let [.., fewer, more] = pieces else {
            return (*id, Profile::default());
        };
        (*id, per_call(fewer, more, &mut functions))
    });
    Ok(profiles.collect())
}

/// In full: valgrind's patterns don't find everything.
fn symbol_of(program: &Path, function: &str) -> Option<String> {
    let data = fs::read(program).ok()?;
    let file = object::File::parse(data.as_slice()).ok()?;
    let names = file.symbols().filter_map(|symbol| symbol.name().ok());
    let mut meant = names.filter(|name| Name::of(name).path == function);
    meant.next().map(str::to_owned)
}

fn run(
    program: &Path,
    symbol: &str,
    ids: &[Id],
    beside: Beside,
    written: &Path,
) -> Result<(), NotCounted> {
    let ids: Vec<String> = ids.iter().map(Id::to_string).collect();
    let mut file = std::ffi::OsString::from("--callgrind-out-file=");
    file.push(written);
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--demangle=no"])
        .args(["--combine-dumps=yes", "--dump-instr=yes", "--dump-line=no"])
        .arg(format!("--zero-before={symbol}"))
        .arg(format!("--dump-after={symbol}"))
        .arg(file)
        .arg(program)
        .args([OPTION, &ids.join(","), beside.name()])
        .stdout(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NotCounted::NoValgrind,
            _ => NotCounted::Io(error),
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(NotCounted::Ended(output.status, said))
}

/// What a call adds: the difference of two pieces, one with so many calls more.
fn per_call(fewer: &Part, more: &Part, functions: &mut Functions) -> Profile {
    let mut profile = Profile::default();
    for (part, sign) in [(fewer, -1.0), (more, 1.0)] {
        for cost in &part.costs {
            let function = functions.at(&cost.object, cost.address, &cost.function);
            *profile.by_function.entry(function).or_default() += sign * cost.times as f64;
        }
    }
    for instructions in profile.by_function.values_mut() {
        *instructions /= COUNTED_CALLS as f64;
    }
    profile
}

/// Which function an instruction stands in.
struct Functions {
    program: PathBuf,
    /// Nothing without debug information: then by symbols alone.
    debug: Option<Loader>,
    known: HashMap<u64, String>,
}

impl Functions {
    fn of(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            debug: Loader::new(program).ok(),
            known: HashMap::new(),
        }
    }

    fn at(&mut self, object: &str, address: u64, symbol: &str) -> String {
        if Path::new(object) != self.program {
            return Name::of(symbol).path;
        }
        if let Some(function) = self.known.get(&address) {
            return function.clone();
        }
        let function = self
            .inlined(address)
            .unwrap_or_else(|| Name::of(symbol).path);
        self.known.insert(address, function.clone());
        function
    }

    /// The innermost function that is not of Rust's own libraries: what they are called for is
    /// their caller's.
    fn inlined(&self, address: u64) -> Option<String> {
        let mut frames = self.debug.as_ref()?.find_frames(address).ok()?;
        let mut innermost = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(function) = frame.function else {
                continue;
            };
            let name = Name::of(&function.raw_name().ok()?);
            if !name.is_of_rust {
                return Some(name.path);
            }
            innermost.get_or_insert(name.path);
        }
        innermost
    }
}

/// A file that is gone in the end.
struct Written(PathBuf);

impl Written {
    fn new() -> Self {
        let name = format!("breakerbox-bench-{}.callgrind", process::id());
        Self(env::temp_dir().join(name))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // It isn't there if valgrind wasn't.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Functions, Profile, per_call};
    use crate::callgrind::{Cost, Part};
    use crate::harness::COUNTED_CALLS;
    use std::path::Path;

    fn part(costs: &[(&str, u64)]) -> Part {
        let costs = costs.iter().map(|&(function, times)| Cost {
            object: "/lib/libc.so".to_owned(),
            function: function.to_owned(),
            address: 1,
            times,
        });
        Part {
            costs: costs.collect(),
        }
    }

    fn profile(fewer: &[(&str, u64)], more: &[(&str, u64)]) -> Profile {
        let mut functions = Functions::of(Path::new("no such program"));
        per_call(&part(fewer), &part(more), &mut functions)
    }

    #[test]
    fn what_is_done_once_is_no_part_of_a_call() {
        let calls = COUNTED_CALLS;
        let profile = profile(
            &[("once", 900), ("f", 3 * calls), ("g", calls)],
            &[("once", 900), ("f", 6 * calls), ("g", 2 * calls)],
        );
        assert_eq!(profile.functions(), [("f", 3.0), ("g", 1.0)]);
        assert_eq!(profile.total(), 4.0);
    }

    #[test]
    fn over_another_only_differences_are_left() {
        let calls = COUNTED_CALLS;
        let guarded = profile(&[], &[("f", 5 * calls), ("g", calls), ("h", calls)]);
        let bare = profile(&[], &[("f", 2 * calls), ("h", calls), ("i", calls)]);
        let over = guarded.over(&bare);
        assert_eq!(over.functions(), [("f", 3.0), ("g", 1.0), ("i", -1.0)]);
        assert_eq!(over.total(), 3.0);
    }
}
