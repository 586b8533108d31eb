//! Costs, made up but always the same, in pages.

use std::ops::Range;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use serde_json::{Value, json};

use super::protocol::{Asked, Exception, TimePeriod};

const SERVICES: [&str; 3] = [
    "Amazon Elastic Compute Cloud - Compute",
    "Amazon Simple Storage Service",
    "AWS Lambda",
];

/// Rows on a page. A day's services may come on two.
const ROWS: usize = 8;

const DAY: i64 = 24 * 60 * 60;

/// The page that is asked for. `to_itself`: it says that it is followed by itself.
pub(super) fn of(asked: &Asked, to_itself: bool) -> Result<Value, Exception> {
    let days = days(&asked.request.time_period)?;
    let first = first_row(asked)?;
    let rows = days.len() * SERVICES.len();
    let page = first..rows.min(first + ROWS);
    let mut body = json!({
        "GroupDefinitions": [{ "Type": "DIMENSION", "Key": "SERVICE" }],
        "ResultsByTime": results(&asked.account, &days, page.clone()),
        "DimensionValueAttributes": [],
    });
    if to_itself || page.end < rows {
        body["NextPageToken"] = token(asked, if to_itself { first } else { page.end }).into();
    }
    Ok(body)
}

/// The days of a period, each as its name and the next one's.
fn days(period: &TimePeriod) -> Result<Vec<[String; 2]>, Exception> {
    let (start, end) = (parse(&period.start)?, parse(&period.end)?);
    if start >= end {
        return Err(Exception::invalid(
            "Start date (and hour) should be before end date (and hour)",
        ));
    }
    // 14 months are what the service keeps.
    if (end - start) / DAY > 430 {
        return Err(Exception::invalid(
            "the period is longer than data are kept for",
        ));
    }
    let name = |seconds| -> String {
        let time = DateTime::from_secs(seconds)
            .fmt(Format::DateTime)
            .unwrap_or_default();
        time.chars().take(period.start.len()).collect()
    };
    Ok((0..(end - start) / DAY)
        .map(|day| [name(start + day * DAY), name(start + (day + 1) * DAY)])
        .collect())
}

/// The seconds since 1970 at which a day begins.
fn parse(day: &str) -> Result<i64, Exception> {
    DateTime::from_str(&format!("{day}T00:00:00Z"), Format::DateTime)
        .map(|time| time.secs())
        .map_err(|_| Exception::invalid("a date is written as YYYY-MM-DD"))
}

/// A token names the first row of its page, and the question that it belongs to.
fn token(asked: &Asked, row: usize) -> String {
    let TimePeriod { start, end } = &asked.request.time_period;
    format!("{start}/{end}/{row}")
}

fn first_row(asked: &Asked) -> Result<usize, Exception> {
    let Some(given) = &asked.request.next_page_token else {
        return Ok(0);
    };
    let row = given.rsplit('/').next().and_then(|row| row.parse().ok());
    match row {
        None => Err(Exception::of_client(
            "InvalidNextTokenException",
            "the token is none",
        )),
        Some(row) if *given != token(asked, row) => Err(Exception::of_client(
            "RequestChangedException",
            "the token is of another question",
        )),
        Some(row) => Ok(row),
    }
}

/// Rows, grouped by day.
fn results(account: &str, days: &[[String; 2]], rows: Range<usize>) -> Vec<Value> {
    let mut results: Vec<(usize, Vec<Value>)> = Vec::new();
    for row in rows {
        let (day, service) = (row / SERVICES.len(), row % SERVICES.len());
        let group = json!({
            "Keys": [SERVICES[service]],
            "Metrics": { "UnblendedCost": { "Amount": amount(account, day, service), "Unit": "USD" } },
        });
        match results.last_mut() {
            Some((last, groups)) if *last == day => groups.push(group),
            _ => results.push((day, vec![group])),
        }
    }
    let result = |(day, groups): (usize, Vec<Value>)| {
        let [start, end] = &days[day];
        json!({
            "TimePeriod": { "Start": start, "End": end },
            "Total": {},
            "Groups": groups,
            "Estimated": day + 1 == days.len(),
        })
    };
    results.into_iter().map(result).collect()
}

/// As long as AWS's own amounts are.
fn amount(account: &str, day: usize, service: usize) -> String {
    let account: usize = account.bytes().map(usize::from).sum();
    let millionths = (account * 7_919 + day * 104_729 + service * 1_299_709) * 31 % 90_000_000;
    format!(
        "{}.{:06}0472",
        millionths / 1_000_000,
        millionths % 1_000_000
    )
}
