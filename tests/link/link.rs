//! A link that writes down all that it is asked and told.

use breakerbox::link::{Kept, Link, Linked};
use breakerbox::{Change, Effect, Generation, Outcome};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) struct Written {
    lines: Mutex<Vec<String>>,
    answer: Mutex<Result<(), Duration>>,
    kept: Mutex<Vec<(String, Kept)>>,
}

impl Written {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            lines: Mutex::default(),
            answer: Mutex::new(Ok(())),
            kept: Mutex::default(),
        })
    }

    /// What it was asked and told since this was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }

    /// What it will answer to who wants to probe.
    pub(crate) fn will_say(&self, answer: Result<(), Duration>) {
        *self.answer.lock().unwrap() = answer;
    }

    /// What it keeps of the key of this label.
    pub(crate) fn kept(&self, label: &str) -> Kept {
        let kept = self.kept.lock().unwrap();
        let found = kept.iter().rev().find(|(key, _)| key == label);
        found.unwrap().1.clone()
    }

    fn write(&self, circuit: &Linked<'_>, line: &str) {
        // It is of the circuit that it hears of.
        assert_eq!(
            circuit.key().map(|key| key.to_string()),
            circuit.breaker().key().map(|key| key.to_string())
        );
        let line = match circuit.key() {
            Some(key) => format!("[{key}] {line}"),
            None => line.to_owned(),
        };
        self.lines.lock().unwrap().push(line);
    }
}

impl Link for Written {
    fn changed(&self, circuit: &Linked<'_>, change: &Change) {
        assert_eq!(circuit.breaker().generation(), change.generation);
        let Change {
            from, to, trigger, ..
        } = change;
        self.write(circuit, &format!("{from} -> {to}: {trigger}"));
    }

    fn settled(
        &self,
        circuit: &Linked<'_>,
        generation: Generation,
        outcome: &Outcome,
        effect: &Effect,
    ) {
        let effect = match effect {
            Effect::Late => "late",
            Effect::Neutral => "neutral",
            Effect::Counted => "counted",
            Effect::Tripped(_) => "tripped",
            Effect::Closed(_) => "closed",
            Effect::WouldTrip(_) => "would trip",
            _ => "something else",
        };
        let number = generation.get();
        self.write(circuit, &format!("{outcome:?} of {number}: {effect}"));
    }

    fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration> {
        self.write(circuit, "may it probe?");
        *self.answer.lock().unwrap()
    }

    fn time_left(&self, _: &Linked<'_>) -> Duration {
        self.answer.lock().unwrap().err().unwrap_or_default()
    }

    fn probe_withdrawn(&self, circuit: &Linked<'_>) {
        self.write(circuit, "it does not probe");
    }

    fn key_added(&self, circuit: &Linked<'_>) {
        let label = circuit.key().unwrap().to_string();
        let kept = circuit.keep().unwrap();
        self.kept.lock().unwrap().push((label, kept));
        self.write(circuit, "is new");
    }

    fn key_given_up(&self, circuit: &Linked<'_>) {
        self.write(circuit, "was given up");
    }
}
