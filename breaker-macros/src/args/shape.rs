//! What an expression looks like.

use proc_macro2::Ident;
use syn::{Expr, ExprPath, Lit, UnOp};

/// Without the invisible groups that a surrounding `macro_rules` puts around `$n`,
/// and without parentheses.
pub(super) fn unwrapped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => unwrapped(*group.expr),
        Expr::Paren(paren) => unwrapped(*paren.expr),
        other => other,
    }
}

/// The word that `expr` is.
pub(super) fn word(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
        _ => None,
    }
}

/// Whether a name is spelled like a constant's.
pub(super) fn is_constants(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

pub(super) fn names_constant(path: &ExprPath) -> bool {
    path.path
        .segments
        .last()
        .is_some_and(|last| last.arguments.is_empty() && is_constants(&last.ident.to_string()))
}

pub(super) fn lit(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(lit) => Some(&lit.lit),
        _ => None,
    }
}

/// Whether `expr` names a breaker for all to see: `PMS`, `pms::PMS`, `self.breaker`.
pub(super) fn may_be_breaker(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => match &*field.base {
            Expr::Path(base) => base.path.is_ident("self"),
            base => may_be_breaker(base),
        },
        Expr::Path(path) => names_constant(path),
        Expr::Reference(reference) => may_be_breaker(&reference.expr),
        _ => false,
    }
}

/// The digits of a number, without underscores and suffix.
pub(super) fn digits(number: &Lit) -> &str {
    match number {
        Lit::Int(int) => int.base10_digits(),
        Lit::Float(float) => float.base10_digits(),
        _ => "",
    }
}

/// The `s` of `30s`: a suffix that is no type.
pub(super) fn unit_suffix(number: &Lit) -> Option<&str> {
    let suffix = match number {
        Lit::Int(int) => int.suffix(),
        Lit::Float(float) => float.suffix(),
        _ => "",
    };
    (!suffix.is_empty() && !NUMBERS.contains(&suffix)).then_some(suffix)
}

const NUMBERS: [&str; 14] = [
    "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

pub(super) fn is_zero(lit: &Lit) -> bool {
    match lit {
        Lit::Int(int) => int.base10_digits().bytes().all(|digit| digit == b'0'),
        Lit::Float(float) => float
            .base10_parse::<f64>()
            .is_ok_and(|number| number == 0.0),
        _ => false,
    }
}

pub(super) fn is_negative(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            let mut operand = &*unary.expr;
            while let Expr::Group(group) = operand {
                operand = &group.expr;
            }
            matches!(lit(operand), Some(Lit::Int(_) | Lit::Float(_)))
        }
        _ => false,
    }
}

/// Whether `expr` has the shape of a number, a string or a duration that is known
/// at compile time. What it really is, the compiler finds out.
pub(super) fn may_be_constant(expr: &Expr) -> bool {
    !matches!(
        expr,
        Expr::Array(_)
            | Expr::Assign(_)
            | Expr::Async(_)
            | Expr::Await(_)
            | Expr::Break(_)
            | Expr::Closure(_)
            | Expr::Continue(_)
            | Expr::ForLoop(_)
            | Expr::Infer(_)
            | Expr::Let(_)
            | Expr::Range(_)
            | Expr::RawAddr(_)
            | Expr::Repeat(_)
            | Expr::Return(_)
            | Expr::Try(_)
            | Expr::Tuple(_)
            | Expr::While(_)
            | Expr::Yield(_)
    )
}
