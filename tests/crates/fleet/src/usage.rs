//! What a process costs: time on a processor, and memory, as Linux counts them.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long the threads of a process that live have run, all together.
///
/// # Panics
/// If there is no such process.
#[must_use]
pub fn cpu_of_process(pid: u32) -> Duration {
    threads(pid).map(|thread| ran(&thread)).sum()
}

/// How long its thread of this name has run.
///
/// # Panics
/// If there is no such process.
#[must_use]
pub fn cpu_of_thread(pid: u32, name: &str) -> Duration {
    // The system cuts longer ones.
    let name = &name[..name.len().min(15)];
    let is_it = |thread: &Path| {
        let its_name = fs::read_to_string(thread.join("comm"));
        its_name.is_ok_and(|its| its.trim_end() == name)
    };
    let named = threads(pid).filter(|thread| is_it(thread));
    named.map(|thread| ran(&thread)).sum()
}

/// How much memory it has, in bytes.
///
/// # Panics
/// If there is no such process.
#[must_use]
pub fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn threads(pid: u32) -> impl Iterator<Item = std::path::PathBuf> {
    let folder = fs::read_dir(format!("/proc/{pid}/task")).expect("a process");
    folder.flatten().map(|thread| thread.path())
}

/// In nanoseconds: what `stat` has is in hundredths of a second.
fn ran(thread: &Path) -> Duration {
    let text = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    let nanos = text
        .split_whitespace()
        .next()
        .and_then(|it| it.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
