//! What is told of circuits: logs, spans and metrics.

use std::io::{self, IsTerminal};
use std::time::Duration;

use breakerbox::observe::{self, FirstThenCounts, MetricsObserver, TracingObserver};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;
use tracing_subscriber::filter::EnvFilter;

use crate::Trouble;
use crate::args::Logs;

/// Until somebody asks for the page, the exporter keeps each duration by itself: this often they are put
/// into their buckets, whether somebody asks or not.
const UPKEEP: Duration = Duration::from_secs(5);

/// The numbers, as Prometheus reads them.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Counts from here on, as long as the process runs.
    ///
    /// # Errors
    /// The exporter's.
    pub fn count() -> Result<Self, BuildError> {
        let mut builder = PrometheusBuilder::new();
        for (name, buckets) in MetricsObserver::BUCKETS {
            let name = Matcher::Full((*name).to_owned());
            builder = builder.set_buckets_for_metric(name, buckets)?;
        }
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        observe::install(MetricsObserver::to(recorder)).forever();
        let kept = handle.clone();
        tokio::spawn(async move {
            let mut ticks = interval(UPKEEP);
            loop {
                ticks.tick().await;
                kept.run_upkeep();
            }
        });
        Ok(Self(handle))
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        self.0.render()
    }
}

/// Writes logs to standard error from here on, as long as the process runs: what `RUST_LOG` says, or
/// information and what is graver.
///
/// # Errors
/// Where `RUST_LOG` makes no sense, or logs are written already.
pub fn log(how: Logs) -> Result<(), Trouble> {
    if how == Logs::Off {
        return Ok(());
    }
    let filter = match std::env::var("RUST_LOG") {
        Ok(given) if !given.is_empty() => {
            EnvFilter::try_new(&given).map_err(|error| format!("RUST_LOG `{given}`: {error}"))?
        }
        _ => EnvFilter::new("info"),
    };
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    match how {
        Logs::Json => lines.json().flatten_event(true).try_init()?,
        Logs::Pretty | Logs::Off => lines.try_init()?,
    }
    // Thousands of refused calls are a few lines, not thousands.
    observe::install(FirstThenCounts::new(TracingObserver::new())).forever();
    Ok(())
}
