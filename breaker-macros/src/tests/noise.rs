//! Tokens in no order at all, drawn from a tape of numbers, which shrinks well.

use proc_macro2::{Delimiter, Spacing};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use super::corpus::{FLAGS, VALID, nodes};
use super::nodes::{Node, Nodes};

/// Random numbers that are used up from the front, and zeros after that.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    numbers: Vec<u16>,
    at: usize,
}

pub(super) fn tapes(length: usize) -> impl Strategy<Value = Tape> {
    vec(any::<u16>(), 0..length).prop_map(|numbers| Tape { numbers, at: 0 })
}

impl Tape {
    pub(super) fn is_over(&self) -> bool {
        self.at >= self.numbers.len()
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(number) % bound.max(1)
    }

    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Tokens until the tape is over.
    pub(super) fn noise(&mut self) -> Nodes {
        let mut nodes = Vec::new();
        while !self.is_over() {
            nodes.push(self.token(0));
        }
        Nodes(nodes)
    }

    /// Any token.
    pub(super) fn token(&mut self, depth: usize) -> Node {
        match self.below(if depth < 5 { 9 } else { 7 }) {
            0 | 1 => Node::Ident((*self.one_of(&WORDS)).to_owned()),
            2 => Node::Ident(self.one_of(&VALID).0.to_owned()),
            3 => Node::Literal((*self.one_of(&LITERALS)).to_owned()),
            4 => Node::Lifetime((*self.one_of(&LIFETIMES)).to_owned()),
            5 => Node::Punct(*self.one_of(&['=', ',', ':']), Spacing::Alone),
            6 => {
                let sign = *self.one_of(&SIGNS);
                // Two of these would begin a comment.
                let joint = sign != '/' && self.below(2) == 0;
                let spacing = if joint {
                    Spacing::Joint
                } else {
                    Spacing::Alone
                };
                Node::Punct(sign, spacing)
            }
            _ => {
                let delimiter = self.delimiter();
                let length = self.below(5);
                let inside = (0..length).map(|_| self.token(depth + 1)).collect();
                Node::Group(delimiter, Nodes(inside))
            }
        }
    }

    pub(super) fn delimiter(&mut self) -> Delimiter {
        *self.one_of(&[
            Delimiter::None,
            Delimiter::Parenthesis,
            Delimiter::Brace,
            Delimiter::Bracket,
        ])
    }

    /// Options, each with a value that it accepts, as long as there is tape.
    pub(super) fn options(&mut self, separator: char) -> Nodes {
        let mut options = Vec::new();
        while !self.is_over() && options.len() < 8 {
            if separator == '=' && self.below(6) == 0 {
                options.push((*self.one_of(&FLAGS)).to_owned());
                continue;
            }
            let (name, values) = *self.one_of(&VALID);
            options.push(format!("{name} {separator} {}", self.one_of(values)));
        }
        nodes(&options.join(", "))
    }

    /// One change somewhere.
    pub(super) fn edit(&mut self, nodes: &mut Nodes) {
        let kind = self.below(11);
        let number = self.below(nodes.count());
        let Some((list, at)) = nodes.find(number) else {
            nodes.0.push(self.token(0));
            return;
        };
        match kind {
            0 => {
                list.remove(at);
            }
            1 => list.insert(at, list[at].clone()),
            2 if at + 1 < list.len() => list.swap(at, at + 1),
            3 => {
                let other = self.below(list.len());
                list.swap(at, other);
            }
            4 => list[at] = self.token(0),
            5 => list.insert(at, self.token(0)),
            6 => {
                let delimiter = self.delimiter();
                let length = 1 + self.below(list.len() - at);
                let inside = Nodes(list.drain(at..at + length).collect());
                list.insert(at, Node::Group(delimiter, inside));
            }
            7 => {
                if let Node::Group(_, inside) = list[at].clone() {
                    list.splice(at..=at, inside.0);
                }
            }
            8 => {
                let delimiter = self.delimiter();
                if let Node::Group(ours, _) = &mut list[at] {
                    *ours = delimiter;
                }
            }
            9 => list.truncate(at),
            _ => {
                let copy = list[at].clone();
                let elsewhere = self.below(nodes.count());
                if let Some((list, at)) = nodes.find(elsewhere) {
                    list.insert(at, copy);
                }
            }
        }
    }
}

const WORDS: [&str; 40] = [
    "a",
    "PMS",
    "Self",
    "self",
    "_",
    "shared",
    "ignore",
    "failure",
    "any",
    "open",
    "fn",
    "async",
    "const",
    "unsafe",
    "extern",
    "static",
    "mut",
    "ref",
    "move",
    "pub",
    "crate",
    "super",
    "impl",
    "dyn",
    "where",
    "struct",
    "type",
    "if",
    "match",
    "let",
    "return",
    "await",
    "default",
    "union",
    "macro_rules",
    "r#match",
    "r#threshold",
    "treshold",
    "key",
    "\u{fc}ber",
];

const LIFETIMES: [&str; 4] = ["'a", "'_", "'static", "'async_trait"];

const LITERALS: [&str; 44] = [
    "0",
    "1",
    "5",
    "5u32",
    "5_000",
    "0xff",
    "0o17",
    "0b101",
    "1i8",
    "4294967296",
    "99999999999999999999999999999999999999999",
    "340282366920938463463374607431768211455u128",
    "0.5",
    "1.0",
    "1.",
    "1e999",
    "1e-999",
    "2.5f32",
    "30s",
    "5min",
    "1.5h",
    "5xyz",
    "\"\"",
    "\"5s\"",
    "\"30\"",
    "\"1m30s\"",
    "\"x\"",
    "\"-5s\"",
    "\"any\"",
    "\"\u{e9}\\u{1F600}\\n\\0\"",
    "\"99999999999999999999d\"",
    "\"0.00000000000000000000001s\"",
    "\"5s\"suffix",
    "r\"5s\"",
    "r##\"a\"#b\"##",
    "b\"5s\"",
    "br#\"5s\"#",
    "c\"5s\"",
    "cr#\"5s\"#",
    "'x'",
    "'\\''",
    "b'x'",
    "'x'suffix",
    "\"\u{663}s {a} {b:?}\"",
];

const SIGNS: [char; 21] = [
    '=', ',', ':', ';', '|', '-', '.', '<', '>', '#', '!', '&', '?', '$', '@', '*', '+', '/', '%',
    '^', '~',
];
