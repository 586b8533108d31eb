//! Whether a block of code consumes a variable, as far as its text tells.
//!
//! Never says so wrongly: then working code would be refused. Where it can't tell, the
//! compiler reports the use of a moved value itself.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Pat, Stmt};

/// Whether `code` (an expression, or the inside of a body) consumes `name`.
pub(super) fn by(code: &TokenStream, name: &Ident) -> bool {
    let Ok(block) = syn::parse2::<Block>(quote!({ #code })) else {
        return false;
    };
    let mut search = Search {
        name,
        consumed: false,
        bound_again: false,
    };
    if let Some(Stmt::Expr(tail, None)) = block.stmts.last() {
        search.value(tail);
    }
    search.visit_block(&block);
    search.consumed && !search.bound_again
}

struct Search<'a> {
    name: &'a Ident,
    consumed: bool,
    /// Some pattern binds the same name, which may mean another variable.
    bound_again: bool,
}

impl Search<'_> {
    /// `expr` stands where its value is taken.
    fn value(&mut self, expr: &Expr) {
        let Expr::Path(path) = unwrapped_ref(expr) else {
            return;
        };
        if path.attrs.is_empty() && path.path.is_ident(self.name) {
            self.consumed = true;
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        call.args.iter().for_each(|arg| self.value(arg));
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        call.args.iter().for_each(|arg| self.value(arg));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        literal
            .fields
            .iter()
            .for_each(|field| self.value(&field.expr));
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_tuple(&mut self, tuple: &'ast syn::ExprTuple) {
        tuple.elems.iter().for_each(|elem| self.value(elem));
        visit::visit_expr_tuple(self, tuple);
    }

    fn visit_expr_array(&mut self, array: &'ast syn::ExprArray) {
        array.elems.iter().for_each(|elem| self.value(elem));
        visit::visit_expr_array(self, array);
    }

    fn visit_expr_return(&mut self, give: &'ast syn::ExprReturn) {
        if let Some(expr) = &give.expr {
            self.value(expr);
        }
        visit::visit_expr_return(self, give);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let (Pat::Ident(pat), Some(init)) = (&local.pat, &local.init)
            && pat.by_ref.is_none()
        {
            self.value(&init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.bound_again |= pat.ident == *self.name;
        visit::visit_pat_ident(self, pat);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // It may bind the name, or never evaluate what it is given.
        self.bound_again |= super::contains(
            &call.tokens,
            &|token| matches!(token, TokenTree::Ident(ident) if ident == "let"),
        );
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {
        // An item sees no variables.
    }
}

fn unwrapped_ref(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => unwrapped_ref(&group.expr),
        Expr::Paren(paren) => unwrapped_ref(&paren.expr),
        other => other,
    }
}

/// The body that `#[async_trait]` makes, without its `let a = a;` for the parameters.
///
/// They move every parameter into the future's block. Where the block only borrows them,
/// so that a fallback finds them afterwards, they must not.
// Input:  { if let .. { return __ret; } let a = a; let __self = self; let __ret: T = { .. }; __ret }
// Output: { if let .. { return __ret; } let __self = self; let __ret: T = { .. }; __ret }
pub(crate) fn strip_rebindings(body: &Group) -> Group {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = &tokens[..];
    while let [first, after @ ..] = rest {
        match rest {
            [
                TokenTree::Ident(keyword),
                TokenTree::Ident(name),
                TokenTree::Punct(equals),
                TokenTree::Ident(value),
                TokenTree::Punct(semicolon),
                after @ ..,
            ] if keyword == "let"
                && name == value
                && equals.as_char() == '='
                && semicolon.as_char() == ';' =>
            {
                rest = after;
            }
            _ => {
                kept.push(first.clone());
                rest = after;
            }
        }
    }
    let mut stripped = Group::new(Delimiter::Brace, kept.into_iter().collect());
    stripped.set_span(body.span());
    stripped
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, Span};
    use quote::quote;
    use syn::Ident;

    use super::{by, strip_rebindings};

    #[test]
    fn what_consumes() {
        let x = Ident::new("x", Span::call_site());
        for code in [
            quote!(x),
            quote!((x)),
            quote!(f(x)),
            quote!(Some(x)),
            quote!(a.f(x)),
            quote!(a.f(1, x).await?),
            quote!(let y = x; y),
            quote!(let mut y = x;),
            quote!(return x;),
            quote!(S { x }),
            quote!(S { a: x }),
            quote!((1, x)),
            quote!([x]),
            quote!(if a { f(x) } else { 1 }),
            quote!(for a in b {
                f(x);
            }),
            quote!(move || f(x)),
            quote!(async { f(x).await }),
            quote!(|_| cached(x)),
            quote!(f(&x); f(x)),
        ] {
            assert!(by(&code, &x), "{code}");
        }
    }

    #[test]
    fn what_may_not() {
        let x = Ident::new("x", Span::call_site());
        for code in [
            quote!(),
            quote!(f(&x)),
            quote!(f(&mut x)),
            quote!(f(x.y)),
            quote!(f(*x)),
            quote!(f(x + 1)),
            quote!(x.f()),
            quote!(x.f().await),
            quote!(f(y)),
            quote!(f(a::x)),
            quote!(x::f(y)),
            quote!(x(y)),
            quote!(let _ = x;),
            quote!(let ref y = x;),
            quote!(let y = &x;),
            quote!(f!(x)),
            quote!(format!("{}", x)),
            quote!(match x {
                _ => 1,
            }),
            quote!(
                fn g(x: X) {
                    f(x)
                }
            ),
            // Another `x`, perhaps.
            quote!(let x = 1; f(x)),
            quote!(let (x, y) = z; f(x)),
            quote!(a.map(|x| f(x))),
            quote!(for x in y {
                f(x)
            }),
            quote!(match y {
                Some(x) => f(x),
                None => 1,
            }),
            quote!(if let S { x } = y {
                f(x)
            }),
            quote!(bind! { let x = 1; } f(x)),
            // Not finished.
            quote!(f(x); y.),
        ] {
            assert!(!by(&code, &x), "{code}");
        }
    }

    #[test]
    fn only_plain_rebindings_are_stripped() {
        let body = |tokens| Group::new(Delimiter::Brace, tokens);
        let stripped = strip_rebindings(&body(quote! {
            if let a = None { return a; }
            let x = x;
            let __self = self;
            let mut y = y;
            let z = zz;
            let __ret: T = { let x = x; x };
            __ret
        }));
        let expected = body(quote! {
            if let a = None { return a; }
            let __self = self;
            let mut y = y;
            let z = zz;
            let __ret: T = { let x = x; x };
            __ret
        });
        assert_eq!(stripped.to_string(), expected.to_string());
    }
}
