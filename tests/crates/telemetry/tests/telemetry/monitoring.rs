//! The alert rules and the dashboard name what there is on a real page, and nothing else.

use crate::page::Exporter;
use breakerbox::link;
use breakerbox::observe::{self, MetricsObserver, Rehearsal};
use breakerbox::{Breaker, KeyedBreakers, Settings, test};
use prometheus_parse::Scrape;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../monitoring")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

/// A page on which everything has happened.
async fn full_page() -> String {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    observe::install(MetricsObserver::to(recorder)).forever();
    let settings = Settings::new().threshold(1).reset(Duration::from_secs(30));
    let pms = Breaker::new("pms", settings.must());
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    let _ = pms.call_sync(|| Err::<(), _>(()));
    let _ = pms.call_sync(|| Err::<(), _>(()));
    scope.advance(Duration::from_secs(30));
    observe::install(Rehearsal::new()).forever();
    pms.shadow();
    let _ = pms.call_sync(|| Err::<(), _>(()));
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    scope.advance(Duration::from_secs(60));
    let _ = pms.call_sync(|| Ok::<_, ()>(()));
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings.must());
    let _ = hosts.get(&1_u64).call_sync(|| Err::<(), _>(()));
    link::sharing_lost("booking", &std::fmt::Error, 1);
    exporter.text().await
}

/// Each metric's labels, as Prometheus names them: a histogram is three of them.
async fn on_the_page() -> BTreeMap<String, BTreeSet<String>> {
    let mut metrics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let page = full_page().await;
    let names = page
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for name in names.filter_map(|line| line.split(['{', ' ']).next()) {
        metrics.entry(name.to_owned()).or_default();
    }
    let scrape = Scrape::parse(page.lines().map(|line| Ok(line.to_owned()))).unwrap();
    for sample in scrape.samples {
        let labels: Vec<String> = sample.labels.keys().cloned().collect();
        for (name, known) in &mut metrics {
            let is_of = name.strip_prefix(&sample.metric);
            if is_of.is_some_and(|rest| ["", "_bucket", "_sum", "_count"].contains(&rest)) {
                known.extend(labels.iter().cloned());
            }
        }
    }
    metrics
}

/// Every expression of the rules.
fn expressions_of_rules() -> Vec<String> {
    let rules = read("alerts.yml");
    let mut expressions = Vec::new();
    for rule in rules.split("- alert: ").skip(1) {
        let (_, after) = rule.split_once("expr:").unwrap();
        let ends = ["\n        for:", "\n        labels:"].map(|end| after.find(end));
        let end = ends.into_iter().flatten().min().unwrap();
        expressions.push(
            after[..end]
                .trim_start_matches([' ', '>', '-', '\n'])
                .to_owned(),
        );
    }
    expressions
}

/// Every expression of the dashboard's panels and variables.
fn expressions_of_dashboard() -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            Value::Object(fields) => {
                let texts = ["expr", "definition"].into_iter();
                let texts = texts.filter_map(|field| fields.get(field)?.as_str());
                found.extend(texts.map(ToOwned::to_owned));
                fields.values().for_each(|value| collect(value, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(
        &serde_json::from_str(&read("dashboard.json")).unwrap(),
        &mut found,
    );
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// The metrics that an expression names.
fn metrics_in(expression: &str) -> BTreeSet<&str> {
    words(expression)
        .filter(|word| word.starts_with("breaker_"))
        .collect()
}

/// The labels that an expression names: in braces before `=` or `!`, and in the parentheses of `by`
/// and `without`.
fn labels_in(expression: &str) -> BTreeSet<&str> {
    let mut labels = BTreeSet::new();
    for braces in expression.split('{').skip(1) {
        let (matchers, _) = braces.split_once('}').unwrap();
        for matcher in matchers.split(", ") {
            let (label, _) = matcher.split_once(['=', '!']).unwrap();
            labels.insert(label.trim());
        }
    }
    for grouping in ["by (", "without ("] {
        for grouped in expression.split(grouping).skip(1) {
            let (inside, _) = grouped.split_once(')').unwrap();
            labels.extend(words(inside));
        }
    }
    labels
}

/// What Prometheus adds itself, and what a histogram's buckets have.
const OF_PROMETHEUS: [&str; 3] = ["instance", "job", "le"];

#[tokio::test]
async fn what_they_name_is_there_and_what_is_there_is_shown() {
    let page = on_the_page().await;
    let (rules, dashboard) = (expressions_of_rules(), expressions_of_dashboard());
    assert!(rules.len() >= 12 && dashboard.len() >= 20);
    for expression in rules.iter().chain(&dashboard) {
        let metrics = metrics_in(expression);
        assert!(!metrics.is_empty(), "{expression}");
        let mut known: BTreeSet<&str> = OF_PROMETHEUS.into();
        for metric in metrics {
            let labels = page.get(metric);
            let labels = labels.unwrap_or_else(|| panic!("no {metric}, for {expression}"));
            known.extend(labels.iter().map(String::as_str));
        }
        for label in labels_in(expression) {
            assert!(known.contains(label), "no label {label}, for {expression}");
        }
    }
    // Of a histogram any part will do.
    let whole = |metric: &str| {
        let parts = ["_bucket", "_sum", "_count"];
        let whole = parts.iter().find_map(|part| metric.strip_suffix(part));
        whole.unwrap_or(metric).to_owned()
    };
    let shown: BTreeSet<_> = dashboard
        .iter()
        .flat_map(|shown| metrics_in(shown))
        .map(whole)
        .collect();
    for metric in page.keys() {
        assert!(shown.contains(&whole(metric)), "{metric} is not shown");
    }
}

#[test]
fn legends_name_labels_of_their_expressions() {
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).unwrap();
    let mut legends = 0;
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let legend = target["legendFormat"].as_str().unwrap();
            let labels = labels_in(target["expr"].as_str().unwrap());
            for label in legend.split("{{").skip(1) {
                let (label, _) = label.split_once("}}").unwrap();
                assert!(labels.contains(label), "{legend} of {}", panel["title"]);
                legends += 1;
            }
        }
    }
    assert!(legends > 15);
}

#[test]
fn panels_do_not_overlap_and_each_says_what_it_shows() {
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).unwrap();
    let (mut taken, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()));
        assert!(!panel["title"].as_str().unwrap().is_empty());
        assert!(panel["type"] == "row" || panel["description"].as_str().unwrap().len() > 10);
        let place = |side: &str| panel["gridPos"][side].as_u64().unwrap();
        assert!(place("x") + place("w") <= 24);
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "{} overlaps", panel["title"]);
            }
        }
    }
}

#[test]
fn each_alert_is_tested_both_ways_and_says_what_to_do() {
    let (rules, tests) = (read("alerts.yml"), read("alerts_test.yml"));
    let mut alerts = 0;
    for rule in rules.split("- alert: ").skip(1) {
        let (name, rule) = rule.split_once('\n').unwrap();
        for part in ["severity: ", "summary: ", "description: "] {
            assert!(rule.contains(part), "{name} has no {part}");
        }
        let cases: Vec<_> = tests
            .split(&format!("- alertname: {name}\n"))
            .skip(1)
            .collect();
        let is_quiet = |case: &&&str| {
            let rest = case.split_once("exp_alerts:").unwrap().1;
            rest.starts_with(" []")
        };
        let quiet = cases.iter().filter(is_quiet).count();
        assert!(quiet > 0, "{name} is never expected not to fire");
        assert!(quiet < cases.len(), "{name} is never expected to fire");
        alerts += 1;
    }
    assert!(alerts >= 12);
}

/// Prometheus' own tool: `cargo xtask test` says where it is. Without it these tests say so, and pass.
fn promtool() -> Option<OsString> {
    let promtool = env::var_os("PROMTOOL");
    if promtool.is_none() {
        println!("PROMTOOL names no promtool: not checked");
    }
    promtool
}

#[tokio::test]
async fn the_page_is_as_prometheus_wants_pages() {
    let page = full_page().await;
    let Some(promtool) = promtool() else { return };
    let mut check = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    check
        .stdin
        .take()
        .unwrap()
        .write_all(page.as_bytes())
        .unwrap();
    let checked = check.wait_with_output().unwrap();
    let said = [checked.stdout, checked.stderr].concat();
    assert!(
        checked.status.success() && said.is_empty(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}

#[test]
fn the_expressions_of_the_dashboard_are_promql() {
    let Some(promtool) = promtool() else { return };
    // As rules, which the tool reads; in place of Grafana's variables what they stand for.
    let mut rules = String::from("groups:\n  - name: dashboard\n    rules:\n");
    for (number, expression) in expressions_of_dashboard().iter().enumerate() {
        let expression = match expression.strip_prefix("label_values(") {
            Some(query) => match query.rsplit_once(", ") {
                Some((selector, _)) => selector.to_owned(),
                None => panic!("{expression}"),
            },
            None => expression.clone(),
        };
        let expression = expression
            .replace("$__rate_interval", "5m")
            .replace("$job", ".*")
            .replace("$instance", ".*")
            .replace("$breaker", ".*");
        assert!(!expression.contains('$'), "{expression}");
        let expression = expression.replace('\'', "''");
        rules += &format!("      - record: dashboard:{number}\n        expr: '{expression}'\n");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard.yml");
    std::fs::write(&file, rules).unwrap();
    let checked = Command::new(promtool)
        .args(["check", "rules"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
}
