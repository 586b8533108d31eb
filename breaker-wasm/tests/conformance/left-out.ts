/** The cases that the options can't express, each with the reason that `config.ts` gives. */

const BUCKETS: Record<number, readonly string[]> = {
  1: [
    "Polly v7 (advanced): short_window_expires_whole",
    "contract: single_bucket",
    "sony/gobreaker: half_open_ignored_is_neutral_then_failure_reopens",
  ],
  6: [
    "contract: a_call_that_ended_before_it_began_is_not_slow",
    "contract: slow_failures_are_slow_in_a_time_window",
  ],
  20: [
    "resilience4j: disabled_permits_everything_and_records_nothing",
    "resilience4j: forced_open_ignores_elapsed_wait",
    "resilience4j: half_open_failure_rate_reopens",
    "resilience4j: ignored_last_probe_returns_its_permit",
    "resilience4j: metrics_only_never_opens_and_reports_once",
    "resilience4j: metrics_only_slow_and_failure_events_once_each",
    "resilience4j: open_edge_is_exclusive",
    "resilience4j: open_until_instant",
    "resilience4j: slow_calls_alone_open",
    "resilience4j: state_query_alone_does_not_half_open",
    "resilience4j: success_can_complete_the_minimum_and_open",
    "resilience4j: time_window_rate_reaches_threshold_on_sixth",
  ],
};

/** By `source: name`. */
export const LEFT_OUT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(BUCKETS).flatMap(([buckets, cases]) =>
    cases.map((name) => [name, `a window of time in ${buckets} buckets and not 10`]),
  ),
);
