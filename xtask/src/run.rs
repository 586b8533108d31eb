//! A run of steps: each printed with its duration, all summed up at the end.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::tally::Tally;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Ok,
    Failed,
    Skipped,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

/// A step that ended.
#[derive(Debug)]
struct Step {
    name: String,
    end: End,
    took: Duration,
}

/// The steps so far and the tests they ran. A failed step does not stop the others.
#[derive(Debug)]
pub(crate) struct Run {
    steps: Vec<Step>,
    tally: Tally,
    started: Instant,
    /// On a build server nothing may be left out: what is missing fails.
    strict: bool,
    /// It is to run tests: without any it has failed.
    tests: bool,
}

impl Run {
    pub(crate) fn new() -> Self {
        Self {
            steps: Vec::new(),
            tally: Tally::default(),
            started: Instant::now(),
            strict: std::env::var_os("CI").is_some_and(|ci| ci == "true"),
            tests: true,
        }
    }

    /// One that runs no test: what is missing, it can't do without.
    pub(crate) fn without_tests() -> Self {
        Self {
            strict: true,
            tests: false,
            ..Self::new()
        }
    }

    /// Runs a command that must exit with 0.
    pub(crate) fn step(&mut self, name: &str, command: &mut Command) {
        self.execute(name, command, false);
    }

    /// Runs a command that must exit with 0 and must have run at least one test.
    pub(crate) fn tests(&mut self, name: &str, command: &mut Command) {
        self.execute(name, command, true);
    }

    /// Takes down what was found out without a command: as one test.
    pub(crate) fn found(&mut self, name: &str, found: Result<(), String>) {
        println!("\n== {name}");
        let (end, counts) = match found {
            Ok(()) => (
                End::Ok,
                Tally {
                    passed: 1,
                    ..Tally::default()
                },
            ),
            Err(why) => {
                println!("{why}");
                (
                    End::Failed,
                    Tally {
                        failed: 1,
                        ..Tally::default()
                    },
                )
            }
        };
        self.close(name, end, Duration::ZERO, counts);
    }

    /// Leaves a step out, or fails it on a build server.
    pub(crate) fn missing(&mut self, name: &str, why: &str) {
        println!("\n== {name}\n{why}");
        let mut counts = Tally::default();
        let end = if self.strict {
            counts.failed = 1;
            End::Failed
        } else {
            counts.skipped = 1;
            End::Skipped
        };
        self.close(name, end, Duration::ZERO, counts);
    }

    /// Prints all steps, and of tests the summary line; fails if anything did, or if no test ran that was to.
    pub(crate) fn finish(self) -> ExitCode {
        ExitCode::from(u8::from(self.summary().failed > 0))
    }

    fn summary(mut self) -> Tally {
        println!();
        for step in &self.steps {
            let took = step.took.as_secs_f64();
            println!("{took:>8.1} s  {:<8} {}", step.end.word(), step.name);
        }
        println!("{:>8.1} s  in all", self.started.elapsed().as_secs_f64());
        if self.tests && self.tally.ran_nothing() {
            println!("no tests ran");
            self.tally.failed = 1;
        }
        if self.tests {
            println!("{}", self.tally);
        }
        self.tally
    }

    fn execute(&mut self, name: &str, command: &mut Command, must_test: bool) {
        println!("\n== {name}");
        let started = Instant::now();
        let (exited_well, mut counts) = match echo(command) {
            Ok(ended) => ended,
            Err(error) => {
                println!("can't run {command:?}: {error}");
                (false, Tally::default())
            }
        };
        let tested = !must_test || !counts.ran_nothing();
        if exited_well && !tested {
            println!("{name}: no tests ran");
        }
        // What failed without a failed test (a lint, a compile error) counts as one.
        if counts.failed == 0 && !(exited_well && tested) {
            counts.failed = 1;
        }
        let end = if counts.failed == 0 {
            End::Ok
        } else {
            End::Failed
        };
        self.close(name, end, started.elapsed(), counts);
    }

    fn close(&mut self, name: &str, end: End, took: Duration, counts: Tally) {
        println!("== {name}: {} in {:.1} s", end.word(), took.as_secs_f64());
        self.tally += counts;
        self.steps.push(Step {
            name: name.to_owned(),
            end,
            took,
        });
    }
}

/// Runs a command, shows its output as it comes, and sums up the closing lines in it.
fn echo(command: &mut Command) -> std::io::Result<(bool, Tally)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let counts = match child.stdout.take() {
        Some(stdout) => show(stdout)?,
        None => Tally::default(),
    };
    Ok((child.wait()?.success(), counts))
}

fn show(stdout: impl Read) -> std::io::Result<Tally> {
    let mut counts = Tally::default();
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    // By bytes: a test may print anything.
    while stdout.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        if let Some(closing) = Tally::from_closing_line(&text) {
            counts += closing;
        }
        line.clear();
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::{End, Run};
    use crate::tally::Tally;
    use std::process::Command;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn run(strict: bool) -> Run {
        Run {
            strict,
            ..Run::new()
        }
    }

    #[test]
    fn sums_closing_lines_over_steps() {
        let mut run = run(false);
        run.tests(
            "a",
            &mut shell("echo '2 passed, 0 failed'; echo '1 passed, 0 failed, 3 skipped'"),
        );
        run.step("b", &mut shell("true"));
        assert_eq!(run.tally.to_string(), "3 passed, 0 failed, 3 skipped");
        assert_eq!(run.summary().failed, 0);
    }

    #[test]
    fn a_step_that_exits_badly_is_one_failure_and_does_not_stop_the_next() {
        let mut run = run(false);
        run.step("a", &mut shell("exit 3"));
        run.tests("b", &mut shell("echo '2 passed, 0 failed'"));
        assert_eq!(run.tally.to_string(), "2 passed, 1 failed");
        assert_eq!(run.summary().failed, 1);
    }

    #[test]
    fn failed_tests_are_not_counted_twice() {
        let mut run = run(false);
        run.tests("a", &mut shell("echo '2 passed, 3 failed'; exit 1"));
        assert_eq!(run.tally.to_string(), "2 passed, 3 failed");
    }

    #[test]
    fn what_runs_no_test_fails_only_by_its_steps_and_by_what_is_missing() {
        let mut one = Run::without_tests();
        one.step("a", &mut shell("true"));
        assert_eq!(one.summary().failed, 0);
        let mut one = Run::without_tests();
        one.step("a", &mut shell("exit 3"));
        assert_eq!(one.summary().failed, 1);
        let mut one = Run::without_tests();
        one.missing("a server", "install it");
        assert_eq!(one.summary().failed, 1);
    }

    #[test]
    fn tests_that_did_not_run_fail() {
        let mut one = run(false);
        one.tests("a", &mut shell("echo '0 passed, 0 failed'"));
        assert_eq!(one.tally.failed, 1);
        assert_eq!(run(false).summary().failed, 1);
    }

    #[test]
    fn a_command_that_does_not_exist_fails() {
        let mut run = run(false);
        run.step("a", &mut Command::new("./no-such-program"));
        assert_eq!(run.tally.failed, 1);
    }

    #[test]
    fn what_was_found_out_is_one_test() {
        let mut run = run(false);
        run.found("a", Ok(()));
        run.found("b", Err("b panics".to_owned()));
        assert_eq!(run.tally.to_string(), "1 passed, 1 failed");
    }

    #[test]
    fn what_is_missing_is_skipped_here_and_fails_on_a_build_server() {
        let mut here = run(false);
        here.missing("a", "no a");
        assert_eq!(here.steps[0].end, End::Skipped);
        let skipped = Tally {
            skipped: 1,
            ..Tally::default()
        };
        assert_eq!(here.tally, skipped);
        let mut there = run(true);
        there.missing("a", "no a");
        assert_eq!(there.steps[0].end, End::Failed);
        assert_eq!(there.tally.failed, 1);
    }
}
