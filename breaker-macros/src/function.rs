//! The function below the attribute: its signature parsed, its body left as it was written.
//!
//! A body that is still being typed need not parse, and an editor that expands the
//! attribute must get it back.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, Ident, LitStr, Pat, Receiver, ReceiverKind, ReturnType, Signature, Token,
    Type, Visibility, token,
};

/// A function with a body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) defaultness: Option<Token![default]>,
    pub(crate) sig: Signature,
    /// The `#![..]` at the start of the body.
    pub(crate) inner_attrs: TokenStream,
    /// The rest of it, in the braces it was written in.
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let defaultness = match input.peek(Token![default]) && !input.peek2(Token![!]) {
            true => Some(input.parse()?),
            false => None,
        };
        if let Some(other) = other_item(input) {
            return Err(input.error(other));
        }
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new_spanned(
                &sig.ident,
                "a method without a body has nothing to guard: write `#[circuit_breaker]` above the methods of its `impl`s",
            ));
        }
        let body: TokenTree = input.parse()?;
        let (inner_attrs, body) = match braces(&body) {
            Some(body) => split(body),
            None => {
                return Err(syn::Error::new_spanned(
                    body,
                    "expected the function's body, in braces: write `{ .. }`",
                ));
            }
        };
        Ok(Function {
            attrs,
            vis,
            defaultness,
            sig,
            inner_attrs,
            body,
        })
    }
}

impl Function {
    pub(crate) fn receiver(&self) -> Option<&Receiver> {
        self.sig.receiver()
    }

    /// The type after the arrow.
    pub(crate) fn written_output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ty),
        }
    }

    /// Whether an attribute is left that the language doesn't know: a macro, which comes next.
    pub(crate) fn has_foreign_attribute(&self) -> bool {
        self.attrs.iter().any(|attr| {
            let path = attr.path();
            let is_tool =
                path.segments.len() > 1 && TOOLS.iter().any(|tool| path.segments[0].ident == tool);
            !is_tool && !ATTRIBUTES.iter().any(|name| path.is_ident(name))
        })
    }

    /// The parameters after the receiver.
    pub(crate) fn parameters(&self) -> impl DoubleEndedIterator<Item = &syn::PatType> {
        self.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        })
    }
}

/// The language's own attributes of functions.
const ATTRIBUTES: [&str; 19] = [
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "forbid",
    "ignore",
    "inline",
    "link_section",
    "must_use",
    "no_mangle",
    "should_panic",
    "target_feature",
    "track_caller",
    "unsafe",
    "warn",
];
const TOOLS: [&str; 3] = ["clippy", "diagnostic", "rustfmt"];

/// If something else than a function begins here: what to say about it.
fn other_item(input: ParseStream<'_>) -> Option<String> {
    let ahead = input.fork();
    let keyword = ahead.call(Ident::parse_any).ok()?.to_string();
    let what = match keyword.as_str() {
        "const" => {
            let function = ["fn", "async", "unsafe", "extern"];
            let next = ahead.call(Ident::parse_any).ok()?.to_string();
            if function.contains(&next.as_str()) {
                return Some(
                    "a `const fn` can't be guarded, because a breaker changes at run time: leave out `const` or `#[circuit_breaker]`"
                        .to_owned(),
                );
            }
            "a constant"
        }
        "struct" => "a struct",
        "enum" => "an enum",
        "union" => "a union",
        "trait" => "a trait: write it above the methods",
        "impl" => "an `impl` block: write it above the methods",
        "mod" => "a module",
        "static" => "a static: `breaker! { static PMS = { .. } }` declares a breaker",
        "type" => "a type",
        "use" => "an import",
        "let" => "a variable",
        "macro_rules" => "a macro",
        "unsafe" => {
            let next = ahead.call(Ident::parse_any).ok()?.to_string();
            match next.as_str() {
                "impl" => "an `impl` block: write it above the methods",
                "trait" => "a trait: write it above the methods",
                "extern" if is_block(&ahead) => "a block of foreign functions",
                _ => return None,
            }
        }
        "extern" if ahead.peek(Token![crate]) => "an import",
        "extern" if is_block(&ahead) => "a block of foreign functions",
        _ => return None,
    };
    Some(format!(
        "`#[circuit_breaker]` goes above a function, not above {what}"
    ))
}

/// Whether, perhaps after a string, a block follows.
fn is_block(input: ParseStream<'_>) -> bool {
    input.peek(token::Brace) || (input.peek(LitStr) && input.peek2(token::Brace))
}

/// The body, also out of the invisible group that `$body:block` of a surrounding macro is.
fn braces(body: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = body else {
        return None;
    };
    match group.delimiter() {
        Delimiter::Brace => Some(group.clone()),
        Delimiter::None => {
            let mut inside = group.stream().into_iter();
            match (inside.next(), inside.next()) {
                (Some(body), None) => braces(&body),
                _ => None,
            }
        }
        Delimiter::Parenthesis | Delimiter::Bracket => None,
    }
}

/// Takes the inner attributes out of a body.
fn split(body: Group) -> (TokenStream, Group) {
    let mut attrs = TokenStream::new();
    let mut rest = body.stream().into_iter().peekable();
    let mut ahead = rest.clone();
    while let (Some(hash), Some(bang), Some(brackets)) = (ahead.next(), ahead.next(), ahead.next())
    {
        let is_attr = is_punct(&hash, '#')
            && is_punct(&bang, '!')
            && matches!(&brackets, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
        if !is_attr {
            break;
        }
        attrs.extend([hash, bang, brackets]);
        rest = ahead.clone();
    }
    let mut without = Group::new(Delimiter::Brace, rest.collect());
    without.set_span(body.span());
    (attrs, without)
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

/// Whether the receiver is a reference, which can be copied or lent, not consumed.
pub(crate) fn is_lent(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => matches!(without_groups(ty), Type::Reference(_)),
        _ => false,
    }
}

/// The names that a pattern binds, in order.
pub(crate) fn bound_names(pat: &Pat, names: &mut Vec<Ident>) {
    match pat {
        Pat::Ident(ident) => {
            names.push(ident.ident.clone());
            if let Some((_, inner)) = &ident.subpat {
                bound_names(inner, names);
            }
        }
        Pat::Or(or) => {
            // Every case binds the same names.
            if let Some(case) = or.cases.first() {
                bound_names(case, names);
            }
        }
        Pat::Paren(paren) => bound_names(&paren.pat, names),
        Pat::Reference(reference) => bound_names(&reference.pat, names),
        Pat::Slice(slice) => slice.elems.iter().for_each(|pat| bound_names(pat, names)),
        Pat::Struct(fields) => fields
            .fields
            .iter()
            .for_each(|field| bound_names(&field.pat, names)),
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|pat| bound_names(pat, names)),
        Pat::TupleStruct(tuple) => tuple.elems.iter().for_each(|pat| bound_names(pat, names)),
        Pat::Type(typed) => bound_names(&typed.pat, names),
        _ => {}
    }
}

/// A type without the invisible groups of a surrounding macro, and without parentheses.
pub(crate) fn without_groups(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => without_groups(&group.elem),
        Type::Paren(paren) => without_groups(&paren.elem),
        other => other,
    }
}
