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
    let Some(block) = block(code) else {
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

/// Whether `code` uses `name` in any way.
pub(super) fn used_by(code: &TokenStream, name: &Ident) -> bool {
    let Some(block) = block(code) else {
        return false;
    };
    let mut search = Search {
        name,
        consumed: false,
        bound_again: false,
    };
    search.visit_block(&block);
    let mut uses = Uses {
        name,
        of_parts: true,
        found: false,
    };
    uses.visit_block(&block);
    uses.found && !search.bound_again
}

fn block(code: &TokenStream) -> Option<Block> {
    syn::parse2::<Block>(quote!({ #code })).ok()
}

struct Search<'a> {
    name: &'a Ident,
    consumed: bool,
    /// Some pattern binds the same name, which may mean another variable; or it can't be told.
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

    /// What a `move` block or closure takes along. (Of a part, a field, it may take just that, and
    /// that may be copied.)
    fn taken_along(&mut self, visit: impl FnOnce(&mut Uses<'_>)) {
        let mut uses = Uses {
            name: self.name,
            of_parts: false,
            found: false,
        };
        visit(&mut uses);
        self.consumed |= uses.found;
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

    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        if block.capture.is_some() {
            self.taken_along(|uses| uses.visit_block(&block.block));
        }
        visit::visit_expr_async(self, block);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        if closure.capture.is_some() {
            self.taken_along(|uses| uses.visit_expr(&closure.body));
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        // What it stands above may not be there.
        self.bound_again |= attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
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

/// Looks for uses of a variable; not for those that only match it, which may take nothing of it.
struct Uses<'a> {
    name: &'a Ident,
    /// Also of its fields.
    of_parts: bool,
    found: bool,
}

impl Uses<'_> {
    fn is_it(&self, expr: &Expr) -> bool {
        matches!(unwrapped_ref(expr), Expr::Path(path) if path.path.is_ident(self.name))
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.found |= path.path.is_ident(self.name);
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if self.of_parts || !self.is_it(&field.base) {
            visit::visit_expr_field(self, field);
        }
    }

    fn visit_expr_match(&mut self, matched: &'ast syn::ExprMatch) {
        if !self.is_it(&matched.expr) {
            self.visit_expr(&matched.expr);
        }
        matched.arms.iter().for_each(|arm| self.visit_arm(arm));
    }

    fn visit_expr_let(&mut self, matched: &'ast syn::ExprLet) {
        if !self.is_it(&matched.expr) {
            self.visit_expr(&matched.expr);
        }
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.visit_expr(&assign.left);
        if !self.is_it(&assign.right) {
            self.visit_expr(&assign.right);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let Some(init) = &local.init else {
            return;
        };
        if !self.is_it(&init.expr) || matches!(&local.pat, Pat::Ident(pat) if pat.by_ref.is_none())
        {
            self.visit_expr(&init.expr);
        }
        if let Some((_, otherwise)) = &init.diverge {
            self.visit_expr(otherwise);
        }
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

    use super::{by, strip_rebindings, used_by};

    #[test]
    fn what_uses() {
        let x = Ident::new("x", Span::call_site());
        for code in [
            quote!(f(&x)),
            quote!(x.y),
            quote!({
                let z = x;
                f(z)
            }),
            quote!(|_| f(x.y)),
        ] {
            assert!(used_by(&code, &x), "{code}");
        }
        for code in [
            quote!(f(y)),
            quote!(|x| f(x)),
            quote!(let _ = x;),
            quote!(f!(x)),
            quote!(a.x),
        ] {
            assert!(!used_by(&code, &x), "{code}");
        }
    }

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
            quote!(move || f(&x)),
            quote!(g(move |y| y + x.len())),
            quote!(async move { x.f().await }.await),
            quote!(let y = async move { g(&x[0]) }; y.await),
            quote!(async move { || f(&x) }),
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
            quote!(|| f(&x)),
            quote!(async { f(&x).await }),
            // Of these a part may be taken along, or nothing.
            quote!(move || x.y),
            quote!(move || f(&x.y)),
            quote!(async move { x.y.f() }),
            quote!(move || {
                let _ = x;
            }),
            quote!(move || {
                _ = x;
            }),
            quote!(move || match x {
                _ => 1,
            }),
            quote!(move || if let S { .. } = x { 1 } else { 2 }),
            quote!(move || g!(x)),
            quote!(move || {
                fn g() {
                    f(x)
                }
            }),
            quote!(move |x| f(x)),
            // It may not be there.
            quote!(#[cfg(a)] f(x);),
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
