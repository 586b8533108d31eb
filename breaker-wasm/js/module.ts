/**
 * The WebAssembly module: the state machine, one for all breakers of this realm.
 */

import type { Exports } from "./generated/exports.js";

/** What the module exports; set by the entry before anything else runs. */
export let wasm: Exports;

export function install(exports: WebAssembly.Exports): void {
  wasm = exports as unknown as Exports;
}

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
