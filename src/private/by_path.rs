//! `fallback = cached`: whether that takes the function's own parameters.
//!
//! A call that the compiler would refuse is refused here, in words that say what
//! to write; any other is left to the compiler, who may convert an argument
//! (`&String` for a `&str`). Of several methods of one name it takes the first whose
//! `impl` holds, and that is the one of the most `&` before the type: so each case
//! is a trait, and those above it did not hold.

use crate::cause::Cause;
use core::marker::PhantomData;

/// The fallback, and references to the parameters.
#[derive(Debug)]
pub struct ByPath<'a, F, P>(pub &'a F, pub P);

impl<F, P: Copy> Clone for ByPath<'_, F, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, P: Copy> Copy for ByPath<'_, F, P> {}

/// What the fallback takes in one place.
#[derive(Debug)]
pub struct Slot<A>(PhantomData<fn() -> A>);

impl<A> Clone for Slot<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Slot<A> {}

/// What is called, and for one parameter: what the fallback takes, and what it is
/// given.
#[derive(Debug)]
pub struct Argument<'a, C, A, P>(pub C, pub Slot<A>, pub &'a P);

impl<C: Copy, A, P> Clone for Argument<'_, C, A, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Copy, A, P> Copy for Argument<'_, C, A, P> {}

/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "the fallback takes more or fewer parameters than the function",
    label = "a path gets the function's own parameters, in order",
    note = "give it the same parameters as the function (a method's `self` is the first)",
    note = "or write the call with what it takes: `fallback = cached(&hotel)`",
    note = "or a closure, which sees why the call failed: `fallback = |cause| ..`"
)]
pub trait TakesTheParameters {
    type Call;
}

/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "the fallback takes `{A}`, and the function's parameter is `{Self}`",
    label = "a path gets the function's own parameters, in order",
    note = "give it the same parameters as the function",
    note = "or write the call with what it takes: `fallback = cached(&hotel)`",
    note = "or a closure, which sees why the call failed: `fallback = |cause| ..`"
)]
pub trait PassedAs<A> {
    type Call;
}

/// A parameter that is never converted where it is passed on.
pub trait Unconvertible {}

/// What no parameter is converted to.
pub trait Strict {}

macro_rules! unconvertible {
    ($($ty:ty)*) => {$(
        impl Unconvertible for $ty {}
        impl Strict for $ty {}
    )*};
}

unconvertible!(bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
#[cfg(feature = "std")]
unconvertible!(String);
impl Unconvertible for &str {}

mod cases {
    use super::{Argument, ByPath, PassedAs, Slot, TakesTheParameters};

    pub trait SameCount<'a, M> {
        type Function;
        type Slots;

        fn called(self) -> (&'a Self::Function, Self::Slots);
    }

    pub trait OtherCount<M> {
        type Function;

        fn called(self) -> <Self::Function as TakesTheParameters>::Call
        where
            Self::Function: TakesTheParameters;
    }

    /// What is no function, as far as can be seen here.
    pub trait NoFunction<'a> {
        type Function;
        type Slots;

        fn called(self) -> (&'a Self::Function, Self::Slots);
    }

    /// Also of a fallback that is generic.
    pub trait Same<C> {
        fn passed(self) -> C;
    }

    /// None of the others.
    pub trait Perhaps<C> {
        fn passed(self) -> C;
    }

    macro_rules! wrong {
        ($($case:ident)*) => {$(
            pub trait $case<A> {
                type Parameter;

                fn passed(self) -> <Self::Parameter as PassedAs<A>>::Call
                where
                    Self::Parameter: PassedAs<A>;
            }
        )*};
    }
    wrong!(Lent TheCause NotConverted NotConvertedTo);

    impl<'a, C: Copy, P> Same<C> for &&&&&Argument<'a, C, P, P> {
        fn passed(self) -> C {
            self.0
        }
    }

    impl<'a, C: Copy, A, P> Perhaps<C> for Argument<'a, C, A, P> {
        fn passed(self) -> C {
            self.0
        }
    }

    macro_rules! counts {
        ($($count:ident: $($p:ident $a:ident)*,)*) => {$(
            impl<'a, 'p, F, R, $($a, $p),*> SameCount<'a, fn($($a),*) -> R>
                for &&ByPath<'a, F, ($(&'p $p,)*)>
            where
                F: FnOnce($($a),*) -> R,
            {
                type Function = F;
                type Slots = ($(Slot<$a>,)*);

                fn called(self) -> (&'a F, Self::Slots) {
                    (self.0, ($(Slot::<$a>(core::marker::PhantomData),)*))
                }
            }

            impl<'a, F, P, R, $($a),*> OtherCount<fn($($a),*) -> R> for &ByPath<'a, F, P>
            where
                F: FnOnce($($a),*) -> R,
            {
                type Function = F;

                fn called(self) -> <F as TakesTheParameters>::Call
                where
                    F: TakesTheParameters,
                {
                    unreachable!("the compiler refused it")
                }
            }

            impl<'a, 'p, F, $($p),*> NoFunction<'a> for ByPath<'a, F, ($(&'p $p,)*)> {
                type Function = F;
                type Slots = ($(Slot<$p>,)*);

                fn called(self) -> (&'a F, Self::Slots) {
                    (self.0, ($(Slot::<$p>(core::marker::PhantomData),)*))
                }
            }
        )*};
    }
    counts! {
        zero: ,
        one: P0 A0,
        two: P0 A0 P1 A1,
        three: P0 A0 P1 A1 P2 A2,
        four: P0 A0 P1 A1 P2 A2 P3 A3,
        five: P0 A0 P1 A1 P2 A2 P3 A3 P4 A4,
        six: P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5,
        seven: P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6,
        eight: P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7,
    }
}

/// Brings the cases into scope, and no name.
pub mod all_cases {
    pub use super::cases::{
        Lent as _, NoFunction as _, NotConverted as _, NotConvertedTo as _, OtherCount as _,
        Perhaps as _, Same as _, SameCount as _, TheCause as _,
    };
}

macro_rules! wrong {
    ($(<$($lt:lifetime)? $($t:ident $(: $bound:ident)?),*> $case:ident<$a:ty> for ($($refs:tt)*) $p:ident;)*) => {$(
        impl<$($lt,)? C, $($t $(: $bound)?),*> cases::$case<$a> for $($refs)* Argument<'_, C, $a, $p> {
            type Parameter = $p;

            fn passed(self) -> <$p as PassedAs<$a>>::Call
            where
                $p: PassedAs<$a>,
            {
                unreachable!("the compiler refused it")
            }
        }
    )*};
}

wrong! {
    <'l P> Lent<&'l P> for (&&&&) P;
    <'l O, P> TheCause<Cause<'l, O>> for (&&&) P;
    <A, P: Unconvertible> NotConverted<A> for (&&) P;
    <A: Strict, P> NotConvertedTo<A> for (&) P;
}
