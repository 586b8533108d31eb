//! Prints the model. Nothing is decided here.

mod async_fn;
mod hints;
mod last_good;
mod outcome;
mod plain_fn;
mod statics;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprPath, Index, Path};

use crate::model::{Classify, FallbackValue, Kind, Library, Model, Shape, Source};
use crate::place::{Place, may_be_closure, telling};

pub(crate) use statics::{breaker_static, poor_static};

/// The names of the expansion can't be seen by the user's code, nor the other way round.
fn site() -> Span {
    Span::mixed_site()
}

impl Library {
    /// The path of the library, placed at `span`.
    fn root(&self, span: Span) -> TokenStream {
        match self {
            Library::Default => quote_spanned!(span=> ::breakerbox),
            Library::Renamed(path) => moved(path, span).into_token_stream(),
        }
    }

    /// The path of its hidden module.
    fn private(&self, span: Span) -> TokenStream {
        let root = self.root(span);
        quote_spanned!(span=> #root::__private)
    }
}

/// A path at another place, still meaning the same.
fn moved(path: &Path, place: Span) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        let span = place.resolved_at(segment.ident.span());
        segment.ident.set_span(span);
    }
    path
}

/// The whole function.
// Input:  async fn f(a: A) -> T { BODY }
// Output: async fn f(a: A) -> T { static __BREAKER: .. = ..; guarded BODY; outcome }
pub(crate) fn function(model: &Model) -> TokenStream {
    let function = &model.function;
    let statics = statics::statics(model);
    let reused = hints::reused(model);
    let guarded = match &model.kind {
        Kind::Plain => plain_fn::guarded(model, &function.body),
        Kind::Async => async_fn::guarded(model, &function.body),
        Kind::Boxed { pin, call, body } => {
            let guarded = async_fn::guarded(model, body);
            let future = quote_spanned!(site()=> async move { #guarded });
            let future = parenthesized(future, *call);
            quote!(#pin #future)
        }
    };

    let inner_attrs = &function.inner_attrs;
    let mut block = Group::new(
        Delimiter::Brace,
        quote!(#inner_attrs #statics #reused #guarded),
    );
    // The user's braces: else the compiler takes the whole function for generated, and spares
    // it lints such as `dead_code`.
    block.set_span(function.body.span());

    let attrs = &function.attrs;
    let vis = &function.vis;
    let defaultness = &function.defaultness;
    let mut sig = function.sig.clone();
    sig.inputs = model.inputs.clone();
    quote!(#(#attrs)* #vis #defaultness #sig #block)
}

/// `let __breaker = ..`: evaluated before the body takes its parameters.
fn breaker(model: &Model) -> TokenStream {
    let private = model.library.private(site());
    if let Some(key) = &model.key {
        return breaker_of_key(model, key);
    }
    match &model.source {
        Source::Own(_) | Source::Shared { by_type: None, .. } => quote_spanned! {site()=>
            let __breaker = #private::breaker(&__BREAKER);
        },
        Source::Shared {
            by_type: Some(function),
            ..
        } => {
            let this = Ident::new("Self", Span::call_site());
            quote_spanned! {site()=>
                let __breaker = #private::breaker(#private::of_type(
                    &__BREAKER,
                    || #private::core::any::type_name::<#this>(),
                    #function,
                ));
            }
        }
        Source::Given(expr) => {
            let borrowed = borrowed(expr);
            let span = site().located_at(telling(expr));
            let private = model.library.private(span);
            let breaker = quote_spanned!(span=> #private::breaker(__own));
            quote_spanned! {site()=>
                let __own = #borrowed;
                let __breaker = #breaker;
            }
        }
    }
}

/// The same, for one breaker per key.
// Output: let __keyed = keyed(&__BREAKER, &KEY, None); let __breaker = &__keyed;
fn breaker_of_key(model: &Model, key: &Expr) -> TokenStream {
    let private = model.library.private(site());
    let span = site().located_at(telling(key));
    let at_key = model.library.private(span);
    let key = borrowed_key(key);
    let keyed = match &model.source {
        Source::Own(_) | Source::Shared { by_type: None, .. } => quote_spanned! {span=>
            #at_key::keyed(&__BREAKER, #key, #private::core::option::Option::None)
        },
        Source::Shared {
            by_type: Some(function),
            ..
        } => {
            let this = Ident::new("Self", Span::call_site());
            let method = quote_spanned! {site()=>
                #private::core::option::Option::Some(|| #private::Method {
                    type_name: || #private::core::any::type_name::<#this>(),
                    function: #function,
                })
            };
            quote_spanned!(span=> #at_key::keyed(&__BREAKER, #key, #method))
        }
        Source::Given(expr) => {
            let borrowed = borrowed(expr);
            let place = site().located_at(telling(expr));
            let at_breaker = model.library.private(place);
            let breakers = quote_spanned!(place=> #at_breaker::breakers(#borrowed));
            quote_spanned!(span=> #at_key::keyed_in(#breakers, #key))
        }
    };
    quote_spanned! {site()=>
        let __keyed = #keyed;
        let __breaker = &__keyed;
    }
}

/// A key that takes nothing away from the body: of a tuple, each part is borrowed.
// Input:  (account, region)
// Output: &(&account, &region)
fn borrowed_key(key: &Expr) -> Expr {
    match key {
        Expr::Paren(paren) => borrowed_key(&paren.expr),
        Expr::Group(group) => borrowed_key(&group.expr),
        Expr::Tuple(tuple) => {
            let mut tuple = tuple.clone();
            for part in &mut tuple.elems {
                *part = borrowed_key(part);
            }
            borrowed(&Expr::Tuple(tuple))
        }
        key => borrowed(key),
    }
}

/// `&expr`, with parentheses where they are needed.
fn borrowed(expr: &Expr) -> Expr {
    let at_expr = site().located_at(telling(expr));
    Expr::Reference(syn::ExprReference {
        attrs: Vec::new(),
        and_token: syn::Token![&](at_expr),
        mutability: None,
        expr: Box::new(expr.clone()),
    })
}

/// `expect::<T>()`, placed where the function's type is written: so that an error about
/// that type points there.
fn expect(model: &Model) -> TokenStream {
    match &model.output.shape {
        Shape::Inferred(_) | Shape::Opaque => {
            let place = model.output.place.hidden();
            quote_spanned!(place.first=> __expect)
        }
        Shape::Unit | Shape::Typed(_) | Shape::Never => expect_type(model),
    }
}

fn expect_type(model: &Model) -> TokenStream {
    let place = model.output.place.hidden();
    let private = model.library.private(place.first);
    let ty = output_type(model);
    let arguments = parenthesized(TokenStream::new(), place.last);
    quote_spanned!(place.first=> #private::expect::<#ty> #arguments)
}

/// Arguments in parentheses that stand at `span`.
fn parenthesized(arguments: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Parenthesis, arguments);
    group.set_span(span);
    group
}

/// Where the type has to be inferred, all uses of it must be the same.
fn expect_once(model: &Model) -> TokenStream {
    match &model.output.shape {
        Shape::Inferred(_) | Shape::Opaque => {
            let expect = expect_type(model);
            quote_spanned!(site()=> let __expect = #expect;)
        }
        Shape::Unit | Shape::Typed(_) | Shape::Never => TokenStream::new(),
    }
}

/// The type that the body gives.
fn output_type(model: &Model) -> TokenStream {
    let private = model.library.private(site());
    match &model.output.shape {
        Shape::Unit => quote_spanned!(site()=> ()),
        Shape::Typed(ty) | Shape::Inferred(ty) => ty.to_token_stream(),
        Shape::Opaque => quote_spanned!(site()=> _),
        Shape::Never => quote_spanned!(site()=> #private::Never),
    }
}

/// What tells a failure from an answer.
///
/// A closure over the whole output, whatever the user wrote. What is wrong with the user's
/// part is then wrong inside the closure, and reported once; as a type it would be wrong
/// wherever the guarded call is named. It says `return` for the reason that `outcome` does.
fn classify(model: &Model) -> TokenStream {
    let private = model.library.private(site());
    let expect = expect(model);
    match &model.classify {
        Classify::EveryErr => {
            let error = error_of_output(model);
            quote_spanned! {site()=>
                #private::by_output(#expect, |__output| { return #private::core::option::Option::is_some(&#error); })
            }
        }
        Classify::ByError(by) => {
            let error = error_of_output(model);
            let answer = quote_spanned!(site()=> Ignored);
            let classified = classified(model, error, by, answer);
            quote_spanned!(site()=> #private::by_output(#expect, |__output| { return #classified; }))
        }
        Classify::ByOutput(by) => {
            let output = quote_spanned! {site()=>
                #private::core::option::Option::Some(__output)
            };
            let answer = quote_spanned!(site()=> Success);
            let mut classified = classified(model, output, by, answer);
            if last_good::is_noted(model) {
                classified = quote_spanned!(site()=> __noted.note(#classified));
            }
            quote_spanned!(site()=> #private::by_output(#expect, |__output| { return #classified; }))
        }
        Classify::OnlyPanics => {
            quote_spanned!(site()=> #private::by_output(#expect, |_| { return false; }))
        }
    }
}

/// The user's verdict on `subject`, placed where the classifier was written.
// Output: match Judged(SUBJECT, BY).verdict() { Some(v) => Verdict::outcome(v, ANSWER), None => Success }
fn classified(model: &Model, subject: TokenStream, by: &Expr, answer: TokenStream) -> TokenStream {
    let root = model.library.root(site());
    let private = model.library.private(site());
    let map = if may_be_closure(by) {
        let place = Place::of(by).hidden();
        let private = model.library.private(place.first);
        let arguments = parenthesized(quote!(#subject, #by), place.last);
        quote_spanned!(place.first=> #private::core::option::Option::map #arguments)
    } else {
        let place = match &model.library {
            // From end to end as the user's own: a bound of the classifier's that doesn't hold is
            // then reported once. (No name of the user's is found by a path from the root.)
            Library::Default => Place::of(by),
            // A path that doesn't begin at the root may be longer than it must, which a lint
            // (`unused_qualifications`) says of what is the user's own.
            Library::Renamed(_) => Place::of(by).hidden(),
        };
        let in_place = model.library.private(place.first);
        let judged = quote_spanned!(place.last=> Judged);
        let arguments = parenthesized(quote!(#subject, #by), place.last);
        let verdict = quote_spanned!(place.last=> verdict());
        quote_spanned!(site()=> { use #private::Misjudged as _; #in_place::#judged #arguments.#verdict })
    };
    let outcome = {
        let span = site().located_at(telling(by));
        let root = model.library.root(span);
        quote_spanned!(span=> #root::Verdict::outcome(__verdict, #root::Outcome::#answer))
    };
    quote_spanned! {site()=>
        match #map {
            #private::core::option::Option::Some(__verdict) => #outcome,
            #private::core::option::Option::None => #root::Outcome::Success,
        }
    }
}

/// `ResultLike::error(output)`, placed at the function's type.
fn error_of_output(model: &Model) -> TokenStream {
    let place = model.output.place.hidden();
    let private = model.library.private(place.first);
    let output = quote_spanned!(place.last=> *__output);
    let argument = parenthesized(quote_spanned!(place.first=> &#output), place.last);
    quote_spanned!(place.first=> #private::ResultLike::error #argument)
}

/// The call of a fallback by its path. Each parameter is passed on by another name and stands at
/// the path, and so does what is wrong with it: the compiler would mend a name of the user's, by
/// writing over the parameter's declaration.
// Input:  fallback = cached, on fn f(a: A)
// Output: { let __arg0 = a; cached(__arg0) }
fn call_with_parameters(path: &ExprPath, parameters: &[Ident]) -> TokenStream {
    let (args, values) = passed_on(path, parameters);
    let place = Place::of(path).last;
    let span = site().located_at(place);
    let call = parenthesized(quote_spanned!(span=> #(#args),*), place);
    match parameters {
        [] => quote!(#path #call),
        _ => quote_spanned!(site()=> { #(let #args = #values;)* #path #call }),
    }
}

/// The same, where a fallback that takes something else is told so.
// Output: { use all_cases::*; let __arg0 = a; let (__call, __slots) = (&&ByPath(&cached, (&__arg0,))).called(); let __call = (&&&&&Argument(__call, __slots.0, &__arg0)).passed(); __call(__arg0) }
fn checked_call(model: &Model, path: &ExprPath, parameters: &[Ident]) -> TokenStream {
    let (args, values) = passed_on(path, parameters);
    let place = Place::of(path).last;
    let span = site().located_at(place);
    let private = model.library.private(site());
    let at_path = model.library.private(span);
    let checked = args.iter().enumerate().map(|(position, arg)| {
        let slot = Index {
            index: u32::try_from(position).unwrap_or(u32::MAX),
            span,
        };
        quote_spanned! {span=>
            let __call = (&&&&&#at_path::Argument(__call, __slots.#slot, &#arg)).passed();
        }
    });
    let called = quote_spanned! {span=>
        (&&#at_path::ByPath(&#path, (#(&#args,)*))).called()
    };
    let call = parenthesized(quote_spanned!(span=> #(#args),*), place);
    quote_spanned! {site()=>
        {
            use #private::all_cases::*;
            #(let #args = #values;)*
            let (__call, __slots) = #called;
            #(#checked)*
            __call #call
        }
    }
}

/// Names for the parameters at a fallback's path, and the parameters at that place.
fn passed_on(path: &ExprPath, parameters: &[Ident]) -> (Vec<Ident>, Vec<Ident>) {
    let place = Place::of(path).last;
    let span = site().located_at(place);
    let at_path = |(position, parameter): (usize, &Ident)| {
        let mut value = parameter.clone();
        value.set_span(place.resolved_at(parameter.span()));
        (format_ident!("__arg{position}", span = span), value)
    };
    parameters.iter().enumerate().map(at_path).unzip()
}

/// So many parameters the library looks at.
const CHECKED_PARAMETERS: usize = 8;

/// The fallback's expression, as it is printed.
fn fallback_asked(model: &Model, value: &FallbackValue) -> TokenStream {
    let function = &model.function;
    // Where one that is called may be no `Fn`.
    let is_unsafe = !function.sig.safety.to_token_stream().is_empty();
    let has_target = |attr: &syn::Attribute| attr.path().is_ident("target_feature");
    match value {
        FallbackValue::Call { path, args }
            if !is_unsafe
                && !function.attrs.iter().any(has_target)
                && args.len() <= CHECKED_PARAMETERS =>
        {
            checked_call(model, path, args)
        }
        value => fallback_expression(value),
    }
}

/// The fallback's expression. Of a closure, only what it says: its cause comes later.
pub(crate) fn fallback_expression(value: &FallbackValue) -> TokenStream {
    match value {
        FallbackValue::Call { path, args } => call_with_parameters(path, args),
        FallbackValue::Closure(closure) | FallbackValue::Diverging { closure, .. } => {
            closure.to_token_stream()
        }
        FallbackValue::Expression(expr) => expr.to_token_stream(),
        FallbackValue::LastGood(last_good) => last_good.answers.to_token_stream(),
    }
}
