//! The program itself. What it says of its circuits is held against its server's log.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::stage::{ONE, OTHER, Outcome, PAGES, THRESHOLD, TRIES};

const HEALTHY: &str = "breaker: closed stale: false";
const FAILED: &str = "breaker: closed stale: true";
const OPEN: &str = "breaker: open stale: true";

/// What was printed in an act.
#[derive(Debug)]
struct Act<'a>(Vec<&'a str>);

impl Act<'_> {
    /// What was said of an account's circuit, answer by answer.
    fn health(&self, account: &str) -> Vec<&str> {
        let answers = self.0.iter().zip(self.0.iter().skip(1));
        let of_account = answers.filter(|(question, _)| question.starts_with(account));
        of_account.map(|(_, health)| *health).collect()
    }

    /// How many requests of an account the server gave this answer to, by its log.
    fn requests(&self, account: &str, answer: &str) -> usize {
        let line = self.0.iter().find_map(|line| {
            let said = line
                .strip_prefix("at the server: ")?
                .strip_prefix(account)?;
            said.strip_prefix(": ")?.strip_suffix(answer)
        });
        line.map_or(0, |count| count.trim().parse().expect("a number"))
    }

    /// How many trials of an account's circuit began: a machine that is busy may take longer over an
    /// act than the circuit is open.
    fn trials(&self, account: &str) -> usize {
        let probes =
            |line: &&&str| line.contains(account) && line.ends_with("probes: its wait is over");
        self.0.iter().filter(probes).count()
    }

    /// The account's circuit was open for all but the first calls, and the server left alone.
    #[track_caller]
    fn is_an_outage(&self, account: &str, answer: &str) {
        let health = self.health(account);
        assert_eq!(
            health[..THRESHOLD - 1],
            [FAILED; THRESHOLD - 1],
            "{self:#?}"
        );
        assert!(
            health[THRESHOLD - 1..].iter().all(|health| *health == OPEN),
            "{self:#?}"
        );
        assert!(health.len() > THRESHOLD, "{self:#?}");
        let asked = (THRESHOLD + self.trials(account)) * TRIES;
        assert_eq!(self.requests(account, answer), asked, "{self:#?}");
    }

    /// Every account's last answer was fresh, and its circuit closed.
    #[track_caller]
    fn ends_well(&self) {
        for account in [ONE, OTHER] {
            assert_eq!(self.health(account).last(), Some(&HEALTHY), "{self:#?}");
            assert_eq!(self.requests(account, "answered"), PAGES, "{self:#?}");
        }
    }
}

/// The program, where there are no credentials, and a region that is not Cost Explorer's.
fn program(store: &Path, args: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cost-explorer"));
    program
        .env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        .env("AWS_REGION", "eu-central-1")
        .arg("--store")
        .arg(store)
        .args(args);
    program
}

fn run(store: &Path, args: &[&str]) -> std::io::Result<Output> {
    program(store, args).output()
}

/// The acts, by their titles.
fn acts(output: &Output) -> Vec<(&str, Act<'_>)> {
    let text = std::str::from_utf8(&output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert_eq!(errors, "");
    let acts = text
        .split("\n== ")
        .skip(1)
        .filter_map(|act| act.split_once('\n'));
    acts.map(|(title, lines)| (title, Act(lines.lines().collect())))
        .collect()
}

#[test]
fn it_serves_through_outages_and_after_a_restart_in_one() -> Outcome {
    let folder = TempDir::new()?;
    let store = folder.path().join("answers.redb");
    let first = run(&store, &[])?;
    let [start, throttled, questions, late, well, outage, over] = &acts(&first)[..] else {
        panic!("{first:?}");
    };
    assert_eq!(start.0, "start-up");
    start.1.ends_well();

    // One account's throttling leaves the other's circuit closed, and its answers fresh.
    throttled.1.is_an_outage(ONE, "throttled");
    assert_eq!(throttled.1.health(OTHER), [HEALTHY]);
    assert_eq!(throttled.1.requests(OTHER, "answered"), PAGES);

    // A bad date range never counts, nor data that are not there: each is asked for once.
    assert_eq!(questions.1.requests(OTHER, "invalid"), 5);
    assert_eq!(questions.1.requests(OTHER, "without data"), 1);
    let health = questions.1.health(OTHER);
    assert!(
        health[..5]
            .iter()
            .all(|line| line.starts_with("breaker: closed error: "))
    );
    assert!(
        health[..5]
            .iter()
            .all(|line| line.contains("ValidationException"))
    );
    assert!(health[5].contains("DataUnavailableException"));
    assert_eq!(health[6..], [HEALTHY]);

    assert_eq!(late.1.health(OTHER), [HEALTHY, FAILED]);
    assert!(late.1.requests(OTHER, "left hanging") >= 1);
    well.1.ends_well();
    for account in [ONE, OTHER] {
        outage.1.is_an_outage(account, "failed");
    }
    assert_eq!(over.0, "the outage is over");
    over.1.ends_well();

    // Started anew, in an outage: the first answer is that of the run before.
    let second = run(&store, &["--outage"])?;
    let [start, outage, over] = &acts(&second)[..] else {
        panic!("{second:?}")
    };
    for account in [ONE, OTHER] {
        assert_eq!(start.1.health(account), [FAILED]);
        assert_eq!(start.1.requests(account, "failed"), TRIES);
        let health = outage.1.health(account);
        assert_eq!(health.first(), Some(&FAILED));
        assert_eq!(health.last(), Some(&OPEN));
        let failures = THRESHOLD - 1 + outage.1.trials(account);
        assert_eq!(outage.1.requests(account, "failed"), failures * TRIES);
    }
    over.1.ends_well();
    Ok(())
}

#[test]
fn a_first_start_in_an_outage_has_nothing_to_serve() -> Outcome {
    let folder = TempDir::new()?;
    let output = run(&folder.path().join("answers.redb"), &["--outage"])?;
    let [start, _, over] = &acts(&output)[..] else {
        panic!("{output:?}")
    };
    for account in [ONE, OTHER] {
        let error = "breaker: closed error: Cost Explorer says InternalFailure: the service broke";
        assert_eq!(start.1.health(account), [error]);
    }
    over.1.ends_well();
    Ok(())
}

#[test]
fn a_damaged_file_is_moved_aside_and_said_to_be() -> Outcome {
    let folder = TempDir::new()?;
    let store = folder.path().join("answers.redb");
    std::fs::write(&store, [0; 4096])?;
    let output = run(&store, &["--outage"])?;
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(errors.contains("it is kept as "), "{errors}");
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 2);
    Ok(())
}

#[test]
fn credentials_or_not_a_demo_stays_on_loopback() -> Outcome {
    let folder = TempDir::new()?;
    let output = program(&folder.path().join("answers.redb"), &["--demo"])
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", "not a secret")
        .output()?;
    let first = String::from_utf8(output.stdout)?;
    assert!(
        first.starts_with("A server on loopback is asked at http://127.0.0.1:"),
        "{first}"
    );
    Ok(())
}

#[test]
fn what_it_does_not_understand_it_says_so() -> Outcome {
    let folder = TempDir::new()?;
    for (args, said) in [
        (&["--outrage"][..], "what is `--outrage`?"),
        (&[""], "what is ``?"),
        (&["--store"], "--store needs a file"),
        (&["--store", ""], "--store needs a file"),
        (&["--store", "--demo"], "--store needs a file"),
    ] {
        let output = run(&folder.path().join("answers.redb"), args)?;
        assert!(!output.status.success());
        let errors = String::from_utf8(output.stderr)?;
        assert!(errors.starts_with(said), "{errors}");
        assert!(errors.contains("usage: cost-explorer"), "{errors}");
    }
    Ok(())
}

#[test]
fn asked_how_it_is_used_it_says_so_and_does_nothing() -> Outcome {
    let folder = TempDir::new()?;
    let output = run(&folder.path().join("answers.redb"), &["--help"])?;
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.starts_with(b"usage: cost-explorer"));
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

/// Who set half of them meant to ask AWS, and must not take the demo's costs for their own.
#[test]
fn credentials_that_are_no_use_are_said_to_be() -> Outcome {
    const KEY: &str = "AWS_ACCESS_KEY_ID";
    const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
    let folder = TempDir::new()?;
    for (set, said) in [
        (
            &[(KEY, "AKIDEXAMPLE")][..],
            "AWS_SECRET_ACCESS_KEY is not set",
        ),
        (
            &[(KEY, "AKIDEXAMPLE"), (SECRET, " ")],
            "AWS_SECRET_ACCESS_KEY is not set",
        ),
        (&[(SECRET, "not a secret")], "AWS_ACCESS_KEY_ID is not set"),
        (
            &[(KEY, "AKIDEXAMPLE\n"), (SECRET, "not a secret")],
            "AWS_ACCESS_KEY_ID has a line break in it, or the like",
        ),
    ] {
        let store = folder.path().join("answers.redb");
        let output = program(&store, &[]).envs(set.iter().copied()).output()?;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(String::from_utf8(output.stdout)?, "");
        let errors = String::from_utf8(output.stderr)?;
        assert!(errors.contains(said), "{errors}");
        assert!(!errors.contains("panicked"), "{errors}");

        let demo = program(&store, &["--demo", "--outage"])
            .envs(set.iter().copied())
            .output()?;
        assert!(demo.status.success(), "{demo:?}");
    }
    Ok(())
}

#[test]
fn a_file_that_can_not_be_is_said_to_be_once() -> Outcome {
    let folder = TempDir::new()?;
    let no_folder = folder.path().join("file");
    std::fs::write(&no_folder, "")?;
    let output = run(&no_folder.join("answers.redb"), &[])?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert_eq!(errors.matches("os error").count(), 1, "{errors}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_secret_is_not_told() -> Outcome {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = TempDir::new()?;
    let output = program(&folder.path().join("answers.redb"), &[])
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", OsStr::from_bytes(b"secret\xff"))
        .output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(
        errors.contains("AWS_SECRET_ACCESS_KEY is no text"),
        "{errors}"
    );
    assert!(!errors.contains("secret"), "{errors}");
    Ok(())
}

/// `cost-explorer | head -1`.
#[cfg(unix)]
#[test]
fn who_has_read_enough_is_no_error() -> Outcome {
    let folder = TempDir::new()?;
    let store = folder.path().join("answers.redb");
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let output = program(&store, &["--outage"]).stdout(writer).output()?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr)?, "");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_can_not_be_written_is_an_error() -> Outcome {
    let folder = TempDir::new()?;
    let store = folder.path().join("answers.redb");
    let full = std::fs::File::options().write(true).open("/dev/full")?;
    let output = program(&store, &["--outage"]).stdout(full).output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("No space left on device"), "{errors}");
    Ok(())
}
