//! The settings of a breaker: what contradicts what, and what a static can't see.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, GenericParam};

use super::beside;
use crate::args::{Arg, Args, Constant, Window};
use crate::error::Errors;
use crate::function::{Function, bound_names};
use crate::model::{Declaration, Name, Setting, Timeout, Trips, Value};
use crate::place::Place;
use breaker_text::duration;

const DEFAULT_RESET: u64 = 30_000_000_000;
const DEFAULT_PROBE_TIMEOUT: u64 = 60_000_000_000;
const DEFAULT_WINDOW: u32 = 100;
/// The largest `probes` beside `close_rate`.
const MAX_PROBES_BY_RATE: u32 = (1 << 8) - 1;

/// Contradictions between settings, as far as they are literals. The compiler finds the rest
/// when it evaluates the configuration.
pub(crate) fn check(args: &Args, errors: &mut Errors) {
    beside(
        args,
        "close_after",
        "close_rate",
        "both say when the probes have closed the circuit",
        errors,
    );
    if let (Some(_), Some(Arg { value, .. })) = (args.written("close_rate"), &args.probes)
        && value.literal().is_some_and(|n| *n > MAX_PROBES_BY_RATE)
    {
        errors.at(
            value.expr(),
            format!(
                "`probes` is too large beside `close_rate`: write at most {MAX_PROBES_BY_RATE}"
            ),
        );
    }
    rate(args, errors);

    let known = |option: &'static str, arg: &Option<Arg<Constant<u64>>>, default: Option<u64>| {
        match (args.written(option), arg) {
            (None, _) => default.map(|nanos| (nanos, ", its default")),
            (Some(_), Some(arg)) => arg.value.literal().map(|nanos| (*nanos, "")),
            // It was refused, and that is enough.
            (Some(_), None) => None,
        }
    };
    let reset = known("reset", &args.reset, Some(DEFAULT_RESET));
    let max_reset = known("max_reset", &args.max_reset, None);
    let timeout = known("timeout", &args.timeout, None);
    let longest = reset.map(|(reset, _)| reset.max(DEFAULT_PROBE_TIMEOUT));
    let probe_timeout = known("probe_timeout", &args.probe_timeout, longest);

    if let (Some((reset, default)), Some((max, _)), Some(arg)) = (reset, max_reset, &args.max_reset)
        && max < reset
    {
        let reset = duration::display(reset);
        let write = args.style.write("max_reset", &format!("\"{reset}\""));
        errors.at(
            arg.value.expr(),
            format!(
                "`max_reset` ({}) is below `reset` ({reset}{default}), and no wait is shorter than that: write at least `{write}`, or a shorter `reset`",
                duration::display(max),
            ),
        );
    }
    if let (None, None, Some(arg)) = (
        args.written("backoff"),
        args.written("breaker"),
        &args.max_reset,
    ) {
        let add = args.style.write("backoff", "2.0");
        errors.at(
            &arg.option,
            format!(
                "`max_reset` without `backoff` does nothing, since the wait doesn't grow: add `{add}`, or leave it out"
            ),
        );
    }
    // A breaker from elsewhere brings its own `probe_timeout`.
    if let (None, Some((probe_timeout, default)), Some((timeout, _)), Some(arg)) = (
        args.written("breaker"),
        probe_timeout,
        timeout,
        &args.timeout,
    ) && timeout > probe_timeout
    {
        let timeout = duration::display(timeout);
        let write = args.style.write("probe_timeout", &format!("\"{timeout}\""));
        errors.at(
            arg.value.expr(),
            format!(
                "`timeout` ({timeout}) is above `probe_timeout` ({}{default}): every probe would come too late and the circuit would never close; write a shorter `timeout`, or `{write}`",
                duration::display(probe_timeout),
            ),
        );
    }
}

/// Contradictions between the settings of a breaker by rate.
fn rate(args: &Args, errors: &mut Errors) {
    beside(
        args,
        "threshold",
        "failure_rate",
        "both say which failures open the circuit",
        errors,
    );
    // A breaker from elsewhere has its own rate, and that was said.
    let complete = ["failure_rate", "breaker"]
        .iter()
        .any(|option| args.written(option).is_some());
    for option in ["window", "min_calls", "slow", "slow_rate"] {
        if let (false, Some(option)) = (complete, args.written(option)) {
            let add = args.style.write("failure_rate", "0.5");
            errors.at(
                option,
                format!(
                    "`{option}` without `failure_rate` does nothing: add `{add}`, or leave it out"
                ),
            );
        }
    }
    for (option, needs, example, why) in [
        ("slow", "slow_rate", "0.5", "decides nothing"),
        (
            "slow_rate",
            "slow",
            "\"2s\"",
            "can't tell which calls are slow",
        ),
    ] {
        if let (Some(option), None) = (args.written(option), args.written(needs)) {
            let add = args.style.write(needs, example);
            errors.at(
                option,
                format!("`{option}` without `{needs}` {why}: add `{add}`, or leave it out"),
            );
        }
    }

    let window = match (args.written("window"), &args.window) {
        (None, _) => Some((DEFAULT_WINDOW, ", its default")),
        (Some(_), Some(arg)) => match arg.value.literal() {
            Some(Window::Calls(calls)) => Some((*calls, "")),
            Some(Window::Time(_)) | None => None,
        },
        (Some(_), None) => None,
    };
    if let (Some((window, default)), Some(Arg { value, .. })) = (window, &args.min_calls)
        && let Some(min_calls) = value.literal()
        && *min_calls > window
    {
        errors.at(
            value.expr(),
            format!(
                "`min_calls` ({min_calls}) is above `window` ({window} calls{default}): it would never trip; write a smaller `min_calls` or a larger `window`"
            ),
        );
    }
}

/// The names that only a call knows: the parameters, the generics.
pub(super) fn names_of_call(function: &Function) -> Vec<Ident> {
    let mut names = Vec::new();
    for parameter in function.parameters() {
        bound_names(&parameter.pat, &mut names);
    }
    names.extend(
        function
            .sig
            .generics
            .params
            .iter()
            .filter_map(|param| match param {
                GenericParam::Type(ty) => Some(ty.ident.clone()),
                GenericParam::Const(constant) => Some(constant.ident.clone()),
                GenericParam::Lifetime(_) => None,
            }),
    );
    names
}

/// Whether an expression uses the instance.
pub(super) fn mentions_self(expr: &Expr) -> bool {
    first_of(expr.to_token_stream(), &[]).is_some_and(|name| name == "self")
}

/// Refuses what a static can't see: `Self`, `self`, the parameters, the generics.
pub(super) fn reachable(args: &Args, function: &Function, errors: &mut Errors) {
    let names = names_of_call(function);
    for (option, expr) in expressions(args) {
        let Some(name) = first_of(expr.to_token_stream(), &names) else {
            continue;
        };
        let message = match name.to_string().as_str() {
            "Self" => format!(
                "`{option}` can't use `Self`: it is kept in a static, which can't name it; write the type's name, or a constant outside of the `impl`"
            ),
            "self" => format!(
                "`{option}` can't use `self`: it is kept in a static, the same for all instances; build the breaker in the constructor and write `breaker = &self.breaker`"
            ),
            name => format!(
                "`{option}` can't use `{name}` of this function: it is kept in a static, the same for all calls; write a constant"
            ),
        };
        errors.at(name, message);
    }
}

/// The values that go into a static, where they are not literals.
fn expressions(args: &Args) -> Vec<(&Ident, &Expr)> {
    fn add<'a, T>(found: &mut Vec<(&'a Ident, &'a Expr)>, arg: &'a Option<Arg<Constant<T>>>) {
        if let Some(Arg {
            option,
            value: Constant::Expression(expr),
        }) = arg
        {
            found.push((option, expr));
        }
    }
    let mut found = Vec::new();
    add(&mut found, &args.name);
    add(&mut found, &args.threshold);
    add(&mut found, &args.failure_rate);
    add(&mut found, &args.window);
    add(&mut found, &args.min_calls);
    add(&mut found, &args.slow);
    add(&mut found, &args.slow_rate);
    add(&mut found, &args.reset);
    add(&mut found, &args.backoff);
    add(&mut found, &args.max_reset);
    add(&mut found, &args.jitter);
    add(&mut found, &args.probes);
    add(&mut found, &args.close_after);
    add(&mut found, &args.close_rate);
    add(&mut found, &args.probe_timeout);
    add(&mut found, &args.max_keys);
    found
}

/// The first `Self`, `self` or one of `names` that begins a path in `tokens`.
fn first_of(tokens: TokenStream, names: &[Ident]) -> Option<Ident> {
    let mut begins = true;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if begins && (ident == "Self" || ident == "self" || names.contains(&ident)) {
                    return Some(ident);
                }
                begins = true;
            }
            TokenTree::Punct(punct) => begins = !matches!(punct.as_char(), ':' | '.'),
            TokenTree::Group(group) => {
                if let Some(found) = first_of(group.stream(), names) {
                    return Some(found);
                }
                begins = true;
            }
            TokenTree::Literal(_) => begins = true,
        }
    }
    None
}

/// The breaker that the settings describe, called `name` if they don't say otherwise. It is
/// checked against a `timeout` that is a constant.
pub(crate) fn declaration(args: &Args, name: &Ident, timeout: Option<&Timeout>) -> Declaration {
    let mut settings = Vec::new();
    let mut add = |option: &Ident, value: Value| {
        settings.push(Setting {
            method: option.clone(),
            value,
        });
    };
    for arg in [
        &args.threshold,
        &args.min_calls,
        &args.probes,
        &args.close_after,
    ]
    .into_iter()
    .flatten()
    {
        add(
            &arg.option,
            value(&arg.value, |n, span| Value::Count(*n, span)),
        );
    }
    for arg in [
        &args.failure_rate,
        &args.slow_rate,
        &args.backoff,
        &args.jitter,
        &args.close_rate,
    ]
    .into_iter()
    .flatten()
    {
        add(
            &arg.option,
            value(&arg.value, |n, span| Value::Number(*n, span)),
        );
    }
    for arg in [
        &args.slow,
        &args.reset,
        &args.max_reset,
        &args.probe_timeout,
    ]
    .into_iter()
    .flatten()
    {
        add(&arg.option, nanos(&arg.value));
    }
    if let Some(arg) = &args.window {
        add(&arg.option, window(&arg.value));
    }
    if let (Some(arg), Some(Timeout::Constant(_))) = (&args.timeout, timeout) {
        let place = Place::of(arg.value.expr());
        add(&arg.option, Value::Timeout(place.last));
    }
    if let Some(arg) = &args.on_cancel {
        add(&arg.option, Value::OnCancel(arg.value, arg.option.span()));
    }
    settings.sort_by_key(|setting| {
        args.written
            .iter()
            .position(|option| *option == setting.method)
    });

    Declaration {
        name: match &args.name {
            None => Name::Path(unraw(name)),
            Some(arg) => Name::Given(value(&arg.value, |text, span| {
                Value::Text(text.clone(), span)
            })),
        },
        trips: trips(args),
        max_keys: args
            .max_keys
            .as_ref()
            .map(|arg| value(&arg.value, |n, span| Value::Count(*n, span))),
        settings,
    }
}

/// What opens the circuit, as far as it could be read.
pub(crate) fn trips(args: &Args) -> Trips {
    match (args.written("failure_rate"), &args.window) {
        (None, _) => Trips::InARow,
        (Some(_), Some(arg)) => Trips::ByRate(window(&arg.value)),
        (Some(option), None) => {
            Trips::ByRate(Value::Window(Window::Calls(DEFAULT_WINDOW), option.span()))
        }
    }
}

/// `r#match` is called `match`.
fn unraw(name: &Ident) -> String {
    let name = name.to_string();
    match name.strip_prefix("r#") {
        Some(plain) => plain.to_owned(),
        None => name,
    }
}

/// The time limit of a call: a constant, unless it is made of what only the call knows.
pub(super) fn timeout(timeout: &Constant<u64>, function: &Function) -> Timeout {
    match timeout {
        Constant::Expression(expr) if is_of_call(expr, function) => Timeout::Asked(expr.clone()),
        constant => Timeout::Constant(nanos(constant)),
    }
}

/// Whether an expression is made of what a static can't see.
fn is_of_call(expr: &Expr, function: &Function) -> bool {
    first_of(expr.to_token_stream(), &names_of_call(function)).is_some()
}

fn nanos(constant: &Constant<u64>) -> Value {
    value(constant, |nanos, span| Value::Nanos(*nanos, span))
}

fn window(constant: &Constant<Window>) -> Value {
    match constant {
        Constant::Literal(window, expr) => Value::Window(*window, expr.span()),
        Constant::Expression(expr) => Value::WindowOf(expr.clone()),
    }
}

fn value<T>(constant: &Constant<T>, literal: impl Fn(&T, proc_macro2::Span) -> Value) -> Value {
    match constant {
        Constant::Literal(known, expr) => literal(known, expr.span()),
        Constant::Expression(expr) => Value::Expression(expr.clone()),
    }
}
