//! Prometheus' page: served by its exporter, fetched over HTTP, and read as Prometheus would.

use breakerbox::observe::MetricsObserver;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};
use prometheus_parse::{Scrape, Value};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use tokio::task::JoinHandle;

/// With the buckets that the observer would have.
pub(crate) fn with_buckets(builder: PrometheusBuilder) -> PrometheusBuilder {
    MetricsObserver::BUCKETS
        .iter()
        .fold(builder, |builder, (name, buckets)| {
            let of_metric = Matcher::Full((*name).to_owned());
            builder.set_buckets_for_metric(of_metric, buckets).unwrap()
        })
}

/// An exporter that serves its page on loopback, until it is dropped.
pub(crate) struct Exporter {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Exporter {
    /// With the recorder that fills its page.
    pub(crate) fn start() -> (Self, PrometheusRecorder) {
        // The exporter doesn't tell which port it got.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let builder = with_buckets(PrometheusBuilder::new());
        let builder = builder.with_http_listener(address);
        let (recorder, serve) = builder.build().unwrap();
        let serving = tokio::spawn(async { serve.await.unwrap() });
        (Self { address, serving }, recorder)
    }

    /// The page as it is now, as text.
    pub(crate) async fn text(&self) -> String {
        let page = reqwest::get(format!("http://{}/metrics", self.address));
        page.await.unwrap().text().await.unwrap()
    }

    /// The page as it is now.
    pub(crate) async fn page(&self) -> Page {
        Page::read(&self.text().await)
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The samples of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct Page(BTreeMap<String, f64>);

impl Page {
    pub(crate) fn read(text: &str) -> Self {
        let scrape = Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap();
        let mut samples = BTreeMap::new();
        for sample in scrape.samples {
            let labels: BTreeMap<_, _> = sample.labels.iter().collect();
            let labels: Vec<_> = labels
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let labels = labels.join(",");
            match sample.value {
                Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => {
                    let known = samples.insert(format!("{} {labels}", sample.metric), value);
                    assert_eq!(known, None, "twice on one page");
                }
                Value::Histogram(buckets) => {
                    for bucket in buckets {
                        let le = bucket.less_than;
                        let name = format!("{} {labels},le={le}", sample.metric);
                        samples.insert(name, bucket.count);
                    }
                }
                Value::Summary(_) => panic!("{} has no buckets", sample.metric),
            }
        }
        Self(samples)
    }

    /// The sample that is written so: `breaker_state breaker=pms`, labels by name.
    pub(crate) fn value(&self, sample: &str) -> f64 {
        let value = self.0.get(sample);
        *value.unwrap_or_else(|| panic!("no {sample} in {self:#?}"))
    }

    /// The samples of a metric that are not 0, without its name.
    pub(crate) fn counted(&self, metric: &str) -> Vec<(&str, f64)> {
        let of_metric = self.0.iter().filter_map(|(sample, value)| {
            let labels = sample.strip_prefix(metric)?.strip_prefix(' ')?;
            (*value != 0.0).then_some((labels, *value))
        });
        of_metric.collect()
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
