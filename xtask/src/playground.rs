//! `cargo xtask playground`: the page in `examples/playground`, served on loopback.

use std::process::ExitCode;

use thiserror::Error;

use crate::npm;
use crate::wasm::{self, Unmade};

/// Where the page is, with its tests.
pub(crate) const FOLDER: &str = "examples/playground";

/// Why it isn't served.
#[derive(Debug, Error)]
enum Unserved {
    #[error(transparent)]
    Package(#[from] Unmade),
    #[error("{FOLDER}/scripts/serve.ts ended badly")]
    Ended,
}

pub(crate) fn job(options: &[String]) -> ExitCode {
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("can't serve the playground: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &[String]) -> Result<(), Unserved> {
    wasm::make()?;
    let mut serve = npm::typescript(&format!("{FOLDER}/scripts/serve.ts"));
    let ended = serve.args(options).status();
    let well = ended.is_ok_and(|status| status.success());
    well.then_some(()).ok_or(Unserved::Ended)
}
