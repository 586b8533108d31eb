//! Results as tables for people, and as JSON for programs.

use crate::instructions::Profile;
use crate::machine;
use crate::plan::{Base, Counted, Results, Row};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Functions of a profile that are named.
const NAMED: usize = 12;

pub(crate) fn markdown(results: &Results) -> String {
    let mut text = format!("Machine: {}.\n", machine::describe());
    if let Err(why) = &results.base_instructions {
        let _ = writeln!(text, "\nInstructions are missing: {why}.");
    }
    text.push_str("\n| in nanoseconds | | beside an observer | told | instructions |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    for (name, of) in BASES {
        let (first, again) = (of(&results.base), of(&results.observed_base));
        let told = of(&results.told_base);
        let instructions = results.base_instructions.as_ref().map_or(f64::NAN, of);
        let instructions = number(instructions);
        let _ = writeln!(
            text,
            "| {name} | {first:.1} | {again:.1} | {told:.1} | {instructions} |"
        );
    }
    for (section, rows) in &results.sections {
        let unit = section.unit.name();
        let counted = rows.iter().any(|row| row.instructions.is_some());
        let (instructions, rule) = if counted {
            (" instructions |", " ---: |")
        } else {
            ("", "")
        };
        let _ = write!(
            text,
            "\n## {}\nTo reach: {}.\n\n\
             | | through | {unit} | ns | least ns | observed, {unit} | told, {unit} |{instructions} allocations | bytes | reached |\n\
             | --- | --- | ---: | ---: | ---: | ---: | ---: |{rule} ---: | ---: | --- |\n",
            section.title,
            section.reach.text(section.unit),
        );
        for row in rows {
            let _ = writeln!(text, "{}", line(row, counted));
        }
        let missed = rows.iter().filter(|row| row.reached == Some(false));
        let profiles: Vec<String> = missed
            .filter_map(|row| Some(profile(row.through, row.instructions.as_ref()?)))
            .collect();
        if !profiles.is_empty() {
            let _ = writeln!(text, "\n{}", profiles.join("\n"));
        }
    }
    text
}

/// Instructions alone, with the profiles of ours.
pub(crate) fn instructions(counted: &[Counted]) -> String {
    let mut text = String::new();
    for section in counted.chunk_by(|a, b| a.title == b.title) {
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(first) = section.first() {
            let _ = writeln!(text, "## {}", first.title);
        }
        text.push_str("| | through | instructions | observed | told |\n");
        text.push_str("| --- | --- | ---: | ---: | ---: |\n");
        for row in section {
            let total = number(row.profile.total());
            let beside = |total: Option<f64>| total.map_or(String::new(), number);
            let (observed, told) = (beside(row.observed), beside(row.told));
            let _ = writeln!(
                text,
                "| {} | {} | {total} | {observed} | {told} |",
                row.who, row.through
            );
        }
        let ours = section.iter().filter(|row| row.is_ours());
        let profiles: Vec<String> = ours.map(|row| profile(row.through, &row.profile)).collect();
        if !profiles.is_empty() {
            let _ = writeln!(text, "\n{}", profiles.join("\n"));
        }
    }
    text
}

type Pick = fn(&Base) -> f64;

const BASES: [(&str, Pick); 5] = [
    ("FA: one relaxed `AtomicU64::fetch_add`", |base| {
        base.fetch_add
    }),
    ("the same on two threads, each", |base| base.contended),
    ("`Instant::now()`", |base| base.now),
    ("the breakers' clock, `SystemClock`", |base| base.coarse),
    ("the loop around nothing", |base| base.nothing),
];

/// To one decimal; nothing for what is not a number.
fn number(number: f64) -> String {
    if number.is_nan() {
        return String::new();
    }
    format!("{number:.1}")
}

fn line(row: &Row, counted: bool) -> String {
    let ratio =
        |beside: Option<(_, f64)>| beside.map_or(String::new(), |(_, ratio)| format!("{ratio:.2}"));
    let (observed, told) = (ratio(row.observed), ratio(row.told));
    let instructions = match &row.instructions {
        Some(profile) => format!(" {} |", number(profile.total())),
        None if counted => "  |".to_owned(),
        None => String::new(),
    };
    let bytes = row.bytes.map_or(String::new(), |bytes| format!("+{bytes}"));
    let reached = match row.reached {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "",
    };
    format!(
        "| {} | {} | {:.2} | {:.1} | {:.1} | {observed} | {told} |{instructions} {} | {bytes} | {reached} |",
        row.who, row.through, row.ratio, row.cost.median, row.cost.least, row.allocations,
    )
}

/// Where a call's instructions go.
fn profile(through: &str, profile: &Profile) -> String {
    let functions = profile.functions();
    let (named, others) = functions.split_at(NAMED.min(functions.len()));
    let mut items: Vec<String> = named
        .iter()
        .map(|(function, instructions)| format!("`{function}` {instructions:.1}"))
        .collect();
    if !others.is_empty() {
        let sum: f64 = others.iter().map(|(_, instructions)| instructions).sum();
        items.push(format!("{} more {sum:.1}", others.len()));
    }
    format!("- Instructions of {through}: {}.", items.join(", "))
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
        "told_base_ns": base(&results.told_base),
        "base_instructions": results.base_instructions.as_ref().ok().map(base),
        "sections": sections,
    })
}

fn base(base: &Base) -> Value {
    json!({
        "fetch_add": base.fetch_add,
        "fetch_add_two_threads": base.contended,
        "instant_now": base.now,
        "system_clock": base.coarse,
        "nothing": base.nothing,
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
        "told_ratio": row.told.map(|(_, ratio)| ratio),
        "told_median_ns": row.told.map(|(cost, _)| cost.median),
        "allocations": row.allocations,
        "bytes": row.bytes,
        "instructions": row.instructions.as_ref().map(Profile::total),
        "instructions_by_function": row.instructions.as_ref().map(functions),
        "reached": row.reached,
    })
}

fn functions(profile: &Profile) -> Value {
    let functions = profile.functions().into_iter();
    functions
        .map(|(function, instructions)| json!({ "function": function, "instructions": instructions }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{NAMED, instructions, number, profile};
    use crate::instructions::Profile;
    use crate::plan::Counted;

    #[test]
    fn a_profile_names_the_dearest_and_sums_up_the_others() {
        let names: Vec<String> = (0..NAMED + 2).map(|at| format!("f{at}")).collect();
        let functions: Vec<(&str, f64)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.as_str(), 50.0 - at as f64))
            .collect();
        let text = profile("`admit`", &Profile::of(&functions));
        assert!(
            text.starts_with("- Instructions of `admit`: `f0` 50.0, `f1` 49.0,"),
            "{text}"
        );
        assert!(text.ends_with("`f11` 39.0, 2 more 75.0."), "{text}");
        assert_eq!(
            profile("`a`", &Profile::of(&[("f", 2.0), ("gone", 0.0)])),
            "- Instructions of `a`: `f` 2.0."
        );
    }

    #[test]
    fn only_ours_have_a_profile() {
        let row = |who, through, beside: Option<f64>| Counted {
            title: "Closed",
            who,
            through,
            profile: Profile::of(&[("f", 2.0)]),
            observed: beside,
            told: beside.map(|beside| beside + 90.0),
        };
        let text = instructions(&[
            row("breakerbox", "`a`", Some(3.0)),
            row("peer", "`b`", None),
        ]);
        let expected = "## Closed\n| | through | instructions | observed | told |\n\
            | --- | --- | ---: | ---: | ---: |\n\
            | breakerbox | `a` | 2.0 | 3.0 | 93.0 |\n| peer | `b` | 2.0 |  |  |\n\n\
            - Instructions of `a`: `f` 2.0.\n";
        assert_eq!(text, expected);
        assert_eq!(instructions(&[]), "");
    }

    #[test]
    fn what_was_not_counted_is_left_empty() {
        assert_eq!(number(f64::NAN), "");
        assert_eq!(number(2.04), "2.0");
    }
}
