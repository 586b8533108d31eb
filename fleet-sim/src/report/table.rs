//! The tables of the guide's chapter.

use std::fmt::Write as _;

use super::numbers::{grouped, seconds, time};
use crate::clock::Moment;
use crate::figures::Figures;
use crate::runs::Run;
use crate::scenario::{Comeback, Conditions, Scenario};

/// What stands above the service's table.
const SERVICE: &str = "\
| instances | circuits | requests to the dead service until all are open | all open after | requests to it later | probes in the first 10 s | most probes in 100 ms | most requests in 100 ms | knocked over | all closed after | refused while it was up |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// What stands above Redis' table.
const REDIS: &str = "\
| instances | circuits | commands a second | most in a second | changes published | messages | most in a second | longest queue |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// Both tables.
#[must_use]
pub fn tables(runs: &[Run]) -> String {
    let mut text = String::new();
    for comeback in Comeback::ALL {
        text.push_str(match comeback {
            Comeback::Warm => "The service comes back as it was:\n\n",
            Comeback::Cold => "\nThe same service comes back cold:\n\n",
        });
        text.push_str(SERVICE);
        for run in runs.iter().filter(|run| run.comeback == comeback) {
            text.push_str(&service_row(run));
        }
    }
    text.push_str("\nWhat Redis has to do, where the service comes back as it was:\n\n");
    text.push_str(REDIS);
    for run in runs.iter().filter(|run| is_redis_shown(run)) {
        text.push_str(&redis_row(run));
    }
    text
}

/// The rows of these runs, as they stand in the [`tables`].
#[must_use]
pub fn rows(runs: &[Run]) -> Vec<String> {
    let redis = runs.iter().filter(|run| is_redis_shown(run)).map(redis_row);
    runs.iter().map(service_row).chain(redis).collect()
}

fn is_redis_shown(run: &Run) -> bool {
    matches!(run.scenario, Scenario::Shared(_)) && run.comeback == Comeback::Warm
}

fn service_row(run: &Run) -> String {
    let Figures {
        all_open_after,
        dead_until_open,
        dead_later,
        first_probes,
        knocked_over,
        all_closed_after,
        refused_while_up,
        ..
    } = run.figures;
    let back = Conditions::of(run.comeback).comes_back;
    let or_never = |after: Option<Moment>| after.map_or("never".to_owned(), seconds);
    row([
        grouped(run.instances.into()),
        run.scenario.name().to_owned(),
        grouped(dead_until_open),
        all_open_after.map_or("never".to_owned(), time),
        grouped(dead_later),
        grouped(first_probes),
        grouped(run.figures.peak(back, |tick| tick.probes).into()),
        grouped(run.figures.peak(back, |tick| tick.requests).into()),
        times(knocked_over),
        or_never(all_closed_after),
        grouped(refused_while_up),
    ])
}

fn redis_row(run: &Run) -> String {
    let redis = run.figures.redis;
    let figures = &run.figures;
    row([
        grouped(run.instances.into()),
        run.scenario.name().to_owned(),
        grouped((redis.commands as f64 / figures.lasted_seconds()).round() as u64),
        grouped(figures.peak_second(|tick| tick.commands)),
        grouped(redis.published),
        grouped(redis.messages),
        grouped(figures.peak_second(|tick| tick.messages)),
        time(redis.longest_wait),
    ])
}

fn times(number: u32) -> String {
    match number {
        0 => "no".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

pub(super) fn row<const CELLS: usize>(cells: [String; CELLS]) -> String {
    let mut text = String::from("|");
    for cell in cells {
        // Writing to a string can't fail.
        let _ = write!(text, " {cell} |");
    }
    text.push('\n');
    text
}

const BEGIN: &str = "<!-- fleet-sim -->\n";
const END: &str = "<!-- /fleet-sim -->\n";

/// The text with these tables in place of those that it has; `None` if it has no place for them.
#[must_use]
pub fn put_into(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{tables}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::put_into;

    #[test]
    fn tables_replace_those_before_and_nothing_else() {
        let text = "a\n<!-- fleet-sim -->\nold\n<!-- /fleet-sim -->\nb\n";
        let put = put_into(text, "new\n").unwrap();
        assert_eq!(put, text.replace("old", "new"));
        assert_eq!(put_into("a\nb\n", "new\n"), None);
    }
}
