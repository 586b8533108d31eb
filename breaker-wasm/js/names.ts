/** The names of what the module knows by numbers. They are those of the Rust crates. */

/** What a breaker does with the next call. */
export type State = "closed" | "open" | "half_open" | "forced_open" | "disabled" | "shadow";

/** In the order of the module's numbers. */
export const STATES: readonly State[] = [
  "closed",
  "open",
  "half_open",
  "forced_open",
  "disabled",
  "shadow",
];

/** Why a call was refused. */
export type Reason = "open" | "half_open_full" | "forced_open";

/** In the order of the module's numbers, which begin with -1 and go down. */
export const REASONS: readonly Reason[] = ["open", "half_open_full", "forced_open"];

/** What brought a change of state about. */
export type Trigger =
  | "failures"
  | "failure_rate"
  | "slow_rate"
  | "failed_probe"
  | "overloaded"
  | "wait_over"
  | "probe_timed_out"
  | "recovered"
  | "operator"
  | "restored"
  | "fleet";

/** In the order of the module's numbers. */
export const TRIGGERS: readonly Trigger[] = [
  "failures",
  "failure_rate",
  "slow_rate",
  "failed_probe",
  "overloaded",
  "wait_over",
  "probe_timed_out",
  "recovered",
  "operator",
  "restored",
  "fleet",
];
