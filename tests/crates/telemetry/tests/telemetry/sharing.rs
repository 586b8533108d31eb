//! Fleets that are lost and reached again, on a real page.

use crate::page::Exporter;
use breakerbox::link;
use breakerbox::observe::{self, MetricsObserver};
use std::io;
use std::time::Duration;

#[tokio::test]
async fn whether_a_fleet_is_reached_and_how_often_it_was_lost() {
    let _scope = breakerbox::test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let lost = |fleet, losses| {
        let error = io::Error::from(io::ErrorKind::ConnectionReset);
        link::sharing_lost(fleet, &error, losses);
    };
    lost("booking", 1);
    lost("rates", 1);
    let shown = |page: &crate::page::Page, fleet: &str| {
        (
            page.value(&format!("breaker_sharing fleet={fleet}")),
            page.value(&format!("breaker_sharing_losses_total fleet={fleet}")),
        )
    };
    let page = exporter.page().await;
    assert_eq!(shown(&page, "booking"), (0.0, 1.0));

    link::sharing_restored("booking", Duration::from_secs(2));
    lost("rates", 4);
    // Of one that was never lost before it was reached again, as an observer that came late has it.
    link::sharing_restored("late", Duration::from_secs(2));
    let page = exporter.page().await;
    assert_eq!(shown(&page, "booking"), (1.0, 1.0));
    assert_eq!(shown(&page, "rates"), (0.0, 5.0));
    assert_eq!(shown(&page, "late"), (1.0, 0.0));

    let text = exporter.text().await;
    assert!(text.contains("# TYPE breaker_sharing gauge"), "{text}");
    assert!(
        text.contains("# TYPE breaker_sharing_losses_total counter"),
        "{text}"
    );
    assert!(!text.contains("breaker="), "of no breaker");
}
