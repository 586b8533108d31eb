//! Telling the test what is seen, from a thread of its own: nothing that is timed waits for it.

use std::io::Write;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use breakerbox::observe::{
    KeyEvicted, Observer, SharingDiffers, SharingLost, SharingRestored, StateChange,
};
use test_fleet::plan::{Line, Saw};
use test_fleet::wait::monotonic;

/// Tells; all clones of it tell the same.
#[derive(Clone, Debug)]
pub(crate) struct Teller {
    lines: Sender<Option<Line>>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Teller {
    pub(crate) fn start() -> Self {
        let (lines, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut output = std::io::stdout().lock();
            while let Ok(Some(line)) = told.recv() {
                let Ok(mut text) = serde_json::to_string(&line) else {
                    continue;
                };
                text.push('\n');
                if output
                    .write_all(text.as_bytes())
                    .and_then(|()| output.flush())
                    .is_err()
                {
                    return;
                }
            }
        });
        Self {
            lines,
            thread: Arc::new(Mutex::new(Some(thread))),
        }
    }

    pub(crate) fn tell(&self, saw: Saw) {
        let at = monotonic();
        let _ = self.lines.send(Some(Line { at, saw }));
    }

    /// Once all is told.
    pub(crate) fn end(&self) {
        let _ = self.lines.send(None);
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Observer for Teller {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.tell(Saw::Changed {
            key: event.key.map(|key| key.unescaped().to_string()),
            to: event.change.to.as_str().into(),
            by: event.change.trigger.as_str().into(),
        });
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        self.tell(Saw::GaveUp {
            key: event.key.unescaped().to_string(),
        });
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        self.tell(Saw::Lost {
            error: event.error.to_string(),
        });
    }

    fn sharing_restored(&self, _: &SharingRestored<'_>) {
        self.tell(Saw::Restored);
    }

    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        let differences = event.differences.iter().map(ToString::to_string);
        self.tell(Saw::Differs {
            differences: differences.collect::<Vec<_>>().join("; "),
        });
    }
}
