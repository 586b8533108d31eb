//! `breaker! { pub static PMS = { threshold: 5, reset: "30s" } }`

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Token, Type, Visibility};

use crate::args::{Args, Style, table};
use crate::error::Errors;
use crate::expand;
use crate::model::StaticModel;
use crate::validate;

/// Every static of the block, or what is wrong with it.
// Input:  pub static PMS = { threshold: 5 }
// Output: pub static PMS: Breaker = ..;
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut items = TokenStream::new();
    let parser = |input: ParseStream<'_>| {
        if input.is_empty() {
            return Err(here(input, format!("expected a static: write `{EXAMPLE}`")));
        }
        while !input.is_empty() {
            items.extend(one(input, &mut errors)?);
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(input) {
        errors.push(error);
    }
    items.extend(errors.into_tokens());
    items
}

const EXAMPLE: &str = "pub static PMS = { threshold: 5, reset: \"30s\" }";

/// One static. What is wrong with its settings goes to `errors`; where its shape is wrong, no
/// further one can be found.
fn one(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<TokenStream> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis: Visibility = input.parse()?;
    keyword(input)?;
    if input.peek(Token![mut]) {
        return Err(here(
            input,
            "a breaker changes through `&self`: leave out `mut`",
        ));
    }
    let Ok(ident) = input.parse::<Ident>() else {
        let message = format!("expected the breaker's name: write `{EXAMPLE}`");
        return Err(here(input, message));
    };
    if input.peek(Token![:]) {
        let colon: Token![:] = input.parse()?;
        let message = format!("the type of a breaker is known: write `static {ident} = {{ .. }}`");
        match input.parse::<Type>() {
            Ok(ty) => errors.at(quote::quote!(#colon #ty), message),
            Err(_) => return Err(syn::Error::new_spanned(colon, message)),
        }
    }
    let Ok(equals) = input.parse::<Token![=]>() else {
        let message =
            format!("expected `=` and the settings: write `static {ident} = {{ threshold: 5 }}`");
        return Err(match input.is_empty() {
            // The end has no place of its own.
            true => syn::Error::new_spanned(ident, message),
            false => here(input, message),
        });
    };
    let settings = braces(input, equals)?;
    // Between statics a semicolon may stand, as after any other.
    let _: Option<Token![;]> = input.parse()?;

    let mut found = Errors::default();
    let args = Args::parse(settings.stream(), Style::Block, &mut found);
    only_settings(&args, &mut found);
    validate::check_settings(&args, &mut found);
    if !found.is_empty() {
        errors.append(found);
        return Ok(expand::poor_static(&vis, &ident, &validate::trips(&args)));
    }
    let declaration = validate::declaration(&args, &ident, None);
    Ok(expand::breaker_static(&StaticModel {
        library: validate::library(args.library.map(|library| library.value)),
        attrs,
        vis,
        ident,
        declaration,
    }))
}

/// A mistake at the next token.
fn here(input: ParseStream<'_>, message: impl Display) -> syn::Error {
    syn::Error::new(input.span(), message)
}

fn keyword(input: ParseStream<'_>) -> syn::Result<()> {
    if input.parse::<Token![static]>().is_ok() {
        return Ok(());
    }
    let message = if input.peek(Token![const]) {
        format!("a `const` would be a new breaker at each use: write `{EXAMPLE}`")
    } else {
        format!("expected a static: write `{EXAMPLE}`")
    };
    Err(here(input, message))
}

fn braces(input: ParseStream<'_>, equals: Token![=]) -> syn::Result<Group> {
    let message = "expected the settings in braces: write `{ threshold: 5 }`";
    match input.parse() {
        Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Ok(group),
        Ok(other) => Err(syn::Error::new_spanned(other, message)),
        Err(_) => Err(syn::Error::new_spanned(equals, message)),
    }
}

/// What belongs to a call can't be said of a breaker.
fn only_settings(args: &Args, errors: &mut Errors) {
    for option in &args.written {
        let name = option.to_string();
        if table::find(&name).is_some_and(|info| info.part == table::Part::Call) {
            let instead = match name.as_str() {
                "breaker" | "shared" => "leave it out",
                "key" | "max_keys" => {
                    "for one breaker per key write it in `#[circuit_breaker(key = .., ..)]`, or declare a `static HOSTS: KeyedBreakers<String>`"
                }
                "classify" | "timeout" => {
                    "write it in `#[circuit_breaker(breaker = .., ..)]`, or chain it to `.call(..)`"
                }
                _ => "write it in `#[circuit_breaker(breaker = .., ..)]`",
            };
            errors.at(
                option,
                format!("`{name}` belongs to a call, not to a breaker: {instead}"),
            );
        }
    }
}
