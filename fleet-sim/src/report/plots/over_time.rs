//! What the service sees over time, a panel for each scenario.

use plotters::prelude::*;

use super::style::{GRID, INK, PAPER, colour, for_dark_pages, line, text};
use super::{Plot, Undrawn};
use crate::clock::SECOND;
use crate::figures::{TICK, Tick};
use crate::runs::Run;
use crate::scenario::Conditions;

const WIDTH: u32 = 900;
const PANEL: u32 = 210;

/// Until so many seconds after the failure.
const SHOWN: f64 = 60.0;

/// Above what the fleet asks of the service when all is well.
const HIGHEST: f64 = 125.0;

pub(super) fn draw(name: &'static str, runs: &[&Run]) -> Result<Plot, Undrawn> {
    let mut svg = String::new();
    draw_on(&mut svg, runs)?;
    Ok(Plot {
        name,
        svg: for_dark_pages(&svg),
    })
}

fn draw_on(svg: &mut String, runs: &[&Run]) -> Result<(), Undrawn> {
    let rows = runs.len().div_ceil(2).max(1);
    let height = PANEL * rows as u32 + 40;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&PAPER)?;
    let title = "Requests that reach the service (line), and that it answers in time (area)";
    let panels = root.titled(title, text(17))?.split_evenly((rows, 2));
    for (run, panel) in runs.iter().zip(&panels) {
        draw_panel(run, panel)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel<'a>(
    run: &Run,
    panel: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
) -> Result<(), Undrawn> {
    let mut chart = ChartBuilder::on(panel)
        .caption(run.scenario.name(), text(15))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(58)
        .build_cartesian_2d(-2.0..SHOWN, 0.0..HIGHEST)?;
    let down = down(run);
    chart.draw_series([Rectangle::new(down, INK.mix(0.10).filled())])?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(text(13))
        .axis_desc_style(text(13))
        .x_desc("seconds since it failed")
        .y_desc("% of the usual")
        .x_labels(8)
        .y_labels(5)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    let colour = colour(run.scenario);
    let answered = share(run, |tick| tick.answered);
    let area = AreaSeries::new(answered, 0.0, colour.mix(0.35).filled());
    chart.draw_series(area)?;
    let requests = share(run, |tick| tick.requests);
    chart.draw_series(LineSeries::new(requests, line(colour)))?;
    Ok(())
}

/// In percent of what the fleet asks when all is well.
fn share(run: &Run, of: impl Fn(&Tick) -> u32) -> Vec<(f64, f64)> {
    let conditions = Conditions::of(run.comeback);
    let each = conditions.calls_a_second * TICK as f64 / SECOND as f64;
    let usual = f64::from(run.instances) * each;
    let fails = conditions.fails as f64;
    let time = |at: usize| (at as f64 * TICK as f64 - fails) / SECOND as f64;
    let ticks = run.figures.ticks.iter().enumerate();
    ticks
        .map(|(at, tick)| (time(at), (f64::from(of(tick)) / usual * 100.0).min(HIGHEST)))
        .take_while(|(time, _)| *time <= SHOWN)
        .collect()
}

/// While the service is down.
fn down(run: &Run) -> [(f64, f64); 2] {
    let Conditions {
        fails, comes_back, ..
    } = Conditions::of(run.comeback);
    let lasts = (comes_back - fails) as f64 / SECOND as f64;
    [(0.0, 0.0), (lasts, HIGHEST)]
}
