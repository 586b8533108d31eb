//! Which recorder numbers go to.

use crate::page::{Page, with_buckets};
use breakerbox::observe::{self, MetricsObserver};
use breakerbox::{Breaker, Settings, test};
use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};

fn prometheus() -> PrometheusRecorder {
    with_buckets(PrometheusBuilder::new()).build_recorder()
}

fn succeed(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Ok::<_, ()>(()));
}

/// The only test that installs one for the process.
#[test]
fn the_recorder_of_the_process_may_come_later_and_a_local_one_comes_first() {
    let _scope = test::scope();
    let _installed = observe::install(MetricsObserver::new());
    let pms = Breaker::new("pms", Settings::new().must());
    succeed(&pms);
    pms.disable();

    let recorder = prometheus();
    let process = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    succeed(&pms);
    succeed(&pms);

    let local = prometheus();
    let of_thread = local.handle();
    with_local_recorder(&local, || succeed(&pms));
    succeed(&pms);

    let success = "breaker_calls_total breaker=pms,outcome=success";
    let page = Page::read(&process.render());
    assert_eq!(page.value(success), 3.0, "what came before it is lost");
    assert_eq!(page.value("breaker_state breaker=pms"), 4.0, "but no state");
    let page = Page::read(&of_thread.render());
    assert_eq!(page.value(success), 1.0);
    assert_eq!(page.value("breaker_state breaker=pms"), 4.0);
}
