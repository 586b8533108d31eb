//! Random tokens and mutated real ones: whatever the macros are fed, they don't panic, they give
//! the function back, they refuse with an error, and they give the same twice.
//!
//! `BREAKER_INPUTS=1000000 cargo test --release -p breaker-macros properties` feeds so many to each
//! property; without it some thousands. An input that failed is tried first from then on: its
//! seed is kept in `properties.regressions`.

use proc_macro2::{Delimiter, Group, TokenStream};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm, TestCaseResult};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, File, FnArg, Ident, ImplItemFn, Item, ItemMacro, LitStr, Token};

use super::corpus::{CORPUS, nodes};
use super::nodes::{Node, Nodes};
use super::noise::{Tape, tapes};
use crate::args::table;
use crate::captures::strip_rebindings;
use crate::function::Function;
use crate::{breaker_macro, guard};

/// What each property is fed where `BREAKER_INPUTS` says nothing.
const NORMALLY: u32 = 4_000;

fn inputs() -> ProptestConfig {
    let cases = match std::env::var("BREAKER_INPUTS") {
        Err(_) => NORMALLY,
        Ok(number) => number.parse().expect("BREAKER_INPUTS is a number"),
    };
    const KEPT: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/tests/properties.regressions"
    );
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(KEPT))),
        max_shrink_iters: 20_000,
        // ChaCha, not optimised, would take most of the time.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(inputs())]

    #[test]
    fn any_tokens_as_options(mut tape in tapes(40), item in real_item()) {
        function(&tape.noise(), &item)?;
    }

    #[test]
    fn any_tokens_as_an_item(options in valid_options(), mut tape in tapes(40)) {
        function(&options, &tape.noise())?;
    }

    #[test]
    fn mutated_options(options in options(), item in real_item(), tape in tapes(12)) {
        function(&mutated(options, tape), &item)?;
    }

    #[test]
    fn mutated_items(options in options(), item in real_item(), tape in tapes(12)) {
        function(&options, &mutated(item, tape))?;
    }

    #[test]
    fn mutated_options_and_items(
        options in options(),
        item in real_item(),
        first in tapes(8),
        second in tapes(8),
    ) {
        function(&mutated(options, first), &mutated(item, second))?;
    }

    #[test]
    fn any_tokens_as_a_block(mut tape in tapes(40)) {
        block(&tape.noise())?;
    }

    #[test]
    fn mutated_blocks(real in real_block(), tape in tapes(12)) {
        block(&mutated(real, tape))?;
    }

    #[test]
    fn any_tokens_as_settings(mut tape in tapes(40)) {
        settings(&tape.noise())?;
    }

    #[test]
    fn mutated_settings(mut valid in tapes(12), tape in tapes(12)) {
        settings(&mutated(valid.options(':'), tape))?;
    }
}

/// One that stands in this project.
fn real(of: &'static [Nodes]) -> impl Strategy<Value = Nodes> {
    any::<prop::sample::Index>().prop_map(move |index| index.get(of).clone())
}

fn real_item() -> impl Strategy<Value = Nodes> {
    real(&CORPUS.items)
}

fn real_block() -> impl Strategy<Value = Nodes> {
    real(&CORPUS.blocks)
}

fn valid_options() -> impl Strategy<Value = Nodes> {
    tapes(16).prop_map(|mut tape| tape.options('='))
}

fn options() -> impl Strategy<Value = Nodes> {
    prop_oneof![valid_options(), real(&CORPUS.options)]
}

/// Changed somewhere, as often as the tape says.
fn mutated(mut nodes: Nodes, mut tape: Tape) -> Nodes {
    while !tape.is_over() {
        tape.edit(&mut nodes);
    }
    nodes
}

/// Says which input it was.
macro_rules! holds {
    ($input:expr, $output:expr, $condition:expr) => {
        prop_assert!(
            $condition,
            "not {}\n input: {}\noutput: {}",
            stringify!($condition),
            $input,
            $output
        )
    };
}

/// What holds of `#[circuit_breaker(options)] item`.
fn function(options: &Nodes, item: &Nodes) -> TestCaseResult {
    let input = format!("#[circuit_breaker({options})] {item}");
    let tokens = guard(options.tokens(), item.tokens());
    let output = Nodes::from(tokens.clone());
    let again = Nodes::from(guard(options.tokens(), item.tokens()));
    holds!(input, output, output == again);
    holds!(input, output, can_be_read_again(&tokens));

    let before = options.mentions(ERROR) + item.mentions(ERROR);
    if output.mentions(ERROR) > before {
        holds!(input, output, output.0.starts_with(&item.0));
        let errors = Nodes(output.0[item.0.len()..].to_vec());
        holds!(input, output, are_errors(&errors));
        return Ok(());
    }
    holds!(input, output, are_options(options, '='));
    holds!(input, output, nothing_was_lost(options, &output));
    let (Ok(plain), Ok(guarded)) = (parsed(item), parsed(&output)) else {
        holds!(
            input,
            output,
            parsed(item).is_ok() && parsed(&output).is_ok()
        );
        return Ok(());
    };
    holds!(input, output, head(&plain) == head(&guarded));
    let elsewhere = |body: &Nodes| options.blocks(body) + item.blocks(body) > 1;
    holds!(
        input,
        output,
        bodies(&plain).iter().any(|body| match output.blocks(body) {
            0 => false,
            1 => true,
            // A short one may be what is generated as well.
            _ => body.count() < 5 || elsewhere(body),
        })
    );
    let is_whole = |function: &Nodes| syn::parse2::<ImplItemFn>(function.tokens()).is_ok();
    holds!(input, output, !is_whole(item) || is_whole(&output));
    Ok(())
}

/// What holds of `breaker! { block }`.
fn block(block: &Nodes) -> TestCaseResult {
    let tokens = breaker_macro::expand(block.tokens());
    let output = Nodes::from(tokens.clone());
    let again = Nodes::from(breaker_macro::expand(block.tokens()));
    holds!(block, output, output == again);
    holds!(block, output, can_be_read_again(&tokens));
    let Ok(file) = syn::parse2::<File>(tokens) else {
        // A value that was taken as it is may be more than an expression of today.
        prop_assert!(false, "no items\n input: {block}\noutput: {output}");
        return Ok(());
    };
    let mut names = Vec::new();
    let mut refused = false;
    for item in &file.items {
        match item {
            Item::Static(declared) => names.push(declared.ident.to_string()),
            Item::Macro(error) => {
                refused = true;
                holds!(block, output, is_error(error));
            }
            _ => prop_assert!(false, "another item\n input: {block}\noutput: {output}"),
        }
    }
    if !refused {
        let written: Vec<String> = block
            .visible()
            .windows(2)
            .filter_map(|pair| match pair {
                [Node::Ident(keyword), Node::Ident(name)] if keyword == "static" => {
                    Some(name.clone())
                }
                _ => None,
            })
            .collect();
        holds!(block, output, names == written && !names.is_empty());
    }
    Ok(())
}

/// What holds of `breaker! { static PMS = { settings } }`.
fn settings(settings: &Nodes) -> TestCaseResult {
    let mut around = nodes("pub static PMS = {}");
    if let Some(Node::Group(_, inside)) = around.0.last_mut() {
        *inside = settings.clone();
    }
    block(&around)?;
    let output = Nodes::from(breaker_macro::expand(around.tokens()));
    // Whatever is wrong with its settings, it is there.
    holds!(settings, output, output.mentions("PMS") > 0);
    if output.mentions(ERROR) == settings.mentions(ERROR) {
        holds!(settings, output, are_options(settings, ':'));
        holds!(settings, output, nothing_was_lost(settings, &output));
    }
    Ok(())
}

const ERROR: &str = "compile_error";

fn can_be_read_again(tokens: &TokenStream) -> bool {
    tokens.to_string().parse::<TokenStream>().is_ok()
}

fn parsed(item: &Nodes) -> syn::Result<Function> {
    syn::parse2(item.tokens())
}

/// Whether these are errors and nothing else, each beginning as ours do.
fn are_errors(errors: &Nodes) -> bool {
    syn::parse2::<File>(errors.tokens()).is_ok_and(|file| {
        file.items.iter().all(|item| match item {
            Item::Macro(error) => is_error(error),
            _ => false,
        })
    })
}

fn is_error(error: &ItemMacro) -> bool {
    let called = error.mac.path.segments.last();
    called.is_some_and(|called| called.ident == ERROR)
        && error.mac.parse_body::<LitStr>().is_ok_and(|message| {
            let begins = |c: char| c.is_lowercase() || c == '`';
            message.value().starts_with(begins)
        })
}

/// Whether these are options that exist, each once, with commas between them.
fn are_options(options: &Nodes, separator: char) -> bool {
    let option = |input: ParseStream<'_>| -> syn::Result<String> {
        let name = input.call(Ident::parse_any)?.to_string();
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(name);
        }
        match separator {
            '=' => drop(input.parse::<Token![=]>()?),
            _ => drop(input.parse::<Token![:]>()?),
        }
        input.parse::<Expr>()?;
        Ok(name)
    };
    let all = |input: ParseStream<'_>| {
        let mut names: Vec<String> = Vec::new();
        while !input.is_empty() {
            names.push(option(input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(names)
    };
    all.parse2(options.tokens()).is_ok_and(|names| {
        names
            .iter()
            .enumerate()
            .all(|(at, name)| table::find(name).is_some() && !names[..at].contains(name))
    })
}

/// Whether every name in a value is in the output.
fn nothing_was_lost(options: &Nodes, output: &Nodes) -> bool {
    let decided = ["ignore", "failure", "any", "open"];
    options.idents().iter().all(|ident| {
        table::find(ident).is_some() || decided.contains(ident) || output.mentions(ident) > 0
    })
}

/// What a function is to its callers, patterns left out.
fn head(function: &Function) -> String {
    let Function {
        attrs,
        vis,
        defaultness,
        sig,
        inner_attrs,
        ..
    } = function;
    let types = sig.inputs.iter().map(|input| match input {
        FnArg::Receiver(receiver) => receiver.to_token_stream(),
        FnArg::Typed(parameter) => parameter.ty.to_token_stream(),
    });
    let mut head = sig.clone();
    head.inputs.clear();
    quote!(#(#attrs)* #vis #defaultness #head (#(#types),*) { #inner_attrs }).to_string()
}

/// What of the body must be found: all of it; where `#[async_trait]` made it, the future's block.
fn bodies(function: &Function) -> Vec<Nodes> {
    let whole = Nodes::from(function.body.stream());
    let mut bodies = Vec::new();
    if let Some(Node::Group(_, call)) = whole.0.last()
        && let Some(Node::Group(Delimiter::Brace, block)) = call.0.last()
    {
        let block = Group::new(Delimiter::Brace, block.tokens());
        bodies.push(Nodes::from(strip_rebindings(&block).stream()));
        bodies.push(Nodes::from(block.stream()));
    }
    bodies.push(whole);
    bodies
}
