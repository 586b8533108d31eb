//! Something else where a function belongs: a call of it, or its name in quotes.

use syn::{Expr, Lit, Pat, Type};

use crate::args::{Args, Fallback};
use crate::captures;
use crate::error::{Errors, text};
use crate::function::{Function, bound_names, without_groups};
use crate::model::{Output, Shape};

/// What people call that which the function is given.
const SUBJECTS: [&str; 7] = ["e", "err", "error", "output", "refused", "late", "cause"];

/// `classify = counts(error)`, where there is no `error` yet.
pub(super) fn check(args: &Args, function: &Function, errors: &mut Errors) {
    let mut parameters = Vec::new();
    for parameter in function.parameters() {
        bound_names(&parameter.pat, &mut parameters);
    }
    for arg in [
        &args.classify,
        &args.classify_output,
        &args.open_error,
        &args.timeout_error,
    ]
    .into_iter()
    .flatten()
    {
        let Expr::Call(call) = &arg.value else {
            continue;
        };
        let subject = call.args.iter().find_map(subject);
        let Some(subject) = subject.filter(|subject| !parameters.contains(subject)) else {
            continue;
        };
        let option = &arg.option;
        let closure = format!("`{option} = |{subject}| {}`", text(call));
        let write = match call.args.len() {
            1 => format!("`{option} = {}`, or {closure}", text(&call.func)),
            _ => closure,
        };
        errors.at(
            &call.args,
            format!("`{option}` takes a function, and calls it itself: write {write}"),
        );
    }
}

/// The name that stands for what the function is given.
fn subject(argument: &Expr) -> Option<&syn::Ident> {
    match argument {
        Expr::Path(path) => path
            .path
            .get_ident()
            .filter(|name| SUBJECTS.iter().any(|subject| name == subject)),
        Expr::Reference(reference) => subject(&reference.expr),
        _ => None,
    }
}

/// `fallback = |hotel: &str| ..`: of a type that the cause is not.
pub(super) fn of_the_cause(fallback: &Fallback, errors: &mut Errors) {
    let Fallback::Closure(closure) = fallback else {
        return;
    };
    let Some(Pat::Type(parameter)) = closure.inputs.first() else {
        return;
    };
    let is_other = match without_groups(&parameter.ty) {
        Type::Infer(_) | Type::Macro(_) | Type::Verbatim(_) => false,
        ty @ Type::Path(_) => captures::is_copy(ty),
        _ => true,
    };
    if is_other {
        errors.at(
            parameter,
            "the closure of `fallback` gets the cause, not the parameters: write `|cause|` or `|_|`, and use the function's parameters by their names",
        );
    }
}

/// `fallback = "cached"`, which can be no `Result`.
pub(super) fn quoted(fallback: &Fallback, output: &Output, errors: &mut Errors) {
    let Fallback::Expression(Expr::Lit(literal)) = fallback else {
        return;
    };
    let (Lit::Str(quoted), Shape::Typed(ty) | Shape::Inferred(ty)) = (&literal.lit, &output.shape)
    else {
        return;
    };
    let Type::Path(ty) = without_groups(ty) else {
        return;
    };
    let last = ty.path.segments.last();
    if last.is_none_or(|last| last.ident != "Result") {
        return;
    }
    let write = match quoted.parse::<Expr>() {
        Ok(expr) => text(expr),
        Err(_) => "cached".to_owned(),
    };
    errors.at(
        literal,
        format!("`fallback` expects a function, a call or a closure: write `fallback = {write}`, without quotes"),
    );
}
