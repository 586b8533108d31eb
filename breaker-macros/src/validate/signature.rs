//! What kind of function it is, and what it gives.

use proc_macro2::{Delimiter, Group, TokenTree};
use syn::{GenericArgument, GenericParam, Path, PathArguments, Type, TypeParamBound};

use crate::error::Errors;
use crate::function::{Function, without_groups};
use crate::model::{Kind, Output, Shape};
use crate::place::Place;

/// The kind of `function`; `None` if it is one that can't be guarded.
pub(super) fn kind(function: &Function, errors: &mut Errors) -> Option<Kind> {
    let sig = &function.sig;
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a function with `...` can't be guarded: write `#[circuit_breaker]` above one that calls it");
        return None;
    }
    if sig.asyncness.is_some() {
        return Some(Kind::Async);
    }
    let is_tracked = |attr: &&syn::Attribute| attr.path().is_ident("track_caller");
    if let Some(tracked) = function.attrs.iter().find(is_tracked) {
        errors.at(
            tracked,
            "`#[track_caller]` ends at the guard, which is who calls the body: leave it out, and take `Location::caller()` as a parameter where it is needed",
        );
    }
    let Some(returned) = function.written_output() else {
        return Some(Kind::Plain);
    };
    if is_from_async_trait(function) {
        let boxed = boxed(&function.body);
        if boxed.is_none() || future_output(returned).is_none() {
            errors.at(
                &sig.ident,
                "this form of `#[async_trait]`'s output is unknown: write `#[circuit_breaker]` above a method that the trait's method calls",
            );
        }
        return boxed;
    }
    if is_future(returned) {
        errors.at(
            returned,
            "a plain function that returns a future can't be guarded, because only the making of the future would be: write `async fn` (where another attribute made the future, write `#[circuit_breaker]` above it)",
        );
        return None;
    }
    Some(Kind::Plain)
}

/// `#[async_trait]` leaves a lifetime of this name.
fn is_from_async_trait(function: &Function) -> bool {
    function.sig.generics.params.iter().any(|param| {
        matches!(param, GenericParam::Lifetime(lifetime) if lifetime.lifetime.ident == "async_trait")
    })
}

/// Takes `{ Box::pin(async move { .. }) }` apart.
fn boxed(body: &Group) -> Option<Kind> {
    let mut tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let call = braces(tokens.pop()?, Delimiter::Parenthesis)?;
    match tokens.last() {
        Some(TokenTree::Ident(pin)) if pin == "pin" => {}
        _ => return None,
    }
    let [TokenTree::Ident(asyncness), TokenTree::Ident(moves), block] =
        <[TokenTree; 3]>::try_from(call.stream().into_iter().collect::<Vec<_>>()).ok()?
    else {
        return None;
    };
    if asyncness != "async" || moves != "move" {
        return None;
    }
    Some(Kind::Boxed {
        pin: tokens.into_iter().collect(),
        call: call.span(),
        body: braces(block, Delimiter::Brace)?,
    })
}

fn braces(token: TokenTree, delimiter: Delimiter) -> Option<Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Whether a type is a future for all to see. (A name that hides one is the user's own matter.)
fn is_future(ty: &Type) -> bool {
    match without_groups(ty) {
        Type::ImplTrait(opaque) => opaque.bounds.iter().any(is_future_bound),
        Type::TraitObject(object) => object.bounds.iter().any(is_future_bound),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" => true,
            Some(last) if last.ident == "Pin" || last.ident == "Box" => {
                type_arguments(&path.path).any(is_future)
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_future_bound(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Future"),
        _ => false,
    }
}

/// The types between the brackets of a path's last segment.
fn type_arguments(path: &Path) -> impl Iterator<Item = &Type> {
    let arguments = match path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => Some(&arguments.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// The `T` of `Pin<Box<dyn Future<Output = T>>>`.
fn future_output(ty: &Type) -> Option<&Type> {
    match without_groups(ty) {
        Type::Path(path) => type_arguments(&path.path).find_map(future_output),
        Type::TraitObject(object) => object.bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Trait(bound) => match &bound.path.segments.last()?.arguments {
                PathArguments::AngleBracketed(arguments) => {
                    arguments.args.iter().find_map(|argument| match argument {
                        GenericArgument::AssocType(output) if output.ident == "Output" => {
                            Some(&output.ty)
                        }
                        _ => None,
                    })
                }
                _ => None,
            },
            _ => None,
        }),
        _ => None,
    }
}

/// What `function` gives to whoever awaits or calls it.
pub(super) fn output(function: &Function, kind: &Kind) -> Output {
    let written = match kind {
        Kind::Async | Kind::Plain => function.written_output(),
        Kind::Boxed { .. } => function.written_output().and_then(future_output),
    };
    let shape = match written {
        None => Shape::Unit,
        Some(ty) => match without_groups(ty) {
            Type::Never(_) => Shape::Never,
            Type::ImplTrait(_) => Shape::Opaque,
            _ => {
                let mut ty = ty.clone();
                match infer_opaque(&mut ty) {
                    true => Shape::Inferred(ty),
                    false => Shape::Typed(ty),
                }
            }
        },
    };
    let place = match written {
        Some(ty) => Place::of(ty),
        None => Place::at(function.sig.ident.span()),
    };
    Output { shape, place }
}

/// Puts `_` where a type says `impl Trait`, which can't be named inside the function.
/// Whether there was one.
// Input:  Result<impl Stream, E>
// Output: Result<_, E>
fn infer_opaque(ty: &mut Type) -> bool {
    match ty {
        Type::ImplTrait(opaque) => {
            let underscore_token = syn::Token![_](opaque.impl_token.span);
            *ty = Type::Infer(syn::TypeInfer {
                attrs: Vec::new(),
                underscore_token,
            });
            true
        }
        Type::Array(array) => infer_opaque(&mut array.elem),
        Type::Group(group) => infer_opaque(&mut group.elem),
        Type::Paren(paren) => infer_opaque(&mut paren.elem),
        Type::Ptr(pointer) => infer_opaque(&mut pointer.elem),
        Type::Reference(reference) => infer_opaque(&mut reference.elem),
        Type::Slice(slice) => infer_opaque(&mut slice.elem),
        Type::Tuple(tuple) => tuple
            .elems
            .iter_mut()
            .fold(false, |found, ty| infer_opaque(ty) | found),
        Type::Path(path) => path
            .path
            .segments
            .iter_mut()
            .filter_map(|segment| match &mut segment.arguments {
                PathArguments::AngleBracketed(arguments) => Some(&mut arguments.args),
                // In `Fn(..)` there can be none.
                PathArguments::None | PathArguments::Parenthesized(_) => None,
            })
            .flatten()
            .fold(false, |found, argument| match argument {
                GenericArgument::Type(ty) => infer_opaque(ty) | found,
                GenericArgument::AssocType(assoc) => infer_opaque(&mut assoc.ty) | found,
                _ => found,
            }),
        _ => false,
    }
}
