//! What it was measured on.

use std::fs;
use std::thread;

/// The processor and the system, without names of hosts.
pub(crate) fn describe() -> String {
    let processor = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| model(&text))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let cores = match cores {
        1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    };
    let profile = if cfg!(debug_assertions) {
        "without optimisation"
    } else {
        "release profile, no LTO"
    };
    format!("{processor}, {cores}, {}, {profile}", std::env::consts::OS)
}

fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::model;

    #[test]
    fn finds_the_processor() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(model(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model("Hardware : board"), None);
    }
}
