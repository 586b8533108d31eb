//! The macros of `breakerbox`, which re-exports them: `#[circuit_breaker(..)]` and `breaker!`.
//!
//! The modules are the stages. `args` reads the options, `validate` finds contradictions and
//! makes a `model`, `expand` prints it. Mistakes are gathered on the way and reported together.

mod args;
mod breaker_macro;
mod captures;
mod duration;
mod error;
mod expand;
mod function;
mod model;
mod place;
mod validate;

use proc_macro2::TokenStream;

use args::{Args, Style};
use error::Errors;
use function::Function;

/// Guards a function with a circuit breaker.
#[proc_macro_attribute]
pub fn circuit_breaker(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    guard(args.into(), item.into()).into()
}

/// Declares breakers as statics.
#[proc_macro]
pub fn breaker(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    breaker_macro::expand(input.into()).into()
}

/// The guarded function; or the function as it was, and every mistake beside it.
fn guard(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(args, Style::Attribute, &mut errors);
    let model = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => validate::function(args, function, &mut errors),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    match model {
        Some(model) => expand::function(&model),
        None => {
            let mut tokens = item;
            tokens.extend(errors.into_tokens());
            tokens
        }
    }
}

#[cfg(test)]
mod tests;
