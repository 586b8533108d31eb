//! From tokens to options: each with its value, its type and its place.

mod parse;
mod shape;
pub(crate) mod table;
mod value;

use proc_macro2::{Ident, TokenStream};
use syn::{Expr, Path};

pub(crate) use value::{Constant, Fallback, FallbackOn, OnCancel, Window};

use crate::error::Errors;

/// The largest consecutive count a breaker's word can hold.
const MAX_THRESHOLD: u32 = (1 << 27) - 2;
/// The largest number of probes, or of successes, it can hold.
const MAX_PROBES: u32 = (1 << 9) - 1;
/// The largest `min_calls` of a window of time. One of calls can't hold as many.
const MAX_MIN_CALLS: u32 = (1 << 17) - 1;

/// Where the options stand, which decides how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `#[circuit_breaker(threshold = 5)]`
    Attribute,
    /// `breaker! { static PMS = { threshold: 5 } }`
    Block,
}

impl Style {
    /// An option as it is written here: `threshold = 5`.
    pub(crate) fn write(self, name: &str, value: &str) -> String {
        match self {
            _ if value.is_empty() => name.to_owned(),
            Style::Attribute => format!("{name} = {value}"),
            Style::Block => format!("{name}: {value}"),
        }
    }

    fn separator(self) -> char {
        match self {
            Style::Attribute => '=',
            Style::Block => ':',
        }
    }

    fn wrong_separator(self) -> char {
        match self {
            Style::Attribute => ':',
            Style::Block => '=',
        }
    }
}

/// An option that was written and understood.
pub(crate) struct Arg<T> {
    pub(crate) option: Ident,
    pub(crate) value: T,
}

/// Everything that was written between the brackets.
pub(crate) struct Args {
    pub(crate) style: Style,
    /// Every known option that was written, also with a value that was refused.
    pub(crate) written: Vec<Ident>,

    pub(crate) name: Option<Arg<Constant<String>>>,
    pub(crate) threshold: Option<Arg<Constant<u32>>>,
    pub(crate) failure_rate: Option<Arg<Constant<f64>>>,
    pub(crate) window: Option<Arg<Constant<Window>>>,
    pub(crate) min_calls: Option<Arg<Constant<u32>>>,
    pub(crate) slow: Option<Arg<Constant<u64>>>,
    pub(crate) slow_rate: Option<Arg<Constant<f64>>>,
    pub(crate) reset: Option<Arg<Constant<u64>>>,
    pub(crate) backoff: Option<Arg<Constant<f64>>>,
    pub(crate) max_reset: Option<Arg<Constant<u64>>>,
    pub(crate) jitter: Option<Arg<Constant<f64>>>,
    pub(crate) probes: Option<Arg<Constant<u32>>>,
    pub(crate) close_after: Option<Arg<Constant<u32>>>,
    pub(crate) close_rate: Option<Arg<Constant<f64>>>,
    pub(crate) probe_timeout: Option<Arg<Constant<u64>>>,
    pub(crate) on_cancel: Option<Arg<OnCancel>>,

    pub(crate) breaker: Option<Arg<Expr>>,
    pub(crate) shared: Option<Arg<()>>,
    pub(crate) key: Option<Arg<Expr>>,
    pub(crate) max_keys: Option<Arg<Constant<u32>>>,

    pub(crate) classify: Option<Arg<Expr>>,
    pub(crate) classify_output: Option<Arg<Expr>>,
    pub(crate) timeout: Option<Arg<Constant<u64>>>,
    pub(crate) fallback: Option<Arg<Fallback>>,
    pub(crate) fallback_on: Option<Arg<FallbackOn>>,
    pub(crate) last_good: Option<Arg<Expr>>,
    pub(crate) last_good_key: Option<Arg<Expr>>,
    pub(crate) open_error: Option<Arg<Expr>>,
    pub(crate) timeout_error: Option<Arg<Expr>>,

    pub(crate) library: Option<Arg<Path>>,
}

impl Args {
    /// Reads every option; what can't be read goes to `errors`, and the rest is read all the same.
    pub(crate) fn parse(tokens: TokenStream, style: Style, errors: &mut Errors) -> Args {
        let mut given = parse::options(tokens, style, errors);
        let written = given.written();
        let mut read = value::Reader::new(&mut given, style, errors);
        Args {
            style,
            written,

            name: read.text("name"),
            threshold: read.count("threshold", MAX_THRESHOLD),
            failure_rate: read.ratio("failure_rate", value::Zero::Refused),
            window: read.window("window"),
            min_calls: read.count("min_calls", MAX_MIN_CALLS),
            slow: read.duration("slow"),
            slow_rate: read.ratio("slow_rate", value::Zero::Refused),
            reset: read.duration("reset"),
            backoff: read.factor("backoff"),
            max_reset: read.duration("max_reset"),
            jitter: read.ratio("jitter", value::Zero::Fine),
            probes: read.count("probes", MAX_PROBES),
            close_after: read.count("close_after", MAX_PROBES),
            close_rate: read.ratio("close_rate", value::Zero::Refused),
            probe_timeout: read.duration("probe_timeout"),
            on_cancel: read.choice("on_cancel", &value::ON_CANCEL),

            breaker: read.expression("breaker"),
            shared: read.flag("shared"),
            key: read.expression("key"),
            max_keys: read.count("max_keys", u32::MAX),

            classify: read.function("classify"),
            classify_output: read.function("classify_output"),
            timeout: read.duration("timeout"),
            fallback: read.fallback("fallback"),
            fallback_on: read.choice("fallback_on", &value::FALLBACK_ON),
            last_good: read.expression("last_good"),
            last_good_key: read.expression("last_good_key"),
            open_error: read.function("open_error"),
            timeout_error: read.function("timeout_error"),

            library: read.path("crate"),
        }
    }

    /// The option called `name`, if it was written, whatever its value.
    pub(crate) fn written(&self, name: &str) -> Option<&Ident> {
        self.written.iter().find(|ident| *ident == name)
    }
}

#[cfg(test)]
mod guide;
#[cfg(test)]
mod tests;
