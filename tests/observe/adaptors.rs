//! Adaptors: they want what the observer behind them wants.

use breakerbox::observe::{FirstThenCounts, InOrder, Observer, Rehearsal};
use std::sync::Arc;

#[derive(Default)]
struct Wants {
    calls: bool,
    #[cfg(feature = "tracing")]
    spans: bool,
    rehearsal: Option<Rehearsal>,
}

impl Observer for Wants {
    fn wants_calls(&self) -> bool {
        self.calls
    }

    #[cfg(feature = "tracing")]
    fn wants_spans(&self) -> bool {
        self.spans
    }

    fn rehearsal(&self) -> Option<&Rehearsal> {
        self.rehearsal.as_ref()
    }
}

/// Around an observer, each adaptor and all of them.
fn adaptors(wants: impl Fn() -> Wants) -> [Box<dyn Observer>; 4] {
    [
        Box::new(Arc::new(wants())),
        Box::new(InOrder::new(wants())),
        Box::new(FirstThenCounts::new(wants())),
        Box::new(Arc::new(InOrder::new(FirstThenCounts::new(wants())))),
    ]
}

#[test]
fn whoever_wants_nothing_costs_nothing_behind_an_adaptor() {
    for observer in adaptors(Wants::default) {
        assert!(!observer.wants_calls() && observer.rehearsal().is_none());
        #[cfg(feature = "tracing")]
        assert!(!observer.wants_spans());
    }
}

#[test]
fn what_an_observer_wants_its_adaptor_wants() {
    let calls = || Wants {
        calls: true,
        ..Wants::default()
    };
    for observer in adaptors(calls) {
        assert!(observer.wants_calls() && observer.rehearsal().is_none());
        #[cfg(feature = "tracing")]
        assert!(!observer.wants_spans());
    }
    let rehearsal = || Wants {
        rehearsal: Some(Rehearsal::new()),
        ..Wants::default()
    };
    for observer in adaptors(rehearsal) {
        assert!(!observer.wants_calls() && observer.rehearsal().is_some());
    }
    #[cfg(feature = "tracing")]
    for observer in adaptors(|| Wants {
        spans: true,
        ..Wants::default()
    }) {
        assert!(observer.wants_spans() && !observer.wants_calls());
    }
}
