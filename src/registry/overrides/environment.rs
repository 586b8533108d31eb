//! Settings from environment variables.

use super::Configured;
use super::apply::{self, Given};
use super::layers::{ByName, Layer};
use super::mistakes::{Mistake, Mistakes, Whence};
use super::values::{self, Notation, Written};
use crate::registry::book::here;
use breaker_core::{Overrides, Setting, SettingKind};
use std::collections::btree_map::{BTreeMap, Entry};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::ffi::OsStr;

const PREFIX: &str = "BREAKERBOX__";

/// What stands between a name and a setting. No name has it.
const BETWEEN: &str = "__";

/// A name as a variable has it: in capitals, with one `_` for each run of other signs than
/// letters and digits (of ASCII), but not at either end. `app::pms` becomes `APP_PMS`.
pub(super) fn in_a_variable(name: &str) -> String {
    let words = name.split(|sign: char| !sign.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("_").to_ascii_uppercase()
}

/// Lays settings over the declared ones that environment variables give by breaker name:
/// `BREAKERBOX__PMS__THRESHOLD=3`, `BREAKERBOX__APP_PMS_INVENTORY__RESET=10s`. They come
/// instead of those that were read from the environment before. See
/// [`configure_from_vars`] for how variables are named.
///
/// ```
/// use breakerbox::registry;
///
/// # let _scope = breakerbox::test::scope();
/// // Once, when the program begins.
/// let configured = registry::configure_from_env()?;
/// for name in &configured.waiting {
///     println!("waits for a breaker that isn't there yet: {name}");
/// }
/// # Ok::<(), registry::Mistakes>(())
/// ```
///
/// # Errors
/// Every mistake in them. Nothing has changed then.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub fn configure_from_env() -> Result<Configured, Mistakes> {
    let mut mistakes = Vec::new();
    let mut vars = Vec::new();
    for (name, value) in std::env::vars_os() {
        if !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let no_text = |name: &OsStr, which| Mistake {
            whence: Whence::Variable(name.to_string_lossy().into_owned()),
            breaker: None,
            setting: None,
            what: format!("the {which} is no text in UTF-8"),
        };
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => vars.push((name, value)),
            (Ok(name), Err(_)) => mistakes.push(no_text(name.as_ref(), "value")),
            (Err(name), _) => mistakes.push(no_text(&name, "name")),
        }
    }
    configure_from(vars, mistakes)
}

/// `configure_from_env` from variables that come from elsewhere. Those that don't begin with
/// `BREAKERBOX__` are passed over.
///
/// A variable is `BREAKERBOX__`, the breaker's name, `__` and the setting, as the attribute
/// calls it, in capitals. In the name each run of other signs than letters and digits (of
/// ASCII) becomes one `_`, but is left out at either end: `app::pms-inventory` is
/// `APP_PMS_INVENTORY`. It holds for each breaker whose name becomes that; for one that got
/// its place besides as a name was taken, see [`configure`](super::configure).
///
/// ```
/// use breakerbox::{Breaker, Config, registry};
/// use std::time::Duration;
///
/// # let _scope = breakerbox::test::scope();
/// let pms = Breaker::shared("app::pms::inventory", Config::DEFAULT);
/// registry::configure_from_vars([("BREAKERBOX__APP_PMS_INVENTORY__RESET", "1m30s")])?;
/// assert_eq!(pms.config().reset(), Duration::from_secs(90));
///
/// let mistakes = registry::configure_from_vars([
///     ("BREAKERBOX__APP_PMS_INVENTORY__RESET", "90"),
///     ("BREAKERBOX__APP_PMS_INVENTORY__TRESHOLD", "3"),
/// ])
/// .unwrap_err();
/// assert_eq!(
///     mistakes.to_string(),
///     "2 mistakes in the configuration, so nothing was changed\n\
///      BREAKERBOX__APP_PMS_INVENTORY__RESET: `APP_PMS_INVENTORY`: \
///      `reset`: `90` has no unit: write \"90s\"\n\
///      BREAKERBOX__APP_PMS_INVENTORY__TRESHOLD: `APP_PMS_INVENTORY`: \
///      `treshold` is no setting: did you mean `threshold`?"
/// );
/// # Ok::<(), registry::Mistakes>(())
/// ```
///
/// # Errors
/// Every mistake in them. Nothing has changed then.
pub fn configure_from_vars<N, V>(
    vars: impl IntoIterator<Item = (N, V)>,
) -> Result<Configured, Mistakes>
where
    N: Into<String>,
    V: Into<String>,
{
    let vars = vars.into_iter();
    let vars = vars.map(|(name, value)| (name.into(), value.into()));
    let ours = vars.filter(|(name, _)| name.starts_with(PREFIX));
    configure_from(ours.collect(), Vec::new())
}

fn configure_from(
    vars: Vec<(String, String)>,
    mut mistakes: Vec<Mistake>,
) -> Result<Configured, Mistakes> {
    let mut of = ByName::new();
    let mut variables = BTreeMap::new();
    for (variable, value) in vars {
        match read(&variable, &value) {
            Err(mistake) => mistakes.push(mistake),
            Ok((name, setting, overrides)) => match variables.entry((name, setting)) {
                Entry::Vacant(place) => {
                    let these: &mut Overrides = of.entry(place.key().0.clone()).or_default();
                    *these = overrides.over(*these);
                    place.insert(variable);
                }
                // Which of the two comes last nobody can say.
                Entry::Occupied(other) => mistakes.push(Mistake {
                    what: format!("`{}` says it, too: take one of them out", other.get()),
                    breaker: Some(other.key().0.clone()),
                    setting: Some(setting.name().to_owned()),
                    whence: Whence::Variable(variable),
                }),
            },
        }
    }
    let whence = |name: &str, setting: Option<Setting>| {
        let mut of_name = variables.iter().filter(|((of, _), _)| of == name);
        let found = match setting {
            Some(setting) => of_name.find(|((_, of), _)| *of == setting),
            None => of_name.next(),
        };
        let variable = found.map_or_else(|| format!("{PREFIX}{name}"), |(_, it)| it.clone());
        Whence::Variable(variable)
    };
    let given = Given {
        layer: Layer::Environment,
        of,
        whence: Box::new(whence),
        only_these: false,
    };
    apply::configure(&here(), given, mistakes)
}

fn read(variable: &str, value: &str) -> Result<(String, Setting, Overrides), Mistake> {
    let mistake = |breaker: Option<&str>, setting: Option<&str>, what| Mistake {
        whence: Whence::Variable(variable.to_owned()),
        breaker: breaker.map(str::to_owned),
        setting: setting.map(str::to_owned),
        what,
    };
    let rest = variable.strip_prefix(PREFIX).unwrap_or(variable);
    let Some((name, setting)) = rest.rsplit_once(BETWEEN) else {
        let what = "expected a name, two underscores and a setting: \
                    write for example `BREAKERBOX__PMS__THRESHOLD`";
        return Err(mistake(None, None, what.to_owned()));
    };
    let (in_one, setting_name) = (in_a_variable(name), setting.to_ascii_lowercase());
    if name != in_one || name.is_empty() {
        let what = format!(
            "no breaker's name becomes `{name}`: write `{PREFIX}{}{BETWEEN}{setting}`",
            if in_one.is_empty() { "PMS" } else { &in_one },
        );
        return Err(mistake(None, None, what));
    }
    let wrong = |what| mistake(Some(name), Some(&setting_name), what);
    let setting = values::setting(&setting_name).map_err(wrong)?;
    let value = values::value(setting, &written(setting, value), &Bare).map_err(wrong)?;
    let overrides = Overrides::new().set(setting, value);
    let overrides = overrides.ok_or_else(|| wrong(format!("`{setting}` can't be {value}")))?;
    Ok((name.to_owned(), setting, overrides))
}

/// A variable is text, whatever the value is.
fn written(setting: Setting, value: &str) -> Written<'_> {
    let kind = setting.kind();
    let is_number = matches!(kind, Some(SettingKind::Count | SettingKind::Number));
    let is_digits = !value.is_empty() && value.bytes().all(|sign| sign.is_ascii_digit());
    match (value.parse::<i128>(), value.parse::<f64>()) {
        // Larger than anything that is kept.
        (Err(_), _) if is_number && is_digits => Written::Whole(i128::MAX),
        (Ok(whole), _) if is_number => Written::Whole(whole),
        (_, Ok(number)) if is_number => Written::Fraction(number),
        _ => Written::Text(value),
    }
}

struct Bare;

impl Notation for Bare {
    fn number(&self, _: Setting, number: &str) -> String {
        format!("`{number}`")
    }

    fn text(&self, _: Setting, text: &str) -> String {
        format!("`{text}`")
    }
}
