/**
 * The WebAssembly module: the state machine, one for all breakers of this realm.
 */

import type { Exports } from "./generated/exports.js";

/** What the module exports; set by the entry before anything else runs. */
export let wasm: Exports;

/**
 * The module's memory in units of four bytes. A breaker's number is the place of its word, by bytes:
 * eight of them, the lower half first. What the word holds is what `breaker-core` says of it
 * (`word.rs`).
 */
export let memory: Int32Array;

/** What a call of the module says beside its result, and what it is given beside its parameters. */
export let said: Float64Array;

/** Where that is in the memory. */
let exchange: number;

export function install(exports: WebAssembly.Exports): void {
  wasm = exports as unknown as Exports;
  exchange = wasm.exchange();
  look();
}

/** To be called when a breaker was made: a memory that grew is another one. */
export function look(): void {
  const { buffer } = wasm.memory;
  if (memory?.buffer !== buffer) {
    memory = new Int32Array(buffer);
    said = new Float64Array(buffer, exchange);
  }
}

/** The lower half of a breaker's word: its state and generation, and if it is closed nothing else. */
export const wordOf = (number: number): number => memory[number >>> 2]!;

/** The state's number; closed is 0. */
export const stateOf = (word: number): number => word & 7;

export const generationOf = (word: number): number => (word >>> 3) & 0x3ffffff;

/** Whether a breaker is closed, with no failure in a row before: as it is, or in one generation. */
export const isIdle = (number: number, word = wordOf(number) & ~7): boolean =>
  wordOf(number) === word && !memory[(number >>> 2) + 1];

/** What is said of a change of state. */
export const TRIGGER = 0;
export const FAILURES = 1;
export const WAIT = 2;
/** And of a refusal. */
export const LEFT = 0;
