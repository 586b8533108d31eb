//! The guide and the tables know every option, and the guide shows what it does.

use super::table::{Info, OPTIONS, Part};

const TABLE: &str = include_str!("../../../src/guide/options.md");
const README: &str = include_str!("../../../README.md");
const ATTRIBUTE: &str = include_str!("../lib.rs");

/// The pages with the examples.
const PAGES: [(&str, &str); 5] = [
    (
        "opening",
        include_str!("../../../src/guide/options/opening.md"),
    ),
    (
        "recovery",
        include_str!("../../../src/guide/options/recovery.md"),
    ),
    (
        "breakers",
        include_str!("../../../src/guide/options/breakers.md"),
    ),
    ("call", include_str!("../../../src/guide/options/call.md")),
    (
        "answers",
        include_str!("../../../src/guide/options/answers.md"),
    ),
];

/// The section of a page, from its heading to the next.
fn section<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("\n# `{name}`\n");
    let (_, rest) = page.split_once(&heading)?;
    let end = rest.find("\n# `").unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The examples of a section that are run: without a word after the fence.
fn examples(section: &str) -> impl Iterator<Item = &str> {
    let blocks = section.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix('\n'))
}

/// Whether an attribute of the example has the option, as it stands there.
fn has(example: &str, option: &Info) -> bool {
    let attributes = example.split("#[circuit_breaker(").skip(1);
    attributes
        .filter_map(|rest| rest.split_once("fn "))
        .flat_map(|(attribute, _)| attribute.split([',', '(', ')']))
        .filter_map(|written| written.trim().strip_prefix(option.name))
        .any(|rest| match option.example {
            "" => rest.is_empty(),
            _ => rest.trim_start().starts_with('='),
        })
}

/// Whether a table has a row of its own for the option, or one for several of which it is one.
fn has_row(table: &str, name: &str) -> bool {
    table
        .lines()
        .filter_map(|line| line.trim_start_matches("/// ").strip_prefix("| "))
        .filter_map(|row| row.split(" | ").next())
        .any(|first| first.contains(&format!("`{name}`")))
}

#[test]
fn every_option_has_an_example_that_asserts_what_it_does() {
    for option in &OPTIONS {
        let name = option.name;
        let sections: Vec<_> = PAGES
            .iter()
            .filter_map(|(page, text)| Some((page, section(text, name)?)))
            .collect();
        let [(page, section)] = sections[..] else {
            panic!(
                "src/guide/options/ has {} sections for `{name}`",
                sections.len()
            );
        };
        assert!(
            examples(section).any(|example| has(example, option) && example.contains("assert")),
            "`{name}` in src/guide/options/{page}.md needs an example that is run, has the option \
             in its attribute, and asserts what it does"
        );
        let link = format!("crate::guide::options::{page}#{name}");
        assert!(
            has_row(TABLE, name) && TABLE.contains(&link),
            "src/guide/options.md needs a row for `{name}` that leads to {link}"
        );
    }
}

#[test]
fn every_option_is_in_the_attributes_own_table_and_in_the_readme() {
    for Info { name, .. } in &OPTIONS {
        assert!(has_row(ATTRIBUTE, name), "src/lib.rs: no row for `{name}`");
        assert!(has_row(README, name), "README.md: no row for `{name}`");
    }
}

#[test]
fn the_guide_has_no_option_that_there_is_not() {
    for (page, text) in PAGES {
        for heading in text.lines().filter_map(|line| line.strip_prefix("# `")) {
            let name = heading.trim_end_matches('`');
            let option = OPTIONS.iter().find(|option| option.name == name);
            assert!(option.is_some(), "{page}.md: `{name}` is no option");
        }
    }
}

#[test]
fn settings_stand_where_the_guide_says_that_settings_stand() {
    let (settings, rest) = TABLE
        .split_once("\n# Which breaker\n")
        .expect("the tables are in this order");
    for option in &OPTIONS {
        let is_setting = option.part == Part::Breaker && option.name != "on_cancel";
        assert_eq!(
            has_row(settings, option.name),
            is_setting,
            "{}",
            option.name
        );
        assert_eq!(has_row(rest, option.name), !is_setting, "{}", option.name);
    }
}
