//! Reads what `valgrind --tool=callgrind` writes, with a position for each instruction.
//!
//! The format: <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::HashMap;
use thiserror::Error;

/// What was counted between two dumps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) costs: Vec<Cost>,
}

/// How often one instruction was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The file of the program or library that it belongs to.
    pub(crate) object: String,
    /// The function's symbol.
    pub(crate) function: String,
    /// Where it stands in the object.
    pub(crate) address: u64,
    pub(crate) times: u64,
}

/// Why a file can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Malformed {
    #[error("line {0} of callgrind's file is none of its format: {1:?}")]
    Line(usize, String),
    #[error("line {0} of callgrind's file names something that it didn't introduce: {1:?}")]
    Unknown(usize, String),
    #[error("part {part} of callgrind's file has {found} instructions, and says {said}")]
    Sum { part: usize, found: u64, said: u64 },
    #[error("callgrind's file has other events or positions than one count an instruction: {0:?}")]
    Counts(String),
}

pub(crate) fn parse(text: &str) -> Result<Vec<Part>, Malformed> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        reader.line(number + 1, line.trim())?;
    }
    Ok(reader.parts)
}

/// Names, each written out once and then a number.
type Names = HashMap<u64, String>;

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    objects: Names,
    functions: Names,
    object: String,
    function: String,
    /// Positions are written as differences to the one before.
    address: u64,
    /// The line after `calls=` is what the callee cost, which is counted there.
    of_callee: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Malformed> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let malformed = || Malformed::Line(number, line.to_owned());
        if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            return self.cost(line).ok_or_else(malformed);
        }
        if let Some((key, value)) = line.split_once(": ") {
            return self.header(key, value).unwrap_or_else(|| Err(malformed()));
        }
        let Some((key, value)) = line.split_once('=') else {
            // A header may be empty.
            return line.strip_suffix(':').map(|_| ()).ok_or_else(malformed);
        };
        let names = match key {
            "ob" | "cob" => &mut self.objects,
            "fn" | "cfn" => &mut self.functions,
            // Sources, of which the debug information says more.
            "fl" | "fi" | "fe" | "cfi" | "cfl" => return Ok(()),
            "calls" => {
                self.of_callee = true;
                return Ok(());
            }
            _ => return Err(malformed()),
        };
        let name = resolve(names, value).ok_or_else(|| Malformed::Unknown(number, line.into()))?;
        match key {
            "ob" => self.object = name,
            "fn" => self.function = name,
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self, key: &str, value: &str) -> Option<Result<(), Malformed>> {
        match (key, value.trim()) {
            ("part", _) => {
                self.parts.push(Part::default());
                self.address = 0;
            }
            ("positions", "instr") | ("events", "Ir") => {}
            ("positions" | "events", _) => return Some(Err(Malformed::Counts(value.to_owned()))),
            ("totals", said) => {
                let said = said.parse().ok()?;
                let found = self.parts.last()?.total();
                if found != said {
                    let part = self.parts.len();
                    return Some(Err(Malformed::Sum { part, found, said }));
                }
            }
            _ => {}
        }
        Some(Ok(()))
    }

    fn cost(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        self.address = position(words.next()?, self.address)?;
        let times = words.next().map_or(Ok(0), str::parse).ok()?;
        if std::mem::take(&mut self.of_callee) {
            return Some(());
        }
        self.parts.last_mut()?.costs.push(Cost {
            object: self.object.clone(),
            function: self.function.clone(),
            address: self.address,
            times,
        });
        Some(())
    }
}

impl Part {
    pub(crate) fn total(&self) -> u64 {
        self.costs
            .iter()
            .fold(0, |sum, cost| sum.saturating_add(cost.times))
    }
}

/// `(7) name` the first time, `(7)` from then on; or just the name.
fn resolve(names: &mut Names, value: &str) -> Option<String> {
    let Some(numbered) = value.strip_prefix('(') else {
        return Some(value.to_owned());
    };
    let Some((number, name)) = numbered.split_once(')') else {
        return Some(value.to_owned());
    };
    let Ok(number) = number.parse() else {
        // `(below main)`
        return Some(value.to_owned());
    };
    match name.trim() {
        "" => names.get(&number).cloned(),
        name => {
            names.insert(number, name.to_owned());
            Some(name.to_owned())
        }
    }
}

fn position(word: &str, before: u64) -> Option<u64> {
    if word == "*" {
        return Some(before);
    }
    if let Some(more) = word.strip_prefix('+') {
        return before.checked_add(number(more)?);
    }
    if let Some(less) = word.strip_prefix('-') {
        return before.checked_sub(number(less)?);
    }
    number(word)
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Malformed, parse};

    const FILE: &str = "\
# callgrind format
version: 1
cmd:  ./bench
part: 1

desc: I1 cache:
positions: instr
events: Ir
summary: 12

ob=(1) /lib/libc.so
fl=(1) ???
fn=(1) (below main)
cob=(2) /bin/bench
cfi=(2) main.rs
cfn=(2) _ZN5bench4main
calls=1 0x50
0x10 12

ob=(2)
fl=(2)
fn=(2)
0x50 2
+4 6
fi=(3) inlined.rs
-2 1
* 3
fe=(2)

totals: 12

part: 2
positions: instr
events: Ir

fn=(2)
0x50
ob=plain
fn=(1)
12 7
totals: 7
";

    fn cost(object: &str, function: &str, address: u64, times: u64) -> Cost {
        Cost {
            object: object.to_owned(),
            function: function.to_owned(),
            address,
            times,
        }
    }

    #[test]
    fn reads_what_each_instruction_cost_by_itself() {
        let parts = parse(FILE).unwrap();
        let main = |address, times| cost("/bin/bench", "_ZN5bench4main", address, times);
        assert_eq!(parts.len(), 2);
        assert_eq!(
            parts[0].costs,
            [main(0x50, 2), main(0x54, 6), main(0x52, 1), main(0x52, 3)]
        );
        assert_eq!(
            parts[1].costs,
            [main(0x50, 0), cost("plain", "(below main)", 12, 7)]
        );
        assert_eq!(parts[0].total(), 12);
    }

    #[test]
    fn an_empty_file_has_no_parts() {
        assert_eq!(parse(""), Ok(Vec::new()));
    }

    #[test]
    fn says_which_line_is_wrong() {
        let in_part = |lines: &str| parse(&format!("part: 1\n{lines}\n"));
        for line in [
            "what",
            "a=b",
            "+x 1",
            "0xg 1",
            "1 -1",
            "1 1.5",
            "-1 1",
            "totals: x",
        ] {
            assert_eq!(in_part(line), Err(Malformed::Line(2, line.to_owned())));
        }
        assert_eq!(
            in_part("1 1\n+18446744073709551615 1"),
            Err(Malformed::Line(3, "+18446744073709551615 1".to_owned()))
        );
        for outside in ["1 1", "totals: 1"] {
            assert_eq!(parse(outside), Err(Malformed::Line(1, outside.to_owned())));
        }
    }

    #[test]
    fn numbers_stand_for_names_that_were_given() {
        let unknown = Malformed::Unknown(2, "fn=(7)".to_owned());
        assert_eq!(parse("part: 1\nfn=(7)\n"), Err(unknown));
        assert!(parse("part: 1\nfn=(x) y\nfn=(7\n").is_ok());
    }

    #[test]
    fn a_part_must_hold_what_it_says() {
        let (part, found, said) = (1, 2, 3);
        assert_eq!(
            parse("part: 1\n1 2\ntotals: 3\n"),
            Err(Malformed::Sum { part, found, said })
        );
    }

    #[test]
    fn lines_and_other_events_are_refused() {
        for (line, value) in [
            ("positions: instr line", "instr line"),
            ("events: Ir Dr", "Ir Dr"),
        ] {
            let wrong = Malformed::Counts(value.to_owned());
            assert_eq!(parse(&format!("part: 1\n{line}\n")), Err(wrong));
        }
    }
}
