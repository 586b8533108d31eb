//! What counting costs: no allocation, once everything has its place.

use allocation_counter::measure;
use breakerbox::observe::{self, MetricsObserver};
use breakerbox::{Breaker, KeyedBreakers, Settings};
use metrics::atomics::AtomicU64;
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Allocates nothing itself, so that what is seen is ours.
#[derive(Clone, Default)]
struct Plain(Arc<Number>);

/// Of everything that is counted together.
#[derive(Default)]
struct Number(AtomicU64);

impl HistogramFn for Number {
    fn record(&self, _: f64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl metrics::CounterFn for Number {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }

    fn absolute(&self, _: u64) {}
}

impl Recorder for Plain {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::clone(&self.0))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(Arc::clone(&self.0))
    }
}

#[test]
fn no_call_allocates_with_keys_or_without() {
    let pms = Breaker::new("pms-of-costs", Settings::new().must());
    let down = Breaker::new("down-of-costs", Settings::new().must());
    down.force_open();
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts-of-costs", Settings::new().must());
    let host = hosts.get(&7_u64);
    let calls = || {
        let _ = pms.call_sync(|| Ok::<_, ()>(()));
        let _ = down.call_sync(|| Ok::<_, ()>(()));
        let _ = host.call_sync(|| Ok::<_, ()>(()));
    };
    for with_keys in [false, true] {
        let plain = Plain::default();
        let observer = MetricsObserver::to(plain.clone());
        let observer = if with_keys {
            observer.with_keys()
        } else {
            observer
        };
        // Not in a test scope, which allocates itself.
        let _installed = observe::install(observer);
        calls();
        let before = plain.0.0.load(Ordering::Relaxed);
        let allocated = measure(|| (0..100).for_each(|_| calls())).count_total;
        let counted = plain.0.0.load(Ordering::Relaxed) - before;
        assert!(counted >= 500, "{counted}");
        assert_eq!(allocated, 0, "with keys: {with_keys}");
    }
}
