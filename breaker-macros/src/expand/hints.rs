//! What stands in the body before the user's own lines, and what only helps the compiler.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use super::{output_type, site};
use crate::model::{Mentioned, Model, Rebound, Reused, ReusedBy, Shape};

/// Tells the compiler the type of the block, so that its tail coerces, and errors in it are
/// reported where they are.
// Input:  -> T
// Output: if false { let __hint: T = loop {}; return __hint; }
pub(super) fn output(model: &Model) -> TokenStream {
    if let Shape::Opaque = model.output.shape {
        return TokenStream::new();
    }
    let ty = output_type(model);
    let place = model.output.place.hidden();
    let give = quote_spanned!(place.first=> return __hint;);
    quote_spanned! {site()=>
        #[allow(unknown_lints, unreachable_code, clippy::all, clippy::pedantic, clippy::nursery)]
        if false {
            let __hint: #ty = loop {};
            #give
        }
    }
}

/// Takes the parameters into the body.
// Input:  fn f(mut a: A, b: B)         fn f(a: A, b: B)
// Output: let mut a = a; let b = b;    let _ = &b; let _ = &a; if false { let a = (); }
pub(super) fn parameters(model: &Model) -> TokenStream {
    let rebound = model.captures.rebound.iter().map(|rebound| {
        let Rebound {
            attrs,
            pattern,
            value,
        } = rebound;
        quote_spanned! {site()=>
            #(#attrs)*
            #[allow(
                clippy::no_effect_underscore_binding,
                clippy::shadow_same,
                clippy::used_underscore_binding
            )]
            let #pattern = #value;
        }
    });
    let mentioned = model.captures.mentioned.iter().map(|mentioned| {
        let Mentioned {
            attrs,
            name,
            unused,
        } = mentioned;
        let unused = unused.as_ref().map(|lints| {
            quote_spanned! {site()=>
                #(#attrs)*
                #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
                if false {
                    #(#lints)* let #name = ();
                }
            }
        });
        quote_spanned! {site()=>
            #(#attrs)*
            #[allow(clippy::used_underscore_binding)]
            let _ = &#name;
            #unused
        }
    });
    quote!(#(#rebound)* #(#mentioned)*)
}

/// Keeps the compiler from taking the braces of a body for unused ones, as it does if they hold
/// one expression.
pub(super) fn braces(body: &Group) -> Option<TokenStream> {
    let is_semicolon =
        |token: TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
    let has_statements = body.stream().into_iter().any(is_semicolon);
    (!has_statements).then(|| quote_spanned!(site()=> #[allow(unused_braces)]))
}

/// Asks that a parameter which the body consumes, and what comes after it as well, can be copied.
// Input:  fn f(a: A), with `a` consumed by both
// Output: reused::<A>();
pub(super) fn reused(model: &Model) -> TokenStream {
    model
        .captures
        .reused
        .iter()
        .map(|reused| {
            let Reused {
                by,
                attrs,
                name,
                ty,
            } = reused;
            let span = site().located_at(name.span());
            let private = model.library.private(span);
            match by {
                ReusedBy::Fallback => {
                    quote_spanned!(span=> #(#attrs)* #private::reused::<#ty>();)
                }
                ReusedBy::LastGood => {
                    quote_spanned!(span=> #(#attrs)* #private::reused_by_last_good::<#ty>();)
                }
            }
        })
        .collect()
}
