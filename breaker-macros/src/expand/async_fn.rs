//! The guarded body of an `async fn`, or of a boxed future.

use proc_macro2::{Group, TokenStream};
use quote::quote_spanned;

use super::{breaker, classify, expect_once, hints, last_good, outcome, site};
use crate::model::{Model, Timeout};
use crate::place::telling;

/// The statements of the function.
// Input:  BODY
// Output: let __breaker = ..; let __ended = run(__breaker, .., async move { BODY }).await; match __ended { .. }
pub(super) fn guarded(model: &Model, body: &Group) -> TokenStream {
    let private = model.library.private(site());
    let breaker = breaker(model);
    let expect = expect_once(model);
    let (question, noted) = (last_good::key(model), last_good::noted(model));
    let classify = classify(model);
    let hint = hints::output(model);
    let parameters = hints::parameters(model);
    let braces = hints::braces(body);
    let moves = model.captures.moves.then(|| syn::Token![move](site()));
    let block = quote_spanned!(site()=> async #moves { #hint #parameters #braces #body });
    let asked = asked_timeout(model);
    let asks_first = model.captures.asks_first;
    let run = match &model.timeout {
        None if asks_first => {
            quote_spanned!(site()=> #private::run_entered(__entered, #classify, #block))
        }
        None => quote_spanned!(site()=> #private::run(__breaker, #classify, #block)),
        Some(timeout) => {
            let timeout = match timeout {
                Timeout::Constant(_) => quote_spanned!(site()=> __TIMEOUT),
                Timeout::Asked(_) => quote_spanned!(site()=> __timeout),
            };
            match asks_first {
                true => quote_spanned! {site()=>
                    #private::run_entered_timeout(__entered, #classify, #timeout, #block)
                },
                false => quote_spanned! {site()=>
                    #private::run_timeout(__breaker, #classify, #timeout, #block)
                },
            }
        }
    };
    let outcome = outcome::outcome(model, &quote_spanned!(site()=> #run.await));
    quote_spanned! {site()=>
        #breaker
        #question
        #asked
        #expect
        #noted
        #outcome
    }
}

/// The time limit that only the call knows.
// Input:  timeout = self.timeout
// Output: let __timeout = timeout(self.timeout);
fn asked_timeout(model: &Model) -> Option<TokenStream> {
    let Some(Timeout::Asked(expr)) = &model.timeout else {
        return None;
    };
    let span = site().located_at(telling(expr));
    let private = model.library.private(span);
    let timeout = quote_spanned!(span=> #private::timeout(#expr));
    Some(quote_spanned!(site()=> let __timeout = #timeout;))
}
