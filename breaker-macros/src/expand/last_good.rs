//! Last-good answers: kept after a success, served where a fallback would be.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Lifetime;

use super::{borrowed, borrowed_key, expect, parenthesized, site};
use crate::model::{Classify, Kind, LastGood, LastGoodKey, Model};
use crate::place::telling;

/// The key, for later, when the body may have taken away or changed what it is made of.
// Input:  last_good_key = (hotel, nights)
// Output: let __question = last_good_key(&(&hotel, &nights));
pub(super) fn key(model: &Model) -> Option<TokenStream> {
    let LastGoodKey::Given(key) = &model.last_good()?.key else {
        return None;
    };
    let span = site().located_at(telling(key));
    let private = model.library.private(span);
    let key = borrowed_key(key);
    let kept = quote_spanned!(span=> #private::last_good_key(#key));
    Some(quote_spanned!(site()=> let __question = #kept;))
}

/// Where a classifier of outputs says which of them are successes.
pub(super) fn noted(model: &Model) -> Option<TokenStream> {
    let private = model.library.private(site());
    is_noted(model).then(|| quote_spanned!(site()=> let __noted = #private::Noted::new();))
}

/// Of errors alone it is known that no answer is one.
pub(super) fn is_noted(model: &Model) -> bool {
    model.last_good().is_some() && matches!(model.classify, Classify::ByOutput(_))
}

/// `__output`, of a call that was no failure, once its answer is kept.
// Output: '__kept: { let __served = match fresh(.., __output) { Ok(served) => served, Err(output) => break '__kept output }; let __answers = &ANSWERS; let __later = match keep(__breaker, question(..), &__served) { Now(_) => break '__kept kept(.., __served), Later(later) => later(later) }; __later.await; kept(.., __served) }
pub(super) fn kept(model: &Model, output: TokenStream) -> TokenStream {
    let Some(last_good) = model.last_good() else {
        return output;
    };
    let private = model.library.private(site());
    let form = form(model);
    let fresh = match is_noted(model) {
        true => quote_spanned!(site()=> #private::fresh_if(#form, &__noted, __output)),
        false => quote_spanned!(site()=> #private::fresh(#form, __output)),
    };
    let kept = quote_spanned!(site()=> #private::kept(#form, __served));
    let answers = borrowed(&last_good.answers);
    let question = question(model, last_good);
    let label = Lifetime::new("'__kept", site());
    let keep = match &model.kind {
        Kind::Plain => quote_spanned! {site()=>
            #private::keep_now(__breaker, #question, &__served);
        },
        Kind::Async | Kind::Boxed { .. } => quote_spanned! {site()=>
            let __later = match #private::keep(__breaker, #question, &__served) {
                #private::Asked::Now(_) => break #label #kept,
                #private::Asked::Later(__later) => #private::later(__later),
            };
            __later.await;
        },
    };
    quote_spanned! {site()=>
        #label: {
            let __served = match #fresh {
                #private::core::result::Result::Ok(__served) => __served,
                #private::core::result::Result::Err(__output) => break #label __output,
            };
            let __answers = #answers;
            #keep
            #kept
        }
    }
}

/// The last good answer, or what stands in place of it.
// Output: '__asked: { let __answers = &ANSWERS; let __later = match load(__breaker, question(..)) { Now(answer) => break '__asked answer, Later(later) => later(later) }; fallback_sync(.., __later.await) }
pub(super) fn asked(model: &Model, last_good: &LastGood) -> TokenStream {
    let private = model.library.private(site());
    let expect = expect(model);
    let answers = borrowed(&last_good.answers);
    let question = question(model, last_good);
    match &model.kind {
        Kind::Plain => quote_spanned! {site()=>
            {
                let __answers = #answers;
                #private::load_now(__breaker, #question)
            }
        },
        Kind::Async | Kind::Boxed { .. } => {
            let label = Lifetime::new("'__asked", site());
            quote_spanned! {site()=>
                #label: {
                    let __answers = #answers;
                    let __later = match #private::load(__breaker, #question) {
                        #private::Asked::Now(__answer) => break #label __answer,
                        #private::Asked::Later(__later) => #private::later(__later),
                    };
                    #private::fallback_sync(#expect, __later.await)
                }
            }
        }
    }
}

/// Which question it is. Each part stands where the user wrote it, so that what is wrong with
/// it is reported there.
fn question(model: &Model, last_good: &LastGood) -> TokenStream {
    let form = form(model);
    let at_answers = site().located_at(telling(&last_good.answers));
    let private = model.library.private(at_answers);
    let key = match &last_good.key {
        LastGoodKey::Given(key) => {
            let span = site().located_at(telling(key));
            quote_spanned!(span=> &__question)
        }
        LastGoodKey::OfBreaker(key) => {
            let span = site().located_at(telling(key));
            let private = model.library.private(span);
            quote_spanned!(span=> #private::key_of(&__keyed))
        }
        LastGoodKey::Unit => quote_spanned!(at_answers=> &()),
    };
    let question = match &model.kind {
        Kind::Plain => quote_spanned!(at_answers=> #private::question_now),
        Kind::Async | Kind::Boxed { .. } => quote_spanned!(at_answers=> #private::question),
    };
    quote_spanned!(at_answers=> #question(#form, __answers, #key))
}

/// How the output holds an answer, placed at the function's type.
// Output: form(expect::<T>())
fn form(model: &Model) -> TokenStream {
    let place = model.output.place.hidden();
    let private = model.library.private(place.first);
    let expect = parenthesized(expect(model), place.last);
    quote_spanned!(place.first=> #private::form #expect)
}
