//! What the attribute makes of six typical functions, to be read in review.
//!
//! Renew `golden/` by `INSTA_UPDATE=always cargo test -p breaker-macros golden`, and read what
//! changed.

use insta::{Settings, assert_snapshot};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use crate::guard;

/// `function` as it is written and as it is compiled, one below the other.
fn expanded(options: TokenStream, function: TokenStream) -> String {
    let written = formatted(&quote!(#[circuit_breaker(#options)] #function));
    let compiled = formatted(&guard(options, function));
    format!("{written}\n// becomes\n\n{compiled}")
}

/// Formatted, with a method in an `impl`.
fn formatted(function: &TokenStream) -> String {
    prettyplease::unparse(&match syn::parse2(function.clone()) {
        Ok(file) => file,
        Err(_) => parse_quote!(impl Client { #function }),
    })
}

fn golden(name: &str, options: TokenStream, function: TokenStream) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, expanded(options, function)));
}

#[test]
fn without_options() {
    golden(
        "without_options",
        quote!(),
        quote! {
            async fn rooms(hotel: &str) -> Result<u32, PmsError> {
                let answer = get(hotel).await?;
                Ok(answer.rooms)
            }
        },
    );
}

#[test]
fn classify_and_fallback() {
    golden(
        "classify_and_fallback",
        quote!(
            threshold = 3,
            reset = "10s",
            classify = PmsError::is_transient,
            fallback = cached
        ),
        quote! {
            pub fn rooms(hotel: &str, nights: Vec<Night>) -> Result<u32, PmsError> {
                let answer = get(hotel, &nights)?;
                Ok(answer.rooms)
            }
        },
    );
}

#[test]
fn method_with_timeout() {
    golden(
        "method_with_timeout",
        quote!(breaker = &self.breaker, timeout = "2s"),
        quote! {
            pub async fn rooms(&self, mut query: Query) -> Result<u32, PmsError> {
                query.nights.sort();
                let answer = self.http.get(query).await?;
                Ok(answer.rooms)
            }
        },
    );
}

#[test]
fn rate_and_open_error() {
    golden(
        "rate_and_open_error",
        quote!(
            failure_rate = 0.5,
            window = "10s",
            open_error = |_| PmsError::Refused
        ),
        quote! {
            async fn rooms(hotel: &str) -> Result<u32, PmsError> {
                get(hotel).await
            }
        },
    );
}

#[test]
fn one_breaker_per_key() {
    golden(
        "one_breaker_per_key",
        quote!(key = (account, region), max_keys = 1_000),
        quote! {
            async fn rooms(account: Account, region: &str) -> Result<u32, PmsError> {
                get(account, region).await
            }
        },
    );
}

#[test]
fn last_good_answers() {
    golden(
        "last_good_answers",
        quote!(
            key = account,
            last_good = COSTS,
            last_good_key = (account, month)
        ),
        quote! {
            async fn costs(account: String, month: u32) -> Result<Served<u64>, AwsError> {
                Ok(Served::fresh(get(account, month).await?))
            }
        },
    );
}
