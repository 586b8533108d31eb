use proc_macro2::TokenStream;
use quote::quote;

use super::value::{Fallback, FallbackOn, OnCancel, Window};
use super::{Args, Style};
use crate::error::Errors;

fn parse(tokens: TokenStream) -> (Args, Vec<String>) {
    let mut errors = Errors::default();
    let args = Args::parse(tokens, Style::Attribute, &mut errors);
    (args, errors.messages())
}

fn good(tokens: TokenStream) -> Args {
    let (args, messages) = parse(tokens);
    assert!(messages.is_empty(), "{messages:?}");
    args
}

#[test]
fn nothing_is_fine() {
    assert!(good(quote!()).written.is_empty());
}

#[test]
fn every_option_is_read() {
    let args = good(quote! {
        name = "pms", threshold = 3, failure_rate = 0.5, window = 100, min_calls = 10,
        slow = "2s", slow_rate = 1, reset = "30s", backoff = 2, max_reset = "5m", jitter = 0.5,
        probes = 2, close_after = 4, close_rate = 0.25, probe_timeout = "1m30s", on_cancel = failure,
        breaker = PMS, shared, classify = is_transient, classify_output = |output| output.is_none(),
        timeout = "1.5s", fallback = cached, fallback_on = open, open_error = |refused| refused.into(),
        timeout_error = MyError::late, crate = a::b,
    });
    let literal = |arg: &super::Constant<u64>| arg.literal().copied();
    assert_eq!(args.written.len(), 26);
    assert_eq!(args.name.unwrap().value.literal().unwrap(), "pms");
    assert_eq!(args.threshold.unwrap().value.literal(), Some(&3));
    assert_eq!(args.failure_rate.unwrap().value.literal(), Some(&0.5));
    assert_eq!(
        args.window.unwrap().value.literal(),
        Some(&Window::Calls(100))
    );
    assert_eq!(args.min_calls.unwrap().value.literal(), Some(&10));
    assert_eq!(literal(&args.slow.unwrap().value), Some(2_000_000_000));
    assert_eq!(args.slow_rate.unwrap().value.literal(), Some(&1.0));
    assert_eq!(literal(&args.reset.unwrap().value), Some(30_000_000_000));
    assert_eq!(args.backoff.unwrap().value.literal(), Some(&2.0));
    assert_eq!(
        literal(&args.max_reset.unwrap().value),
        Some(300_000_000_000)
    );
    assert_eq!(args.jitter.unwrap().value.literal(), Some(&0.5));
    assert_eq!(args.probes.unwrap().value.literal(), Some(&2));
    assert_eq!(args.close_after.unwrap().value.literal(), Some(&4));
    assert_eq!(args.close_rate.unwrap().value.literal(), Some(&0.25));
    assert_eq!(
        literal(&args.probe_timeout.unwrap().value),
        Some(90_000_000_000)
    );
    assert_eq!(args.on_cancel.unwrap().value, OnCancel::Failure);
    assert!(args.breaker.is_some() && args.shared.is_some());
    assert!(args.classify.is_some() && args.classify_output.is_some());
    assert_eq!(literal(&args.timeout.unwrap().value), Some(1_500_000_000));
    assert!(matches!(args.fallback.unwrap().value, Fallback::Path(_)));
    assert_eq!(args.fallback_on.unwrap().value, FallbackOn::Open);
    assert!(args.open_error.is_some() && args.timeout_error.is_some());
    assert_eq!(args.library.unwrap().value.segments.len(), 2);
}

#[test]
fn the_block_has_colons() {
    let mut errors = Errors::default();
    let args = Args::parse(
        quote!(threshold: 3, reset: "2s", name: ::core::stringify!(x), crate: a::b),
        Style::Block,
        &mut errors,
    );
    assert!(errors.is_empty());
    assert_eq!(args.threshold.unwrap().value.literal(), Some(&3));
    assert!(args.name.unwrap().value.literal().is_none());
    assert!(args.library.is_some());
}

#[test]
fn the_forms_of_a_fallback() {
    let form = |tokens| good(tokens).fallback.unwrap().value;
    assert!(matches!(form(quote!(fallback = cached)), Fallback::Path(_)));
    assert!(matches!(
        form(quote!(fallback = (cached))),
        Fallback::Path(_)
    ));
    assert!(matches!(
        form(quote!(fallback = Self::cached::<u8>)),
        Fallback::Path(_)
    ));
    assert!(matches!(
        form(quote!(fallback = |cause| cached(cause))),
        Fallback::Closure(_)
    ));
    assert!(matches!(
        form(quote!(fallback = async move |_| cached())),
        Fallback::Closure(_)
    ));
    for tokens in [
        quote!(cached(a, &b)),
        quote!(cached(a).await),
        quote!(None?),
        quote!({ cached }),
        quote!(5),
        quote!(vec![]),
    ] {
        assert!(matches!(
            form(quote!(fallback = #tokens)),
            Fallback::Expression(_)
        ));
    }
}

#[test]
fn constants_are_left_to_the_compiler() {
    for value in [
        quote!(LIMIT),
        quote!(a::LIMIT),
        quote!(<A as B>::LIMIT),
        quote!(LIMIT + 1),
        quote!(-LIMIT),
        quote!(limit(3)),
        quote!(limit!()),
        quote!(if A { 1 } else { 2 }),
        quote!({ 3 }),
        quote!(A.b),
        quote!(A[3]),
        quote!(3 as _),
    ] {
        let args = good(quote! {
            threshold = #value, reset = #value, jitter = #value, name = #value, window = #value
        });
        assert!(args.threshold.unwrap().value.literal().is_none());
        assert!(args.reset.unwrap().value.literal().is_none());
        assert!(args.jitter.unwrap().value.literal().is_none());
        assert!(args.name.unwrap().value.literal().is_none());
        assert!(args.window.unwrap().value.literal().is_none());
    }
}

#[test]
fn a_macros_argument_is_a_literal() {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let group = |tokens| TokenTree::Group(Group::new(Delimiter::None, tokens));
    let (three, wait, minus) = (group(quote!(3)), group(quote!("3s")), group(quote!(-3)));
    let nested = group(quote!(#three));
    let args = good(quote!(threshold = #nested, reset = #wait));
    assert_eq!(args.threshold.unwrap().value.literal(), Some(&3));
    assert_eq!(args.reset.unwrap().value.literal(), Some(&3_000_000_000));
    let (_, messages) = parse(quote!(threshold = #minus));
    assert!(messages[0].contains("negative"));
}

#[test]
fn reading_goes_on_after_a_mistake() {
    for (tokens, expected) in [
        (quote!(treshold = 5, reset = 30, probes = 0), 3),
        (quote!(threshold(5), reset("3s"), probes), 3),
        (quote!(threshold 5, reset = 30), 2),
        (quote!(threshold: 0, reset: 30), 4),
        (quote!(frobnicate = |a, b| a + b, reset = 30), 2),
        (quote!(classify = |a, b| { a }, reset = 30), 2),
        (quote!(fallback = |a,, reset = 30), 2),
        (quote!(5, 6, reset = 30), 2),
        (quote!(, , reset = 30), 3),
        (quote!(reset = 30 threshold = 0), 3),
        (quote!(reset = 30; threshold = 0), 2),
        (quote!(reset = = 30, threshold = 0), 2),
        (quote!(a = b::<C, D>, threshold = 0), 2),
        (quote!(threshold = 3, threshold = 4, threshold = 5), 2),
        (quote!(last_good = 1, window = "5", slow = 1), 3),
        (quote!(key = a, async), 1),
        (quote!(last_good_key = a, fn), 1),
    ] {
        let text = tokens.to_string();
        let (_, messages) = parse(tokens);
        assert_eq!(messages.len(), expected, "{text}: {messages:#?}");
    }
}

#[test]
fn the_first_of_two_is_kept() {
    let (args, _) = parse(quote!(threshold = 3, threshold = 4));
    assert_eq!(args.threshold.unwrap().value.literal(), Some(&3));
}

#[test]
fn a_refused_option_was_written_all_the_same() {
    let (args, _) = parse(quote!(threshold = 0));
    assert!(args.threshold.is_none());
    assert!(args.written("threshold").is_some());
    assert!(args.written("reset").is_none());
}

#[test]
fn the_edges_of_a_count() {
    for (value, fits) in [
        (quote!(1), true),
        (quote!(134217726), true),
        (quote!(134217727), false),
        (quote!(4294967296), false),
        (quote!(0x10), true),
        (quote!(0b0), false),
        (quote!(1_000u8), true),
    ] {
        let (args, messages) = parse(quote!(threshold = #value));
        assert_eq!(args.threshold.is_some(), fits, "{value}: {messages:?}");
    }
}

#[test]
fn the_edges_of_a_window() {
    for (value, window) in [
        (quote!(1), Some(Window::Calls(1))),
        (quote!(4_095u32), Some(Window::Calls(4095))),
        (quote!(4096), None),
        (quote!(99999999999), None),
        (quote!(0), None),
        (quote!(100.0), None),
        (quote!("10ms"), Some(Window::Time(10_000_000))),
        (quote!("9ms999us"), None),
        (quote!("0s"), None),
        (quote!("100"), None),
        (
            quote!("213503d"),
            Some(Window::Time(213_503 * 86_400_000_000_000)),
        ),
        (quote!("213504d"), None),
    ] {
        let (args, messages) = parse(quote!(window = #value));
        let found = args.window.and_then(|arg| arg.value.literal().copied());
        assert_eq!(found, window, "{value}: {messages:?}");
        assert_eq!(messages.len(), usize::from(window.is_none()), "{value}");
    }
}

#[test]
fn the_edges_of_a_ratio() {
    for (value, jitter, close_rate, backoff) in [
        (quote!(0), true, false, false),
        (quote!(0.0), true, false, false),
        (quote!(1e-300), true, true, false),
        (quote!(0.5f32), true, true, false),
        (quote!(1), true, true, true),
        (quote!(1.0000000001), false, false, true),
        (quote!(1e300), false, false, true),
        (quote!(1e400), false, false, false),
        (quote!(-0.0), false, false, false),
    ] {
        let (args, _) = parse(quote!(jitter = #value, close_rate = #value, backoff = #value));
        assert_eq!(args.jitter.is_some(), jitter, "jitter {value}");
        assert_eq!(args.close_rate.is_some(), close_rate, "close_rate {value}");
        assert_eq!(args.backoff.is_some(), backoff, "backoff {value}");
    }
}
