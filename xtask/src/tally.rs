//! Counts of tests, read from the closing lines of their runners.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Reads a runner's closing line: `cargo test`'s (`test result: ok. 3 passed; 0 failed; 1 ignored; ..`),
    /// a plain `3 passed, 0 failed` with or without `, 1 skipped`, or one of those that Node's
    /// runner closes with, a count on each (`ℹ pass 3`). Any other line: `None`.
    pub(crate) fn from_closing_line(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(count) = line.strip_prefix("ℹ ").or(line.strip_prefix("# ")) {
            return Self::from_count(count);
        }
        match line.strip_prefix("test result: ") {
            Some(rest) => Self::from_counts(rest.split_once(". ")?.1, "; ", "ignored"),
            None => Self::from_counts(line, ", ", "skipped"),
        }
    }

    /// `count` is a word of Node's runner and a number.
    fn from_count(count: &str) -> Option<Self> {
        let (word, number) = count.split_once(' ')?;
        let number = number.parse().ok()?;
        let mut tally = Self::default();
        *match word {
            "pass" => &mut tally.passed,
            // A test that was given up is no test that was left out.
            "fail" | "cancelled" => &mut tally.failed,
            "skipped" | "todo" => &mut tally.skipped,
            _ => return None,
        } = number;
        Some(tally)
    }

    /// True if nothing was run.
    pub(crate) fn ran_nothing(&self) -> bool {
        self.passed + self.failed == 0
    }

    /// `counts` is `N passed<separator>N failed[<separator>N <skipped_word>[<separator>..]]`.
    fn from_counts(counts: &str, separator: &str, skipped_word: &str) -> Option<Self> {
        let mut parts = counts.split(separator);
        let passed = count(parts.next()?, "passed")?;
        let failed = count(parts.next()?, "failed")?;
        let skipped = match parts.next() {
            Some(part) => count(part, skipped_word)?,
            None => 0,
        };
        Some(Self {
            passed,
            failed,
            skipped,
        })
    }
}

fn count(part: &str, word: &str) -> Option<u64> {
    part.strip_suffix(word)?.strip_suffix(' ')?.parse().ok()
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn tally(passed: u64, failed: u64, skipped: u64) -> Option<Tally> {
        Some(Tally {
            passed,
            failed,
            skipped,
        })
    }

    #[test]
    fn reads_the_closing_line_of_cargo_test() {
        let ok = "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 1 filtered out; finished in 0.00s";
        assert_eq!(Tally::from_closing_line(ok), tally(12, 0, 3));
        let bad = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s";
        assert_eq!(Tally::from_closing_line(bad), tally(1, 2, 0));
    }

    #[test]
    fn reads_plain_closing_lines() {
        assert_eq!(
            Tally::from_closing_line("7 passed, 1 failed"),
            tally(7, 1, 0)
        );
        assert_eq!(
            Tally::from_closing_line("7 passed, 1 failed, 30 skipped"),
            tally(7, 1, 30)
        );
    }

    #[test]
    fn reads_the_closing_lines_of_node() {
        let read = |lines: [&str; 5]| {
            let mut sum = Tally::default();
            for count in lines.into_iter().filter_map(Tally::from_closing_line) {
                sum += count;
            }
            Some(sum)
        };
        let spec = [
            "ℹ tests 6",
            "ℹ suites 1",
            "ℹ pass 3",
            "ℹ fail 1",
            "ℹ duration_ms 12.5",
        ];
        assert_eq!(read(spec), tally(3, 1, 0));
        let tap = [
            "# pass 2",
            "# fail 0",
            "# cancelled 1",
            "# skipped 4",
            "# todo 1",
        ];
        assert_eq!(read(tap), tally(2, 1, 5));
    }

    #[test]
    fn passes_over_other_lines() {
        for line in [
            "",
            "running 3 tests",
            "test tests::a ... ok",
            "we had 3 passed, 1 failed",
            "3 passed",
            "3 passed, 1 failed, oh",
            "test result: ok",
            "ℹ pass",
            "# pass -1",
            "ℹ start 3 of 4",
            "pass 3",
        ] {
            assert_eq!(Tally::from_closing_line(line), None, "{line}");
        }
    }

    #[test]
    fn sums_and_prints() {
        let mut sum = Tally::default();
        assert!(sum.ran_nothing());
        sum += tally(1, 0, 0).unwrap();
        assert_eq!(sum.to_string(), "1 passed, 0 failed");
        sum += tally(2, 1, 4).unwrap();
        assert_eq!(sum.to_string(), "3 passed, 1 failed, 4 skipped");
        assert_eq!(Tally::from_closing_line(&sum.to_string()), Some(sum));
    }
}
