//! An answer comes in pages, each of which is a request and is paid for.

use aws_sdk_costexplorer::Client;
use aws_sdk_costexplorer::types::{GroupDefinition, GroupDefinitionType};

use crate::error::CostsError;
use crate::query::Query;
use crate::report::{METRIC, Report};

/// An answer that is longer than this, nobody meant to pay for.
pub(crate) const MAX_PAGES: usize = 50;

/// Asks for all pages. They are one call: half an answer is none.
pub(crate) async fn all(client: &Client, query: &Query) -> Result<Report, CostsError> {
    let by_service = GroupDefinition::builder()
        .r#type(GroupDefinitionType::Dimension)
        .key("SERVICE")
        .build();
    let request = client
        .get_cost_and_usage()
        .time_period(query.dates.interval()?)
        .granularity(query.granularity.into())
        .metrics(METRIC)
        .group_by(by_service);
    let mut report = Report::default();
    let mut tokens: Vec<String> = Vec::new();
    while tokens.len() < MAX_PAGES {
        let page = request
            .clone()
            .set_next_page_token(tokens.last().cloned())
            .send()
            .await?;
        report.add(page.results_by_time());
        match page.next_page_token.filter(|token| !token.is_empty()) {
            None => return Ok(report),
            Some(token) if tokens.contains(&token) => return Err(CostsError::SamePage),
            Some(token) => tokens.push(token),
        }
    }
    Err(CostsError::TooManyPages(MAX_PAGES))
}
