//! What the function gives once the call has ended, or was never made.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::{Expr, Lifetime};

use super::{expect, fallback_asked, last_good, parenthesized, site};
use crate::args::FallbackOn;
use crate::model::{Fallback, FallbackValue, Kind, Model, Shape};
use crate::place::{Place, may_be_closure, telling};

/// The call and what comes of it.
// Output: let __ended = RUN; return match __ended { .. };
pub(super) fn outcome(model: &Model, run: &TokenStream) -> TokenStream {
    if model.captures.asks_first {
        return asked_first(model, run);
    }
    let outcome = match &model.fallback {
        None => plain(model, &quote_spanned!(site()=> __ended), Asked::Nobody),
        Some(fallback) => with_fallback(model, fallback),
    };
    let given = given(model, &outcome);
    quote_spanned! {site()=>
        let __ended = #run;
        #given
    }
}

/// The same where the call was admitted before: refused ones never come to its parameters.
///
/// The block, so that nothing of one way is kept in the future while the other is awaited.
// Output: let __error = '__refused: { let __entered = match enter(..) { Ok(entered) => entered, Err(e) => break '__refused e }; let __ended = RUN; return match __ended { .. }; }; return ASKED OR ERROR;
fn asked_first(model: &Model, run: &TokenStream) -> TokenStream {
    let private = model.library.private(site());
    let output = output(model);
    let timed_out = timed_out(model, Asked::Nobody);
    let done = done(model, &output);
    let answered = quote_spanned! {site()=>
        match __ended {
            #done
            #private::Ended::Open(__error) => #private::never(__error),
            #private::Ended::TimedOut(__error) => #timed_out,
        }
    };
    let refused = match &model.fallback {
        None => open(model, Asked::Nobody),
        Some(fallback) => {
            let expect = expect(model);
            let cause = quote_spanned!(site()=> #private::cause_open(#expect, &__error));
            let asked = ask(model, &fallback.value, &cause);
            let open = open(model, Asked::Fallback);
            quote_spanned! {site()=>
                match #asked {
                    #private::core::result::Result::Ok(__output) => {
                        #private::served_open(__breaker);
                        #output
                    }
                    #private::core::result::Result::Err(__missing) => #open,
                }
            }
        }
    };
    let (answered, refused) = (given(model, &answered), given(model, &refused));
    let label = Lifetime::new("'__refused", site());
    quote_spanned! {site()=>
        let __error = #label: {
            let __entered = match #private::enter(__breaker) {
                #private::core::result::Result::Ok(__entered) => __entered,
                #private::core::result::Result::Err(__error) => break #label __error,
            };
            let __ended = #run;
            #answered
        };
        #refused
    }
}

/// Gives it to the caller. With a `return`, for those who want all of them written: else they
/// are told to write one at the attribute.
fn given(model: &Model, outcome: &TokenStream) -> TokenStream {
    match &model.output.shape {
        Shape::Never => quote_spanned!(site()=> match #outcome {}),
        Shape::Unit | Shape::Typed(_) | Shape::Inferred(_) | Shape::Opaque => {
            quote_spanned!(site()=> return #outcome;)
        }
    }
}

/// Who was asked before the caller gets the original error.
#[derive(Clone, Copy)]
enum Asked {
    Nobody,
    /// The fallback, which gave `__missing`.
    Fallback,
}

/// Without a fallback, or after it had nothing.
// Output: match ENDED { Done(out) | Failed(out) => out, Open(e) => .., TimedOut(e) => .. }
fn plain(model: &Model, ended: &TokenStream, asked: Asked) -> TokenStream {
    let private = model.library.private(site());
    let open = open(model, asked);
    let timed_out = timed_out(model, asked);
    let output = output(model);
    quote_spanned! {site()=>
        match #ended {
            #private::Ended::Done(__output) | #private::Ended::Failed(__output) => #output,
            #private::Ended::Open(__error) => #open,
            #private::Ended::TimedOut(__error) => #timed_out,
        }
    }
}

/// With a fallback, which is asked first.
// Output: match __ended { Done(out) => out, __refused => match ASKED { Ok(out) => out, Err(__missing) => (as above) } }
fn with_fallback(model: &Model, fallback: &Fallback) -> TokenStream {
    let private = model.library.private(site());
    let output = output(model);
    let untouched = match fallback.on {
        FallbackOn::Any => TokenStream::new(),
        FallbackOn::Open => {
            let timed_out = timed_out(model, Asked::Nobody);
            quote_spanned! {site()=>
                #private::Ended::Failed(__output) => #output,
                #private::Ended::TimedOut(__error) => #timed_out,
            }
        }
    };
    let cause = quote_spanned!(site()=> __refused.cause());
    let asked = ask(model, &fallback.value, &cause);
    let otherwise = plain(model, &quote_spanned!(site()=> __refused), Asked::Fallback);
    let kept = last_good::kept(model, output.clone());
    quote_spanned! {site()=>
        match __ended {
            #private::Ended::Done(__output) => #kept,
            #untouched
            __refused => match #asked {
                #private::core::result::Result::Ok(__output) => {
                    #private::served(__breaker, &__refused);
                    #output
                }
                #private::core::result::Result::Err(__missing) => #otherwise,
            },
        }
    }
}

/// What the call gave itself, where nothing stands in place of its failures.
// Output: Done(out) | Failed(out) => out,
// Output: Done(out) => KEPT, Failed(out) => out,
fn done(model: &Model, output: &TokenStream) -> TokenStream {
    let private = model.library.private(site());
    if model.last_good().is_none() {
        return quote_spanned! {site()=>
            #private::Ended::Done(__output) | #private::Ended::Failed(__output) => #output,
        };
    }
    let kept = last_good::kept(model, output.clone());
    quote_spanned! {site()=>
        #private::Ended::Done(__output) => #kept,
        #private::Ended::Failed(__output) => #output,
    }
}

/// `__output`, placed at the function's type: what is wrong with its lifetimes is reported there.
fn output(model: &Model) -> TokenStream {
    let place = model.output.place.hidden();
    quote_spanned!(place.first=> __output)
}

/// The call of the fallback: a `Result` of the output, or of what stands in place of it.
///
/// In an `async fn` the fallback may be a future. The type of what it gives tells; and where it
/// is none, `later` has no value, so nothing is kept across the `.await`, not even `__refused`.
// Output: { let __value = VALUE; fallback_sync(.., __value) }
// Output: Result::<_, Never>::Ok(VALUE), of one that never returns
// Output: '__asked: { let __value = VALUE; let __later = match fallback(.., __value) { Now(answer) => break '__asked answer, Later(future) => later(future) }; fallback_sync(.., __later.await) }
fn ask(model: &Model, value: &FallbackValue, cause: &TokenStream) -> TokenStream {
    if let FallbackValue::LastGood(last_good) = value {
        return last_good::asked(model, last_good);
    }
    let expression = fallback_asked(model, value);
    let span = site().located_at(match value {
        FallbackValue::Call { path, .. } => Place::of(path).last,
        FallbackValue::Closure(closure) | FallbackValue::Diverging { closure, .. } => {
            telling(&closure.body)
        }
        FallbackValue::Expression(expr) => telling(expr),
        FallbackValue::LastGood(last_good) => telling(&last_good.answers),
    });
    let private = model.library.private(span);
    let with_cause = quote_spanned! {span=>
        #private::with_cause(#cause, #expression)
    };
    let value = match value {
        FallbackValue::Call { .. } | FallbackValue::Expression(_) | FallbackValue::LastGood(_) => {
            expression
        }
        FallbackValue::Closure(_) => with_cause,
        FallbackValue::Diverging { later, .. } => {
            let wait = later.then(|| quote_spanned!(span=> .await));
            return quote_spanned! {site()=>
                #private::core::result::Result::<_, #private::Never>::Ok(#with_cause #wait)
            };
        }
    };
    let expect = expect(model);
    match &model.kind {
        Kind::Plain => {
            let asked = quote_spanned!(span=> #private::fallback_sync(#expect, __value));
            quote_spanned! {site()=>
                {
                    let __value = #value;
                    #asked
                }
            }
        }
        Kind::Async | Kind::Boxed { .. } => {
            let asked = quote_spanned!(span=> #private::fallback(#expect, __value));
            let awaited = quote_spanned!(span=> #private::fallback_sync(#expect, __later.await));
            let label = Lifetime::new("'__asked", site());
            let private = model.library.private(site());
            quote_spanned! {site()=>
                #label: {
                    let __value = #value;
                    let __later = match #asked {
                        #private::Asked::Now(__answer) => break #label __answer,
                        #private::Asked::Later(__later) => #private::later(__later),
                    };
                    #awaited
                }
            }
        }
    }
}

/// A rejection, in the caller's terms.
fn open(model: &Model, asked: Asked) -> TokenStream {
    match &model.open_error {
        Some(make) => made_by(model, make),
        None => {
            let span = model.output.place.hidden().first;
            let private = model.library.private(span);
            let expect = expect(model);
            match asked {
                Asked::Nobody => quote_spanned!(span=> #private::open(#expect, __error)),
                Asked::Fallback => {
                    let after = after(model);
                    quote_spanned!(span=> #private::open_after(#after, __error))
                }
            }
        }
    }
}

/// A call that took too long, in the caller's terms.
fn timed_out(model: &Model, asked: Asked) -> TokenStream {
    match (&model.timeout, &model.timeout_error) {
        (None, _) => {
            let private = model.library.private(site());
            quote_spanned!(site()=> #private::never(__error))
        }
        (Some(_), Some(make)) => made_by(model, make),
        (Some(_), None) => {
            let span = model.output.place.hidden().first;
            let private = model.library.private(span);
            let expect = expect(model);
            match asked {
                Asked::Nobody => quote_spanned!(span=> #private::timed_out(#expect, __error)),
                Asked::Fallback => {
                    let after = after(model);
                    quote_spanned!(span=> #private::timed_out_after(#after, __error))
                }
            }
        }
    }
}

/// What the fallback gave in place of an answer, placed at the function's type.
// Output: after(.., __missing)
fn after(model: &Model) -> TokenStream {
    let place = model.output.place.hidden();
    let private = model.library.private(place.first);
    let expect = expect(model);
    let arguments = quote_spanned!(place.first=> #expect, __missing);
    let arguments = parenthesized(arguments, place.last);
    quote_spanned!(place.first=> #private::after #arguments)
}

/// What the user's function makes of `__error`: the error of a `Result`, or the whole output.
fn made_by(model: &Model, make: &Expr) -> TokenStream {
    let private = model.library.private(site());
    let expect = expect(model);
    let (refused_by, arguments) = match may_be_closure(make) {
        true => ("refused_by", quote_spanned!(site()=> #make, __error)),
        // In this order, for the compiler to know the error when it looks at what is called.
        false => ("refused_by_other", quote_spanned!(site()=> __error, #make)),
    };
    let refused_by = Ident::new(refused_by, site());
    match &model.output.shape {
        // Of an `impl Trait` the methods can't be told apart, and it is no `Result`.
        Shape::Opaque | Shape::Never => quote_spanned! {site()=>
            #private::RefusedOutput::#refused_by(#expect, #arguments)
        },
        Shape::Unit | Shape::Typed(_) | Shape::Inferred(_) => quote_spanned! {site()=>
            {
                use #private::RefusedOutput as _;
                #expect.#refused_by(#arguments)
            }
        },
    }
}
