//! The tables and plots of the guide's chapter are what the simulation gives today.

use breaker_core::ConfigError;
use fleet_sim::partly;
use fleet_sim::report::{self, table};
use fleet_sim::runs::{self, SEED};

const CHAPTER: &str = include_str!("../../src/guide/sharing.md");
const DEFINITIONS: &str = include_str!("../../src/guide/fleet/images.md");

#[test]
fn the_small_rows_of_the_chapter_are_what_comes_out_today() {
    let runs = runs::play_all(&[10, 100], SEED, |_| {});
    let rows = table::rows(&runs).into_iter();
    let missing: Vec<_> = rows.filter(|row| !CHAPTER.contains(row.as_str())).collect();
    assert!(
        missing.is_empty(),
        "src/guide/sharing.md is out of date: run `cargo xtask fleet-sim`. It lacks\n{}",
        missing.concat()
    );
}

#[test]
fn the_same_seed_gives_the_same_figures_and_another_one_others() {
    let play = |seed| runs::play_all(&[10, 100], seed, |_| {});
    let first = play(SEED);
    assert_eq!(first, play(SEED));
    assert_ne!(first, play(SEED + 1));
}

#[test]
fn the_plots_that_the_chapter_shows_are_there() {
    for name in ["warm", "cold", "dead", "probes", "commands", "messages"] {
        assert!(CHAPTER.contains(&format!("][{name}]")), "{name}");
        assert!(
            CHAPTER.contains(&format!("[{name}]: fleet/{name}.svg")),
            "{name}"
        );
        let begins = format!("[{name}]: data:image/svg+xml;base64,");
        assert!(DEFINITIONS.contains(&begins), "{name}");
    }
}

#[test]
fn the_small_rows_of_fleets_of_which_a_part_fails_are_what_comes_out_today()
-> Result<(), ConfigError> {
    let runs = partly::play_all(20, SEED, |_| {})?;
    assert!(!runs.keys.is_empty() && !runs.rates.is_empty());
    let rows = report::partly::rows(&runs).into_iter();
    let missing: Vec<_> = rows.filter(|row| !CHAPTER.contains(row.as_str())).collect();
    assert!(
        missing.is_empty(),
        "src/guide/sharing.md is out of date: run `cargo xtask fleet-sim`. It lacks\n{}",
        missing.concat()
    );
    assert_eq!(runs, partly::play_all(20, SEED, |_| {})?);
    assert_ne!(runs, partly::play_all(20, SEED + 1, |_| {})?);
    Ok(())
}
