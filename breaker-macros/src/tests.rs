//! The macros as a whole.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::quote;

use super::{breaker_macro, guard};
use crate::args::table;
use corpus::{CORPUS, FLAGS, VALID, nodes};
use nodes::Nodes;

mod corpus;
mod golden;
mod messages;
mod nodes;
mod noise;
mod properties;

/// Every option with every kind of value, most of them wrong.
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

#[test]
fn whatever_the_value_of_an_option_the_function_is_given_back() {
    let function = quote!(
        async fn f(&self, (a, mut b): (A, B)) -> Result<u8, E> {
            marker(a).await
        }
    );
    for options in options() {
        let output = guard(options.clone(), function.clone()).to_string();
        assert!(output.contains("marker"), "{options}: {output}");
        let output = breaker_macro::expand(quote!(static PMS = { #options })).to_string();
        assert!(output.contains("static PMS"), "{options}: {output}");
    }
}

/// What the properties take apart is worth it.
#[test]
fn the_corpus_has_every_option_and_much_that_is_accepted() {
    assert_eq!(VALID.len() + FLAGS.len(), table::OPTIONS.len() + 1);
    for info in &table::OPTIONS {
        let written = |options: &Nodes| options.mentions(info.name) > 0;
        assert!(CORPUS.options.iter().any(written), "{}", info.name);
        let valid = VALID.iter().any(|(name, _)| *name == info.name);
        assert!(
            valid || FLAGS.iter().any(|flag| flag.contains(info.name)),
            "{}",
            info.name
        );
    }
    assert!(CORPUS.items.len() > 500 && CORPUS.blocks.len() > 20);
    let pairs = CORPUS.options.iter().zip(&CORPUS.items);
    let accepted = pairs
        .filter(|(options, item)| is_accepted(options, item))
        .count();
    assert!(accepted > 500, "{accepted}");
}

#[test]
fn every_valid_value_is_accepted() {
    let plain = nodes("async fn f(account: &str, hotel: &str) -> Result<u8, E> { g(hotel).await }");
    let method = nodes("async fn f(&self, hotel: &str) -> Result<u8, E> { g(hotel).await }");
    for (name, values) in VALID {
        let needs = match name {
            "window" | "min_calls" => ", failure_rate = 0.5",
            "max_reset" => ", backoff = 2",
            "slow" => ", failure_rate = 0.5, slow_rate = 0.5",
            "slow_rate" => ", failure_rate = 0.5, slow = \"2s\"",
            "max_keys" => ", key = hotel",
            "timeout_error" => ", timeout = \"2s\"",
            _ => "",
        };
        for value in values {
            let options = format!("{name} = {value}{needs}");
            let chosen = ["breaker", "key"].contains(&name) || name == "max_keys";
            let shared = if chosen { "" } else { ", shared" };
            let on_method = format!("{options}{shared}");
            assert!(is_accepted(&nodes(&options), &plain), "{options}");
            assert!(is_accepted(&nodes(&on_method), &method), "{on_method}");
        }
    }
}

/// As where `breaker = self.breaker` was put together from pieces by another macro.
#[test]
fn an_invisible_group_around_a_separator_takes_nothing_with_it() {
    let group = |inside| Group::new(Delimiter::None, inside);
    let around_value = group(quote!(= self.));
    let around_settings = group(quote!(: 3, probes));
    let function = quote!(
        fn f(&self) -> Answer {
            body()
        }
    );
    let output = guard(quote!(breaker #around_value breaker), function).to_string();
    assert!(output.contains("self . breaker"), "{output}");
    let output = breaker_macro::expand(quote!(static PMS = { threshold #around_settings : 2 }));
    let output = output.to_string();
    assert!(
        output.contains("threshold (3)") && output.contains("probes (2)"),
        "{output}"
    );
}

fn is_accepted(options: &Nodes, item: &Nodes) -> bool {
    let output = Nodes::from(guard(options.tokens(), item.tokens()));
    output.mentions("compile_error") == 0
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
