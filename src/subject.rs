//! What can guard a call: a breaker, or the breaker of a key.

use crate::breaker::Breaker;
use crate::name::Name;
use breaker_core::{CircuitRef, Clock, Policy};

/// What guards a call: `&Breaker` or `&KeyedBreaker`. Sealed.
pub trait Subject: sealed::Subject {}

impl<S: sealed::Subject> Subject for S {}

pub(crate) mod sealed {
    use crate::breaker::Breaker;
    use crate::name::Name;
    use breaker_core::{CircuitRef, Clock, Policy};

    /// `Send` and `Sync`, so that a guarded future is `Send` where the body is, also
    /// where nothing more is known than [`Guard`](crate::guard::Guard).
    pub trait Subject: Copy + Send + Sync {
        type Clock: Clock + Send + Sync + 'static;
        type Policy: Policy + Send + Sync + 'static;

        /// Whether it is the breaker of a key: then its configuration is all keys'.
        const IS_A_KEYS: bool;

        /// The breaker, or the one that a key's has its clock and settings of.
        fn breaker(&self) -> &Breaker<Self::Clock, Self::Policy>;

        /// The state outside of test scopes.
        fn circuit(&self) -> CircuitRef<'_, Self::Policy>;

        /// Enters it into the registry, at the first call of a declared one.
        #[cfg(feature = "std")]
        fn enter(&self);

        /// What brought its present state about, outside of test scopes.
        #[cfg(feature = "std")]
        fn noted(&self) -> &crate::last_change::Noted;

        /// As its link hears of it.
        #[cfg(feature = "std")]
        fn linked(&self) -> crate::link::Linked<'_>;

        /// Whether anything of it is remembered: not of a key for which there was no room.
        #[cfg(feature = "std")]
        fn is_kept(&self) -> bool;

        /// What it is called in errors and events.
        fn name(&self) -> Name;

        /// Its state in the test scope around it.
        #[cfg(feature = "test-util")]
        fn scoped(&self) -> Option<crate::test::Scoped<Self::Policy>>;
    }
}

impl<C, P> sealed::Subject for &Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Clock = C;
    type Policy = P;

    const IS_A_KEYS: bool = false;

    #[inline]
    fn breaker(&self) -> &Breaker<C, P> {
        self
    }

    #[inline]
    fn circuit(&self) -> CircuitRef<'_, P> {
        self.own_circuit().by_ref()
    }

    #[cfg(feature = "std")]
    #[inline]
    fn enter(&self) {
        crate::registry::enter(self);
    }

    #[cfg(feature = "std")]
    fn noted(&self) -> &crate::last_change::Noted {
        Breaker::noted(self)
    }

    #[cfg(feature = "std")]
    fn linked(&self) -> crate::link::Linked<'_> {
        crate::link::Linked::one(*self)
    }

    #[cfg(feature = "std")]
    fn is_kept(&self) -> bool {
        true
    }

    #[inline]
    fn name(&self) -> Name {
        self.label().clone()
    }

    #[cfg(feature = "test-util")]
    #[inline]
    fn scoped(&self) -> Option<crate::test::Scoped<P>> {
        crate::test::Scoped::of(self)
    }
}
