//! Any text, and whatever can be written.

use crate::line_and_column;
use breakerbox::registry::{configure_from_toml, configure_from_vars};
use breakerbox::{
    Breaker, Config, OnCancel, Overrides, Setting, SettingKind, SettingValue, Settings, test,
};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::time::Duration;

fn setting() -> impl Strategy<Value = Setting> {
    proptest::sample::select(Setting::OVERRIDABLE.as_slice())
}

/// What looks like a file, with anything in it.
fn like_a_file() -> impl Strategy<Value = String> {
    let name = prop_oneof!["[a-z]{1,4}", "\"[a-z:. \u{e9}]{0,6}\"", ".{0,4}"];
    let value = prop_oneof![
        "[0-9.e+-]{0,6}",
        "\"[0-9a-z. ]{0,8}\"",
        ".{0,8}",
        Just("true".to_owned()),
        Just("{ a = [1, { b = 2 }] }".to_owned()),
    ];
    let key = prop_oneof![
        setting().prop_map(|setting| setting.name().to_owned()),
        "[a-z_]{0,9}",
        ".{0,3}",
    ];
    let line = prop_oneof![
        name.prop_map(|name| format!("[breakers.{name}]")),
        (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        ".{0,12}",
    ];
    proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

fn value(setting: Setting) -> BoxedStrategy<SettingValue> {
    let share = (1..=1_000_u32).prop_map(|share| f64::from(share) / 1_000.0);
    match (setting, setting.kind()) {
        (Setting::Backoff, _) => (1..100_u32)
            .prop_map(|factor| SettingValue::Number(1.0 + f64::from(factor) / 8.0))
            .boxed(),
        (_, Some(SettingKind::Count)) => (1..=200_u32).prop_map(SettingValue::Count).boxed(),
        (_, Some(SettingKind::Number)) => share.prop_map(SettingValue::Number).boxed(),
        // `max_reset` is at least `reset`.
        (Setting::MaxReset, _) => (1_000_000_000_001..u64::MAX)
            .prop_map(|nanos| SettingValue::Duration(Duration::from_nanos(nanos)))
            .boxed(),
        (_, Some(SettingKind::Duration)) => (1..1_000_000_000_000_u64)
            .prop_map(|nanos| SettingValue::Duration(Duration::from_nanos(nanos)))
            .boxed(),
        _ => proptest::sample::select([OnCancel::Ignore, OnCancel::Failure].as_slice())
            .prop_map(SettingValue::OnCancel)
            .boxed(),
    }
}

/// Settings that a breaker which counts failures in a row takes.
fn overrides() -> impl Strategy<Value = Overrides> {
    let one = setting()
        .prop_filter("of such a breaker", |setting| {
            use Setting as S;
            !matches!(
                setting,
                S::FailureRate | S::MinCalls | S::Slow | S::SlowRate | S::CloseRate
            )
        })
        .prop_flat_map(|setting| value(setting).prop_map(move |value| (setting, value)));
    proptest::collection::vec(one, 1..8).prop_map(|all| {
        all.into_iter()
            .fold(Overrides::new(), |overrides, (setting, value)| {
                overrides.set(setting, value).expect("of its kind")
            })
    })
}

fn nanos(duration: Duration) -> String {
    format!("{}ns", duration.as_nanos())
}

fn in_toml(overrides: &Overrides) -> String {
    let mut text = "[breakers.\"a \u{e9}\"]\n".to_owned();
    for (setting, value) in overrides.iter() {
        let _ = match value {
            SettingValue::Duration(duration) => {
                writeln!(text, "{setting} = \"{}\"", nanos(duration))
            }
            SettingValue::OnCancel(choice) => writeln!(text, "{setting} = \"{choice}\""),
            SettingValue::Number(number) => writeln!(text, "{setting} = {number:?}"),
            other => writeln!(text, "{setting} = {other}"),
        };
    }
    text
}

fn in_variables(overrides: &Overrides) -> Vec<(String, String)> {
    let var = |(setting, value): (Setting, SettingValue)| {
        let name = format!("BREAKERBOX__A__{}", setting.name().to_uppercase());
        match value {
            SettingValue::Duration(duration) => (name, nanos(duration)),
            other => (name, other.to_string()),
        }
    };
    overrides.iter().map(var).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_much(text in prop_oneof![like_a_file(), any::<String>()]) {
        let _scope = test::scope();
        let pms = Breaker::shared("pms", Config::DEFAULT);
        match configure_from_toml(&text) {
            Ok(report) => prop_assert!(report.withdrawn.is_empty()),
            Err(mistakes) => {
                prop_assert!(mistakes.len() > 0);
                for mistake in &mistakes {
                    let (line, column) = line_and_column(&mistake.whence).expect("a place");
                    let lines = text.matches('\n').count() + 1;
                    prop_assert!((1..=lines).contains(&line) && column >= 1);
                    prop_assert!(!mistake.what.is_empty());
                }
                prop_assert_eq!(pms.config(), Config::DEFAULT);
            }
        }
    }

    #[test]
    fn no_variable_is_too_much(
        vars in proptest::collection::vec(
            (
                prop_oneof!["BREAKERBOX__[A-Z_]{0,12}", "BREAKERBOX__PMS__[A-Z_]{0,12}", any::<String>()],
                any::<String>(),
            ),
            0..6,
        )
    ) {
        let _scope = test::scope();
        let pms = Breaker::shared("pms", Config::DEFAULT);
        if configure_from_vars(vars).is_err() {
            prop_assert_eq!(pms.config(), Config::DEFAULT);
        }
    }

    #[test]
    fn what_is_written_is_read(overrides in overrides()) {
        let _scope = test::scope();
        // Nothing is too long beside it.
        let settings = Settings::new();
        let one = Breaker::shared("a \u{e9}", settings.must());
        let report = configure_from_toml(&in_toml(&overrides)).unwrap();
        prop_assert_eq!(report.applied, ["a \u{e9}"]);
        prop_assert_eq!(one.overrides(), overrides);

        configure_from_toml("").unwrap();
        prop_assert!(one.overrides().is_empty());
        configure_from_vars(in_variables(&overrides)).unwrap();
        prop_assert_eq!(one.overrides(), overrides);
    }
}
