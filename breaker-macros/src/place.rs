//! Where tokens were written, from the first to the last.
//!
//! An error about an expression is shown from the expression's first token to its last. To
//! have one shown at the user's tokens, generated tokens are put at these two places.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Member};

use crate::captures::contains;

#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Place {
    pub(crate) fn of(tokens: impl ToTokens) -> Place {
        ends(tokens.to_token_stream()).unwrap_or_else(|| Place::at(Span::call_site()))
    }

    pub(crate) fn at(span: Span) -> Place {
        Place {
            first: span,
            last: span,
        }
    }

    /// The same place, for names that the user's code can't see.
    pub(crate) fn hidden(self) -> Place {
        Place {
            first: Span::mixed_site().located_at(self.first),
            last: Span::mixed_site().located_at(self.last),
        }
    }
}

/// The token that stands for an expression: the name of what is called, the body of a closure.
/// The compiler reports a mistake once if all that goes wrong stands at one such token.
pub(crate) fn telling(expr: &Expr) -> Span {
    match expr {
        Expr::Await(wait) => telling(&wait.base),
        Expr::Call(call) => telling(&call.func),
        Expr::Closure(closure) => telling(&closure.body),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => name.span(),
            Member::Unnamed(index) => index.span,
        },
        Expr::Group(group) => telling(&group.expr),
        Expr::MethodCall(call) => call.method.span(),
        Expr::Paren(paren) => telling(&paren.expr),
        Expr::Path(path) => match path.path.segments.last() {
            Some(last) => last.ident.span(),
            None => path.span(),
        },
        Expr::Reference(reference) => telling(&reference.expr),
        Expr::Try(attempt) => telling(&attempt.expr),
        other => Place::of(other).first,
    }
}

/// Whether an expression is a closure, or has one in it. (What is called by a bound of ours learns
/// its parameter's type only where that is `FnOnce` itself; of anything else a trait of ours says
/// better what is wrong with it.)
pub(crate) fn may_be_closure(expr: &Expr) -> bool {
    match expr {
        Expr::Field(_) | Expr::Path(_) | Expr::Struct(_) => false,
        Expr::Call(_) | Expr::MethodCall(_) => contains(
            &expr.to_token_stream(),
            &|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '|'),
        ),
        _ => true,
    }
}

fn ends(tokens: TokenStream) -> Option<Place> {
    let mut tokens = tokens.into_iter();
    let first = place(tokens.next()?);
    let last = tokens.last().map_or(first, place);
    Some(Place {
        first: first.first,
        last: last.last,
    })
}

fn place(token: TokenTree) -> Place {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            ends(group.stream()).unwrap_or_else(|| Place::at(group.span()))
        }
        TokenTree::Group(group) => Place {
            first: group.span_open(),
            last: group.span_close(),
        },
        other => Place::at(other.span()),
    }
}
