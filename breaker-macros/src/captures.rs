//! Who uses the parameters: the body, and what stands around it.
//!
//! The body is a block or closure inside the function. Alone, it takes the parameters along
//! (`move`): so they live as long, and are dropped in the same order, as without the
//! attribute. Where a fallback or a breaker's expression uses one that can't be copied, it
//! takes only what it consumes, and the rest is still there for them.

mod consumed;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Token, Type};

use crate::function::{bound_names, is_lent, without_groups};
use crate::model::{Captures, Mentioned, Rebound, Reused};

pub(crate) use consumed::strip_rebindings;

/// What stands around the body.
pub(crate) struct Around<'a> {
    /// The expressions of the attribute that are evaluated in the function.
    pub(crate) expressions: TokenStream,
    /// The fallback, as it is printed.
    pub(crate) fallback: Option<TokenStream>,
    /// The body.
    pub(crate) body: &'a TokenStream,
    /// Whether the parameters were bound again by somebody else already.
    pub(crate) bound_inside: bool,
}

/// Decides how the body comes by the parameters, and adapts the signature's `inputs` to it.
pub(crate) fn plan(inputs: &mut Punctuated<FnArg, Token![,]>, around: &Around<'_>) -> Captures {
    let mut used_around = around.expressions.clone();
    used_around.extend(around.fallback.clone());

    let keeps = inputs
        .iter()
        .any(|input| !is_copied(input) && names(input).iter().any(|n| mentions(&used_around, n)));
    let mut captures = Captures {
        moves: !keeps,
        ..Captures::default()
    };

    if keeps {
        captures.reused = reused(inputs, around);
    }
    if around.bound_inside {
        return captures;
    }
    if keeps {
        rebind(inputs, &mut captures, is_copied);
    } else if inputs.iter().any(has_plain_mut) {
        name_the_unnamed(inputs);
        rebind(inputs, &mut captures, |_| true);
    } else if inputs.iter().filter(|input| may_drop(input)).count() > 1 {
        name_the_unnamed(inputs);
        captures.mentioned = mentioned(inputs);
    }
    captures
}

/// Moves `mut` from the signature into the body, for the inputs that `may` be bound again.
fn rebind(
    inputs: &mut Punctuated<FnArg, Token![,]>,
    captures: &mut Captures,
    may: impl Fn(&FnArg) -> bool,
) {
    for input in inputs.iter_mut().filter(|input| may(input)) {
        let FnArg::Typed(parameter) = input else {
            // `self` has no second name to be bound to.
            continue;
        };
        let attrs = conditions(&parameter.attrs);
        take_bindings(&mut parameter.pat, &mut |mutability, name| {
            captures.rebound.push(Rebound {
                attrs: attrs.clone(),
                mutability,
                name,
            });
        });
    }
    if captures
        .rebound
        .iter()
        .all(|rebound| rebound.mutability.is_none())
    {
        captures.rebound.clear();
    }
}

/// Takes every `mut` out of a pattern, and lists its bindings.
fn take_bindings(pat: &mut Pat, found: &mut impl FnMut(Option<Token![mut]>, Ident)) {
    match pat {
        Pat::Ident(ident) => {
            let mutability = match ident.by_ref {
                Some(_) => None,
                None => ident.mutability.take(),
            };
            found(mutability, ident.ident.clone());
            if let Some((_, inner)) = &mut ident.subpat {
                take_bindings(inner, found);
            }
        }
        Pat::Paren(paren) => take_bindings(&mut paren.pat, found),
        Pat::Reference(reference) => take_bindings(&mut reference.pat, found),
        Pat::Slice(slice) => slice.elems.iter_mut().for_each(|p| take_bindings(p, found)),
        Pat::Struct(fields) => fields.fields.iter_mut().for_each(|field| {
            // `S { mut a }` is short for `S { a: mut a }`, and stays short without `mut`.
            take_bindings(&mut field.pat, found);
        }),
        Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(|p| take_bindings(p, found)),
        Pat::TupleStruct(tuple) => tuple.elems.iter_mut().for_each(|p| take_bindings(p, found)),
        Pat::Type(typed) => take_bindings(&mut typed.pat, found),
        _ => {}
    }
}

fn has_plain_mut(input: &FnArg) -> bool {
    let FnArg::Typed(parameter) = input else {
        return false;
    };
    let mut pat = (*parameter.pat).clone();
    let mut found = false;
    take_bindings(&mut pat, &mut |mutability, _| found |= mutability.is_some());
    found
}

/// Gives `_` parameters a name, so that the body can take them along.
fn name_the_unnamed(inputs: &mut Punctuated<FnArg, Token![,]>) {
    for (position, input) in inputs.iter_mut().enumerate() {
        if let FnArg::Typed(parameter) = input
            && let Pat::Wild(wild) = &*parameter.pat
        {
            let span = Span::mixed_site().located_at(wild.underscore_token.span);
            let ident = format_ident!("__breaker_arg{position}", span = span);
            *parameter.pat = Pat::Ident(syn::PatIdent {
                attrs: wild.attrs.clone(),
                by_ref: None,
                mutability: None,
                ident,
                subpat: None,
            });
        }
    }
}

/// All names, the last parameter's first: the order in which a function drops them.
fn mentioned(inputs: &Punctuated<FnArg, Token![,]>) -> Vec<Mentioned> {
    let mut mentioned = Vec::new();
    for input in inputs.iter().filter(|input| may_drop(input)).rev() {
        let attrs = match input {
            FnArg::Typed(parameter) => conditions(&parameter.attrs),
            FnArg::Receiver(receiver) => conditions(&receiver.attrs),
        };
        mentioned.extend(names(input).into_iter().rev().map(|name| Mentioned {
            attrs: attrs.clone(),
            name,
        }));
    }
    mentioned
}

/// The parameters that the body consumes and the fallback wants too.
fn reused(inputs: &Punctuated<FnArg, Token![,]>, around: &Around<'_>) -> Vec<Reused> {
    let Some(fallback) = &around.fallback else {
        return Vec::new();
    };
    inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        })
        .filter_map(|parameter| {
            let ty = without_groups(&parameter.ty);
            let nameable = !is_copy(ty) && !matches!(ty, Type::Reference(_)) && !has_impl(ty);
            let Pat::Ident(pat) = &*parameter.pat else {
                return None;
            };
            let name = &pat.ident;
            let both = || consumed::by(fallback, name) && consumed::by(around.body, name);
            (nameable && pat.by_ref.is_none() && both()).then(|| Reused {
                attrs: conditions(&parameter.attrs),
                name: name.clone(),
                ty: (*parameter.ty).clone(),
            })
        })
        .collect()
}

fn has_impl(ty: &Type) -> bool {
    contains(
        &ty.to_token_stream(),
        &|token| matches!(token, TokenTree::Ident(ident) if ident == "impl"),
    )
}

/// Whether using it elsewhere leaves it where it is.
fn is_copied(input: &FnArg) -> bool {
    match input {
        FnArg::Receiver(receiver) => is_shared(receiver),
        FnArg::Typed(parameter) => is_copy(without_groups(&parameter.ty)),
    }
}

fn is_shared(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => is_copy(without_groups(ty)),
        _ => false,
    }
}

/// Whether a type is `Copy` for all to see. (An alias of one is not, and need not be.)
fn is_copy(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_none(),
        Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) => true,
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|ident| PRIMITIVES.iter().any(|primitive| ident == primitive)),
        Type::Tuple(tuple) => tuple.elems.iter().all(|ty| is_copy(without_groups(ty))),
        Type::Array(array) => is_copy(without_groups(&array.elem)),
        _ => false,
    }
}

const PRIMITIVES: [&str; 16] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// Whether dropping it may be noticed.
fn may_drop(input: &FnArg) -> bool {
    match input {
        FnArg::Receiver(receiver) => !is_lent(receiver),
        FnArg::Typed(parameter) => {
            let ty = without_groups(&parameter.ty);
            !is_copy(ty) && !matches!(ty, Type::Reference(_))
        }
    }
}

/// The names that an input binds.
fn names(input: &FnArg) -> Vec<Ident> {
    match input {
        FnArg::Receiver(receiver) => vec![Ident::new("self", receiver.self_token.span())],
        FnArg::Typed(parameter) => {
            let mut names = Vec::new();
            bound_names(&parameter.pat, &mut names);
            names
        }
    }
}

/// The attributes under which a parameter exists at all.
fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .cloned()
        .collect()
}

/// Whether `name` occurs in `tokens`, also inside a format string.
pub(crate) fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    let in_braces = format!("{{{name}");
    contains(tokens, &|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Literal(literal) => literal.to_string().contains(&in_braces),
        _ => false,
    })
}

/// Whether a token of `tokens`, at any depth, is `wanted`.
pub(crate) fn contains(tokens: &TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.clone().into_iter().any(|token| {
        wanted(&token)
            || matches!(&token, TokenTree::Group(group) if contains(&group.stream(), wanted))
    })
}
