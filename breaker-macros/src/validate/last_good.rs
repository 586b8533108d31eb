//! `last_good`: which question an answer belongs to.

use syn::Expr;

use super::settings::{mentions_self, names_of_call};
use crate::args::Args;
use crate::error::{Errors, text};
use crate::function::Function;
use crate::model::{LastGood, LastGoodKey};

/// Asks for a key where calls may have different answers.
pub(super) fn check(args: &Args, function: &Function, errors: &mut Errors) {
    let Some(option) = args.written("last_good") else {
        return;
    };
    let has_key = ["last_good_key", "key"]
        .iter()
        .any(|name| args.written(name).is_some());
    let Some(answers) = &args.last_good else {
        return;
    };
    if is_made_here(&answers.value) {
        errors.at(
            &answers.value,
            "`last_good` would make new answers for each call, in which no later one finds anything: declare them once, `static COSTS: LastGood<_, _> = ..` or a field of the client, and write `last_good = COSTS` or `last_good = self.costs`",
        );
    }
    if has_key || is_one_question(&answers.value, function) {
        return;
    }
    let names: Vec<_> = function
        .parameters()
        .map(|parameter| text(&parameter.pat))
        .collect();
    let is_name = |name: &String| syn::parse_str::<syn::Ident>(name).is_ok();
    let key = match &names[..] {
        [] => "self.id".to_owned(),
        [name] if is_name(name) => name.clone(),
        names if names.iter().all(is_name) => format!("({})", names.join(", ")),
        _ => "hotel".to_owned(),
    };
    errors.at(
        option,
        format!(
            "`last_good` must know which question an answer belongs to, or a call gets the answer to another one: add `last_good_key = {key}`, with all that the answer depends on (or `key = ..`, for a breaker of each as well; or `last_good_key = ()`, if all calls ask the same)"
        ),
    );
}

/// Whether these are a constructor's, in memory or in a file: each call would have its own.
fn is_made_here(answers: &Expr) -> bool {
    match answers {
        Expr::Call(call) => {
            let Expr::Path(made_by) = &*call.func else {
                return false;
            };
            let names: Vec<_> = made_by.path.segments.iter().map(|s| &s.ident).collect();
            match &names[..] {
                [.., ty, name] if *name == "new" || *name == "try_new" => *ty == "LastGood",
                [.., _, name] => ["in_store", "try_in_store", "on_disk", "on_disk_with"]
                    .iter()
                    .any(|constructor| *name == constructor),
                _ => false,
            }
        }
        Expr::Group(group) => is_made_here(&group.expr),
        Expr::MethodCall(call) => is_made_here(&call.receiver),
        Expr::Paren(paren) => is_made_here(&paren.expr),
        Expr::Reference(reference) => is_made_here(&reference.expr),
        Expr::Try(attempt) => is_made_here(&attempt.expr),
        _ => false,
    }
}

/// Whether all calls ask the same.
fn is_one_question(answers: &Expr, function: &Function) -> bool {
    names_of_call(function).is_empty()
        && function.parameters().next().is_none()
        && (function.receiver().is_none() || mentions_self(answers))
}

/// What it means.
pub(super) fn model(args: &Args) -> Option<LastGood> {
    let answers = args.last_good.as_ref()?.value.clone();
    let key = match (&args.last_good_key, &args.key) {
        (Some(key), _) => LastGoodKey::Given(key.value.clone()),
        (None, Some(key)) => LastGoodKey::OfBreaker(key.value.clone()),
        (None, None) => LastGoodKey::Unit,
    };
    Some(LastGood { answers, key })
}
