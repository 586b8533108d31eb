//! Splits the options and their values, and goes on after a mistake.

use std::fmt::Display;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token, token};

use super::Style;
use super::table::{self, Info};
use crate::error::Errors;

/// A known option with the expression beside it.
pub(super) struct Given {
    pub(super) info: &'static Info,
    pub(super) ident: Ident,
    pub(super) value: Written,
}

/// What stands beside the name of an option.
pub(super) enum Written {
    Value(Expr),
    /// Nothing, not even a separator.
    Nothing,
    /// Something that was reported already.
    Unreadable,
}

/// The known options, each once.
pub(super) struct AllGiven(Vec<Given>);

impl AllGiven {
    pub(super) fn written(&self) -> Vec<Ident> {
        self.0.iter().map(|given| given.ident.clone()).collect()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Given> {
        let position = self.0.iter().position(|given| given.info.name == name)?;
        Some(self.0.swap_remove(position))
    }
}

/// Reads every option of `tokens`.
pub(super) fn options(tokens: TokenStream, style: Style, errors: &mut Errors) -> AllGiven {
    let mut given = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            option(input, style, &mut given, errors);
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
    }
    AllGiven(given)
}

/// Reads one option and the comma after it. Always consumes something.
fn option(input: ParseStream<'_>, style: Style, given: &mut Vec<Given>, errors: &mut Errors) {
    if let Ok(comma) = input.parse::<Token![,]>() {
        errors.at(
            comma,
            "expected an option before this comma: leave the comma out",
        );
        return;
    }
    let Ok(ident) = input.call(Ident::parse_any) else {
        let example = style.write("threshold", "5");
        errors.push(here(
            input,
            format!("expected an option, such as `{example}`"),
        ));
        skip_to_next(input, style);
        // Fails only at the end.
        let _ = input.parse::<Token![,]>();
        return;
    };

    match known(&ident, style, errors) {
        Some(info) => {
            let value = value(input, info, &ident, style, errors);
            match given.iter().any(|earlier| earlier.info.name == info.name) {
                true => errors.at(&ident, format!("`{ident}` is written twice: keep one")),
                false => given.push(Given { info, ident, value }),
            }
        }
        None => skip_to_next(input, style),
    }

    if !input.is_empty() && input.parse::<Token![,]>().is_err() {
        errors.push(here(input, "expected a comma between two options"));
        if !at_option(input, style) {
            skip_to_next(input, style);
        }
    }
}

/// The option that `ident` names; if it names none, that is reported.
fn known(ident: &Ident, style: Style, errors: &mut Errors) -> Option<&'static Info> {
    let name = ident.to_string();
    if let Some(info) = table::find(&name) {
        return Some(info);
    }
    let message = if table::UNAVAILABLE.contains(&name.as_str()) {
        format!(
            "`{name}` is not available in this version: write a `fallback` that gives the last answer"
        )
    } else if let Some(meant) = table::nearest(&name) {
        format!("unknown option `{name}`: did you mean `{meant}`?")
    } else {
        let names: Vec<_> = table::OPTIONS
            .iter()
            .filter(|info| style == Style::Attribute || info.part != table::Part::Call)
            .map(|info| info.name)
            .collect();
        format!(
            "unknown option `{name}`: the options are {}",
            names.join(", ")
        )
    };
    errors.at(ident, message);
    None
}

/// Reads the separator and the value of the option `ident`.
fn value(
    input: ParseStream<'_>,
    info: &Info,
    ident: &Ident,
    style: Style,
    errors: &mut Errors,
) -> Written {
    let expects = expectation(info, style);
    if input.is_empty() || input.peek(Token![,]) {
        return Written::Nothing;
    }
    if input.peek(token::Paren) || input.peek(token::Brace) || input.peek(token::Bracket) {
        // `threshold(5)`
        errors.push(here(input, expects));
        skip_to_next(input, style);
        return Written::Unreadable;
    }
    if !eat_separator(input, style.separator()) {
        let write = style.write(info.name, info.example);
        let separator = style.separator();
        let expected = format!("expected `{separator}` after `{ident}`: write `{write}`");
        errors.push(here(input, expected));
        if !eat_separator(input, style.wrong_separator()) {
            skip_to_next(input, style);
            return Written::Unreadable;
        }
        // The value is read all the same, for its own mistakes.
    }
    if input.is_empty() || input.peek(Token![,]) {
        errors.at(ident, expects);
        return Written::Unreadable;
    }

    let ahead = input.fork();
    match ahead.parse::<Expr>() {
        Ok(expr) => {
            input.advance_to(&ahead);
            Written::Value(expr)
        }
        Err(error) => {
            let message = format!("{expects} ({error})");
            match ahead.is_empty() {
                // The end has no place of its own.
                true => errors.at(ident, message),
                false => errors.push(syn::Error::new(error.span(), message)),
            }
            skip_to_next(input, style);
            Written::Unreadable
        }
    }
}

/// What an option expects, and how that is written.
pub(super) fn expectation(info: &Info, style: Style) -> String {
    let Info { name, expects, .. } = info;
    let write = style.write(name, info.example);
    match *expects {
        "" => format!("`{name}` takes no value: write `{write}`"),
        expects => format!("`{name}` expects {expects}: write for example `{write}`"),
    }
}

/// A mistake at the next token.
fn here(input: ParseStream<'_>, message: impl Display) -> syn::Error {
    syn::Error::new(input.span(), message)
}

/// Eats `=` (not `==` or `=>`) or `:` (not `::`).
fn eat_separator(input: ParseStream<'_>, separator: char) -> bool {
    // As the sign it is: as any token, an invisible group around it would go with it.
    match separator {
        '=' if input.peek(Token![==]) || input.peek(Token![=>]) => false,
        '=' => input.parse::<Token![=]>().is_ok(),
        _ if input.peek(Token![::]) => false,
        _ => input.parse::<Token![:]>().is_ok(),
    }
}

/// Whether an option begins here: a known one, or a word with a value.
fn at_option(input: ParseStream<'_>, style: Style) -> bool {
    let ahead = input.fork();
    let Ok(ident) = ahead.call(Ident::parse_any) else {
        return false;
    };
    table::find(&ident.to_string()).is_some()
        || eat_separator(&ahead, style.separator())
        || eat_separator(&ahead, style.wrong_separator())
}

/// Skips to the comma that ends this option: one that an option, or nothing, follows.
/// (Others may belong to the value, as in `|a, b| ..`.)
fn skip_to_next(input: ParseStream<'_>, style: Style) {
    while !input.is_empty() {
        if input.peek(Token![,]) {
            let ahead = input.fork();
            let after_comma = ahead.parse::<Token![,]>().is_ok();
            if after_comma && (ahead.is_empty() || at_option(&ahead, style) || at_flag(&ahead)) {
                return;
            }
        }
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// Whether a word stands here alone.
fn at_flag(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).is_ok() && (ahead.is_empty() || ahead.peek(Token![,]))
}
