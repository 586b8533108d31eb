//! From what was written to what is meant: contradictions are found here, and everything
//! that the expansion would have to decide is decided.

mod calls;
mod diverging;
mod last_good;
mod settings;
mod signature;
mod waits;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{FnArg, Pat, PatIdent, parse_quote_spanned};

use crate::args::{self, Args, FallbackOn};
use crate::captures::{self, Around};
use crate::error::{Errors, text};
use crate::expand;
use crate::function::Function;
use crate::model::{
    Classify, Fallback, FallbackValue, Kind, Library, Model, Name, Output, Shape, Source, Timeout,
};

use diverging::Later;
pub(crate) use settings::{check as check_settings, declaration, trips};

/// The model of a guarded function; `None` if anything is wrong with it.
pub(crate) fn function(args: Args, function: Function, errors: &mut Errors) -> Option<Model> {
    let kind = signature::kind(&function, errors);
    let output = kind.as_ref().map(|kind| signature::output(&function, kind));
    contradictions(&args, &function, errors);
    settings::check(&args, errors);
    settings::reachable(&args, &function, errors);
    if let (Some(kind), Some(output)) = (&kind, &output) {
        call(&args, &function, kind, output, errors);
    }
    if !errors.is_empty() {
        return None;
    }
    Some(build(args, function, kind?, output?))
}

/// Options that can't stand together, or not without another, or not on this function.
fn contradictions(args: &Args, function: &Function, errors: &mut Errors) {
    let written = |name| args.written(name);

    if written("breaker").is_some() {
        for option in args.written.iter().filter(|option| {
            args::table::find(&option.to_string())
                .is_some_and(|info| info.part == args::table::Part::Breaker)
        }) {
            errors.at(
                option,
                format!("`{option}` beside `breaker`: that breaker has its own settings; write `{option}` where it is declared"),
            );
        }
    }
    for (first, second, why) in [
        (
            "breaker",
            "shared",
            "`shared` is for the function's own breaker, and `breaker` names another",
        ),
        (
            "key",
            "shared",
            "`key` says which breaker guards a call, of all instances alike",
        ),
        (
            "breaker",
            "max_keys",
            "those breakers have a bound of their own, set where they are declared",
        ),
        (
            "classify",
            "classify_output",
            "`classify_output` sees the error as well",
        ),
        (
            "fallback",
            "last_good",
            "the last good answer is served where the fallback would be",
        ),
    ] {
        beside(args, first, second, why, errors);
    }
    if written("last_good").is_none() {
        let needed = [
            ("fallback_on", "fallback", "`fallback = cached`"),
            ("last_good_key", "last_good", "`last_good = COSTS`"),
        ];
        without(args, &needed, errors);
    }
    let needed = [
        ("timeout_error", "timeout", "`timeout = \"2s\"`"),
        ("max_keys", "key", "`key = hotel`"),
    ];
    without(args, &needed, errors);

    let chosen = ["breaker", "shared", "key"]
        .iter()
        .any(|name| written(name).is_some());
    match function.receiver() {
        Some(receiver) if !chosen => errors.at(
            receiver,
            "a method must say which breaker guards it, because one of its own would serve every instance: \
             write `breaker = &self.breaker` for one in each instance, `breaker = PMS` for a static, `key = ..` for one per key, or `shared` if one for all is meant",
        ),
        None => {
            if let (Some(shared), None) = (written("shared"), written("breaker")) {
                errors.at(
                    shared,
                    "`shared` is for methods with `self`: a function's breaker serves all its calls anyway; leave it out",
                );
            }
        }
        Some(_) => {}
    }
}

/// Refuses options without those that they are about: an option, what it needs, what to write.
fn without(args: &Args, needed: &[(&str, &str, &str)], errors: &mut Errors) {
    for (option, needs, write) in needed {
        if let (Some(option), None) = (args.written(option), args.written(needs)) {
            errors.at(
                option,
                format!("`{option}` without `{needs}` does nothing: add {write}, or leave it out"),
            );
        }
    }
}

/// Refuses two options that can't stand together.
fn beside(args: &Args, first: &str, second: &str, why: &str, errors: &mut Errors) {
    if let (Some(_), Some(option)) = (args.written(first), args.written(second)) {
        errors.at(
            option,
            format!("`{second}` beside `{first}`: {why}; keep one"),
        );
    }
}

/// What becomes of the call: on this kind of function, with this output.
fn call(args: &Args, function: &Function, kind: &Kind, output: &Output, errors: &mut Errors) {
    if let (Kind::Plain, Some(timeout)) = (kind, args.written("timeout")) {
        errors.at(
            timeout,
            "`timeout` needs an `async fn`: a plain function can't be stopped on its way; give its client the time limit instead (where another attribute took the `async` away, write `#[circuit_breaker]` above it)",
        );
    }
    if let Shape::Never = output.shape {
        never(args, function, errors);
    }
    match args.fallback.as_ref().map(|fallback| &fallback.value) {
        Some(args::Fallback::Path(path)) => passable(path, function, errors),
        Some(value) => {
            waits::check(value, kind, errors);
            calls::quoted(value, output, errors);
            calls::of_the_cause(value, errors);
        }
        None => {}
    }
    calls::check(args, function, errors);
    last_good::check(args, function, errors);
}

/// `-> !`: nothing comes back, so some options have nothing to work on.
fn never(args: &Args, function: &Function, errors: &mut Errors) {
    for name in ["classify", "classify_output", "fallback", "last_good"] {
        if let Some(option) = args.written(name) {
            errors.at(
                option,
                format!(
                    "`{name}` on a function that never returns has nothing to work on: leave it out"
                ),
            );
        }
    }
    for (name, when, needed) in [
        ("open_error", "the circuit is open", true),
        (
            "timeout_error",
            "time is up",
            args.written("timeout").is_some(),
        ),
    ] {
        if needed && args.written(name).is_none() {
            errors.at(
                function.written_output(),
                format!(
                    "a function that never returns has nothing to give back when {when}: write `{name} = |why| panic!(\"{{why}}\")`"
                ),
            );
        }
    }
}

/// `fallback = cached` passes the parameters on, for which each needs a name.
fn passable(path: &syn::ExprPath, function: &Function, errors: &mut Errors) {
    let path = text(path);
    for parameter in function.parameters() {
        let ways_out = format!(
            "write the call, `fallback = {path}(..)`, or a closure, `fallback = |cause| ..`"
        );
        if name_of(parameter).is_none() {
            errors.at(
                &parameter.pat,
                format!("`fallback = {path}` passes every parameter on, and this one is more than a name: make it one, or {ways_out}"),
            );
        } else if let Some(cfg) = parameter
            .attrs
            .iter()
            .find(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
        {
            errors.at(
                cfg,
                format!("`fallback = {path}` can't pass on a parameter that is not always there: {ways_out}"),
            );
        }
    }
}

/// The name of a parameter, if it is plainly one.
fn name_of(parameter: &syn::PatType) -> Option<&Ident> {
    match &*parameter.pat {
        Pat::Ident(PatIdent {
            by_ref: None,
            subpat: None,
            ident,
            ..
        }) => Some(ident),
        _ => None,
    }
}

/// Puts the model together from parts that were all found good.
fn build(args: Args, function: Function, kind: Kind, output: Output) -> Model {
    let timeout = args
        .timeout
        .as_ref()
        .map(|timeout| settings::timeout(&timeout.value, &function));
    let source = source(&args, &function, timeout.as_ref());
    let last_good = last_good::model(&args).map(|last_good| Fallback {
        value: FallbackValue::LastGood(last_good),
        on: args
            .fallback_on
            .as_ref()
            .map_or(FallbackOn::Any, |on| on.value),
    });
    let key = args.key.map(|key| key.value);
    let open_error = args.open_error.map(|open_error| open_error.value);
    let timeout_error = args.timeout_error.map(|timeout_error| timeout_error.value);
    let classify = match (args.classify, args.classify_output) {
        _ if matches!(output.shape, Shape::Never) => Classify::OnlyPanics,
        (Some(by), _) => Classify::ByError(by.value),
        (None, Some(by)) => Classify::ByOutput(by.value),
        (None, None) => Classify::EveryErr,
    };
    let fallback = args.fallback.map(|fallback| Fallback {
        on: args
            .fallback_on
            .as_ref()
            .map_or(FallbackOn::Any, |on| on.value),
        value: match fallback.value {
            args::Fallback::Path(path) => FallbackValue::Call {
                path,
                args: arguments(&function),
            },
            args::Fallback::Closure(closure) => match diverging::closure(&closure) {
                // A plain function can't wait for it.
                Some(Later(true)) if matches!(kind, Kind::Plain) => FallbackValue::Closure(closure),
                Some(Later(later)) => FallbackValue::Diverging { closure, later },
                None => FallbackValue::Closure(closure),
            },
            args::Fallback::Expression(expr) if diverging::expr(&expr) => {
                FallbackValue::Diverging {
                    closure: parse_quote_spanned!(Span::mixed_site()=> |_| #expr),
                    later: false,
                }
            }
            args::Fallback::Expression(expr) => FallbackValue::Expression(expr),
        },
    });
    let fallback = fallback.or(last_good);

    let mut expressions = TokenStream::new();
    if let Source::Given(expr) = &source {
        expr.to_tokens(&mut expressions);
    }
    key.to_tokens(&mut expressions);
    if let Classify::ByError(expr) | Classify::ByOutput(expr) = &classify {
        expr.to_tokens(&mut expressions);
    }
    timeout_error.to_tokens(&mut expressions);
    // What refused calls alone come to, who never reach the body.
    let mut refused = TokenStream::new();
    let mut may_follow = None;
    // Where answers are kept is asked after a success, too.
    let mut kept = None;
    if let Some(fallback) = &fallback {
        let printed = expand::fallback_expression(&fallback.value);
        match (&fallback.value, fallback.on) {
            (FallbackValue::LastGood(_), _) => kept = Some(printed),
            (_, FallbackOn::Any) => may_follow = Some(printed),
            (_, FallbackOn::Open) => refused.extend(printed),
        }
    }
    match &fallback {
        Some(Fallback {
            on: FallbackOn::Any,
            ..
        }) => open_error.to_tokens(&mut expressions),
        _ => open_error.to_tokens(&mut refused),
    }

    let mut read_before = match &timeout {
        Some(Timeout::Asked(expr)) => expr.to_token_stream(),
        Some(Timeout::Constant(_)) | None => TokenStream::new(),
    };
    args.last_good_key
        .map(|key| key.value)
        .to_tokens(&mut read_before);
    let (bound_inside, borrowing_body) = match &kind {
        Kind::Boxed { body, .. } => (true, captures::strip_rebindings(body)),
        Kind::Async | Kind::Plain => (false, function.body.clone()),
    };
    let mut inputs = function.sig.inputs.clone();
    let captures = captures::plan(
        &mut inputs,
        &Around {
            expressions,
            read_before,
            fallback: may_follow,
            kept,
            refused,
            body: &borrowing_body.stream(),
            bound_inside,
            read_by_others: function.has_foreign_attribute(),
        },
    );
    let kind = match kind {
        Kind::Boxed { pin, call, .. } if !captures.moves => Kind::Boxed {
            pin,
            call,
            body: borrowing_body,
        },
        kind => kind,
    };

    Model {
        library: library(args.library.map(|library| library.value)),
        function,
        inputs,
        kind,
        output,
        source,
        key,
        timeout,
        classify,
        fallback,
        open_error,
        timeout_error,
        captures,
    }
}

/// Which breaker guards.
fn source(args: &Args, function: &Function, timeout: Option<&Timeout>) -> Source {
    if let Some(breaker) = &args.breaker {
        return Source::Given(breaker.value.clone());
    }
    let declaration = declaration(args, &function.sig.ident, timeout);
    match (&args.shared, &args.key, function.receiver()) {
        (None, None, _) | (None, Some(_), None) => Source::Own(declaration),
        (Some(_), _, _) | (None, Some(_), Some(_)) => Source::Shared {
            by_type: match &declaration.name {
                Name::Path(function) => Some(function.clone()),
                Name::Given(_) => None,
            },
            declaration,
        },
    }
}

/// The arguments that a fallback gets which is named by its path: the parameters.
fn arguments(function: &Function) -> Vec<Ident> {
    function
        .sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Receiver(receiver) => Some(Ident::new("self", receiver.self_token.span)),
            FnArg::Typed(parameter) => name_of(parameter).cloned(),
        })
        .collect()
}

pub(crate) fn library(renamed: Option<syn::Path>) -> Library {
    match renamed {
        Some(path) => Library::Renamed(path),
        None => Library::Default,
    }
}
