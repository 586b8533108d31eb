//! A hotel's booking front in production. See the README beside this.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use service::args::{Command, Told};
use service::{demo, measure, service as serving};

#[tokio::main]
async fn main() -> ExitCode {
    let told = Told::parse();
    let ended = match &told.command {
        None => demo::play(&told.play).await.map(|()| true),
        Some(Command::Serve(serve)) => serving::serve(serve).await.map(|()| true),
        Some(Command::Load(load)) => measure::measure(load).await,
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Who reads the output has closed it, as `head` does.
        Err(error) if has_seen_enough(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody to tell that it could not be written.
            let _ = writeln!(io::stderr(), "{}", Causes(&*error));
            ExitCode::FAILURE
        }
    }
}

fn has_seen_enough(error: &(dyn Error + 'static)) -> bool {
    let error: Option<&io::Error> = error.downcast_ref();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// An error, and what it came of.
struct Causes<'a>(&'a dyn Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
