//! What the outage costs, with and without the breaker.

use std::time::Duration;

use crate::pipeline::{Call, Fate};
use crate::stats::{count, percentile, show};

/// A stretch of outage: what callers asked meanwhile, and what reached the server.
#[derive(Debug, Default)]
pub(crate) struct Bill {
    pub(crate) lasted: Duration,
    pub(crate) calls: Vec<Call>,
    pub(crate) requests: usize,
}

impl Bill {
    fn waited(&self) -> Duration {
        self.calls.iter().map(Call::took).sum()
    }

    /// Answers, fresh or stale, for each second of the outage.
    fn answers_per_second(&self) -> f64 {
        let answers = count(&self.calls, Fate::Fresh) + count(&self.calls, Fate::Stale);
        answers as f64 / self.lasted.as_secs_f64()
    }
}

/// Prints the two side by side.
pub(crate) fn print(with: &Bill, without: &Bill) {
    println!("\nThe same outage, with and without the breaker");
    println!("{:<38}{:>12}{:>12}", "", "with", "without");
    row("it lasted", with, without, |bill| show(bill.lasted));
    row("calls", with, without, |bill| bill.calls.len().to_string());
    row("answers a second, fresh or stale", with, without, |bill| {
        format!("{:.0}", bill.answers_per_second())
    });
    row(
        "requests that hit the broken server",
        with,
        without,
        |bill| bill.requests.to_string(),
    );
    row("time that callers spent waiting", with, without, |bill| {
        show(bill.waited())
    });
    row("a call: median", with, without, |bill| {
        show(percentile(&bill.calls, 50))
    });
    row("a call: p99", with, without, |bill| {
        show(percentile(&bill.calls, 99))
    });
}

fn row(what: &str, with: &Bill, without: &Bill, value: impl Fn(&Bill) -> String) {
    println!("{what:<38}{:>12}{:>12}", value(with), value(without));
}
