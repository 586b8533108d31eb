//! Settings and their values as text has them: in the words of the attribute.

use breaker_core::{OnCancel, Setting, SettingKind, SettingValue};
use breaker_text::{duration, nearest};
use std::time::Duration;

/// Words of the attribute that are no settings at run time.
const DECLARED: [&str; 14] = [
    "name",
    "window",
    "timeout",
    "jitter_seed",
    "breaker",
    "shared",
    "key",
    "max_keys",
    "classify",
    "classify_output",
    "fallback",
    "fallback_on",
    "last_good",
    "open_error",
];

/// The setting of that name, or what is wrong with it.
pub(super) fn setting(name: &str) -> Result<Setting, String> {
    if let Some(setting) = Setting::overridable(name) {
        return Ok(setting);
    }
    if DECLARED.contains(&name) {
        return Err(format!(
            "`{name}` is declared with the breaker and can't be changed at run time: take it out"
        ));
    }
    let plain = name.to_lowercase().replace('-', "_");
    let settings = Setting::OVERRIDABLE.map(Setting::name);
    Err(match nearest(&plain, settings) {
        Some(meant) => format!("`{name}` is no setting: did you mean `{meant}`?"),
        None => format!("`{name}` is no setting: they are {}", settings.join(", ")),
    })
}

/// What stands where a value is expected.
pub(super) enum Written<'a> {
    Text(&'a str),
    Whole(i128),
    Fraction(f64),
    /// What no setting is.
    #[cfg(feature = "config-file")]
    Other(&'static str),
}

/// How a value is written: `threshold = 3` in a file, `3` in a variable.
pub(super) trait Notation {
    fn number(&self, setting: Setting, number: &str) -> String;
    fn text(&self, setting: Setting, text: &str) -> String;
}

/// The value of a setting, or what is wrong with it.
pub(super) fn value(
    setting: Setting,
    written: &Written<'_>,
    notation: &dyn Notation,
) -> Result<SettingValue, String> {
    match setting.kind() {
        Some(SettingKind::Count) => count(setting, written, notation).map(SettingValue::Count),
        Some(SettingKind::Number) => number(setting, written, notation).map(SettingValue::Number),
        Some(SettingKind::Duration) => wait(setting, written, notation).map(SettingValue::Duration),
        Some(SettingKind::OnCancel) => {
            on_cancel(setting, written, notation).map(SettingValue::OnCancel)
        }
        None => Err(format!("`{setting}` can't be changed at run time")),
    }
}

/// What is larger than is kept is refused as too large, with the most that there may be.
fn count(setting: Setting, written: &Written<'_>, notation: &dyn Notation) -> Result<u32, String> {
    match written {
        Written::Whole(count) if *count < 0 => Err(format!("`{setting}` can't be negative")),
        Written::Whole(count) => Ok(u32::try_from(*count).unwrap_or(u32::MAX)),
        Written::Text(text) if text.parse::<u32>().is_ok() => Err(format!(
            "`{setting}` is a whole number: write {}",
            notation.number(setting, text)
        )),
        _ => Err(format!(
            "`{setting}` is a whole number: write for example {}",
            notation.number(setting, "3")
        )),
    }
}

fn number(setting: Setting, written: &Written<'_>, notation: &dyn Notation) -> Result<f64, String> {
    let example = if setting == Setting::Backoff {
        "2.0"
    } else {
        "0.5"
    };
    match written {
        Written::Whole(number) => Ok(*number as f64),
        Written::Fraction(number) => Ok(*number),
        Written::Text(text) => Err(match text.strip_suffix('%').map(str::trim) {
            Some(share) if share.parse::<f64>().is_ok_and(f64::is_finite) => {
                let share = share.parse::<f64>().unwrap_or_default() / 100.0;
                let share = notation.number(setting, &share.to_string());
                format!("`{setting}` is a number, not a percentage: write {share}")
            }
            _ if text.parse::<f64>().is_ok_and(f64::is_finite) => format!(
                "`{setting}` is a number: write {}",
                notation.number(setting, text)
            ),
            _ => format!(
                "`{setting}` is a number: write for example {}",
                notation.number(setting, example)
            ),
        }),
        #[cfg(feature = "config-file")]
        Written::Other(_) => Err(format!(
            "`{setting}` is a number: write for example {}",
            notation.number(setting, example)
        )),
    }
}

fn wait(
    setting: Setting,
    written: &Written<'_>,
    notation: &dyn Notation,
) -> Result<Duration, String> {
    let example = || notation.text(setting, "30s");
    let needs_a_unit = |number: String| {
        let meant = duration::suggestion(&number);
        Err(match meant {
            Some(meant) => format!(
                "`{setting}` needs a unit: write {}",
                notation.text(setting, &meant)
            ),
            None => format!("`{setting}` needs a unit: write for example {}", example()),
        })
    };
    match written {
        Written::Text(text) => match duration::parse(text) {
            Ok(nanos) => Ok(Duration::from_nanos(nanos)),
            Err(why) => Err(format!("`{setting}`: {why}")),
        },
        Written::Whole(number) => needs_a_unit(number.to_string()),
        Written::Fraction(number) => needs_a_unit(number.to_string()),
        #[cfg(feature = "config-file")]
        Written::Other(what) => Err(format!(
            "`{setting}` is a duration, not {what}: write for example {}",
            example()
        )),
    }
}

fn on_cancel(
    setting: Setting,
    written: &Written<'_>,
    notation: &dyn Notation,
) -> Result<OnCancel, String> {
    let choices = [("ignore", OnCancel::Ignore), ("failure", OnCancel::Failure)];
    let Written::Text(text) = written else {
        return Err(format!(
            "`{setting}` is a word: write {} or {}",
            notation.text(setting, "ignore"),
            notation.text(setting, "failure")
        ));
    };
    if let Some((_, choice)) = choices.iter().find(|(name, _)| name == text) {
        return Ok(*choice);
    }
    Err(
        match nearest(&text.to_lowercase(), choices.map(|(name, _)| name)) {
            Some(meant) => format!("`{setting}` can't be `{text}`: did you mean `{meant}`?"),
            None => format!("`{setting}` can't be `{text}`: write `ignore` or `failure`"),
        },
    )
}
