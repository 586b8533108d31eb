//! Every option: what it is called, what it expects, where it may stand.

/// One option.
pub(crate) struct Info {
    pub(crate) name: &'static str,
    pub(crate) part: Part,
    /// What the value is, with its article: "a whole number".
    pub(crate) expects: &'static str,
    /// A value that could stand there. Empty: the option takes none.
    pub(crate) example: &'static str,
}

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A setting of a breaker: at home wherever one is declared.
    Breaker,
    /// Which breaker, and what becomes of a call: the attribute only.
    Call,
    /// The path of the library: everywhere.
    Library,
}

const fn info(
    name: &'static str,
    part: Part,
    expects: &'static str,
    example: &'static str,
) -> Info {
    Info {
        name,
        part,
        expects,
        example,
    }
}

pub(crate) static OPTIONS: [Info; 30] = [
    info("name", Part::Breaker, "a string", "\"pms\""),
    info("threshold", Part::Breaker, "a whole number", "5"),
    info("failure_rate", Part::Breaker, "a share from 0 to 1", "0.5"),
    info(
        "window",
        Part::Breaker,
        "a number of calls or a duration",
        "100",
    ),
    info("min_calls", Part::Breaker, "a whole number", "20"),
    info("slow", Part::Breaker, "a duration", "\"2s\""),
    info("slow_rate", Part::Breaker, "a share from 0 to 1", "0.5"),
    info("reset", Part::Breaker, "a duration", "\"30s\""),
    info("backoff", Part::Breaker, "a factor, 1 or more", "2.0"),
    info("max_reset", Part::Breaker, "a duration", "\"5m\""),
    info("jitter", Part::Breaker, "a share from 0 to 1", "0.1"),
    info("probes", Part::Breaker, "a whole number", "1"),
    info("close_after", Part::Breaker, "a whole number", "2"),
    info("close_rate", Part::Breaker, "a share from 0 to 1", "0.5"),
    info("probe_timeout", Part::Breaker, "a duration", "\"60s\""),
    info(
        "on_cancel",
        Part::Breaker,
        "`ignore` or `failure`",
        "failure",
    ),
    info("breaker", Part::Call, "a breaker", "PMS"),
    info("shared", Part::Call, "", ""),
    info(
        "key",
        Part::Call,
        "an expression over the parameters",
        "hotel",
    ),
    info("max_keys", Part::Call, "a whole number", "1000"),
    info(
        "classify",
        Part::Call,
        "a function or closure over the error",
        "is_transient",
    ),
    info(
        "classify_output",
        Part::Call,
        "a function or closure over the whole output",
        "|output| output.is_none()",
    ),
    info("timeout", Part::Call, "a duration", "\"2s\""),
    info(
        "fallback",
        Part::Call,
        "a function, a call or a closure",
        "cached",
    ),
    info("fallback_on", Part::Call, "`any` or `open`", "open"),
    info("last_good", Part::Call, "last-good answers", "COSTS"),
    info(
        "last_good_key",
        Part::Call,
        "an expression over the parameters",
        "hotel",
    ),
    info(
        "open_error",
        Part::Call,
        "a function or closure that makes the error",
        "|refused| MyError::from(refused)",
    ),
    info(
        "timeout_error",
        Part::Call,
        "a function or closure that makes the error",
        "|late| MyError::from(late)",
    ),
    info("crate", Part::Library, "a path", "my_breakerbox"),
];

/// What the same thing is called elsewhere.
const ELSEWHERE: [(&str, &str); 63] = [
    ("failure_threshold", "threshold"),
    ("failures", "threshold"),
    ("max_failures", "threshold"),
    ("consecutive_failures", "threshold"),
    ("failure_rate_threshold", "failure_rate"),
    ("failure_ratio", "failure_rate"),
    ("rate", "failure_rate"),
    ("failure_percentage", "failure_rate"),
    ("error_rate", "failure_rate"),
    ("error_threshold_percentage", "failure_rate"),
    ("sliding_window", "window"),
    ("sliding_window_size", "window"),
    ("window_size", "window"),
    ("sampling_duration", "window"),
    ("minimum_number_of_calls", "min_calls"),
    ("minimum_throughput", "min_calls"),
    ("min_throughput", "min_calls"),
    ("volume_threshold", "min_calls"),
    ("slow_call_duration", "slow"),
    ("slow_call_duration_threshold", "slow"),
    ("slow_call_rate_threshold", "slow_rate"),
    ("reset_timeout", "reset"),
    ("recovery_timeout", "reset"),
    ("open_timeout", "reset"),
    ("open_duration", "reset"),
    ("break_duration", "reset"),
    ("reset_after", "reset"),
    ("wait", "reset"),
    ("wait_duration_in_open_state", "reset"),
    ("delay", "reset"),
    ("retry_after", "reset"),
    ("cooldown", "reset"),
    ("success_threshold", "close_after"),
    ("successes", "close_after"),
    ("half_open_max_calls", "probes"),
    ("half_open_calls", "probes"),
    ("half_open", "probes"),
    ("permitted_calls", "probes"),
    ("permitted_number_of_calls_in_half_open_state", "probes"),
    ("call_timeout", "timeout"),
    ("exclude", "classify"),
    ("ignore_errors", "classify"),
    ("ignore_exceptions", "classify"),
    ("record_exceptions", "classify"),
    ("is_failure", "classify"),
    ("on_error", "classify"),
    ("predicate", "classify"),
    ("on_open", "fallback"),
    ("fallback_method", "fallback"),
    ("recover", "fallback"),
    ("error_mapper", "open_error"),
    ("circuit", "breaker"),
    ("keyed_by", "key"),
    ("key_by", "key"),
    ("per", "key"),
    ("cache", "last_good"),
    ("stale", "last_good"),
    ("stale_if_error", "last_good"),
    ("last_known_good", "last_good"),
    ("last_answer", "last_good"),
    ("cache_key", "last_good_key"),
    ("capacity", "max_keys"),
    ("max_size", "max_keys"),
];

pub(crate) fn find(name: &str) -> Option<&'static Info> {
    OPTIONS.iter().find(|info| info.name == name)
}

/// The option that was probably meant by `name`, if any is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let name = snake_case(name);
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| *theirs == name) {
        return Some(ours);
    }
    breaker_text::nearest(&name, OPTIONS.iter().map(|info| info.name))
}

/// `resetTimeout` as it is written here: `reset_timeout`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut after_small = false;
    for sign in name.chars() {
        if after_small && sign.is_uppercase() {
            snake.push('_');
        }
        after_small = sign.is_lowercase();
        snake.extend(sign.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, find, nearest};

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        for (written, meant) in [
            ("treshold", "threshold"),
            ("threshhold", "threshold"),
            ("thershold", "threshold"),
            ("Threshold", "threshold"),
            ("rest", "reset"),
            ("maxreset", "max_reset"),
            ("probe", "probes"),
            ("clasify", "classify"),
            ("classifyoutput", "classify_output"),
            ("fall_back", "fallback"),
            ("on_cancle", "on_cancel"),
            ("timeout_err", "timeout_error"),
            ("failure_threshold", "threshold"),
            ("cooldown", "reset"),
            ("reset_after", "reset"),
            ("half_open", "probes"),
            ("predicate", "classify"),
            ("on_error", "classify"),
            ("failurerate", "failure_rate"),
            ("window_size", "window"),
            ("mincalls", "min_calls"),
            ("rate", "failure_rate"),
            ("failureRate", "failure_rate"),
            ("resetTimeout", "reset"),
            ("slidingWindowSize", "window"),
            ("waitDurationInOpenState", "reset"),
            ("permittedNumberOfCallsInHalfOpenState", "probes"),
            ("fallbackMethod", "fallback"),
            ("key_by", "key"),
            ("ignore_errors", "classify"),
            ("retry_after", "reset"),
            ("delay", "reset"),
            ("recover", "fallback"),
            ("lastgood", "last_good"),
            ("last_god", "last_good"),
            ("staleIfError", "last_good"),
            ("last_good_keys", "last_good_key"),
        ] {
            assert_eq!(nearest(written), Some(meant), "{written}");
        }
    }

    #[test]
    fn another_word_is_not_bent_into_an_option() {
        for written in ["retry", "x", "frobnicate", "log", "level", "jittery_things"] {
            assert_eq!(nearest(written), None, "{written}");
        }
    }

    #[test]
    fn every_hint_names_an_option() {
        for (_, ours) in ELSEWHERE {
            assert!(find(ours).is_some(), "{ours}");
        }
    }
}
