//! Settings of which no breaker is known yet: what suits none at all is a mistake already.

use super::layers::mistaken;
use breaker_core::{Config, Overrides, ReconfigureError, Setting, Settings, Window};
use std::time::Duration;

/// A breaker of each kind that overrides tell apart.
fn specimens() -> [Config; 4] {
    const HALF: f64 = 0.5;
    let by_rate = Settings::new()
        .failure_rate(HALF)
        .window(Window::time(Duration::from_secs(60)))
        .slow(Duration::from_secs(1))
        .slow_rate(HALF);
    let by_close_rate = Settings::new().close_rate(HALF);
    [
        Config::DEFAULT,
        by_close_rate.build().unwrap_or(Config::DEFAULT),
        of_rate(by_rate),
        of_rate(by_rate.close_rate(HALF)),
    ]
}

fn of_rate(settings: Settings) -> Config {
    let rate = settings.build_rate();
    rate.map_or(Config::DEFAULT, |rate| *rate.config())
}

/// What is wrong with them for the breaker that they suit best.
pub(super) fn mistakes(these: &Overrides) -> Vec<(Setting, ReconfigureError)> {
    let of = |declared: &Config| mistaken(declared, these, Overrides::new()).collect::<Vec<_>>();
    let is_of_another_kind =
        |(_, error): &&(Setting, ReconfigureError)| !matches!(error, ReconfigureError::Config(_));
    let all = specimens();
    let all = all.iter().map(of);
    let best = all.min_by_key(|mistakes| {
        let of_another_kind = mistakes.iter().filter(is_of_another_kind);
        (of_another_kind.count(), mistakes.len())
    });
    best.unwrap_or_default()
}
