//! Mistakes are gathered, each with its tokens, and reported together.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Every mistake found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds a mistake that is shown at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake that brings its own place.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Adds all of `others`.
    pub(crate) fn append(&mut self, others: Errors) {
        if let Some(error) = others.0 {
            self.push(error);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(|errors| errors.into_compile_error())
            .unwrap_or_default()
    }
}

/// Tokens as they are written, more or less, to be shown in a message.
pub(crate) fn text(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(' ', "").replace(',', ", ")
}

#[cfg(test)]
impl Errors {
    /// The messages, for tests.
    pub(crate) fn messages(self) -> Vec<String> {
        self.0
            .map(|errors| errors.into_iter().map(|error| error.to_string()).collect())
            .unwrap_or_default()
    }
}
