//! Results as tables for people, and as JSON for programs.

use crate::machine;
use crate::plan::{Base, Results, Row};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) fn markdown(results: &Results) -> String {
    let mut text = format!(
        "Machine: {}.\n\n| in nanoseconds | | beside an observer |\n| --- | ---: | ---: |\n",
        machine::describe()
    );
    for (name, nanos) in BASES {
        let (first, again) = (nanos(&results.base), nanos(&results.observed_base));
        let _ = writeln!(text, "| {name} | {first:.1} | {again:.1} |");
    }
    for (section, rows) in &results.sections {
        let unit = section.unit.name();
        let _ = write!(
            text,
            "\n## {}\nTo reach: {}.\n\n\
             | | through | {unit} | ns | least ns | observed, {unit} | allocations | bytes | reached |\n\
             | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
            section.title,
            section.reach.text(section.unit),
        );
        for row in rows {
            let _ = writeln!(text, "{}", line(row));
        }
    }
    text
}

type Pick = fn(&Base) -> f64;

const BASES: [(&str, Pick); 4] = [
    ("FA: one relaxed `AtomicU64::fetch_add`", |base| {
        base.fetch_add
    }),
    ("the same on two threads, each", |base| base.contended),
    ("`Instant::now()`", |base| base.now),
    ("the breakers' clock, `SystemClock`", |base| base.coarse),
];

fn line(row: &Row) -> String {
    let observed = row
        .observed
        .map_or(String::new(), |(_, ratio)| format!("{ratio:.2}"));
    let bytes = row.bytes.map_or(String::new(), |bytes| format!("+{bytes}"));
    let reached = match row.reached {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "",
    };
    format!(
        "| {} | {} | {:.2} | {:.1} | {:.1} | {observed} | {} | {bytes} | {reached} |",
        row.who, row.through, row.ratio, row.cost.median, row.cost.least, row.allocations,
    )
}

pub(crate) fn json(results: &Results) -> Value {
    let sections: Vec<Value> = results
        .sections
        .iter()
        .map(|(section, rows)| {
            json!({
                "title": section.title,
                "unit": section.unit.name().replace('`', ""),
                "reach": section.reach.text(section.unit).replace('`', ""),
                "rows": rows.iter().map(row).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "machine": machine::describe(),
        "base_ns": base(&results.base),
        "observed_base_ns": base(&results.observed_base),
        "sections": sections,
    })
}

fn base(base: &Base) -> Value {
    json!({
        "fetch_add": base.fetch_add,
        "fetch_add_two_threads": base.contended,
        "instant_now": base.now,
        "system_clock": base.coarse,
    })
}

fn row(row: &Row) -> Value {
    json!({
        "who": row.who,
        "through": row.through.replace('`', ""),
        "ratio": row.ratio,
        "median_ns": row.cost.median,
        "least_ns": row.cost.least,
        "observed_ratio": row.observed.map(|(_, ratio)| ratio),
        "observed_median_ns": row.observed.map(|(cost, _)| cost.median),
        "allocations": row.allocations,
        "bytes": row.bytes,
        "reached": row.reached,
    })
}
