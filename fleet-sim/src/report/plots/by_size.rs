//! How a figure grows with the fleet.

use plotters::prelude::*;

use super::style::{GRID, INK, PAPER, colour, for_dark_pages, line, text};
use super::{Plot, Undrawn};
use crate::report::numbers::grouped;
use crate::runs::Run;
use crate::scenario::Scenario;

/// A figure of each run.
pub(super) struct BySize {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) value: fn(&Run) -> f64,
}

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;

impl BySize {
    pub(super) fn draw(&self, runs: &[&Run]) -> Result<Plot, Undrawn> {
        let mut svg = String::new();
        self.draw_on(&mut svg, runs)?;
        Ok(Plot {
            name: self.name,
            svg: for_dark_pages(&svg),
        })
    }

    fn draw_on(&self, svg: &mut String, runs: &[&Run]) -> Result<(), Undrawn> {
        let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&PAPER)?;
        let sizes = runs.iter().map(|run| f64::from(run.instances));
        let widest = sizes.fold(10.0, f64::max) * 1.3;
        // A logarithm has no zero: what is nothing stands at the lower edge.
        let floor = 0.7;
        let values = runs.iter().map(|run| (self.value)(run));
        let highest = values.fold(10.0, f64::max) * 2.0;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, text(17))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(92)
            .build_cartesian_2d((8.0..widest).log_scale(), (floor..highest).log_scale())?;
        let number = |value: &f64| grouped(value.round() as u64);
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(text(14))
            .axis_desc_style(text(15))
            .x_desc("instances")
            .y_desc(self.unit)
            .x_labels(6)
            .y_labels(8)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .draw()?;
        for scenario in Scenario::ALL {
            let points: Vec<_> = runs
                .iter()
                .filter(|run| run.scenario == scenario)
                .map(|run| (f64::from(run.instances), (self.value)(run).max(floor)))
                .collect();
            if points.is_empty() {
                continue;
            }
            let colour = colour(scenario);
            chart
                .draw_series(LineSeries::new(points.clone(), line(colour)))?
                .label(scenario.name())
                .legend(move |(x, y)| legend(scenario, (x, y)));
            // Who can't tell the colours tells shared circuits by their triangles.
            if matches!(scenario, Scenario::Shared(_)) {
                let marks = points
                    .into_iter()
                    .map(|at| TriangleMarker::new(at, 6, colour.filled()));
                chart.draw_series(marks)?;
            } else {
                let marks = points
                    .into_iter()
                    .map(|at| Circle::new(at, 4, colour.filled()));
                chart.draw_series(marks)?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(PAPER.mix(0.85))
            .border_style(GRID)
            .label_font(text(14))
            .draw()?;
        root.present()?;
        Ok(())
    }
}

fn legend(scenario: Scenario, (x, y): (i32, i32)) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], line(colour(scenario)))
}
