/**
 * The WebAssembly module: the state machine, one for all breakers of this realm.
 */

import type { Exports } from "./generated/exports.js";

/** What the module exports; set by the entry before anything else runs. */
export let wasm: Exports;

export function install(exports: WebAssembly.Exports): void {
  wasm = exports as unknown as Exports;
}

/** What a breaker does with the next call. The names are those of the Rust crates. */
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
  | "restored";

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
];

/** The numbers of a report after a change of state. */
export const FROM = 0;
export const TO = 1;
export const TRIGGER = 2;
export const FAILURES = 3;
export const WAIT = 4;
export const GENERATION = 5;
/** After a refusal. */
export const LEFT = 0;
/** Where the module had nothing to say. */
export const NOTHING = -1;
