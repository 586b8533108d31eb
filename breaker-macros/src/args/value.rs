//! The value of each option, by its type.

use breaker_text::{duration, nearest};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprPath, Lit, Path};

use super::parse::{AllGiven, Given, Written, expectation};
use super::shape::{
    digits, is_constants, is_negative, is_zero, lit, may_be_constant, names_constant, unit_suffix,
    unwrapped, word,
};
use super::{Arg, Style};
use crate::error::{Errors, text};

/// A value the compiler can know: read here, or left to be evaluated by it.
pub(crate) enum Constant<T> {
    /// A literal, with the expression that stood there.
    Literal(T, Expr),
    /// Any other expression: `LIMIT`, `Duration::from_secs(30)`.
    Expression(Expr),
}

impl<T> Constant<T> {
    pub(crate) fn literal(&self) -> Option<&T> {
        match self {
            Constant::Literal(value, _) => Some(value),
            Constant::Expression(_) => None,
        }
    }

    pub(crate) fn expr(&self) -> &Expr {
        match self {
            Constant::Literal(_, expr) | Constant::Expression(expr) => expr,
        }
    }
}

/// `on_cancel`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnCancel {
    Ignore,
    Failure,
}

pub(super) static ON_CANCEL: [(&str, OnCancel); 2] =
    [("ignore", OnCancel::Ignore), ("failure", OnCancel::Failure)];

/// `fallback_on`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FallbackOn {
    Any,
    Open,
}

pub(super) static FALLBACK_ON: [(&str, FallbackOn); 2] =
    [("any", FallbackOn::Any), ("open", FallbackOn::Open)];

/// The three forms of `fallback`.
pub(crate) enum Fallback {
    /// `cached`: called with the function's own parameters.
    Path(ExprPath),
    /// `|cause| ..`
    Closure(ExprClosure),
    /// `cached(a, &b)`, or any other expression: just that.
    Expression(Expr),
}

/// `window`, where it is a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The last so many calls.
    Calls(u32),
    /// The last so many nanoseconds.
    Time(u64),
}

/// The largest window of calls.
const MAX_WINDOW: u32 = (1 << 12) - 1;
/// The shortest window of time: a millisecond for each of its 10 buckets.
const LEAST_WINDOW: u64 = 10_000_000;

/// Whether a ratio may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zero {
    Fine,
    Refused,
}

/// Takes the options out one by one, each by its type.
pub(super) struct Reader<'a> {
    given: &'a mut AllGiven,
    style: Style,
    errors: &'a mut Errors,
}

impl<'a> Reader<'a> {
    pub(super) fn new(given: &'a mut AllGiven, style: Style, errors: &'a mut Errors) -> Self {
        Reader {
            given,
            style,
            errors,
        }
    }

    /// The option called `name` and its value, where both are there.
    fn take(&mut self, name: &str) -> Option<(Given, Expr)> {
        let mut given = self.given.take(name)?;
        match std::mem::replace(&mut given.value, Written::Unreadable) {
            Written::Value(expr) => Some((given, unwrapped(expr))),
            Written::Unreadable => None,
            Written::Nothing => {
                let expects = expectation(given.info, self.style);
                self.errors.at(&given.ident, expects);
                None
            }
        }
    }

    fn write(&self, given: &Given, value: &str) -> String {
        self.style.write(given.info.name, value)
    }

    /// Says that `expr` is not what `given` expects.
    fn wrong_type(&mut self, given: &Given, expr: &Expr) {
        let mut message = expectation(given.info, self.style);
        if matches!(lit(expr), Some(Lit::Str(_))) && !given.info.example.starts_with('"') {
            message.push_str(", without quotes");
        }
        self.errors.at(expr, message);
    }

    /// Refuses what can't be a constant; anything else is for the compiler to judge.
    fn constant<T>(&mut self, given: Given, expr: Expr) -> Option<Arg<Constant<T>>> {
        if !may_be_constant(&expr) {
            self.wrong_type(&given, &expr);
            return None;
        }
        Some(Arg {
            option: given.ident,
            value: Constant::Expression(expr),
        })
    }

    fn negative(&mut self, given: &Given, expr: &Expr) {
        let write = self.write(given, given.info.example);
        self.errors.at(
            expr,
            format!(
                "`{}` can't be negative: write for example `{write}`",
                given.ident
            ),
        );
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Arg<Constant<String>>> {
        let (given, expr) = self.take(name)?;
        match lit(&expr) {
            Some(Lit::Str(text)) if text.value().is_empty() => {
                self.errors.at(
                    text,
                    format!(
                        "`{name}` is empty: leave it out, and the breaker is called by its path"
                    ),
                );
                None
            }
            Some(Lit::Str(text)) => Some(Arg {
                option: given.ident,
                value: Constant::Literal(text.value(), expr),
            }),
            Some(_) => {
                self.wrong_type(&given, &expr);
                None
            }
            None => match word(&expr) {
                Some(word) if is_constants(&word) => self.constant(given, expr),
                Some(word) => {
                    let write = self.write(&given, &format!("\"{word}\""));
                    let message = format!("`{name}` is a string, in quotes: write `{write}`");
                    self.errors.at(&expr, message);
                    None
                }
                None => self.constant(given, expr),
            },
        }
    }

    pub(super) fn count(&mut self, name: &str, max: u32) -> Option<Arg<Constant<u32>>> {
        let (given, expr) = self.take(name)?;
        if is_negative(&expr) {
            self.negative(&given, &expr);
            return None;
        }
        match lit(&expr) {
            Some(number) if unit_suffix(number).is_some() => {
                self.wrong_type(&given, &expr);
                None
            }
            Some(Lit::Int(int)) => match int.base10_parse::<u32>() {
                Ok(0) => {
                    self.errors
                        .at(int, format!("`{name}` can't be 0: write at least 1"));
                    None
                }
                Ok(count) if count <= max => Some(Arg {
                    option: given.ident,
                    value: Constant::Literal(count, expr),
                }),
                Ok(_) | Err(_) => {
                    self.errors
                        .at(int, format!("`{name}` is too large: write at most {max}"));
                    None
                }
            },
            Some(_) => {
                self.wrong_type(&given, &expr);
                None
            }
            None => self.constant(given, expr),
        }
    }

    /// A number at least 1.
    pub(super) fn factor(&mut self, name: &str) -> Option<Arg<Constant<f64>>> {
        self.number(name, |number| {
            (number < 1.0).then_some("must be at least 1: each wait is the last one times this")
        })
    }

    /// A number from 0 to 1.
    pub(super) fn ratio(&mut self, name: &str, zero: Zero) -> Option<Arg<Constant<f64>>> {
        self.number(name, |number| match zero {
            _ if number > 1.0 => Some("is a share, 1 at the most: write for example 0.5 for 50 %"),
            Zero::Refused if number == 0.0 => Some("can't be 0: write for example 0.5 for 50 %"),
            Zero::Refused | Zero::Fine => None,
        })
    }

    fn number(
        &mut self,
        name: &str,
        refuse: impl Fn(f64) -> Option<&'static str>,
    ) -> Option<Arg<Constant<f64>>> {
        let (given, expr) = self.take(name)?;
        if is_negative(&expr) {
            self.negative(&given, &expr);
            return None;
        }
        let number = match lit(&expr) {
            Some(number) if unit_suffix(number).is_some() => None,
            Some(Lit::Int(int)) => int.base10_parse::<f64>().ok(),
            Some(Lit::Float(float)) => float.base10_parse::<f64>().ok(),
            Some(_) => None,
            None => return self.constant(given, expr),
        };
        let Some(number) = number else {
            self.wrong_type(&given, &expr);
            return None;
        };
        let refused = match number.is_finite() {
            true => refuse(number),
            false => {
                let write = self.write(&given, given.info.example);
                let message = format!("`{name}` is not finite: write for example `{write}`");
                self.errors.at(&expr, message);
                return None;
            }
        };
        if let Some(why) = refused {
            self.errors.at(&expr, format!("`{name}` {why}"));
            return None;
        }
        Some(Arg {
            option: given.ident,
            value: Constant::Literal(number, expr),
        })
    }

    pub(super) fn duration(&mut self, name: &str) -> Option<Arg<Constant<u64>>> {
        let (given, expr) = self.take(name)?;
        if is_negative(&expr) {
            self.negative(&given, &expr);
            return None;
        }
        let read = match lit(&expr) {
            Some(Lit::Str(text)) => {
                duration::parse(&text.value()).map_err(|why| format!("`{name}`: {why}"))
            }
            Some(number) if is_zero(number) => Ok(0),
            Some(number @ (Lit::Int(_) | Lit::Float(_))) => Err(self.unquoted(&given, number)),
            Some(_) => {
                self.wrong_type(&given, &expr);
                return None;
            }
            None => return self.constant(given, expr),
        };
        let refused = match read {
            Ok(0) => {
                let write = self.write(&given, given.info.example);
                format!("`{name}` can't be zero: write for example `{write}`")
            }
            Ok(nanos) => {
                return Some(Arg {
                    option: given.ident,
                    value: Constant::Literal(nanos, expr),
                });
            }
            Err(why) => why,
        };
        self.errors.at(&expr, refused);
        None
    }

    /// What is wrong with `30` or `30s` where a duration is expected.
    fn unquoted(&self, given: &Given, number: &Lit) -> String {
        let (text, lacks) = match (digits(number), unit_suffix(number)) {
            (digits, Some(unit)) => (format!("{digits}{unit}"), "is a string"),
            (digits, None) => (digits.to_owned(), "needs a unit"),
        };
        let (write, example) = match duration::suggestion(&text) {
            Some(text) => (format!("\"{text}\""), ""),
            None => (given.info.example.to_owned(), "for example "),
        };
        let write = self.write(given, &write);
        format!("`{}` {lacks}: write {example}`{write}`", given.info.name)
    }

    /// A count of calls, or a duration.
    pub(super) fn window(&mut self, name: &str) -> Option<Arg<Constant<Window>>> {
        let (given, expr) = self.take(name)?;
        if is_negative(&expr) {
            self.negative(&given, &expr);
            return None;
        }
        let read = match lit(&expr) {
            Some(number) if unit_suffix(number).is_some() => {
                let (text, unit) = (digits(number), unit_suffix(number).unwrap_or_default());
                let time = duration::suggestion(&format!("{text}{unit}"));
                let time = time.map_or_else(|| "\"10s\"".to_owned(), |time| format!("\"{time}\""));
                let time = self.write(&given, &time);
                Err(format!(
                    "`{name}` is a count, or a duration in quotes: write `{time}`"
                ))
            }
            Some(Lit::Int(int)) => match int.base10_parse::<u32>() {
                Ok(0) => Err(format!("`{name}` can't be 0: write at least 1 call")),
                Ok(calls) if calls <= MAX_WINDOW => Ok(Window::Calls(calls)),
                Ok(_) | Err(_) => {
                    let write = self.write(&given, "\"10s\"");
                    Err(format!(
                        "`{name}` is too large: write at most {MAX_WINDOW} calls, or a duration, such as `{write}`"
                    ))
                }
            },
            Some(Lit::Str(text)) => match duration::parse(&text.value()) {
                Ok(nanos) if nanos < LEAST_WINDOW => {
                    Err(format!("`{name}` is too short: write at least \"10ms\""))
                }
                Ok(nanos) => Ok(Window::Time(nanos)),
                Err(why) => Err(match count_of_calls(&text.value()) {
                    Some(calls) => {
                        let count = self.write(&given, &calls.to_string());
                        let time = self.write(&given, &format!("\"{calls}s\""));
                        format!(
                            "`{name}` is a count, without quotes, or a duration, with its unit: write `{count}` or `{time}`"
                        )
                    }
                    None => format!("`{name}`: {why}"),
                }),
            },
            Some(_) => {
                self.wrong_type(&given, &expr);
                return None;
            }
            None => return self.constant(given, expr),
        };
        match read {
            Ok(window) => Some(Arg {
                option: given.ident,
                value: Constant::Literal(window, expr),
            }),
            Err(why) => {
                self.errors.at(&expr, why);
                None
            }
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &'static [(&'static str, T)],
    ) -> Option<Arg<T>> {
        let (given, expr) = self.take(name)?;
        let word = match &expr {
            Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        };
        let chosen = word
            .as_deref()
            .and_then(|word| choices.iter().find(|(choice, _)| *choice == word));
        match (chosen, &expr) {
            (Some((_, value)), Expr::Path(_)) => {
                return Some(Arg {
                    option: given.ident,
                    value: *value,
                });
            }
            (Some((choice, _)), _) => {
                let write = self.write(&given, choice);
                self.errors
                    .at(&expr, format!("write `{write}`, without quotes"));
            }
            (None, _) => {
                let near = word
                    .as_deref()
                    .and_then(|word| nearest(word, choices.iter().map(|(choice, _)| *choice)));
                let expects = given.info.expects;
                let message = match near {
                    Some(near) => {
                        format!("`{name}` expects {expects}: did you mean `{near}`?")
                    }
                    None => format!("`{name}` expects {expects}"),
                };
                self.errors.at(&expr, message);
            }
        }
        None
    }

    /// An option that stands alone.
    pub(super) fn flag(&mut self, name: &str) -> Option<Arg<()>> {
        let given = self.given.take(name)?;
        match &given.value {
            Written::Nothing => Some(Arg {
                option: given.ident,
                value: (),
            }),
            Written::Value(expr) => {
                self.errors.at(expr, expectation(given.info, self.style));
                None
            }
            Written::Unreadable => None,
        }
    }

    /// Any expression but a literal.
    pub(super) fn expression(&mut self, name: &str) -> Option<Arg<Expr>> {
        let (given, expr) = self.take(name)?;
        if lit(&expr).is_some() || matches!(expr, Expr::Closure(_)) {
            self.wrong_type(&given, &expr);
            return None;
        }
        Some(Arg {
            option: given.ident,
            value: expr,
        })
    }

    /// A function of one argument: a path, a closure, or an expression that gives one.
    pub(super) fn function(&mut self, name: &str) -> Option<Arg<Expr>> {
        let (given, expr) = self.take(name)?;
        if lit(&expr).is_some() {
            self.wrong_type(&given, &expr);
            return None;
        }
        if let Expr::Closure(closure) = &expr {
            if let Some(asyncness) = &closure.asyncness {
                self.errors.at(
                    asyncness,
                    format!("`{name}` decides at once: write a closure without `async`"),
                );
                return None;
            }
            if closure.inputs.len() != 1 {
                self.one_parameter(&given, closure);
                return None;
            }
        }
        Some(Arg {
            option: given.ident,
            value: expr,
        })
    }

    /// Says that the closure takes exactly one parameter.
    fn one_parameter(&mut self, given: &Given, closure: &ExprClosure) {
        let parameter = match given.info.name {
            "classify" => "error",
            "classify_output" => "output",
            "open_error" => "refused",
            "timeout_error" => "late",
            _ => "cause",
        };
        let write = self.write(given, &format!("|{parameter}| .."));
        let tokens = BetweenBars(closure);
        self.errors.at(
            tokens,
            format!(
                "the closure of `{}` takes one parameter: write `{write}`",
                given.ident
            ),
        );
    }

    pub(super) fn fallback(&mut self, name: &str) -> Option<Arg<Fallback>> {
        let (given, expr) = self.take(name)?;
        let value = match expr {
            Expr::Path(path) if names_constant(&path) => {
                let text = text(&path);
                let constant = self.write(&given, &format!("{{{text}}}"));
                let call = self.write(&given, &format!("{text}(..)"));
                self.errors.at(
                    path,
                    format!("`{name}` calls what it names: write `{constant}` for a constant, `{call}` for a function"),
                );
                return None;
            }
            Expr::Path(path) => Fallback::Path(path),
            Expr::Closure(closure) => {
                if closure.inputs.len() != 1 {
                    self.one_parameter(&given, &closure);
                    return None;
                }
                Fallback::Closure(closure)
            }
            other => Fallback::Expression(other),
        };
        Some(Arg {
            option: given.ident,
            value,
        })
    }

    pub(super) fn path(&mut self, name: &str) -> Option<Arg<Path>> {
        let (given, expr) = self.take(name)?;
        match expr {
            Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => Some(Arg {
                option: given.ident,
                value: path.path,
            }),
            other => {
                self.wrong_type(&given, &other);
                None
            }
        }
    }
}

/// The `|a, b|` of a closure.
struct BetweenBars<'a>(&'a ExprClosure);

impl ToTokens for BetweenBars<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.inputs_begin.to_tokens(tokens);
        self.0.inputs.to_tokens(tokens);
        self.0.inputs_end.to_tokens(tokens);
    }
}

/// `"100"` and `"100 calls"` are meant as a count, probably.
fn count_of_calls(text: &str) -> Option<u32> {
    let count = text.strip_suffix("calls").unwrap_or(text);
    let count = count.trim().parse().ok()?;
    (1..=MAX_WINDOW).contains(&count).then_some(count)
}
