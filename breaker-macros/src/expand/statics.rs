//! Breakers that are declared: a function's own, and those of `breaker!`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Visibility;

use super::{parenthesized, site};
use crate::args::{OnCancel, Window};
use crate::model::{Declaration, Library, Model, Name, Source, StaticModel, Timeout, Trips, Value};
use crate::place::{Place, telling};

/// The items of the function. Beside a breaker from elsewhere, whose `probe_timeout` is not
/// known here, the `timeout` is only checked to be one at all.
// Output: const __TIMEOUT: Duration = ..; static __BREAKER: Breaker = ..;
pub(super) fn statics(model: &Model) -> TokenStream {
    let private = model.library.private(site());
    let constant = match &model.timeout {
        Some(Timeout::Constant(timeout)) => Some(timeout),
        Some(Timeout::Asked(_)) | None => None,
    };
    let timeout = constant.map(|timeout| {
        let value = value(timeout, &model.library);
        quote_spanned!(site()=> const __TIMEOUT: #private::Duration = #value;)
    });
    let breaker = match &model.source {
        Source::Own(declaration) | Source::Shared { declaration, .. } => {
            let place = Ident::new("__BREAKER", site());
            let (ty, value) = match &model.key {
                None => (
                    breaker_type(&declaration.trips, &model.library),
                    generated(declaration, &model.library, &place),
                ),
                Some(_) => (
                    keyed_type(&declaration.trips, &model.library),
                    keyed(declaration, &model.library),
                ),
            };
            Some(quote_spanned!(site()=> static __BREAKER: #ty = #value;))
        }
        Source::Given(_) => constant.map(|timeout| {
            let span = site().located_at(end(timeout));
            let private = model.library.private(span);
            quote_spanned! {span=>
                const _: #private::Config = #private::Settings::new()
                    .probe_timeout(#private::Duration::from_nanos(#private::core::primitive::u64::MAX))
                    .timeout(__TIMEOUT)
                    .must();
            }
        }),
    };
    quote!(#timeout #breaker)
}

/// A static of `breaker!`.
// Input:  pub static PMS = { threshold: 5 }
// Output: pub static PMS: Breaker = generated(.., Settings::new().threshold(5).must());
pub(crate) fn breaker_static(model: &StaticModel) -> TokenStream {
    let StaticModel {
        library,
        attrs,
        vis,
        ident,
        declaration,
    } = model;
    let ty = breaker_type(&declaration.trips, library);
    let value = generated(declaration, library, ident);
    quote_spanned! {site()=>
        #(#attrs)*
        #vis static #ident: #ty = #value;
    }
}

/// The same with the defaults, so that a mistake in the settings is the only one reported.
pub(crate) fn poor_static(vis: &Visibility, ident: &Ident, trips: &Trips) -> TokenStream {
    let library = &Library::Default;
    let private = library.private(site());
    let ty = breaker_type(trips, library);
    let (generated, config) = match trips {
        Trips::InARow => (
            quote_spanned!(site()=> generated),
            quote_spanned!(site()=> must()),
        ),
        Trips::ByRate(window) => {
            let window = value(window, library);
            (
                quote_spanned!(site()=> generated_by_rate),
                quote_spanned!(site()=> failure_rate(1.0).window(#window).must_rate()),
            )
        }
    };
    quote_spanned! {site()=>
        #[allow(missing_docs)]
        #vis static #ident: #ty = #private::#generated(
            "", "", 0, #private::Settings::new().#config, || &#ident,
        );
    }
}

/// The type of the static: by rate, the window's storage is a part of it.
// Output: RateBreaker<{ Window::calls(100).slots() }>
fn breaker_type(trips: &Trips, library: &Library) -> TokenStream {
    let private = library.private(site());
    match trips {
        Trips::InARow => quote_spanned!(site()=> #private::Breaker),
        Trips::ByRate(window) => {
            let window = value(window, library);
            quote_spanned!(site()=> #private::RateBreaker<{ #private::Window::slots(#window) }>)
        }
    }
}

/// The type of the static of an attribute with `key`.
// Output: KeyedByRate<{ Window::calls(100).slots() }>
fn keyed_type(trips: &Trips, library: &Library) -> TokenStream {
    let private = library.private(site());
    match trips {
        Trips::InARow => quote_spanned!(site()=> #private::Keyed),
        Trips::ByRate(window) => {
            let window = value(window, library);
            quote_spanned!(site()=> #private::KeyedByRate<{ #private::Window::slots(#window) }>)
        }
    }
}

/// `Keyed::new(name, file, line, config, max_keys)`, or `KeyedByRate::by_rate(..)`.
fn keyed(declaration: &Declaration, library: &Library) -> TokenStream {
    let private = library.private(site());
    let name = name(declaration, library);
    let config = config(declaration, library);
    let new = match declaration.trips {
        Trips::InARow => quote_spanned!(site()=> Keyed::new),
        Trips::ByRate(_) => quote_spanned!(site()=> KeyedByRate::by_rate),
    };
    let max_keys = match &declaration.max_keys {
        Some(max_keys) => {
            let span = site().located_at(end(max_keys));
            let private = library.private(span);
            let max_keys = value(max_keys, library);
            quote_spanned!(span=> #private::max_keys(#max_keys))
        }
        None => quote_spanned!(site()=> #private::DEFAULT_MAX_KEYS),
    };
    quote_spanned! {site()=>
        #private::#new(
            #name,
            #private::core::file!(),
            #private::core::line!(),
            #config,
            #max_keys,
        )
    }
}

/// The name as a constant.
fn name(declaration: &Declaration, library: &Library) -> TokenStream {
    let private = library.private(site());
    match &declaration.name {
        Name::Path(name) => quote_spanned! {site()=>
            #private::core::concat!(#private::core::module_path!(), "::", #name)
        },
        Name::Given(name) => value(name, library),
    }
}

/// `generated(name, file, line, config, || &PLACE)`, or `generated_by_rate(..)`.
fn generated(declaration: &Declaration, library: &Library, place: &Ident) -> TokenStream {
    let private = library.private(site());
    let name = name(declaration, library);
    let config = config(declaration, library);
    let generated = match declaration.trips {
        Trips::InARow => quote_spanned!(site()=> generated),
        Trips::ByRate(_) => quote_spanned!(site()=> generated_by_rate),
    };
    quote_spanned! {site()=>
        #private::#generated(
            #name,
            #private::core::file!(),
            #private::core::line!(),
            #config,
            || &#place,
        )
    }
}

/// The settings, placed where they are written: an error in their evaluation points there.
// Output: Settings::new().threshold(5).reset(..).must()
fn config(declaration: &Declaration, library: &Library) -> TokenStream {
    let first = declaration
        .settings
        .first()
        .map_or_else(Span::call_site, |setting| setting.method.span());
    let first = site().located_at(first);
    let private = library.private(first);
    let mut chain = quote_spanned!(first=> #private::Settings::new());
    let mut last = first;
    for setting in &declaration.settings {
        let value = value(&setting.value, library);
        last = site().located_at(end(&setting.value));
        let method = Ident::new(
            &setting.method.to_string(),
            site().located_at(setting.method.span()),
        );
        let argument = parenthesized(value, last);
        chain.extend(quote_spanned!(first=> .#method #argument));
    }
    let done = parenthesized(TokenStream::new(), last);
    let must = match declaration.trips {
        Trips::InARow => quote_spanned!(first=> must),
        Trips::ByRate(_) => quote_spanned!(first=> must_rate),
    };
    quote_spanned!(first=> #chain.#must #done)
}

fn end(value: &Value) -> Span {
    match value {
        Value::Text(_, span)
        | Value::Count(_, span)
        | Value::Number(_, span)
        | Value::Nanos(_, span)
        | Value::Window(_, span)
        | Value::OnCancel(_, span)
        | Value::Timeout(span) => *span,
        Value::WindowOf(expr) | Value::Expression(expr) => Place::of(expr).last,
    }
}

/// A constant.
fn value(value: &Value, library: &Library) -> TokenStream {
    match value {
        Value::Text(text, span) => literal(Literal::string(text), *span),
        Value::Count(count, span) => literal(Literal::u32_unsuffixed(*count), *span),
        Value::Number(number, span) => literal(Literal::f64_unsuffixed(*number), *span),
        Value::Nanos(nanos, span) => {
            let number = literal(Literal::u64_unsuffixed(*nanos), *span);
            let span = site().located_at(*span);
            let private = library.private(span);
            quote_spanned!(span=> #private::Duration::from_nanos(#number))
        }
        Value::Window(window, span) => {
            let (of, argument) = match window {
                Window::Calls(calls) => ("calls", Value::Count(*calls, *span)),
                Window::Time(nanos) => ("time", Value::Nanos(*nanos, *span)),
            };
            let argument = self::value(&argument, library);
            let span = site().located_at(*span);
            let private = library.private(span);
            let of = Ident::new(of, span);
            quote_spanned!(span=> #private::Window::#of(#argument))
        }
        Value::WindowOf(expr) => {
            let span = site().located_at(telling(expr));
            let private = library.private(span);
            quote_spanned! {span=>
                {
                    #[allow(unused_imports)]
                    use #private::AnyWindow as _;
                    #private::window_of(#expr).window()
                }
            }
        }
        Value::OnCancel(on_cancel, span) => {
            let span = site().located_at(*span);
            let private = library.private(span);
            match on_cancel {
                OnCancel::Ignore => quote_spanned!(span=> #private::OnCancel::Ignore),
                OnCancel::Failure => quote_spanned!(span=> #private::OnCancel::Failure),
            }
        }
        Value::Timeout(span) => {
            let span = site().located_at(*span);
            quote_spanned!(span=> __TIMEOUT)
        }
        Value::Expression(expr) => expr.to_token_stream(),
    }
}

fn literal(mut literal: Literal, span: Span) -> TokenStream {
    literal.set_span(span);
    literal.into_token_stream()
}
