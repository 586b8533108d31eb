//! What this project's own tests, examples and benchmarks write: every `#[circuit_breaker(..)]`
//! with what stands below it, every `breaker! { .. }`. So whatever kind of input gets a test of
//! its own is mutated here as well.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream};

use super::nodes::{Node, Nodes};

#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// The options of each attribute.
    pub(super) options: Vec<Nodes>,
    /// What each attribute stands above.
    pub(super) items: Vec<Nodes>,
    /// The settings of each static, and what stands around them.
    pub(super) blocks: Vec<Nodes>,
}

pub(super) static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut corpus = Corpus::default();
    for folder in ["tests", "examples", "benches"] {
        corpus.read(&root.join(folder));
    }
    for text in BESIDES {
        corpus.items.push(nodes(text));
    }
    corpus
});

/// What no compiler would accept in a test.
const BESIDES: [&str; 14] = [
    "async fn unfinished(a: &str) -> Result<u8, E> { marker.  }",
    "async fn unfinished() { let marker = ; }",
    "async fn without_a_body();",
    "fn comma(), ",
    "fn nothing",
    "marker",
    "#[marker] #",
    "",
    "pub(crate) default async unsafe extern \"C\" fn f<'a, T: X, const N: usize>(&'a self, (b, c): (T, T), ...) -> ! where T: Y { marker() }",
    "fn f<'life0, 'async_trait>(&'life0 self) -> Pin<Box<dyn Future<Output = u8> + 'async_trait>> { Box::pin(async move { if let Some(__ret) = None::<u8> { return __ret; } let a = a; let __ret: u8 = { marker }; __ret }) }",
    "fn f<'async_trait>() -> Pin<Box<dyn Future<Output = u8> + 'async_trait>> { pin(async move marker) }",
    "fn f<'async_trait>() -> u8 { Box::pin(async move { marker }) }",
    "fn f(#[cfg(a)] ref a @ (b, _): T, [c, ..]: [u8; { 3 }], mut d: &mut dyn FnMut(&str) -> impl Fn()) -> Result<impl Iterator<Item = u8> + use<'_>, [Box<dyn E>; N]> { #![allow(a)] #![b] marker(a, b, c, d) }",
    "pub const unsafe fn f() { marker }",
];

pub(super) fn nodes(text: &str) -> Nodes {
    let tokens: TokenStream = text.parse().expect("tokens");
    Nodes::from(tokens)
}

impl Corpus {
    fn read(&mut self, folder: &Path) {
        let mut paths: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        // In the same order everywhere, so that what failed is found again.
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.read(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a file");
                self.gather(&nodes(&text).0);
            }
        }
    }

    fn gather(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate() {
            match (node, nodes.get(at + 1), nodes.get(at + 2)) {
                (Node::Punct('#', _), Some(Node::Group(Delimiter::Bracket, attribute)), _) => {
                    if let Some(options) = options(attribute) {
                        self.options.push(options);
                        self.items.push(item(&nodes[at + 2..]));
                    }
                }
                (Node::Ident(name), Some(Node::Punct('!', _)), Some(Node::Group(_, block)))
                    if name == "breaker" =>
                {
                    self.blocks.push(block.clone())
                }
                _ => {}
            }
            if let Node::Group(_, inside) = node {
                self.gather(&inside.0);
            }
        }
    }
}

/// The options of `circuit_breaker(..)`.
fn options(attribute: &Nodes) -> Option<Nodes> {
    match attribute.0.as_slice() {
        [.., Node::Ident(name)] if name == "circuit_breaker" => Some(Nodes::default()),
        [.., Node::Ident(name), Node::Group(_, options)] if name == "circuit_breaker" => {
            Some(options.clone())
        }
        _ => None,
    }
}

/// The item that begins here.
fn item(nodes: &[Node]) -> Nodes {
    let ends = |node: &Node| matches!(node, Node::Group(Delimiter::Brace, _) | Node::Punct(';', _));
    let end = nodes.iter().position(ends).map_or(nodes.len(), |at| at + 1);
    Nodes(nodes[..end].to_vec())
}

/// Every option, with values that it accepts.
pub(super) const VALID: [(&str, &[&str]); 26] = [
    (
        "name",
        &["\"pms\"", "r#\"a \"b\" c\"#", "NAME", "names::PMS"],
    ),
    (
        "threshold",
        &[
            "5",
            "1u32",
            "0x7f",
            "1_000",
            "LIMIT",
            "{ 2 + 3 }",
            "limit()",
        ],
    ),
    ("failure_rate", &["0.5", "1", "5e-1", "RATE", "1.0f64"]),
    (
        "window",
        &["100", "\"10s\"", "WINDOW", "Duration::from_secs(10)"],
    ),
    ("min_calls", &["20", "7u32", "LEAST"]),
    ("slow", &["\"2s\"", "SLOW", "Duration::from_millis(1500)"]),
    ("slow_rate", &["0.5", "RATE"]),
    (
        "reset",
        &[
            "\"30s\"",
            "\"1m30s\"",
            "\"1.5s\"",
            "RESET",
            "Duration::new(1, 5)",
        ],
    ),
    ("backoff", &["2.0", "2", "FACTOR"]),
    ("max_reset", &["\"5m\"", "MOST"]),
    ("jitter", &["0.1", "0", "JITTER"]),
    ("probes", &["1", "PROBES"]),
    ("close_after", &["2", "CLOSE"]),
    ("close_rate", &["0.5", "RATE"]),
    ("probe_timeout", &["\"60s\"", "PROBE_TIMEOUT"]),
    ("on_cancel", &["ignore", "failure"]),
    (
        "breaker",
        &[
            "PMS",
            "&self.breaker",
            "&*client.breaker",
            "breakers[0]",
            "pick(&a)",
        ],
    ),
    (
        "key",
        &[
            "hotel",
            "(account, region)",
            "&self.host",
            "a.host()",
            "*b",
            "(&a, (b, 1))",
        ],
    ),
    ("max_keys", &["1000", "MOST_KEYS"]),
    (
        "classify",
        &[
            "is_transient",
            "|e| e.is_transient()",
            "E::counts",
            "move |_: &E| -> bool { true }",
            "by(3)",
            "a = b",
        ],
    ),
    (
        "classify_output",
        &[
            "failed",
            "|out| out.is_none()",
            "|out| match out { Ok(_) => Outcome::Success, _ => Outcome::Failure }",
        ],
    ),
    ("timeout", &["\"2s\"", "TIMEOUT", "Duration::from_secs(2)"]),
    (
        "fallback",
        &[
            "cached",
            "Self::cached",
            "cached::<T>",
            "cached(a, &b)",
            "self.cached(a).await",
            "{ NONE }",
            "|cause| stale(cause)",
            "|_| todo!()",
            "async move |cause| { later(cause).await }",
            "|_| async { panic!() }",
            "Ok(7)",
            "if a { b } else { c }",
            "a..b",
            "x?",
        ],
    ),
    (
        "open_error",
        &[
            "E::refused",
            "|_| E::Refused",
            "E::Refused",
            "|open| -> E { open.into() }",
        ],
    ),
    ("timeout_error", &["E::late", "|_| E::Late"]),
    ("crate", &["my_breakerbox", "::a::b", "crate"]),
];

/// Options that decide something of others, or of the function, and stand alone.
pub(super) const FLAGS: [&str; 5] = [
    "shared",
    "fallback_on = open",
    "fallback_on = any",
    "last_good = self.costs",
    "last_good_key = (hotel, a.b)",
];
