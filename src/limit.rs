//! How long a guarded future may take.

use crate::timer::Timer;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use pin_project_lite::pin_project;

/// A limit, asked after the guarded future was pending.
pub trait Limit {
    /// [`Never`] where there is none.
    type Expired;

    fn poll_expired(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Expired>;
}

/// What never happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// No limit.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Limit for Unlimited {
    type Expired = Never;

    #[inline]
    fn poll_expired(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Never> {
        Poll::Pending
    }
}

/// The time limit that passed.
#[derive(Clone, Copy, Debug)]
pub struct Expired(pub(crate) Duration);

pin_project! {
    /// A limit in time. Its timer is made when the future is pending for the
    /// first time: one that is ready at once costs none.
    #[derive(Debug)]
    pub struct Within<T: Timer> {
        timer: T,
        // Nanoseconds: a `Duration` is twice as large.
        after: u64,
        scope: SleepScope,
        #[pin]
        sleep: Option<Sleep<T::Sleep>>,
    }
}

impl<T: Timer> Within<T> {
    pub(crate) fn new(timer: T, after: Duration, scope: SleepScope) -> Self {
        Self {
            timer,
            after: u64::try_from(after.as_nanos()).unwrap_or(u64::MAX),
            scope,
            sleep: None,
        }
    }
}

impl<T: Timer> Limit for Within<T> {
    type Expired = Expired;

    #[inline]
    fn poll_expired(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Expired> {
        let mut this = self.project();
        let after = Duration::from_nanos(*this.after);
        if this.sleep.is_none() {
            this.sleep
                .set(Some(Sleep::new(this.timer, after, this.scope)));
        }
        match this.sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(context).map(|()| Expired(after)),
            None => Poll::Pending,
        }
    }
}

/// The test scope on whose clock a limit runs.
#[cfg(feature = "test-util")]
pub(crate) type SleepScope = Option<crate::test::Scope>;

/// The test scope on whose clock a limit runs: there is none.
#[cfg(not(feature = "test-util"))]
#[derive(Debug)]
pub(crate) struct SleepScope;

#[cfg(not(feature = "test-util"))]
pin_project! {
    #[derive(Debug)]
    struct Sleep<S> {
        #[pin]
        real: S,
    }
}

#[cfg(not(feature = "test-util"))]
impl<S: Future<Output = ()>> Sleep<S> {
    fn new<T: Timer<Sleep = S>>(timer: &T, after: Duration, _: &mut SleepScope) -> Self {
        Self {
            real: timer.sleep(after),
        }
    }

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.project().real.poll(context)
    }
}

#[cfg(feature = "test-util")]
pin_project! {
    #[project = SleepProjection]
    enum Sleep<S> {
        Real { #[pin] real: S },
        Scoped { scoped: crate::test::ScopedSleep },
    }
}

#[cfg(feature = "test-util")]
impl<S> core::fmt::Debug for Sleep<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sleep").finish_non_exhaustive()
    }
}

#[cfg(feature = "test-util")]
impl<S: Future<Output = ()>> Sleep<S> {
    fn new<T: Timer<Sleep = S>>(timer: &T, after: Duration, scope: &mut SleepScope) -> Self {
        match scope.take() {
            Some(scope) => Self::Scoped {
                scoped: crate::test::ScopedSleep::new(scope, after),
            },
            None => Self::Real {
                real: timer.sleep(after),
            },
        }
    }

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            SleepProjection::Real { real } => real.poll(context),
            SleepProjection::Scoped { scoped } => scoped.poll(context),
        }
    }
}
