//! The whole play, by one command.

use crate::stage::{Outcome, program};

#[test]
fn the_play_opens_circuits_and_ends_by_itself() -> Outcome {
    let told = [
        "--act",
        "2",
        "--rate",
        "200",
        "--seconds",
        "5",
        "--log",
        "off",
    ];
    let output = program().args(told).output()?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr)?, "");
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines();
    for of in [
        "guests      http://",
        "status page http://",
        "metrics     http://",
    ] {
        assert!(
            lines.next().is_some_and(|line| line.starts_with(of)),
            "{text}"
        );
    }
    assert!(text.contains("== Pms answers 500"), "{text}");
    assert!(
        text.contains("** circuit `pms` opened after 5 failures"),
        "{text}"
    );
    assert!(text.contains("== Pms is well again"), "{text}");
    assert!(text.contains(" stale, "), "{text}");
    Ok(())
}

#[test]
fn told_to_be_quiet_it_says_where_it_is_and_no_more() -> Outcome {
    let output = program()
        .args(["--quiet", "--act", "1", "--rate", "100", "--seconds", "2"])
        .output()?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr)?, "");
    assert_eq!(String::from_utf8(output.stdout)?.lines().count(), 4);
    Ok(())
}

#[test]
fn played_once_it_says_what_there_is_to_see() -> Outcome {
    // Five acts of 0.2 s.
    let told = ["--once", "--act", "0.2", "--seconds", "3", "--log", "off"];
    let output = program().args(told).output()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout)?;
    assert_eq!(text.matches("== Payments answers 429").count(), 1, "{text}");
    assert!(text.contains("the play is over"), "{text}");
    Ok(())
}
