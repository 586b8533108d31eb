//! A subscriber as services have it: its lines are JSON, and are read as such.

use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// What was written.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// A subscriber that writes everything here, the end of spans too.
    pub(crate) fn subscriber(&self) -> impl Subscriber + Send + Sync + use<> {
        tracing_subscriber::fmt()
            .json()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(self.clone())
            .finish()
    }

    /// The lines so far, and none of them again.
    pub(crate) fn take(&self) -> Vec<Value> {
        let written = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(written).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
