//! Settings from a configuration file.

use super::Configured;
use super::apply::{self, Given};
use super::layers::{ByName, Layer};
use super::mistakes::{Mistake, Mistakes, Whence};
use super::values::{self, Notation, Written};
use crate::registry::book::here;
use breaker_core::{Overrides, Setting};
use breaker_text::nearest;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// In bytes: settings of some 100,000 breakers.
const LARGEST_FILE: u64 = 16 << 20;

/// The table that all others are in.
const BREAKERS: &str = "breakers";

/// Lays settings over the declared ones that text in TOML gives by breaker name, in the words
/// of the attribute. They come instead of those that were read from a file before: a name that
/// isn't there any more goes back to what was declared.
///
/// ```
/// use breakerbox::{Breaker, Config, registry};
/// use std::time::Duration;
///
/// # let _scope = breakerbox::test::scope();
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// registry::configure_from_toml(
///     r#"
///     [breakers.pms]
///     threshold = 3
///     reset = "10s"
///
///     [breakers."app::pms::inventory"]
///     reset = "1m30s"
///     backoff = 2.0
///     on_cancel = "failure"
///     "#,
/// )?;
/// assert_eq!(pms.config().reset(), Duration::from_secs(10));
///
/// let mistakes = registry::configure_from_toml("[breakers.pms]\ntreshold = 3\nreset = 10");
/// assert_eq!(
///     mistakes.unwrap_err().to_string(),
///     "2 mistakes in the configuration, so nothing was changed\n\
///      2:1: `pms`: `treshold` is no setting: did you mean `threshold`?\n\
///      3:9: `pms`: `reset` needs a unit: write `reset = \"10s\"`"
/// );
/// # Ok::<(), registry::Mistakes>(())
/// ```
///
/// # Errors
/// Every mistake in it, also where it is only wrong for a breaker that is listed. Nothing has
/// changed then.
#[cfg_attr(docsrs, doc(cfg(feature = "config-file")))]
pub fn configure_from_toml(text: &str) -> Result<Configured, Mistakes> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut file = File {
        text,
        lines: Lines::of(text),
        mistakes: Vec::new(),
        of: ByName::new(),
        spans: BTreeMap::new(),
    };
    file.read();
    let (mistakes, of, lines) = (file.mistakes, file.of, file.lines);
    let whence = |name: &str, setting: Option<Setting>| {
        let span = file.spans.get(&(name.to_owned(), setting));
        lines.place(span.map_or(0, |span| span.start))
    };
    let given = Given {
        layer: Layer::File,
        of,
        whence: Box::new(whence),
        only_these: false,
    };
    apply::configure(&here(), given, mistakes)
}

/// [`configure_from_toml`] from a file. When it is read again is yours to say: at a signal, or
/// every so often. As a bad file changes nothing, that can be done blindly:
///
/// ```no_run
/// use breakerbox::registry;
/// use std::time::{Duration, SystemTime};
///
/// let path = "/etc/app/breakers.toml";
/// registry::configure_from_file(path)?;
/// std::thread::spawn(move || {
///     let changed_at = || std::fs::metadata(path).and_then(|it| it.modified()).ok();
///     let mut read_at = changed_at();
///     loop {
///         std::thread::sleep(Duration::from_secs(10));
///         if changed_at() != read_at {
///             read_at = changed_at();
///             if let Err(error) = registry::configure_from_file(path) {
///                 eprintln!("{error}");
///             }
///         }
///     }
/// });
/// # Ok::<(), registry::FileError>(())
/// ```
///
/// Or at `SIGHUP`, with tokio:
///
/// ```no_run
/// # #[cfg(unix)]
/// # async fn reload() -> std::io::Result<()> {
/// use tokio::signal::unix::{SignalKind, signal};
///
/// let mut hangups = signal(SignalKind::hangup())?;
/// while hangups.recv().await.is_some() {
///     if let Err(error) = breakerbox::registry::configure_from_file("/etc/app/breakers.toml") {
///         eprintln!("{error}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The file can't be read, is larger than 16 MiB or no regular file (a pipe may keep whoever reads it
/// waiting for ever), or every mistake in it. Nothing has changed then.
#[cfg_attr(docsrs, doc(cfg(feature = "config-file")))]
pub fn configure_from_file(path: impl AsRef<Path>) -> Result<Configured, FileError> {
    let path = path.as_ref();
    let text = text_of(path).map_err(|error| FileError::NotRead {
        path: path.to_owned(),
        error,
    })?;
    configure_from_toml(&text).map_err(|mistakes| FileError::Mistakes(mistakes.in_file(path)))
}

/// A wrong path may lead to something that has no end, or that nobody writes to: opening a pipe waits
/// for that.
fn text_of(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        let what = "it is no regular file: give the path of one";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut text = String::new();
    let mut from = fs::File::open(path)?.take(LARGEST_FILE + 1);
    from.read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST_FILE {
        let what = format!("it is larger than {} MiB", LARGEST_FILE >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

/// Why a configuration file changed nothing.
#[cfg_attr(docsrs, doc(cfg(feature = "config-file")))]
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// It can't be read.
    #[non_exhaustive]
    NotRead {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is wrong in it.
    Mistakes(Mistakes),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRead { path, error } => {
                write!(
                    f,
                    "the configuration file {} can't be read: {error}",
                    path.display()
                )
            }
            Self::Mistakes(mistakes) => mistakes.fmt(f),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotRead { error, .. } => Some(error),
            Self::Mistakes(_) => None,
        }
    }
}

/// A file that is being read.
struct File<'t> {
    text: &'t str,
    lines: Lines<'t>,
    mistakes: Vec<Mistake>,
    of: ByName,
    /// Where which setting of which name stands; and where the name does.
    spans: BTreeMap<(String, Option<Setting>), Range<usize>>,
}

impl File<'_> {
    fn read(&mut self) {
        let (root, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message().replace('\n', ", ");
            let hint = hint(self.text, at);
            self.mistake(at, None, None, format!("no TOML: {message}{hint}"));
        }
        if !errors.is_empty() {
            // What of the rest can be relied on is not known.
            return;
        }
        for (key, value) in root.get_ref() {
            let name = key.get_ref();
            match value.get_ref() {
                DeValue::Table(tables) if name == BREAKERS => self.breakers(tables),
                _ => {
                    let what = match nearest(name, [BREAKERS]) {
                        Some(_) if name != BREAKERS => {
                            format!("`{name}` is not known: did you mean `[{BREAKERS}]`?")
                        }
                        _ if name == BREAKERS => {
                            format!("expected a table for each breaker: write `[{BREAKERS}.pms]`")
                        }
                        _ => format!(
                            "`{name}` is not known: write the settings of a breaker below \
                             `[{BREAKERS}.{}]`",
                            quoted(name)
                        ),
                    };
                    self.mistake(key.span().start, None, None, what);
                }
            }
        }
    }

    fn breakers(&mut self, tables: &DeTable<'_>) {
        for (key, value) in tables {
            let name = key.get_ref();
            self.spans.insert((name.to_string(), None), key.span());
            match value.get_ref() {
                DeValue::Table(settings) => self.settings(name, settings),
                _ => {
                    let what = format!(
                        "expected a table of settings: write them below `[{BREAKERS}.{}]`",
                        quoted(name)
                    );
                    self.mistake(key.span().start, Some(name), None, what);
                }
            }
        }
    }

    fn settings(&mut self, breaker: &str, settings: &DeTable<'_>) {
        let mut overrides = Overrides::new();
        for (key, value) in settings {
            let name = key.get_ref();
            let place = (breaker, name.as_ref());
            let is_table = matches!(value.get_ref(), DeValue::Table(_));
            let setting = values::setting(name);
            if is_table && setting.is_err() {
                let what = format!(
                    "`{name}` is a table: if it is a part of the breaker's name, write \
                     `[{BREAKERS}.\"{breaker}.{name}\"]`"
                );
                self.mistake_at(key.span(), place, what);
                continue;
            }
            let setting = match setting {
                Ok(setting) => setting,
                Err(what) => {
                    self.mistake_at(key.span(), place, what);
                    continue;
                }
            };
            let read = read(setting, value);
            match read.map(|value| overrides.set(setting, value)) {
                Ok(Some(with_it)) => overrides = with_it,
                Ok(None) => {}
                Err(what) => self.mistake_at(value.span(), place, what),
            }
            let key = (breaker.to_owned(), Some(setting));
            self.spans.insert(key, value.span());
        }
        self.of.insert(breaker.to_owned(), overrides);
    }

    fn mistake_at(&mut self, span: Range<usize>, (breaker, setting): (&str, &str), what: String) {
        self.mistake(span.start, Some(breaker), Some(setting), what);
    }

    fn mistake(&mut self, at: usize, breaker: Option<&str>, setting: Option<&str>, what: String) {
        self.mistakes.push(Mistake {
            whence: self.lines.place(at),
            breaker: breaker.map(str::to_owned),
            setting: setting.map(str::to_owned),
            what,
        });
    }
}

fn read(
    setting: Setting,
    value: &Spanned<DeValue<'_>>,
) -> Result<breaker_core::SettingValue, String> {
    let written = match value.get_ref() {
        DeValue::String(text) => Written::Text(text),
        DeValue::Integer(number) => {
            let whole = i128::from_str_radix(number.as_str(), number.radix());
            // Larger than anything that is kept.
            Written::Whole(whole.unwrap_or(i128::MAX))
        }
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Written::Fraction(number),
            Err(_) => Written::Other("this"),
        },
        DeValue::Boolean(_) => Written::Other("a boolean"),
        DeValue::Datetime(_) => Written::Other("a date"),
        DeValue::Array(_) => Written::Other("an array"),
        DeValue::Table(_) => Written::Other("a table"),
    };
    values::value(setting, &written, &InToml)
}

struct InToml;

impl Notation for InToml {
    fn number(&self, setting: Setting, number: &str) -> String {
        format!("`{setting} = {number}`")
    }

    fn text(&self, setting: Setting, text: &str) -> String {
        format!("`{setting} = \"{text}\"`")
    }
}

/// A name as a key of TOML.
fn quoted(name: &str) -> String {
    let is_bare = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

/// What to write instead, where a name stands without its quotes.
fn hint(text: &str, at: usize) -> String {
    let at = floor(text, at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    let name = line
        .strip_prefix("[breakers.")
        .and_then(|rest| rest.strip_suffix(']'));
    match name {
        Some(name) if name.contains("::") && !name.contains('"') => {
            format!("; quote the name: write `[{BREAKERS}.\"{name}\"]`")
        }
        _ => String::new(),
    }
}

/// Where the lines of a text begin: looked for once, however many mistakes are in it.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Self { text, starts }
    }

    /// Line and column, from 1, of a place in the text.
    fn place(&self, at: usize) -> Whence {
        let at = floor(self.text, at);
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line));
        Whence::File {
            file: None,
            line,
            column: self.text[start.copied().unwrap_or(0)..at].chars().count() + 1,
        }
    }
}

/// The place itself, or the start of the character that it is in.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
