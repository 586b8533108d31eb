//! The tables of fleets of which only a part fares badly.

use super::numbers::{grouped, seconds, time};
use super::table::row;
use crate::clock::{Moment, SECOND};
use crate::partly::keys::ByKey;
use crate::partly::rates::ByRate;
use crate::partly::{FAILS, Fails, Opened, Outcome, Runs};

/// What stands above the table of keys.
const KEYS: &str = "\
| instances | keys | circuits | failed until all of the shard are open | all of them open after | failed later | most of the shard's open | most of the others open | refused for other shards | all closed after | commands a second before | most in a second | messages | longest queue |
| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// What stands above the table of rates.
const RATES: &str = "\
| instances | what fails | circuits | failed until all hit are open | all hit open after | failed later | most of those hit open | most of the others open | refused that would have been answered | all closed after | commands a second before | most in a second | longest queue |
| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// Both tables.
#[must_use]
pub fn tables(runs: &Runs) -> String {
    let mut text = String::from("\nOne shard of ten fails, for a minute:\n\n");
    text.push_str(KEYS);
    text.extend(runs.keys.iter().map(keys_row));
    text.push_str("\nA part of the calls fails, for 40 s; the rate that opens is 0.5:\n\n");
    text.push_str(RATES);
    text.extend(runs.rates.iter().map(rates_row));
    text
}

/// The rows of these runs, as they stand in the [`tables`].
#[must_use]
pub fn rows(runs: &Runs) -> Vec<String> {
    let rates = runs.rates.iter().map(rates_row);
    runs.keys.iter().map(keys_row).chain(rates).collect()
}

fn keys_row((run, outcome): &(ByKey, Outcome)) -> String {
    let figures = &outcome.figures;
    let redis = figures.redis;
    row([
        grouped(run.instances.into()),
        grouped(run.keys.into()),
        run.name().to_owned(),
        grouped(figures.dead_until_open),
        or_never(figures.all_open_after, time),
        grouped(figures.dead_later),
        part(outcome.hit),
        part(outcome.others),
        grouped(outcome.refused_needlessly),
        closed_after(outcome),
        grouped(before(outcome)),
        grouped(figures.peak_second(|tick| tick.commands)),
        grouped(redis.messages),
        time(redis.longest_wait),
    ])
}

fn rates_row((run, outcome): &(ByRate, Outcome)) -> String {
    let figures = &outcome.figures;
    row([
        grouped(run.instances.into()),
        what(run.fails),
        run.name().to_owned(),
        grouped(figures.dead_until_open),
        or_never(figures.all_open_after, time),
        grouped(figures.dead_later),
        part(outcome.hit),
        part(outcome.others),
        grouped(outcome.refused_needlessly),
        closed_after(outcome),
        grouped(before(outcome)),
        grouped(figures.peak_second(|tick| tick.commands)),
        time(figures.redis.longest_wait),
    ])
}

fn what(fails: Fails) -> String {
    match fails {
        Fails::Shard(shards) => format!("one shard of {shards}"),
        Fails::Instances(share) => format!("all calls of {:.0} % of the instances", share * 100.0),
        Fails::Calls(share) => format!("{:.0} % of all calls", share * 100.0),
    }
}

fn part(opened: Opened) -> String {
    if opened.all == 0 {
        return "-".to_owned();
    }
    format!("{} of {}", grouped(opened.most), grouped(opened.all))
}

fn closed_after(outcome: &Outcome) -> String {
    match outcome.figures.all_closed_after {
        Some(0) => "-".to_owned(), // none was open
        after => or_never(after, seconds),
    }
}

fn or_never(after: Option<Moment>, shown: fn(Moment) -> String) -> String {
    after.map_or("never".to_owned(), shown)
}

/// Commands a second while all was well.
fn before(outcome: &Outcome) -> u64 {
    let ticks = (FAILS / crate::figures::TICK) as usize;
    let ticks = outcome.figures.ticks.iter().take(ticks);
    let commands: u64 = ticks.map(|tick| u64::from(tick.commands)).sum();
    (commands as f64 / (FAILS / SECOND) as f64).round() as u64
}
