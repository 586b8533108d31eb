//! A fallback that waits where it can't.

use syn::visit::{self, Visit};
use syn::{ExprAsync, ExprAwait, ExprClosure, Item};

use crate::args::Fallback;
use crate::error::Errors;
use crate::model::Kind;

pub(super) fn check(fallback: &Fallback, kind: &Kind, errors: &mut Errors) {
    let is_plain = matches!(kind, Kind::Plain);
    let expr = match fallback {
        Fallback::Closure(closure) if closure.asyncness.is_none() => &*closure.body,
        Fallback::Expression(expr) if is_plain => expr,
        _ => return,
    };
    let message = match is_plain {
        true => {
            "a plain function can't wait: write a fallback without `.await`, or make the function `async`"
        }
        false => {
            "this closure can't wait: leave `.await` out, since a fallback's future is awaited anyway, or write `async |cause| ..`"
        }
    };
    let mut found = First(None);
    found.visit_expr(expr);
    if let Some(wait) = found.0 {
        errors.at(wait.await_token, message);
    }
}

/// The first `.await` that is not inside of something `async`, or of a closure of its own.
struct First<'ast>(Option<&'ast ExprAwait>);

impl<'ast> Visit<'ast> for First<'ast> {
    fn visit_expr_await(&mut self, wait: &'ast ExprAwait) {
        visit::visit_expr_await(self, wait);
        self.0.get_or_insert(wait);
    }

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_item(&mut self, _: &'ast Item) {}
}
