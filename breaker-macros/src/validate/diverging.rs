//! Fallbacks that never return: `|_| todo!()`. What they would give, nothing tells but the
//! function's own type.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, ExprClosure, Macro, ReturnType, Stmt};

/// Whether a closure without a return type only panics; and if so, whether it gives a future
/// that does.
pub(super) fn closure(closure: &ExprClosure) -> Option<Later> {
    let written = matches!(closure.output, ReturnType::Type(..));
    match (&*closure.body, &closure.asyncness) {
        _ if written => None,
        (Expr::Async(later), None) => block(&later.block).then_some(Later(true)),
        (body, asyncness) => expr(body).then_some(Later(asyncness.is_some())),
    }
}

/// Whether it has to be awaited.
pub(super) struct Later(pub(super) bool);

/// Whether `expr` is a call of a macro that panics, or ends in one.
pub(super) fn expr(expr: &Expr) -> bool {
    match expr {
        Expr::Macro(call) => panics(&call.mac),
        Expr::Block(inner) => block(&inner.block),
        Expr::Group(group) => self::expr(&group.expr),
        Expr::Paren(paren) => self::expr(&paren.expr),
        _ => false,
    }
}

fn block(block: &Block) -> bool {
    let last = match block.stmts.last() {
        Some(Stmt::Macro(call)) => panics(&call.mac),
        Some(Stmt::Expr(last, _)) => expr(last),
        _ => false,
    };
    last && !leaves(block.to_token_stream())
}

/// Whether there is another way out, which tells the type.
fn leaves(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "return",
        TokenTree::Punct(punct) => punct.as_char() == '?',
        TokenTree::Group(group) => leaves(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

fn panics(call: &Macro) -> bool {
    let name = call.path.segments.last().map(|last| last.ident.to_string());
    matches!(
        name.as_deref(),
        Some("panic" | "todo" | "unimplemented" | "unreachable")
    )
}
