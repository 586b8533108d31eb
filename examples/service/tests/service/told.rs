//! What it is told on the command line.

use crate::stage::{Outcome, program};

const PLACES: [&str; 4] = [
    "--pms=http://127.0.0.1:1",
    "--rates=north=http://127.0.0.1:1",
    "--payments=http://127.0.0.1:1",
    "--reviews=http://127.0.0.1:1",
];

#[test]
fn what_it_does_not_understand_it_says_so() -> Outcome {
    let serve = |more: &'static [&'static str]| [&["serve"], &PLACES[..], more].concat();
    for (args, said) in [
        (
            vec!["--sceonds", "3"],
            "a similar argument exists: '--seconds'",
        ),
        (
            vec!["--seconds"],
            "a value is required for '--seconds <SECONDS>'",
        ),
        (vec!["--seconds", "soon"], "it is a number of seconds"),
        (vec!["--seconds", "0"], "it is from 0.05 to 86400 seconds"),
        (vec!["--seconds", "NaN"], "it is from 0.05 to 86400 seconds"),
        (vec!["--seconds", "-1"], "it is from 0.05 to 86400 seconds"),
        (vec!["--act", "1e9"], "it is from 0.05 to 86400 seconds"),
        (vec!["--rate", "0"], "0 is not in 1..=2000"),
        (vec!["--rate", "-5"], "-5 is not in 1..=2000"),
        (vec!["--port", "70000"], "70000 is not in 0..=65535"),
        (vec!["--log", "loud"], "possible values: pretty, json, off"),
        (vec!["laod"], "a similar subcommand exists: 'load'"),
        (vec!["load", "--connections", "0"], "0 is not in 1..=256"),
        (
            vec!["load", "--slice", "0"],
            "it is from 0.05 to 86400 seconds",
        ),
        (vec!["serve"], "--pms <URL>"),
        (
            serve(&["--pms=http://127.0.0.1:1"]),
            "cannot be used multiple times",
        ),
        (
            serve(&["--rates=http://127.0.0.1:1"]),
            "it is a name, `=` and an address",
        ),
        (
            vec!["serve", "--pms=ftp://a"],
            "it begins with `http://` and a host",
        ),
        (
            vec!["serve", "--pms=nonsense"],
            "relative URL without a base",
        ),
    ] {
        let output = program().args(&args).output()?;
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        let errors = String::from_utf8(output.stderr)?;
        assert!(errors.contains(said), "{args:?}: {errors}");
        assert_eq!(output.stdout, b"", "{args:?}");
    }
    Ok(())
}

#[test]
fn asked_how_it_is_used_it_says_so_and_does_nothing() -> Outcome {
    for args in [&["--help"][..], &["serve", "--help"], &["load", "--help"]] {
        let output = program().args(args).output()?;
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout)?;
        assert!(text.contains("Usage: service"), "{text}");
    }
    Ok(())
}
