//! The results as a table.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::Measured;
use super::asker::Slice;
use super::process::Setup;
use crate::Trouble;
use crate::args::Load;

/// What came of all slices.
#[derive(Debug)]
pub(super) struct Results {
    rows: Vec<Row>,
    rounds: usize,
    outages: usize,
    told: String,
    /// How much a service may grow, in KiB.
    growth: u64,
}

/// Of one service.
#[derive(Debug)]
struct Row {
    setup: Setup,
    requests: u64,
    not_fresh: u64,
    a_second: f64,
    latency: Histogram<u64>,
    /// Microseconds of the processor for a request.
    cpu: Option<f64>,
    /// The same in the quietest slices: a quarter of them took no more. What else the machine does adds to
    /// this, and never takes from it.
    quiet: Option<f64>,
    /// What a request costs more than one of the unguarded service in the same round: the lower quartile,
    /// the median, the upper one, in microseconds.
    more: Option<[f64; 3]>,
    /// KiB at the beginning and at the end.
    memory: Option<(u64, u64)>,
}

impl Results {
    pub(super) fn of(services: &[Measured], told: &Load, outages: usize) -> Self {
        let unguarded = services.first().map_or(&[][..], |first| &first.slices);
        Self {
            rows: services
                .iter()
                .map(|service| Row::of(service, unguarded))
                .collect(),
            rounds: unguarded.len(),
            outages,
            told: format!(
                "{} connections, {} s in slices of {} s",
                told.connections,
                told.seconds.as_secs_f64(),
                told.slice.as_secs_f64()
            ),
            growth: told.growth,
        }
    }

    /// Whether no service holds much more at the end than at the beginning.
    pub(super) fn memory_is_flat(&self) -> bool {
        self.rows.iter().all(|row| row.is_flat(self.growth))
    }
}

impl Row {
    fn of(service: &Measured, unguarded: &[Slice]) -> Self {
        let slices = &service.slices;
        let mut latency = Histogram::new_from(&slices[0].latency);
        for slice in slices {
            // Each has the same bounds.
            let _ = latency.add(&slice.latency);
        }
        let lasted: Duration = slices.iter().map(|slice| slice.lasted).sum();
        let cpu: Option<Duration> = slices.iter().map(|slice| slice.cpu).sum();
        let pairs = slices.iter().zip(unguarded);
        let more = pairs.map(|(slice, unguarded)| Some(each(slice)? - each(unguarded)?));
        Self {
            setup: service.process.setup,
            requests: latency.len(),
            not_fresh: slices.iter().map(|slice| slice.not_fresh).sum(),
            a_second: latency.len() as f64 / lasted.as_secs_f64(),
            quiet: slices
                .iter()
                .map(each)
                .collect::<Option<Vec<f64>>>()
                .map(|each| quartiles(each)[0]),
            cpu: cpu.map(|cpu| micros(cpu) / latency.len() as f64),
            more: more.collect::<Option<Vec<f64>>>().map(quartiles),
            latency,
            memory: service.memory.ends(),
        }
    }

    fn is_flat(&self, growth: u64) -> bool {
        self.memory.is_none_or(|(from, to)| to <= from + growth)
    }
}

/// Microseconds of the processor for each request of a slice.
fn each(slice: &Slice) -> Option<f64> {
    Some(micros(slice.cpu?) / slice.requests().max(1) as f64)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        writeln!(
            f,
            "{cores} cores, {}: {} rounds, with {} outages between them\n",
            self.told, self.rounds, self.outages
        )?;
        writeln!(
            f,
            "{:<16}{:>11}{:>9}{:>9}{:>9}{:>14}{:>11}{:>11}",
            "", "requests/s", "p50", "p99", "p99.9", "CPU/request", "requests", "not fresh"
        )?;
        for row in &self.rows {
            let at = |percentile| {
                let nanos = row.latency.value_at_percentile(percentile);
                format!("{:.2} ms", nanos as f64 / 1e6)
            };
            let cpu = row.cpu.map_or("?".to_owned(), |cpu| format!("{cpu:.1} us"));
            writeln!(
                f,
                "{:<16}{:>11.0}{:>9}{:>9}{:>9}{cpu:>14}{:>11}{:>11}",
                row.setup.name(),
                row.a_second,
                at(50.0),
                at(99.0),
                at(99.9),
                row.requests,
                row.not_fresh
            )?;
        }
        writeln!(
            f,
            "\neach call, over the unguarded service's: of the quietest slices; of pairs of slices (half of them)"
        )?;
        let base = self.rows.first().and_then(|row| row.quiet);
        for row in self.rows.iter().skip(1) {
            match (row.more, row.quiet, base) {
                (Some([low, _, high]), Some(quiet), Some(base)) => writeln!(
                    f,
                    "{:<16}{:>+8.2} us of CPU, {:+.1}%; {low:+.2} to {high:+.2} us",
                    row.setup.name(),
                    quiet - base,
                    100.0 * (quiet / base - 1.0)
                )?,
                _ => writeln!(
                    f,
                    "{:<16} unknown: the system doesn't say",
                    row.setup.name()
                )?,
            }
        }
        writeln!(f, "\nmemory, after warming up, and at the end:")?;
        for row in &self.rows {
            match row.memory {
                Some((from, to)) => writeln!(
                    f,
                    "{:<16}{from:>8} KiB{to:>8} KiB  {}",
                    row.setup.name(),
                    if row.is_flat(self.growth) {
                        "flat"
                    } else {
                        "IT GROWS"
                    }
                )?,
                None => writeln!(
                    f,
                    "{:<16} unknown: the system doesn't say",
                    row.setup.name()
                )?,
            }
        }
        write!(f, "(flat: no more than {} KiB are added)", self.growth)
    }
}

const BEGIN: &str = "<!-- load -->";
const END: &str = "<!-- /load -->";

/// Puts the table between its marks in a file.
pub(super) fn write(file: &Path, table: &str) -> Result<(), Trouble> {
    let text = fs::read_to_string(file)?;
    let marks = text
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = marks.ok_or(format!(
        "{}: there is no line `{BEGIN}` with a line `{END}` after it",
        file.display()
    ))?;
    let text = format!("{before}{BEGIN}\n```text\n{table}\n```\n{END}{after}");
    Ok(fs::write(file, text)?)
}
