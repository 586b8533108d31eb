//! Who uses the parameters: the body, and what stands around it.
//!
//! The body is a block or closure inside the function. Alone, it takes the parameters along
//! (`move`): so they live as long, and are dropped in the same order, as without the
//! attribute. Where a fallback or a breaker's expression uses one that can't be copied, it
//! takes only what it consumes, and the rest is still there for them. Where only refused calls
//! use one, they find it whatever the body does with it: it takes nothing before admission.

mod consumed;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Pat, PatIdent, Receiver, ReceiverKind, Token, Type, parse_quote};

use crate::function::{bound_names, is_lent, without_groups};
use crate::model::{Captures, Mentioned, Rebound, Reused, ReusedBy};

pub(crate) use consumed::strip_rebindings;

/// What stands around the body.
pub(crate) struct Around<'a> {
    /// The expressions of the attribute that are evaluated in the function.
    pub(crate) expressions: TokenStream,
    /// What is evaluated before the body takes its parameters, and keeps none of them.
    pub(crate) read_before: TokenStream,
    /// The fallback, as it is printed, if it may run after the body.
    pub(crate) fallback: Option<TokenStream>,
    /// Where last-good answers are, which is asked after the body.
    pub(crate) kept: Option<TokenStream>,
    /// What runs only where the body never does.
    pub(crate) refused: TokenStream,
    /// The body.
    pub(crate) body: &'a TokenStream,
    /// Whether the parameters were bound again by somebody else already.
    pub(crate) bound_inside: bool,
    /// Whether other attribute macros will read the signature, which then keeps its patterns.
    pub(crate) read_by_others: bool,
}

/// Decides how the body comes by the parameters, and adapts the signature's `inputs` to it.
pub(crate) fn plan(inputs: &mut Punctuated<FnArg, Token![,]>, around: &Around<'_>) -> Captures {
    let mut used_around = around.expressions.clone();
    used_around.extend(around.fallback.clone());
    used_around.extend(around.kept.clone());
    let used_beside = used_around.clone();
    used_around.extend(around.refused.clone());

    let used = |input: &FnArg| names(input).iter().any(|n| mentions(&used_around, n));
    let read_before = |input: &FnArg| {
        let mut names = names(input).into_iter();
        names.any(|name| mentions(&around.read_before, &name))
    };
    let keeps = inputs.iter().any(|input| !is_copied(input) && used(input));
    let wanted_twice = |input: &FnArg| {
        let both = |name: &Ident| mentions(&around.refused, name) && mentions(around.body, name);
        !is_copied(input) && names(input).iter().any(both)
    };
    // A `mut` must stay where both find it.
    let only_refused = |input: &FnArg| {
        let beside = names(input).iter().any(|n| mentions(&used_beside, n));
        wanted_twice(input) && !beside
    };
    let asks_first = inputs.iter().any(wanted_twice);
    let mut captures = Captures {
        moves: !keeps,
        asks_first,
        ..Captures::default()
    };

    if keeps {
        for (code, by) in [
            (&around.fallback, ReusedBy::Fallback),
            (&around.kept, ReusedBy::LastGood),
        ] {
            if let Some(code) = code {
                captures.reused.extend(reused(inputs, around, code, by));
            }
        }
    }
    if around.bound_inside {
        return captures;
    }
    if keeps {
        // What is copied, or nobody else wants, the body can have for itself. It must, to give
        // back a part of a `&mut` parameter, or to put its own variable in place of a `&`.
        for input in inputs.iter_mut() {
            let to_itself = is_copied(input) || !used(input);
            let bound_again = match has_plain_mut(input) {
                true => to_itself,
                false => is_unique_reference(input) && (to_itself || only_refused(input)),
            };
            if bound_again {
                bind_again(input, around, &mut captures);
            }
        }
        return captures;
    }
    let renames = !around.read_by_others;
    let many = inputs.iter().map(places).sum::<usize>() > 1;
    let keeps_a_rest = |input: &FnArg| many && renames && may_drop(input) && has_a_rest(input);
    // Where one is bound again that is dropped, all are, to be dropped in order. It is not the
    // rule, because it costs their size once more.
    let in_order = |input: &FnArg| may_drop(input) && has_plain_mut(input) || keeps_a_rest(input);
    let all = inputs.iter().any(in_order);
    for (position, input) in inputs.iter_mut().enumerate() {
        if renames && many {
            name_the_unnamed(position, input);
        }
        if keeps_a_rest(input) && !used(input) && !read_before(input) {
            match_inside(position, input, &mut captures);
        } else if has_plain_mut(input) || (all && may_drop(input)) {
            bind_again(input, around, &mut captures);
        }
    }
    if many && !all {
        captures.mentioned = mentioned(inputs, around);
    }
    captures
}

/// Moves `mut` from the signature into the body.
// Input:  (mut a, b): (A, B)
// Output: (a, b): (A, B)     and     let mut a = a; let b = b;
fn bind_again(input: &mut FnArg, around: &Around<'_>, captures: &mut Captures) {
    let FnArg::Typed(parameter) = input else {
        // `self` has no second name to be bound to.
        return;
    };
    let lints = take_lints(&mut parameter.attrs);
    each_binding(
        &mut parameter.pat,
        &conditions(&parameter.attrs),
        &mut |attrs, binding| {
            let mutability = match binding.by_ref {
                Some(_) => None,
                None => binding.mutability.take(),
            };
            let name = &binding.ident;
            let used_before = mentions(&around.read_before, name) && !mentions(around.body, name);
            let used = used_before.then(|| parse_quote!(#[allow(unused_variables)]));
            captures.rebound.push(Rebound {
                attrs: attrs.iter().chain(&lints).cloned().chain(used).collect(),
                pattern: quote!(#mutability #name),
                value: name.clone(),
            });
        },
    );
}

/// Moves a whole pattern into the body, so that what it doesn't bind is dropped there as well.
// Input:  (a, _): (A, B)
// Output: __breaker_arg0: (A, B)     and     let __breaker_arg0 = __breaker_arg0; let (a, _) = __breaker_arg0;
fn match_inside(position: usize, input: &mut FnArg, captures: &mut Captures) {
    let FnArg::Typed(parameter) = input else {
        return;
    };
    let name = own_name(position, parameter.pat.span());
    let attrs = conditions(&parameter.attrs);
    // In a parameter it needs no `mut`.
    let mutability = contains(
        &parameter.pat.to_token_stream(),
        &|token| matches!(token, TokenTree::Ident(ident) if ident == "ref"),
    )
    .then(|| quote!(mut));
    captures.rebound.push(Rebound {
        attrs: attrs.clone(),
        pattern: quote!(#mutability #name),
        value: name.clone(),
    });
    captures.rebound.push(Rebound {
        attrs: [attrs, take_lints(&mut parameter.attrs)].concat(),
        pattern: parameter.pat.to_token_stream(),
        value: name.clone(),
    });
    *parameter.pat = binding(name);
}

/// Gives a `_` parameter that is dropped a name, so that the body can take it along.
fn name_the_unnamed(position: usize, input: &mut FnArg) {
    if may_drop(input)
        && let FnArg::Typed(parameter) = input
        && let Pat::Wild(wild) = &*parameter.pat
    {
        *parameter.pat = binding(own_name(position, wild.underscore_token.span));
    }
}

fn own_name(position: usize, place: Span) -> Ident {
    let span = Span::mixed_site().located_at(place);
    format_ident!("__breaker_arg{position}", span = span)
}

fn binding(ident: Ident) -> Pat {
    Pat::Ident(PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident,
        subpat: None,
    })
}

/// Visits the bindings of a pattern, each with the conditions under which it exists.
fn each_binding(
    pat: &mut Pat,
    conditions: &[Attribute],
    found: &mut dyn FnMut(&[Attribute], &mut PatIdent),
) {
    match pat {
        Pat::Ident(ident) => {
            found(conditions, ident);
            if let Some((_, inner)) = &mut ident.subpat {
                each_binding(inner, conditions, found);
            }
        }
        Pat::Paren(paren) => each_binding(&mut paren.pat, conditions, found),
        Pat::Reference(reference) => each_binding(&mut reference.pat, conditions, found),
        Pat::Slice(slice) => {
            for pat in &mut slice.elems {
                each_binding(pat, conditions, found);
            }
        }
        Pat::Struct(fields) => {
            for field in &mut fields.fields {
                // `S { mut a }` is short for `S { a: mut a }`, and stays short without `mut`.
                let conditions = [conditions, &self::conditions(&field.attrs)].concat();
                each_binding(&mut field.pat, &conditions, found);
            }
        }
        Pat::Tuple(tuple) => {
            for pat in &mut tuple.elems {
                each_binding(pat, conditions, found);
            }
        }
        Pat::TupleStruct(tuple) => {
            for pat in &mut tuple.elems {
                each_binding(pat, conditions, found);
            }
        }
        Pat::Type(typed) => each_binding(&mut typed.pat, conditions, found),
        _ => {}
    }
}

fn has_plain_mut(input: &FnArg) -> bool {
    let FnArg::Typed(parameter) = input else {
        return false;
    };
    let mut found = false;
    each_binding(&mut parameter.pat.clone(), &[], &mut |_, binding| {
        found |= binding.by_ref.is_none() && binding.mutability.is_some();
    });
    found
}

/// Whether something of a parameter may be left where it was when its pattern has taken its part.
fn has_a_rest(input: &FnArg) -> bool {
    fn leaves_a_rest(pat: &Pat) -> bool {
        match pat {
            Pat::Ident(ident) => ident.by_ref.is_some(),
            Pat::Paren(paren) => leaves_a_rest(&paren.pat),
            Pat::Tuple(tuple) => tuple.elems.iter().any(leaves_a_rest),
            Pat::Slice(slice) => slice.elems.iter().any(leaves_a_rest),
            // A struct may have a destructor of its own.
            _ => true,
        }
    }
    match input {
        FnArg::Typed(parameter) => match &*parameter.pat {
            // It can be named.
            Pat::Wild(_) => false,
            pat => leaves_a_rest(pat),
        },
        FnArg::Receiver(_) => false,
    }
}

/// All names, the last parameter's first: the order in which a function drops them.
fn mentioned(inputs: &mut Punctuated<FnArg, Token![,]>, around: &Around<'_>) -> Vec<Mentioned> {
    let mut mentioned = Vec::new();
    for input in inputs.iter_mut().filter(|input| may_drop(input)) {
        let parameter = match input {
            FnArg::Typed(parameter) => parameter,
            FnArg::Receiver(receiver) => {
                mentioned.push(Mentioned {
                    attrs: conditions(&receiver.attrs),
                    name: Ident::new("self", receiver.self_token.span()),
                    unused: None,
                });
                continue;
            }
        };
        let attrs = conditions(&parameter.attrs);
        let mut named = Vec::new();
        each_binding(&mut parameter.pat, &attrs, &mut |attrs, binding| {
            named.push((attrs.to_vec(), binding.ident.clone()));
        });
        let is_used =
            |name: &Ident| mentions(around.body, name) || mentions(&around.read_before, name);
        let is_unused = |name: &Ident| !name.to_string().starts_with('_') && !is_used(name);
        let lints = match named.iter().any(|(_, name)| is_unused(name)) {
            true => take_lints(&mut parameter.attrs),
            false => Vec::new(),
        };
        mentioned.extend(named.into_iter().map(|(attrs, name)| Mentioned {
            attrs,
            unused: is_unused(&name).then(|| lints.clone()),
            name,
        }));
    }
    mentioned.reverse();
    mentioned
}

/// The parameters that the body consumes and `code` wants too.
fn reused(
    inputs: &Punctuated<FnArg, Token![,]>,
    around: &Around<'_>,
    code: &TokenStream,
    by: ReusedBy,
) -> Vec<Reused> {
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
            let both = || consumed::used_by(code, name) && consumed::by(around.body, name);
            (nameable && pat.by_ref.is_none() && both()).then(|| Reused {
                by,
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

fn is_unique_reference(input: &FnArg) -> bool {
    let FnArg::Typed(parameter) = input else {
        return false;
    };
    matches!(without_groups(&parameter.ty), Type::Reference(reference) if reference.mutability.is_some())
}

fn is_shared(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => is_copy(without_groups(ty)),
        _ => false,
    }
}

/// Whether a type is `Copy` for all to see. (An alias of one is not, and need not be.)
pub(crate) fn is_copy(ty: &Type) -> bool {
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

/// How many things an input drops: none, one or several.
fn places(input: &FnArg) -> usize {
    match input {
        _ if !may_drop(input) => 0,
        FnArg::Typed(parameter) if !matches!(&*parameter.pat, Pat::Ident(_) | Pat::Wild(_)) => 2,
        FnArg::Typed(_) | FnArg::Receiver(_) => 1,
    }
}

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
        .filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
        .cloned()
        .collect()
}

/// Takes out what is said about lints, to where they will be found.
fn take_lints(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    const LEVELS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];
    let is_level = |attr: &mut Attribute| LEVELS.iter().any(|level| attr.path().is_ident(level));
    attrs.extract_if(.., is_level).collect()
}

/// Whether `name` occurs in `tokens`, also inside a format string.
pub(crate) fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    let in_braces = format!("{{{}", name.unraw());
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
