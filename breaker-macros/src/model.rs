//! What the expansion prints: validated, with nothing left to decide.

use proc_macro2::{Group, Ident, Span, TokenStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprClosure, ExprPath, FnArg, Path, Token, Type, Visibility};

use crate::args::{FallbackOn, OnCancel, Window};
use crate::function::Function;
use crate::place::Place;

/// A guarded function.
pub(crate) struct Model {
    pub(crate) library: Library,
    pub(crate) function: Function,
    /// The parameters as the emitted signature has them.
    pub(crate) inputs: Punctuated<FnArg, Token![,]>,
    pub(crate) kind: Kind,
    pub(crate) output: Output,
    pub(crate) source: Source,
    pub(crate) key: Option<Expr>,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) classify: Classify,
    pub(crate) fallback: Option<Fallback>,
    pub(crate) open_error: Option<Expr>,
    pub(crate) timeout_error: Option<Expr>,
    pub(crate) captures: Captures,
}

/// Where generated paths begin.
pub(crate) enum Library {
    /// `::breakerbox`
    Default,
    /// `crate = path`
    Renamed(Path),
}

pub(crate) enum Kind {
    Async,
    Plain,
    /// What `#[async_trait]` makes of an `async fn`: `{ Box::pin(async move { .. }) }`.
    Boxed {
        /// `Box::pin`
        pin: TokenStream,
        /// Where its parentheses stand.
        call: Span,
        /// The block of the future.
        body: Group,
    },
}

/// The type that the function gives.
pub(crate) struct Output {
    pub(crate) shape: Shape,
    pub(crate) place: Place,
}

pub(crate) enum Shape {
    /// No arrow.
    Unit,
    /// `-> T`
    Typed(Type),
    /// `-> Result<impl Trait, E>`: with `_` for every `impl Trait`.
    Inferred(Type),
    /// `-> impl Trait` and nothing around it.
    Opaque,
    /// `-> !`
    Never,
}

/// The breaker that guards.
pub(crate) enum Source {
    /// A static of the function's own.
    Own(Declaration),
    /// The same, for a method: one for all instances.
    Shared {
        declaration: Declaration,
        /// The function's name, if the type is to be added to it, which a static can't know.
        by_type: Option<String>,
    },
    /// `breaker = ..`
    Given(Expr),
}

/// A breaker to declare.
pub(crate) struct Declaration {
    pub(crate) name: Name,
    pub(crate) trips: Trips,
    /// Of breakers by key.
    pub(crate) max_keys: Option<Value>,
    /// In the order in which they are written.
    pub(crate) settings: Vec<Setting>,
}

/// What opens the circuit.
pub(crate) enum Trips {
    /// So many failures in a row.
    InARow,
    /// A share of the calls in this window. Its size is part of the static's type.
    ByRate(Value),
}

pub(crate) enum Name {
    /// The module's path and this.
    Path(String),
    /// `name = ..`
    Given(Value),
}

/// One setting: the builder's method and its argument.
pub(crate) struct Setting {
    pub(crate) method: Ident,
    pub(crate) value: Value,
}

/// A constant.
#[derive(Clone)]
pub(crate) enum Value {
    Text(String, Span),
    Count(u32, Span),
    Number(f64, Span),
    Nanos(u64, Span),
    Window(Window, Span),
    /// A window whose kind its type tells.
    WindowOf(Expr),
    OnCancel(OnCancel, Span),
    /// The function's `timeout`, which is a constant of its own.
    Timeout(Span),
    Expression(Expr),
}

/// How long a call may take.
pub(crate) enum Timeout {
    Constant(Value),
    /// Asked for at each call, before the body takes its parameters.
    Asked(Expr),
}

pub(crate) enum Classify {
    /// Every `Err` counts.
    EveryErr,
    ByError(Expr),
    ByOutput(Expr),
    /// Nothing comes back that could count.
    OnlyPanics,
}

pub(crate) struct Fallback {
    pub(crate) value: FallbackValue,
    pub(crate) on: FallbackOn,
}

pub(crate) enum FallbackValue {
    /// A function, and the function's own parameters.
    Call {
        path: ExprPath,
        args: Vec<Ident>,
    },
    Closure(ExprClosure),
    /// The last good answer.
    LastGood(LastGood),
    /// A closure that never returns.
    Diverging {
        closure: ExprClosure,
        /// It gives a future, and that never ends.
        later: bool,
    },
    Expression(Expr),
}

/// `last_good = ..`
pub(crate) struct LastGood {
    /// Where they are.
    pub(crate) answers: Expr,
    pub(crate) key: LastGoodKey,
}

/// Which question an answer belongs to.
pub(crate) enum LastGoodKey {
    /// `last_good_key = ..`
    Given(Expr),
    /// `key = ..`: what the breaker's key is kept as.
    OfBreaker(Expr),
    /// There is one question alone.
    Unit,
}

impl Model {
    /// Last-good answers, if there are any.
    pub(crate) fn last_good(&self) -> Option<&LastGood> {
        match &self.fallback.as_ref()?.value {
            FallbackValue::LastGood(last_good) => Some(last_good),
            _ => None,
        }
    }
}

/// How the body comes by the parameters.
#[derive(Default)]
pub(crate) struct Captures {
    /// The body takes them along (`move`), or only what it consumes.
    pub(crate) moves: bool,
    /// `let mut a = a;` or `let (b, _) = c;` inside the body, in this order.
    pub(crate) rebound: Vec<Rebound>,
    /// Taken along whole even where the body doesn't mention them, and dropped in this order.
    pub(crate) mentioned: Vec<Mentioned>,
    /// Admission is asked for before the body takes anything: what runs only where that is
    /// refused finds all parameters, also those that the body consumes.
    pub(crate) asks_first: bool,
    /// The types of parameters that the body consumes, and what comes after it as well.
    pub(crate) reused: Vec<Reused>,
}

pub(crate) struct Rebound {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pattern: TokenStream,
    pub(crate) value: Ident,
}

pub(crate) struct Mentioned {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// If the body doesn't use it, which the compiler is to say: the levels of its lints.
    pub(crate) unused: Option<Vec<Attribute>>,
}

pub(crate) struct Reused {
    pub(crate) by: ReusedBy,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// What comes after the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReusedBy {
    Fallback,
    LastGood,
}

/// A breaker declared by `breaker!`.
pub(crate) struct StaticModel {
    pub(crate) library: Library,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) declaration: Declaration,
}
