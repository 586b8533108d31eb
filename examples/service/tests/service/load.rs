//! The measurement, for a few seconds: nothing is said of time.

use std::fs;

use tempfile::TempDir;

use crate::stage::{Outcome, program};

const SHORT: [&str; 4] = ["load", "--seconds=3", "--slice=0.2", "--connections=2"];

#[test]
fn guarded_or_not_it_gives_the_same_answers_and_memory_is_flat() -> Outcome {
    let folder = TempDir::new()?;
    let file = folder.path().join("README.md");
    fs::write(&file, "before\n<!-- load -->\nold\n<!-- /load -->\nafter\n")?;
    let output = program()
        .args(SHORT)
        .arg("--growth=8192")
        .arg("--into")
        .arg(&file)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.status.success(), "{text}");
    assert!(text.contains("answers compared: all the same"), "{text}");
    for service in ["unguarded", "breakers alone", "everything on"] {
        let is_row = |line: &&str| line.starts_with(service) && line.contains(" ms ");
        let row = text.lines().find(is_row).expect("a row");
        assert_eq!(
            row.split_whitespace().filter(|word| *word == "ms").count(),
            3,
            "{row}"
        );
    }
    if cfg!(target_os = "linux") {
        assert_eq!(text.matches("  flat").count(), 3, "{text}");
    }
    let written = fs::read_to_string(&file)?;
    assert!(
        written.starts_with("before\n<!-- load -->\n```text\n2 "),
        "{written}"
    );
    assert!(
        written.ends_with("\n```\n<!-- /load -->\nafter\n"),
        "{written}"
    );
    assert!(!written.contains("old"), "{written}");
    Ok(())
}

#[test]
fn memory_that_grows_is_told_by_the_exit_code() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let output = program().args(SHORT).arg("--growth=0").output()?;
    let text = String::from_utf8(output.stdout)?;
    let grows = text.contains("IT GROWS");
    assert_eq!(output.status.success(), !grows, "{text}");
    Ok(())
}

#[test]
fn a_file_without_a_place_for_the_table_is_said_to_be() -> Outcome {
    let folder = TempDir::new()?;
    let file = folder.path().join("README.md");
    fs::write(&file, "no place")?;
    let told = ["load", "--seconds=0.5", "--slice=0.1", "--connections=1"];
    let output = program().args(told).arg("--into").arg(&file).output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr)?;
    assert!(
        errors.contains("there is no line `<!-- load -->`"),
        "{errors}"
    );
    assert_eq!(fs::read_to_string(&file)?, "no place");
    Ok(())
}
