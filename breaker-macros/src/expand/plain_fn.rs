//! The guarded body of a plain function.

use proc_macro2::{Group, TokenStream};
use quote::quote_spanned;

use super::{breaker, classify, expect_once, hints, last_good, outcome, output_type, site};
use crate::model::{Model, Shape};

/// The statements of the function.
// Input:  BODY
// Output: let __breaker = ..; let __ended = run_sync(__breaker, .., move || -> T { BODY }); match __ended { .. }
pub(super) fn guarded(model: &Model, body: &Group) -> TokenStream {
    let private = model.library.private(site());
    let breaker = breaker(model);
    let expect = expect_once(model);
    let (question, noted) = (last_good::key(model), last_good::noted(model));
    let classify = classify(model);
    let parameters = hints::parameters(model);
    let braces = hints::braces(body);
    let moves = model.captures.moves.then(|| syn::Token![move](site()));
    let returned = match &model.output.shape {
        Shape::Unit => TokenStream::new(),
        Shape::Typed(_) | Shape::Inferred(_) | Shape::Opaque | Shape::Never => {
            let ty = output_type(model);
            quote_spanned!(site()=> -> #ty)
        }
    };
    let closure = quote_spanned!(site()=> #moves || #returned { #parameters #braces #body });
    let run = match model.captures.asks_first {
        true => quote_spanned!(site()=> #private::run_entered_sync(__entered, #classify, #closure)),
        false => quote_spanned!(site()=> #private::run_sync(__breaker, #classify, #closure)),
    };
    let outcome = outcome::outcome(model, &run);
    quote_spanned! {site()=>
        #breaker
        #question
        #expect
        #noted
        #outcome
    }
}
