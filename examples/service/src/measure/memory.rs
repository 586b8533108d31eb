//! How much memory a process holds.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::interval;

/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(100);

/// Watches a process's memory.
#[derive(Debug)]
pub(super) struct Memory {
    samples: Arc<Mutex<Vec<u64>>>,
    task: JoinHandle<()>,
}

impl Memory {
    pub(super) fn watch(process: u32) -> Self {
        let samples = Arc::default();
        let task = tokio::spawn(sample(process, Arc::clone(&samples)));
        Self { samples, task }
    }

    /// What came before is forgotten: it was the warm-up.
    pub(super) fn begin(&self) {
        lock(&self.samples).clear();
    }

    /// KiB at both ends: the medians of the first and of the last quarter. `None` where
    /// the system doesn't say (Linux does).
    pub(super) fn ends(&self) -> Option<(u64, u64)> {
        let samples = lock(&self.samples);
        let quarter = samples.len().div_ceil(4);
        let first = median(samples.get(..quarter)?)?;
        let last = median(samples.get(samples.len() - quarter..)?)?;
        Some((first, last))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn sample(process: u32, samples: Arc<Mutex<Vec<u64>>>) {
    let mut ticks = interval(EVERY);
    loop {
        ticks.tick().await;
        lock(&samples).extend(resident(process));
    }
}

/// KiB that are in memory.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn median(samples: &[u64]) -> Option<u64> {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied()
}

fn lock(samples: &Mutex<Vec<u64>>) -> std::sync::MutexGuard<'_, Vec<u64>> {
    samples.lock().unwrap_or_else(PoisonError::into_inner)
}
