//! Plays fleets of all sizes, and writes the guide's tables and plots. `cargo xtask fleet-sim`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io};

use clap::Parser;
use fleet_sim::partly;
use fleet_sim::report::{self, images, plots, table};
use fleet_sim::runs::{self, SEED, SIZES};
use indicatif::{ProgressBar, ProgressStyle};

/// What it is told.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask fleet-sim", about, long_about = None)]
struct Told {
    /// From what all is drawn that is left to chance: the same seed gives the same figures.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Fleets of up to 1,000 instances only, in seconds; nothing is written.
    #[arg(long)]
    quick: bool,
    /// The chapter whose tables are renewed, between its lines `<!-- fleet-sim -->`; the plots are
    /// written beside it, in the folder `fleet`.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

fn main() -> ExitCode {
    match play(&Told::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(told: &Told) -> Result<(), Box<dyn Error>> {
    let sizes = if told.quick { &SIZES[..3] } else { &SIZES[..] };
    let largest = if told.quick { 1_000 } else { u32::MAX };
    let bar = progress(runs::work(sizes) + partly::work(largest));
    let parts = partly::play_all(largest, told.seed, |done| bar.inc(done))?;
    let runs = runs::play_all(sizes, told.seed, |done| bar.inc(done));
    bar.finish_and_clear();
    let tables = table::tables(&runs) + &report::partly::tables(&parts);
    println!("{tables}");
    match &told.into {
        Some(chapter) if !told.quick => write(chapter, &tables, &plots::all(&runs)?),
        _ => Ok(()),
    }
}

/// Not to be seen where nobody looks: it writes nothing unless there is a terminal.
fn progress(work: u64) -> ProgressBar {
    let bar = ProgressBar::new(work);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn write(chapter: &PathBuf, tables: &str, plots: &[plots::Plot]) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(chapter)?;
    let text = table::put_into(&text, tables).ok_or_else(|| {
        io::Error::other("the chapter has no lines `<!-- fleet-sim -->` and `<!-- /fleet-sim -->`")
    })?;
    let folder = chapter.with_file_name("fleet");
    fs::create_dir_all(&folder)?;
    for plot in plots {
        fs::write(folder.join(plot.name).with_extension("svg"), &plot.svg)?;
    }
    fs::write(folder.join("images.md"), images::definitions(plots))?;
    fs::write(chapter, text)?;
    Ok(())
}
