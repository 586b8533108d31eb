//! Tokens that can be counted, edited and sent to other threads.

use std::fmt;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A token. A lifetime is one, since no compiler hands over half of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Ident(String),
    Lifetime(String),
    Literal(String),
    Punct(char, Spacing),
    Group(Delimiter, Nodes),
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Nodes(pub(super) Vec<Node>);

impl Nodes {
    /// How many tokens there are, in groups too.
    pub(super) fn count(&self) -> usize {
        let inside = |node: &Node| match node {
            Node::Group(_, nodes) => nodes.count(),
            _ => 0,
        };
        self.0.iter().map(|node| 1 + inside(node)).sum()
    }

    /// The list in which the token with this number stands, and where in it. Tokens are numbered
    /// as they are written.
    pub(super) fn find(&mut self, number: usize) -> Option<(&mut Vec<Node>, usize)> {
        let mut left = number;
        let mut within = None;
        for (at, node) in self.0.iter().enumerate() {
            if left == 0 {
                return Some((&mut self.0, at));
            }
            left -= 1;
            if let Node::Group(_, nodes) = node {
                let inside = nodes.count();
                if left < inside {
                    within = Some(at);
                    break;
                }
                left -= inside;
            }
        }
        match self.0.get_mut(within?) {
            Some(Node::Group(_, nodes)) => nodes.find(left),
            _ => None,
        }
    }

    /// All tokens in a row, delimiters among them.
    pub(super) fn flat(&self) -> Vec<String> {
        let mut flat = Vec::new();
        self.flatten(&mut flat);
        flat
    }

    fn flatten(&self, flat: &mut Vec<String>) {
        for node in &self.0 {
            match node {
                Node::Ident(text) | Node::Lifetime(text) | Node::Literal(text) => {
                    flat.push(text.clone());
                }
                Node::Punct(sign, _) => flat.push(sign.to_string()),
                Node::Group(delimiter, nodes) => {
                    let (open, close) = match delimiter {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("<none>", "</none>"),
                    };
                    flat.push(open.to_owned());
                    nodes.flatten(flat);
                    flat.push(close.to_owned());
                }
            }
        }
    }

    /// Without invisible groups at this level.
    pub(super) fn visible(&self) -> Vec<&Node> {
        let mut visible = Vec::new();
        for node in &self.0 {
            match node {
                Node::Group(Delimiter::None, nodes) => visible.extend(nodes.visible()),
                node => visible.push(node),
            }
        }
        visible
    }

    /// How often this identifier occurs.
    pub(super) fn mentions(&self, ident: &str) -> usize {
        let of = |node: &Node| match node {
            Node::Ident(text) => usize::from(text == ident),
            Node::Group(_, nodes) => nodes.mentions(ident),
            _ => 0,
        };
        self.0.iter().map(of).sum()
    }

    /// How often a block with just this inside occurs.
    pub(super) fn blocks(&self, inside: &Nodes) -> usize {
        let of = |node: &Node| match node {
            Node::Group(delimiter, nodes) => {
                let this = *delimiter == Delimiter::Brace && nodes == inside;
                usize::from(this) + nodes.blocks(inside)
            }
            _ => 0,
        };
        self.0.iter().map(of).sum()
    }

    /// Every identifier.
    pub(super) fn idents(&self) -> Vec<&str> {
        let mut idents = Vec::new();
        for node in &self.0 {
            match node {
                Node::Ident(text) => idents.push(text.as_str()),
                Node::Group(_, nodes) => idents.extend(nodes.idents()),
                _ => {}
            }
        }
        idents
    }

    pub(super) fn tokens(&self) -> TokenStream {
        self.0.iter().flat_map(Node::tokens).collect()
    }
}

impl Node {
    fn tokens(&self) -> Vec<TokenTree> {
        let ident = |text: &str| -> TokenTree {
            match text.strip_prefix("r#") {
                Some(raw) => Ident::new_raw(raw, Span::call_site()).into(),
                None => Ident::new(text, Span::call_site()).into(),
            }
        };
        match self {
            Node::Ident(text) => vec![ident(text)],
            Node::Lifetime(text) => vec![
                Punct::new('\'', Spacing::Joint).into(),
                ident(text.trim_start_matches('\'')),
            ],
            Node::Literal(text) => {
                let literal: Literal = text.parse().expect("it came from a literal");
                vec![literal.into()]
            }
            Node::Punct(sign, spacing) => vec![Punct::new(*sign, *spacing).into()],
            Node::Group(delimiter, nodes) => {
                vec![Group::new(*delimiter, nodes.tokens()).into()]
            }
        }
    }
}

impl From<TokenStream> for Nodes {
    fn from(tokens: TokenStream) -> Self {
        let mut nodes = Vec::new();
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            nodes.push(match token {
                TokenTree::Ident(ident) => Node::Ident(ident.to_string()),
                TokenTree::Literal(literal) => Node::Literal(literal.to_string()),
                TokenTree::Group(group) => Node::Group(group.delimiter(), group.stream().into()),
                TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                    let name = tokens.next().map(|name| name.to_string());
                    Node::Lifetime(format!("'{}", name.unwrap_or_default()))
                }
                TokenTree::Punct(punct) => Node::Punct(punct.as_char(), punct.spacing()),
            });
        }
        Nodes(nodes)
    }
}

/// As it would be written, with the invisible delimiters made visible.
impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.flat().join(" "))
    }
}

/// The same: a failure shows it as well.
impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
