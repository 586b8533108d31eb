//! The macros as a whole: whatever they are fed, they give the function back and don't panic.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

use super::{breaker_macro, guard};

/// Functions, and what must be found in the output whatever the options.
fn items() -> Vec<(TokenStream, &'static str)> {
    vec![
        (
            quote!(
                async fn f(a: &str) -> Result<u8, E> {
                    marker(a).await
                }
            ),
            "marker",
        ),
        (
            quote!(
                fn f(mut a: A, _: B) -> Result<u8, E> {
                    marker(a)
                }
            ),
            "marker",
        ),
        (
            quote!(
                pub(crate) async unsafe fn f<'a, T: X, const N: usize>(
                    &'a self,
                    (b, c): (T, T),
                ) -> !
                where
                    T: Y,
                {
                    marker()
                }
            ),
            "marker",
        ),
        (
            quote!(
                fn f(self: Arc<Self>) -> impl Iterator<Item = u8> {
                    #![allow(marker)]
                    x
                }
            ),
            "marker",
        ),
        (quote!(async fn f() { marker.  }), "marker"),
        (quote!(async fn f() { let marker = ; } ), "marker"),
        (
            quote!(
                async fn f();
            ),
            "f",
        ),
        (
            quote!(
                const fn f() {
                    marker
                }
            ),
            "marker",
        ),
        (
            quote!(
                struct Marker;
            ),
            "Marker",
        ),
        (quote!(impl Marker {}), "Marker"),
        (quote!(fn marker(), ), "marker"),
        (quote!(fn marker), "marker"),
        (quote!(marker), "marker"),
        (quote!(#[marker] #), "marker"),
        (quote!(), ""),
        (
            quote!(
                fn f<'life0, 'async_trait>(
                    &'life0 self,
                ) -> Pin<Box<dyn Future<Output = u8> + 'async_trait>> {
                    Box::pin(async move { marker })
                }
            ),
            "marker",
        ),
        (
            quote!(fn f<'async_trait>() -> Pin<Box<dyn Future<Output = u8> + 'async_trait>> { pin(async move marker) }),
            "marker",
        ),
    ]
}

fn options() -> Vec<TokenStream> {
    let names = [
        "name",
        "threshold",
        "failure_rate",
        "window",
        "min_calls",
        "slow",
        "slow_rate",
        "reset",
        "backoff",
        "max_reset",
        "jitter",
        "probes",
        "close_after",
        "close_rate",
        "probe_timeout",
        "on_cancel",
        "breaker",
        "shared",
        "classify",
        "classify_output",
        "timeout",
        "fallback",
        "fallback_on",
        "open_error",
        "timeout_error",
        "crate",
        "key",
        "treshold",
        "nonsense",
    ];
    let values = [
        quote!(),
        quote!(=),
        quote!(= 5),
        quote!(= -5),
        quote!(= 0),
        quote!(= 1.5),
        quote!(= "5s"),
        quote!(= "x"),
        quote!(= true),
        quote!(= X),
        quote!(= x::y::<A, B>),
        quote!(= x(y)),
        quote!(= |a| b),
        quote!(= |a, b| c),
        quote!(= |),
        quote!(= ..),
        quote!(= =),
        quote!(== 5),
        quote!(=> 5),
        quote!(: 5),
        quote!(:: 5),
        quote!((5)),
        quote!([5]),
        quote!({ 5 }),
        quote!(= Self::X),
        quote!(= self.x),
        quote!(= 'a),
        quote!(= b"x"),
        quote!(= 99999999999999999999999),
        quote!(= 1e999),
        quote!(= async {}),
        quote!(5),
    ];
    let mut options = Vec::new();
    for name in names {
        let name = Ident::new(name, Span::call_site());
        for value in &values {
            options.push(quote!(#name #value));
            options.push(quote!(#name #value, threshold = 0, #name #value));
        }
    }
    options
}

/// Tokens in no order at all, the same at each run.
fn noise() -> Vec<TokenStream> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let words = [
        "threshold",
        "reset",
        "fallback",
        "shared",
        "async",
        "fn",
        "static",
        "self",
        "x",
    ];
    let signs = [
        '=', ',', ':', ';', '|', '-', '.', '<', '>', '#', '!', '&', '?',
    ];
    let delimiters = [
        Delimiter::Parenthesis,
        Delimiter::Brace,
        Delimiter::Bracket,
        Delimiter::None,
    ];
    (0..1500)
        .map(|_| {
            let mut tokens = TokenStream::new();
            for _ in 0..1 + next(12) {
                let token: TokenTree = match next(8) {
                    0 | 1 => Ident::new(words[next(words.len())], Span::call_site()).into(),
                    2 => Literal::u64_unsuffixed(next(40) as u64).into(),
                    3 => Literal::string(["5s", "", "1m", "x"][next(4)]).into(),
                    4 => Group::new(delimiters[next(4)], tokens.clone()).into(),
                    5 => Punct::new(signs[next(signs.len())], Spacing::Joint).into(),
                    _ => Punct::new(signs[next(3)], Spacing::Alone).into(),
                };
                tokens.extend([token]);
            }
            tokens
        })
        .collect()
}

#[test]
fn the_function_is_always_given_back() {
    for options in options().into_iter().chain(noise()) {
        for (item, marker) in items() {
            let text = format!("{options} / {item}");
            let output = guard(options.clone(), item).to_string();
            assert!(output.contains(marker), "{text}: {output}");
        }
    }
}

#[test]
fn an_item_of_noise_is_given_back_with_an_error() {
    for item in noise() {
        let expected = item.to_string();
        let output = guard(quote!(threshold = 3), item).to_string();
        assert!(output.starts_with(&expected), "{expected}: {output}");
        assert!(output.contains("compile_error"), "{expected}: {output}");
    }
}

#[test]
fn a_block_of_noise_is_an_error() {
    for block in noise() {
        let text = block.to_string();
        let output = breaker_macro::expand(block.clone()).to_string();
        assert!(output.contains("compile_error"), "{text}: {output}");
        let named = breaker_macro::expand(quote!(pub static PMS = { #block })).to_string();
        assert!(named.contains("static PMS"), "{text}: {named}");
    }
    for options in options() {
        let output = breaker_macro::expand(quote!(static PMS = { #options })).to_string();
        assert!(output.contains("static PMS"), "{options}: {output}");
    }
}

#[test]
fn without_a_mistake_there_is_no_error() {
    let output = guard(
        quote!(threshold = 3, fallback = cached),
        quote!(
            async fn f(a: &str) -> Result<u8, E> {
                body(a).await
            }
        ),
    );
    assert!(!output.to_string().contains("compile_error"));
    let output = breaker_macro::expand(quote!(static PMS = { threshold: 3 }));
    assert!(!output.to_string().contains("compile_error"));
}

#[test]
fn every_mistake_is_one_error() {
    let output = guard(
        quote!(treshold = 3, reset = 30, timeout = "2s", fallback_on = open),
        quote!(
            fn f(&self) -> Result<u8, E> {
                body()
            }
        ),
    );
    assert_eq!(output.to_string().matches("compile_error").count(), 5);
}
