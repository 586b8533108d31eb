//! Every message is shown by a test in `tests/ui`, where it can be read as users get it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, LitStr, TraitItem};

use super::corpus::CORPUS;
use super::nodes::Nodes;
use super::{breaker_macro, guard, options};

/// A message without what is different in each case: names, values, numbers, what the parser says.
// Input:  `threshold` is too large: at most 134217726
// Output: `_` is too large: at most _
fn kind(message: &str) -> String {
    let message = match message.split_once(" (") {
        Some((ours, parsers)) if parsers.contains("expected") => ours,
        _ => message,
    };
    let mut kind = String::new();
    let mut quoted = None;
    for sign in message.chars() {
        match quoted {
            Some(quote) if quote == sign => {
                quoted = None;
                kind.push(sign);
            }
            Some(_) => {}
            None if sign == '`' || sign == '"' => {
                quoted = Some(sign);
                kind.extend([sign, '_']);
            }
            None if sign.is_ascii_digit() => {
                if !kind.ends_with('_') {
                    kind.push('_');
                }
            }
            None => kind.push(sign),
        }
    }
    kind
}

/// The kinds of messages in `tests/ui/fail`.
fn shown() -> BTreeSet<String> {
    let fail = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui/fail");
    let files = |folder: &Path| fs::read_dir(folder).expect("a folder");
    files(&fail)
        .chain(files(&fail.join("rustc")))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "stderr"))
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("a file");
            let messages = text.lines().filter_map(|line| line.strip_prefix("error: "));
            messages.map(kind).collect::<Vec<_>>()
        })
        .collect()
}

/// The kinds of messages among `tokens`, each with where it came from.
fn gather(tokens: TokenStream, from: &str, kinds: &mut BTreeMap<String, String>) {
    let flat = Nodes::from(tokens).flat();
    for (at, name) in flat.iter().enumerate() {
        if name == "compile_error"
            && let Some(message) = flat.get(at + 3)
            && let Ok(message) = syn::parse_str::<LitStr>(message)
        {
            let message = message.value();
            kinds.insert(kind(&message), format!("{message}\n  of {from}"));
        }
    }
}

/// What the compiler would hand over. (Not what a `macro_rules` has yet to fill in.)
fn is_item(item: &Nodes) -> bool {
    syn::parse2::<Item>(item.tokens()).is_ok() || syn::parse2::<TraitItem>(item.tokens()).is_ok()
}

#[test]
fn every_kind_of_message_is_shown_by_a_ui_test() {
    let functions = [
        quote!(
            fn f(a: &str) -> Result<u8, E> {
                g(a)
            }
        ),
        quote!(
            async fn f(a: &str) -> Result<u8, E> {
                g(a).await
            }
        ),
        quote!(
            async fn f<T, const N: usize>((A, mut b): (A, T), #[cfg(c)] d: D) -> ! {
                loop {}
            }
        ),
        quote!(
            fn f(x: &str) -> ! {
                loop {}
            }
        ),
    ];
    let mut found = BTreeMap::new();
    let mut count = 0;
    let real = CORPUS.options.iter().map(|options| options.tokens());
    for options in real.chain(options()) {
        let text = options.to_string();
        for function in &functions {
            count += 1;
            let tokens = guard(options.clone(), function.clone());
            gather(tokens, &text, &mut found);
        }
        let tokens = breaker_macro::expand(quote!(static PMS = { #options }));
        gather(tokens, &text, &mut found);
    }
    for (options, item) in CORPUS.options.iter().zip(&CORPUS.items) {
        if !is_item(item) {
            continue;
        }
        let output = guard(options.tokens(), item.tokens());
        gather(output, &item.to_string(), &mut found);
    }
    assert!(count > 1_000 && found.len() > 50);
    let shown = shown();
    let hidden: Vec<_> = found
        .iter()
        .filter(|(kind, _)| !shown.contains(*kind))
        .map(|(_, from)| from.as_str())
        .collect();
    assert!(
        hidden.is_empty(),
        "no test in tests/ui/fail shows:\n{}",
        hidden.join("\n")
    );
}
