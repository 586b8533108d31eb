//! Splits the options and their values, and goes on after a mistake.

use std::fmt::Display;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token, parse_quote, token};

use super::Style;
use super::shape::may_be_breaker;
use super::table::{self, Info};
use crate::error::{Errors, text};
use crate::place::Place;

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
#[derive(Default)]
pub(super) struct AllGiven {
    given: Vec<Given>,
    /// What seems to be meant by what was reported already. If it isn't given itself, it counts
    /// as given, and nothing is said of its missing.
    meant: Vec<Given>,
}

impl AllGiven {
    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.info.name == name)
    }

    fn means(&mut self, name: &str, ident: &Ident) {
        self.meant.extend(table::find(name).map(|info| Given {
            info,
            ident: Ident::new(name, ident.span()),
            value: Written::Unreadable,
        }));
    }

    pub(super) fn written(&self) -> Vec<Ident> {
        self.given.iter().map(|given| given.ident.clone()).collect()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Given> {
        let position = self
            .given
            .iter()
            .position(|given| given.info.name == name)?;
        Some(self.given.swap_remove(position))
    }
}

/// Reads every option of `tokens`.
pub(super) fn options(tokens: TokenStream, style: Style, errors: &mut Errors) -> AllGiven {
    let mut all = AllGiven::default();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            option(input, style, &mut all, errors);
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
    }
    for meant in std::mem::take(&mut all.meant) {
        if !all.has(meant.info.name) {
            all.given.push(meant);
        }
    }
    all
}

/// Reads one option and the comma after it. Always consumes something.
fn option(input: ParseStream<'_>, style: Style, all: &mut AllGiven, errors: &mut Errors) {
    if let Ok(comma) = input.parse::<Token![,]>() {
        errors.at(
            comma,
            "expected an option before this comma: leave the comma out",
        );
        return;
    }
    if let (Style::Attribute, Some(breaker)) = (style, bare_breaker(input)) {
        let ident = Ident::new("breaker", Place::of(&breaker).first);
        let message = format!("expected an option: write `breaker = {}`", text(&breaker));
        errors.at(&breaker, message);
        all.means("breaker", &ident);
        end(input, style, errors);
        return;
    }
    let Some(Name { ident, dashed }) = name(input) else {
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

    match table::find(&ident.to_string()) {
        Some(info) => {
            if let Some(dashed) = dashed {
                let message = format!("names of options have no `-`: write `{ident}`");
                errors.at(dashed, message);
            }
            let value = value(input, info, &ident, style, errors);
            match all.has(info.name) {
                true => errors.at(&ident, format!("`{ident}` is written twice: keep one")),
                false => all.given.push(Given { info, ident, value }),
            }
        }
        None if is_alone(input) && part_of_key(&ident, all, errors) => {}
        None => {
            unknown(&ident, dashed, style, all, errors);
            skip_value(input, style);
        }
    }
    end(input, style, errors);
}

/// The comma after an option.
fn end(input: ParseStream<'_>, style: Style, errors: &mut Errors) {
    if !input.is_empty() && input.parse::<Token![,]>().is_err() {
        errors.push(here(input, "expected a comma between two options"));
        if !at_option(input, style) {
            skip_to_next(input, style);
        }
    }
}

/// The name of an option.
struct Name {
    ident: Ident,
    /// The tokens, where it is written `max-reset`.
    dashed: Option<TokenStream>,
}

fn name(input: ParseStream<'_>) -> Option<Name> {
    let mut ident = input.call(Ident::parse_any).ok()?;
    let mut tokens = ident.to_token_stream();
    let mut dashed = false;
    while input.peek(Token![-]) && input.peek2(Ident::peek_any) {
        let (Ok(dash), Ok(word)) = (input.parse::<Token![-]>(), input.call(Ident::parse_any))
        else {
            break;
        };
        dash.to_tokens(&mut tokens);
        word.to_tokens(&mut tokens);
        let joined = format!("{}_{}", ident.unraw(), word.unraw());
        ident = Ident::new(&joined, ident.span());
        dashed = true;
    }
    Some(Name {
        ident,
        dashed: dashed.then_some(tokens),
    })
}

/// A breaker that stands where an option belongs.
fn bare_breaker(input: ParseStream<'_>) -> Option<Expr> {
    let ahead = input.fork();
    let expr = ahead.parse::<Expr>().ok()?;
    let found = may_be_breaker(&expr) && is_alone(&ahead);
    found.then(|| {
        input.advance_to(&ahead);
        expr
    })
}

/// `key = account, region`: whether a word alone seems to be a part of the key before it.
fn part_of_key(ident: &Ident, all: &mut AllGiven, errors: &mut Errors) -> bool {
    let Some(Given {
        info,
        value: Written::Value(key),
        ..
    }) = all.given.last_mut()
    else {
        return false;
    };
    let option = info.name;
    if !matches!(option, "key" | "last_good_key")
        || table::nearest(&ident.to_string()) == Some("shared")
    {
        return false;
    }
    // A keyword is none.
    let Ok(part) = syn::parse2(ident.to_token_stream()) else {
        return false;
    };
    let mut parts = match &*key {
        Expr::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
        key => vec![key.clone()],
    };
    parts.push(part);
    *key = parse_quote!((#(#parts),*));
    let parts: Vec<_> = parts.iter().map(text).collect();
    let message = format!(
        "a key of several parts is a tuple: write `{option} = ({})`",
        parts.join(", ")
    );
    errors.at(ident, message);
    true
}

/// Reports that there is no option of that name.
fn unknown(
    ident: &Ident,
    dashed: Option<TokenStream>,
    style: Style,
    all: &mut AllGiven,
    errors: &mut Errors,
) {
    let name = match &dashed {
        Some(dashed) => text(dashed),
        None => ident.to_string(),
    };
    let meant = table::nearest(&ident.to_string());
    if let Some(meant) = meant {
        all.means(meant, ident);
    }
    let message = if let Some(meant) = meant {
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
    errors.at(dashed.unwrap_or_else(|| ident.to_token_stream()), message);
}

/// Skips the value of an unknown option.
fn skip_value(input: ParseStream<'_>, style: Style) {
    let ahead = input.fork();
    let separated = [style.separator(), style.wrong_separator()]
        .into_iter()
        .any(|separator| eat_separator(&ahead, separator));
    if separated && ahead.parse::<Expr>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,])) {
        input.advance_to(&ahead);
    } else {
        skip_to_next(input, style);
    }
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
    let Some(Name { ident, .. }) = name(&ahead) else {
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
    ahead.call(Ident::parse_any).is_ok() && is_alone(&ahead)
}

/// Whether an option ends here.
fn is_alone(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}
