//! What the page shows, under a version that grows with every change: so that who has seen one
//! needs to be told only what changed since.

use super::collector::{Collector, Watched, unix_now};
use super::counts::{seconds, slice};
use super::document::{Breaker, Changed, Circuit, Detail, Document, Entry, FORMAT, Rates, millis};
use super::history::Entered;
use super::listed::{self, Group};
use super::reading::Reading;
use crate::observe::CircuitId;
use crate::registry::Found;
use hashbrown::HashSet;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So many circuits that left are remembered; who has seen an older version is told everything.
const GONE: usize = 20_000;

/// What was seen: of which process, and which version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    process: String,
    version: u64,
}

impl Seen {
    /// Reads `PROCESS.VERSION`; `None` where it is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (process, version) = text.rsplit_once('.')?;
        Some(Self {
            process: process.to_owned(),
            version: version.parse().ok()?,
        })
    }
}

/// What doesn't change while the process runs.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) title: String,
    /// Another one each time the process starts.
    pub(super) process: String,
    pub(super) refresh: Duration,
    pub(super) actions: Vec<&'static str>,
}

pub(super) struct Publisher {
    collector: Arc<Collector>,
    fixed: Fixed,
    published: Mutex<Published>,
}

#[derive(Default)]
pub(super) struct Published {
    version: u64,
    /// When it was collected: by the collector, and as Unix time.
    at: Option<u64>,
    now: u64,
    rates_seconds: u64,
    breakers: BTreeMap<String, (u64, Breaker)>,
    circuits: BTreeMap<u64, Record>,
    gone: VecDeque<(u64, u64)>,
    /// The first version of which all that left since are remembered.
    gone_since: u64,
}

struct Record {
    circuit: Circuit,
    reading: Reading,
    identity: CircuitId,
    /// The version that changed it, but for its rates; and that changed anything.
    whole: u64,
    any: u64,
}

/// A circuit that somebody named by its number.
pub(super) struct Named {
    pub(super) watched: Arc<Watched>,
    pub(super) found: Found,
}

impl Publisher {
    pub(super) fn new(collector: Arc<Collector>, fixed: Fixed) -> Self {
        Self {
            collector,
            fixed,
            published: Mutex::default(),
        }
    }

    pub(super) fn process(&self) -> &str {
        &self.fixed.process
    }

    /// Everything, or what changed since a version that was seen; and its version. Nobody but the
    /// page waits for what is locked here.
    pub(super) fn document(&self, seen: Option<&Seen>) -> (u64, Vec<u8>) {
        let published = self.fresh(false);
        let since = seen
            .filter(|seen| seen.process == self.fixed.process)
            .map(|seen| seen.version)
            .filter(|since| (published.gone_since..=published.version).contains(since));
        let document = published.document(&self.fixed, since);
        (published.version, json(&document))
    }

    /// The version, without the document.
    pub(super) fn version(&self) -> u64 {
        self.fresh(false).version
    }

    /// One circuit, with its history; `None` where there is none of this number.
    pub(super) fn detail(&self, number: u64, anew: bool) -> Option<Vec<u8>> {
        let published = self.fresh(anew);
        let record = published.circuits.get(&number)?;
        let circuit = &record.circuit;
        let watched = self.collector.known(record.identity)?;
        // Copied, so that the circuit's next change doesn't wait for the text.
        let history: Vec<Entered> = watched.history().entries().cloned().collect();
        let entry = |entered| Entry::new(entered);
        Some(json(&Detail {
            format: FORMAT,
            process: &self.fixed.process,
            now: published.now,
            circuit,
            history: history.iter().map(entry).collect(),
        }))
    }

    /// The breaker that has this number on the page, if it is there still.
    pub(super) fn named(&self, number: u64) -> Option<Named> {
        let identity = self.lock().circuits.get(&number)?.identity;
        let watched = self.collector.known(identity)?;
        let found = listed::find(&watched, identity)?;
        (watched.number == number).then_some(Named { watched, found })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Published> {
        let published = self.published.lock();
        published.unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self, anew: bool) -> MutexGuard<'_, Published> {
        let mut published = self.lock();
        let at = self.collector.elapsed();
        let old = published.at.is_none_or(|before| {
            Duration::from_millis(at.saturating_sub(before)) >= self.fixed.refresh
        });
        if old || anew {
            published.collect(&self.collector, at);
        }
        published
    }
}

impl Published {
    fn collect(&mut self, collector: &Collector, at: u64) {
        let later = collector.next_number();
        let groups = listed::all();
        self.at = Some(at);
        self.now = unix_now();
        let slice = slice(at);
        self.rates_seconds = seconds(slice);
        let next = self.version + 1;
        let mut changed = false;
        let mut identities = HashSet::new();
        let mut numbers = HashSet::new();
        let mut names = HashSet::new();
        for Group { breaker, circuits } in groups {
            for found in circuits {
                let watched = collector.listed(&found, &breaker.name);
                identities.insert(found.circuit_id());
                numbers.insert(watched.number);
                changed |= self.note(&watched, &found, slice, next);
            }
            names.insert(breaker.name.clone());
            changed |= self.note_breaker(breaker, next);
        }
        collector.keep(&identities, later);
        let before = self.breakers.len();
        self.breakers.retain(|name, _| names.contains(name));
        changed |= before != self.breakers.len();
        let known = self.circuits.keys().copied();
        let gone: Vec<u64> = known.filter(|number| !numbers.contains(number)).collect();
        for number in &gone {
            self.circuits.remove(number);
        }
        changed |= !gone.is_empty();
        self.gone
            .extend(gone.into_iter().map(|number| (next, number)));
        while self.gone.len() > GONE {
            if let Some((version, _)) = self.gone.pop_front() {
                self.gone_since = version;
            }
        }
        if changed {
            self.version = next;
        }
    }

    fn note_breaker(&mut self, breaker: Breaker, next: u64) -> bool {
        let known = self.breakers.get(&breaker.name);
        if known.is_some_and(|(_, known)| *known == breaker) {
            return false;
        }
        self.breakers.insert(breaker.name.clone(), (next, breaker));
        true
    }

    fn note(&mut self, watched: &Watched, found: &Found, slice: u64, next: u64) -> bool {
        let known = self.circuits.get_mut(&watched.number);
        let before = known.as_ref().map(|record| &record.reading);
        let reading = Reading::new(watched, found, self.now, before);
        let rates: Rates = watched.counts.before(slice).into();
        let Some(record) = known else {
            let record = Record {
                circuit: reading.circuit(watched, found, rates, self.now),
                reading,
                identity: found.circuit_id(),
                whole: next,
                any: next,
            };
            self.circuits.insert(watched.number, record);
            return true;
        };
        if record.reading != reading {
            record.circuit = reading.circuit(watched, found, rates, self.now);
            record.reading = reading;
            record.whole = next;
        } else if record.circuit.rates != rates {
            record.circuit.rates = rates;
        } else {
            return false;
        }
        record.any = next;
        true
    }

    fn document<'a>(&'a self, fixed: &'a Fixed, since: Option<u64>) -> Document<'a> {
        let breakers = self.breakers.values();
        let new = |version: u64| since.is_none_or(|since| version > since);
        let circuits = self.circuits.values().filter(|record| new(record.any));
        Document {
            format: FORMAT,
            title: &fixed.title,
            process: &fixed.process,
            version: self.version,
            now: self.now,
            complete: since.is_none(),
            refresh_ms: millis(fixed.refresh),
            rates_seconds: self.rates_seconds,
            actions: &fixed.actions,
            breakers: breakers
                .filter(|(version, _)| new(*version))
                .map(|(_, breaker)| breaker)
                .collect(),
            circuits: circuits
                .map(|record| {
                    if new(record.whole) {
                        Changed::Whole(&record.circuit)
                    } else {
                        Changed::Rates {
                            id: &record.circuit.id,
                            rates: record.circuit.rates,
                        }
                    }
                })
                .collect(),
            gone: match since {
                None => Vec::new(),
                Some(since) => {
                    let newer = self.gone.iter().filter(|(version, _)| *version > since);
                    newer.map(|(_, number)| number.to_string()).collect()
                }
            },
        }
    }
}

fn json(document: &impl serde::Serialize) -> Vec<u8> {
    // Maps have text for keys and nothing refuses to be written.
    serde_json::to_vec(document).unwrap_or_default()
}

#[cfg(test)]
mod tests;
