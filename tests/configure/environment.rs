//! Settings from environment variables.

use crate::lines;
use breakerbox::registry::{configure_from_env, configure_from_vars};
use breakerbox::{Breaker, Config, OnCancel, Settings, Window, test};
use std::process::Command;
use std::time::Duration;

#[test]
fn names_are_matched_as_variables_have_them() {
    let _scope = test::scope();
    let names = [
        "pms",
        "app::pms::inventory",
        "app-pms.inventory",
        "<app::Pms as Client>::rooms",
        "\u{43e}\u{442}\u{435}\u{43b}\u{44c} 7",
    ];
    let breakers = names.map(|name| Breaker::shared(name, Config::DEFAULT));
    let report = configure_from_vars([
        ("BREAKERBOX__PMS__THRESHOLD", "2"),
        ("BREAKERBOX__APP_PMS_INVENTORY__THRESHOLD", "3"),
        ("BREAKERBOX__APP_PMS_AS_CLIENT_ROOMS__THRESHOLD", "4"),
        ("BREAKERBOX__7__THRESHOLD", "6"),
        ("BREAKERBOX__NOBODY__THRESHOLD", "7"),
        ("BREAKERBOX_HOME", "/somewhere"),
        ("PATH", "/bin"),
    ])
    .unwrap();
    assert_eq!(
        breakers.map(|breaker| breaker.config().threshold()),
        [2, 3, 3, 4, 6]
    );
    assert_eq!(
        (report.applied.len(), report.waiting),
        (5, vec!["NOBODY".to_owned()])
    );
    let nobody = Breaker::shared("nobody", Config::DEFAULT);
    assert_eq!(nobody.config().threshold(), 7);
}

#[test]
fn each_setting_can_be_a_variable() {
    let _scope = test::scope();
    let settings = Settings::new()
        .failure_rate(0.5)
        .slow(Duration::from_secs(9))
        .slow_rate(0.5)
        .window(Window::calls(100));
    let rate = Breaker::<breakerbox::DefaultClock, breakerbox::Sliding<8>>::shared_by_rate(
        "rate",
        settings.build_rate().unwrap(),
    )
    .unwrap();
    let var = |setting: &'static str, value: &'static str| {
        (format!("BREAKERBOX__RATE__{setting}"), value)
    };
    configure_from_vars([
        var("FAILURE_RATE", "0.25"),
        var("MIN_CALLS", "7"),
        var("SLOW", "1.5s"),
        var("SLOW_RATE", "1"),
        var("RESET", "1m30s"),
        var("BACKOFF", "2"),
        var("MAX_RESET", "1h"),
        var("JITTER", "0"),
        var("PROBES", "3"),
        var("CLOSE_AFTER", "4"),
        var("PROBE_TIMEOUT", "2m"),
        var("ON_CANCEL", "failure"),
    ])
    .unwrap();
    let config = rate.config();
    assert_eq!(
        (config.reset(), config.max_reset()),
        (Duration::from_secs(90), Some(Duration::from_secs(3600)))
    );
    assert_eq!(
        (config.probes(), config.close_after(), config.on_cancel()),
        (3, Some(4), OnCancel::Failure)
    );
    assert_eq!(config.probe_timeout(), Duration::from_secs(120));
    assert_eq!(rate.overrides().iter().count(), 12);
}

#[test]
fn every_mistake_names_its_variable() {
    let _scope = test::scope();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let mistakes = configure_from_vars([
        ("BREAKERBOX__PMS__THRESHOLD", "3"),
        ("BREAKERBOX__PMS__PROBES", "0"),
        ("BREAKERBOX__PMS__RESET", "10 sec"),
        ("BREAKERBOX__PMS__TIMEOUT", "1s"),
        ("BREAKERBOX__PMS__CLOSE_AFTER", "-1"),
        ("BREAKERBOX__PMS__JITTER", "10%"),
        ("BREAKERBOX__PMS__BACKOFF", "twice"),
        ("BREAKERBOX__PMS__MAX_RESET", ""),
        ("BREAKERBOX__PMS__ON_CANCEL", "fail"),
        ("BREAKERBOX__PMS__MIN_CALLS", "3"),
        ("BREAKERBOX__PMS__RESTE", "3s"),
        ("BREAKERBOX__pms__RESET", "3s"),
        ("BREAKERBOX__APP__PMS__RESET", "3s"),
        ("BREAKERBOX____RESET", "3s"),
        ("BREAKERBOX__THRESHOLD", "3"),
        ("BREAKERBOX__LATER__THRESHOLD", "99999999999999999999"),
    ])
    .unwrap_err();
    assert_eq!(
        lines(&mistakes),
        [
            "BREAKERBOX__APP__PMS__RESET: no breaker's name becomes `APP__PMS`: write `BREAKERBOX__APP_PMS__RESET`",
            "BREAKERBOX__LATER__THRESHOLD: `LATER`: `threshold` is too large: write at most 134217726",
            "BREAKERBOX__PMS__BACKOFF: `PMS`: `backoff` is a number: write for example `2.0`",
            "BREAKERBOX__PMS__CLOSE_AFTER: `PMS`: `close_after` can't be negative",
            "BREAKERBOX__PMS__JITTER: `PMS`: `jitter` is a number, not a percentage: write `0.1`",
            "BREAKERBOX__PMS__MAX_RESET: `PMS`: `max_reset`: an empty duration: write for example \"30s\"",
            "BREAKERBOX__PMS__MIN_CALLS: `pms`: `min_calls` is for a breaker that trips by rate, and this one counts failures in a row: set `threshold`, or declare it with `failure_rate`",
            "BREAKERBOX__PMS__ON_CANCEL: `PMS`: `on_cancel` can't be `fail`: write `ignore` or `failure`",
            "BREAKERBOX__PMS__PROBES: `pms`: `probes` is 0: write at least 1",
            "BREAKERBOX__PMS__RESET: `PMS`: `reset`: a duration has no spaces: write \"10s\"",
            "BREAKERBOX__PMS__RESTE: `PMS`: `reste` is no setting: did you mean `reset`?",
            "BREAKERBOX__PMS__TIMEOUT: `PMS`: `timeout` is declared with the breaker and can't be changed at run time: take it out",
            "BREAKERBOX__THRESHOLD: expected a name, two underscores and a setting: write for example `BREAKERBOX__PMS__THRESHOLD`",
            "BREAKERBOX____RESET: no breaker's name becomes ``: write `BREAKERBOX__PMS__RESET`",
            "BREAKERBOX__pms__RESET: no breaker's name becomes `pms`: write `BREAKERBOX__PMS__RESET`",
        ]
    );
    assert_eq!(
        pms.config(),
        Config::DEFAULT,
        "nothing changed, also not partly"
    );
}

#[test]
fn a_number_of_any_length_is_too_large_and_not_no_number() {
    let _scope = test::scope();
    let digits = "9".repeat(100);
    let said = |number: &str| {
        let mistakes = configure_from_vars([("BREAKERBOX__PMS__THRESHOLD", number)]);
        lines(&mistakes.unwrap_err())
    };
    assert_eq!(said(&digits), said("4294967295"));
    assert!(
        said(&digits)[0].contains("too large"),
        "{:?}",
        said(&digits)
    );
}

/// `RESET` and `reset` are two variables, and the environment has no order.
#[test]
fn a_setting_that_two_variables_give_is_a_mistake() {
    let _scope = test::scope();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let two = [
        ("BREAKERBOX__PMS__RESET", "10s"),
        ("BREAKERBOX__PMS__reset", "20s"),
    ];
    assert_eq!(
        lines(&configure_from_vars(two).unwrap_err()),
        [
            "BREAKERBOX__PMS__reset: `PMS`: `BREAKERBOX__PMS__RESET` says it, too: take one of them out"
        ]
    );
    assert_eq!(pms.config(), Config::DEFAULT);
}

/// The environment of a process can't be changed safely: so this test is run again, in a process
/// that has another.
#[test]
fn the_real_environment_is_read() {
    const AGAIN: &str = "CONFIGURED_FROM_THE_ENVIRONMENT";
    let Ok(expected) = std::env::var(AGAIN) else {
        let again = |expected: &str, vars: &[(&str, &str)]| {
            let me = std::env::current_exe().unwrap();
            let mut command = Command::new(me);
            command.args(["--exact", "environment::the_real_environment_is_read"]);
            command.env(AGAIN, expected).envs(vars.iter().copied());
            #[cfg(unix)]
            if expected == "no text" {
                use std::ffi::OsStr;
                use std::os::unix::ffi::OsStrExt as _;
                let bytes = OsStr::from_bytes(b"\xff");
                command
                    .env("BREAKERBOX__PMS__RESET", bytes)
                    .env(OsStr::from_bytes(b"BREAKERBOX__P\xffMS__RESET"), "1s")
                    .env(OsStr::from_bytes(b"OTHER\xff"), "1s")
                    .env("OTHER", bytes);
            }
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        again("7", &[("BREAKERBOX__PMS__THRESHOLD", "7")]);
        again("none", &[("BREAKERBOX__PMS__THRESHOLD", "seven")]);
        #[cfg(unix)]
        again("no text", &[]);
        return;
    };
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let configured = configure_from_env();
    match expected.as_str() {
        "7" => {
            assert_eq!(configured.unwrap().applied, ["pms"]);
            assert_eq!(pms.config().threshold(), 7);
        }
        "none" => assert_eq!(configured.unwrap_err().len(), 1),
        _ => assert_eq!(
            lines(&configured.unwrap_err()),
            [
                "BREAKERBOX__PMS__RESET: the value is no text in UTF-8",
                "BREAKERBOX__P\u{fffd}MS__RESET: the name is no text in UTF-8",
            ]
        ),
    }
}
