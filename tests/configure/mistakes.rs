//! Every mistake in a file: each is named, all of them at once, and nothing is changed.

use crate::lines;
use breakerbox::registry::{configure, configure_from_toml, configure_from_vars, problems};
use breakerbox::{
    Breaker, Config, DefaultClock, KeyedBreakers, Overrides, Settings, Sliding, Window, test,
};
use std::time::Duration;

fn of(text: &str) -> Vec<String> {
    lines(&configure_from_toml(text).unwrap_err())
}

#[test]
fn each_is_told_with_what_to_write_instead() {
    let _scope = test::scope();
    for (text, told) in [
        (
            "threshold = 3",
            "1:1: `threshold` is not known: write the settings of a breaker below `[breakers.threshold]`",
        ),
        (
            "[pms]\nreset = '1s'",
            "1:2: `pms` is not known: write the settings of a breaker below `[breakers.pms]`",
        ),
        (
            "['a::b']",
            "1:2: `a::b` is not known: write the settings of a breaker below `[breakers.\"a::b\"]`",
        ),
        (
            "[breaker.pms]",
            "1:2: `breaker` is not known: did you mean `[breakers]`?",
        ),
        (
            "breakers = 3",
            "1:1: expected a table for each breaker: write `[breakers.pms]`",
        ),
        (
            "[breakers]\npms = 3",
            "2:1: `pms`: expected a table of settings: write them below `[breakers.pms]`",
        ),
        (
            "[breakers]\n'a b' = 3",
            "2:1: `a b`: expected a table of settings: write them below `[breakers.\"a b\"]`",
        ),
        (
            "[breakers.app.pms]\nreset = '1s'",
            "1:15: `app`: `pms` is a table: if it is a part of the breaker's name, write `[breakers.\"app.pms\"]`",
        ),
        (
            "[breakers.p]\nthreshold = '3'",
            "2:13: `p`: `threshold` is a whole number: write `threshold = 3`",
        ),
        (
            "[breakers.p]\nthreshold = 'x'",
            "2:13: `p`: `threshold` is a whole number: write for example `threshold = 3`",
        ),
        (
            "[breakers.p]\nthreshold = 1.5",
            "2:13: `p`: `threshold` is a whole number: write for example `threshold = 3`",
        ),
        (
            "[breakers.p]\nthreshold = true",
            "2:13: `p`: `threshold` is a whole number: write for example `threshold = 3`",
        ),
        (
            "[breakers.p]\nthreshold = -3",
            "2:13: `p`: `threshold` can't be negative",
        ),
        (
            "[breakers.p]\nthreshold = 0",
            "2:13: `p`: `threshold` is 0: write at least 1",
        ),
        (
            "[breakers.p]\nthreshold = 4294967296",
            "2:13: `p`: `threshold` is too large: write at most 134217726",
        ),
        (
            "[breakers.p]\nprobes = 512",
            "2:10: `p`: `probes` is too large: write at most 511",
        ),
        (
            "[breakers.p]\nreset = 10",
            "2:9: `p`: `reset` needs a unit: write `reset = \"10s\"`",
        ),
        (
            "[breakers.p]\nreset = 1.5",
            "2:9: `p`: `reset` needs a unit: write `reset = \"1.5s\"`",
        ),
        (
            "[breakers.p]\nreset = -1",
            "2:9: `p`: `reset` needs a unit: write for example `reset = \"30s\"`",
        ),
        (
            "[breakers.p]\nreset = { s = 1 }",
            "2:9: `p`: `reset` is a duration, not a table: write for example `reset = \"30s\"`",
        ),
        (
            "[breakers.p]\nreset = [1]",
            "2:9: `p`: `reset` is a duration, not an array: write for example `reset = \"30s\"`",
        ),
        (
            "[breakers.p]\nreset = 07:32:00",
            "2:9: `p`: `reset` is a duration, not a date: write for example `reset = \"30s\"`",
        ),
        (
            "[breakers.p]\nreset = false",
            "2:9: `p`: `reset` is a duration, not a boolean: write for example `reset = \"30s\"`",
        ),
        (
            "[breakers.p]\nreset = '10 sec'",
            "2:9: `p`: `reset`: a duration has no spaces: write \"10s\"",
        ),
        (
            "[breakers.p]\nreset = '1h30'",
            "2:9: `p`: `reset`: `30` has no unit: write \"1h30m\"",
        ),
        (
            "[breakers.p]\nreset = '0s'",
            "2:9: `p`: `reset` is 0: write a duration above 0",
        ),
        (
            "[breakers.p]\njitter = 1.5",
            "2:10: `p`: `jitter` is out of range: write a number from 0 to 1",
        ),
        (
            "[breakers.p]\njitter = nan",
            "2:10: `p`: `jitter` is out of range: write a number from 0 to 1",
        ),
        (
            "[breakers.p]\njitter = '20%'",
            "2:10: `p`: `jitter` is a number, not a percentage: write `jitter = 0.2`",
        ),
        (
            "[breakers.p]\njitter = '0.2'",
            "2:10: `p`: `jitter` is a number: write `jitter = 0.2`",
        ),
        (
            "[breakers.p]\nbackoff = []",
            "2:11: `p`: `backoff` is a number: write for example `backoff = 2.0`",
        ),
        (
            "[breakers.p]\nbackoff = 0.5",
            "2:11: `p`: `backoff` is out of range: write a finite factor of at least 1",
        ),
        (
            "[breakers.p]\nfailure_rate = 50",
            "2:16: `p`: `failure_rate` is not a ratio: write a number above 0, at most 1",
        ),
        (
            "[breakers.p]\non_cancel = true",
            "2:13: `p`: `on_cancel` is a word: write `on_cancel = \"ignore\"` or `on_cancel = \"failure\"`",
        ),
        (
            "[breakers.p]\non_cancel = 'Ignored'",
            "2:13: `p`: `on_cancel` can't be `Ignored`: did you mean `ignore`?",
        ),
        (
            "[breakers.p]\nwindow = 100",
            "2:1: `p`: `window` is declared with the breaker and can't be changed at run time: take it out",
        ),
        (
            "[breakers.p]\nmax-reset = '1m'",
            "2:1: `p`: `max-reset` is no setting: did you mean `max_reset`?",
        ),
        (
            "[breakers.p]\nTHRESHOLD = 1",
            "2:1: `p`: `THRESHOLD` is no setting: did you mean `threshold`?",
        ),
        (
            "[breakers.p]\ncolor = 1",
            "2:1: `p`: `color` is no setting: they are threshold, failure_rate, min_calls, slow, slow_rate, reset, backoff, max_reset, jitter, probes, close_after, close_rate, probe_timeout, on_cancel",
        ),
        (
            "[breakers.p]\nmax_reset = '1s'\nreset = '2s'",
            "2:13: `p`: `max_reset` is below `reset`: write at least as much as `reset`",
        ),
    ] {
        assert_eq!(of(text), [told], "{text}");
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let _scope = test::scope();
    for (text, place, part) in [
        ("[breakers.pms", "1:", "no TOML: "),
        ("[breakers.pms]\nthreshold = ", "2:", "no TOML: "),
        (
            "[breakers.pms]\nthreshold = 1\nthreshold = 2",
            "3:1: ",
            "duplicate key",
        ),
        ("[breakers.pms]\n[breakers.pms]", "2:", "duplicate key"),
        (
            "[breakers.app::pms]",
            "1:",
            "; quote the name: write `[breakers.\"app::pms\"]`",
        ),
    ] {
        let told = of(text);
        assert!(told[0].starts_with(place), "{text}: {told:?}");
        assert!(
            told.iter().any(|line| line.contains(part)),
            "{text}: {told:?}"
        );
        assert!(told.iter().all(|line| !line.contains('\n')), "{told:?}");
    }
}

#[test]
fn all_are_told_at_once_and_nothing_is_changed() {
    let _scope = test::scope();
    let good = Breaker::shared("good", Config::DEFAULT);
    let settings = Settings::new().failure_rate(0.5).window(Window::calls(20));
    let rate = settings.build_rate().unwrap();
    let rate = Breaker::<DefaultClock, Sliding<8>>::shared_by_rate("rate", rate).unwrap();
    let keyed = KeyedBreakers::<u64>::shared(
        "keyed",
        Settings::new().timeout(Duration::from_secs(9)).must(),
        9,
    )
    .unwrap();
    configure_from_toml("[breakers.good]\nprobes = 2").unwrap();

    let told = of("other = 1
[breakers.good]
threshold = 3
[breakers.rate]
threshold = 3
slow_rate = 0.5
min_calls = 21
[breakers.keyed]
failure_rate = 0.5
probe_timeout = '8s'
[breakers.later]
threshold = 2
failure_rate = 0.5
close_after = 1
close_rate = 0.5
reste = '1s'
probes = 0
");
    assert_eq!(
        told,
        [
            "1:1: `other` is not known: write the settings of a breaker below `[breakers.other]`",
            "5:13: `rate`: `threshold` counts failures in a row, and this breaker trips by rate: set `failure_rate` and `min_calls`",
            "6:13: `rate`: `slow_rate` needs to know how long calls take, and this breaker does not time them: declare it with `slow` and `slow_rate`",
            "7:13: `rate`: `min_calls` is above `window`, so it would never trip: write a smaller `min_calls` or a larger `window`",
            "9:16: `keyed`: `failure_rate` is for a breaker that trips by rate, and this one counts failures in a row: set `threshold`, or declare it with `failure_rate`",
            "10:17: `keyed`: `timeout` is above `probe_timeout`, so every probe would come too late: write a shorter `timeout` or a longer `probe_timeout`",
            "13:16: `later`: `failure_rate` is for a breaker that trips by rate, and this one counts failures in a row: set `threshold`, or declare it with `failure_rate`",
            "15:14: `later`: `close_rate` can't take the place of `close_after` at run time: set `close_after`, or declare the breaker with `close_rate`",
            "16:1: `later`: `reste` is no setting: did you mean `reset`?",
            "17:10: `later`: `probes` is 0: write at least 1",
        ]
    );
    assert_eq!(
        (good.config().threshold(), good.config().probes()),
        (5, 2),
        "as before"
    );
    assert_eq!(
        (rate.config(), keyed.config()),
        (*rate.declared(), *keyed.declared())
    );
    assert_eq!(problems(), []);
}

/// What is right by itself may be wrong under what lies over it.
#[test]
fn layers_that_don_t_fit_together_are_told_of_the_one_that_comes() {
    let _scope = test::scope();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    configure_from_vars([("BREAKERBOX__PMS__MAX_RESET", "40s")]).unwrap();
    assert_eq!(
        of("[breakers.pms]\nreset = '50s'"),
        [
            "1:11: `pms`: over this the breaker does not take what the environment says of it: \
          `max_reset` is below `reset`: write at least as much as `reset`"
        ]
    );
    assert_eq!(pms.config().reset(), Duration::from_secs(30));
    let told = configure("pms", Overrides::new().reset(Duration::from_secs(50))).unwrap_err();
    assert_eq!(
        lines(&told),
        ["`pms`: `max_reset` is below `reset`: write at least as much as `reset`"]
    );
    configure_from_toml("[breakers.pms]\nreset = '35s'").unwrap();
    assert_eq!(pms.config().reset(), Duration::from_secs(35));
}

#[test]
fn code_is_told_of_its_mistakes_too() {
    let _scope = test::scope();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    for name in ["pms", "later"] {
        let told = configure(name, Overrides::new().threshold(0).jitter(7.0)).unwrap_err();
        assert_eq!(
            told.to_string(),
            format!(
                "2 mistakes in the configuration, so nothing was changed\n\
                 `{name}`: `threshold` is 0: write at least 1\n\
                 `{name}`: `jitter` is out of range: write a number from 0 to 1"
            )
        );
    }
    assert_eq!(pms.config(), Config::DEFAULT);
    let _hosts = KeyedBreakers::<u64>::shared("hosts", Config::DEFAULT, 9).unwrap();
    let told = configure("hosts[7]", Overrides::new().threshold(2)).unwrap_err();
    assert_eq!(
        lines(&told),
        ["`hosts[7]`: all keys have one configuration: write it for `hosts`"]
    );
    assert!(breakerbox::registry::overrides("later").is_empty());
}
