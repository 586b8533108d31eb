//! What comes of a query.

use std::fmt;

use aws_sdk_costexplorer::types::{Group, ResultByTime};
use serde::{Deserialize, Serialize};

/// What is asked for of each service: costs as charged, not averaged over an organization.
pub(crate) const METRIC: &str = "UnblendedCost";

/// Costs by day and service, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One for each day, or month.
    pub periods: Vec<Period>,
}

/// What a day, or month, cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its first day.
    pub from: String,
    /// It may still change: AWS has not finished billing it.
    pub estimated: bool,
    /// By service.
    pub costs: Vec<Cost>,
}

/// What a service cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// As AWS calls it.
    pub service: String,
    /// As AWS writes it: money is not rounded on its way.
    pub amount: String,
    /// The currency.
    pub unit: String,
}

impl Report {
    /// Adds a page. A day whose services are on two pages stays one day.
    pub(crate) fn add(&mut self, page: &[ResultByTime]) {
        for result in page {
            let from = result
                .time_period()
                .map_or_else(String::new, |period| period.start().to_owned());
            let costs = result.groups().iter().filter_map(cost);
            match self.periods.last_mut() {
                Some(last) if last.from == from => last.costs.extend(costs),
                _ => self.periods.push(Period {
                    from,
                    estimated: result.estimated(),
                    costs: costs.collect(),
                }),
            }
        }
    }
}

fn cost(group: &Group) -> Option<Cost> {
    let metric = group.metrics()?.get(METRIC)?;
    Some(Cost {
        service: group.keys().first()?.clone(),
        amount: metric.amount()?.to_owned(),
        unit: metric.unit().unwrap_or_default().to_owned(),
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for period in &self.periods {
            let estimated = if period.estimated { " (estimated)" } else { "" };
            writeln!(f, "{}{estimated}", period.from)?;
            for Cost {
                service,
                amount,
                unit,
            } in &period.costs
            {
                writeln!(f, "  {service}: {amount} {unit}")?;
            }
        }
        Ok(())
    }
}
