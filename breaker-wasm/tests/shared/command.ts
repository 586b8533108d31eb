/** What the tests say to an isolate, and what it says of what it did. */

import type { EventType, Events, State } from "breaker-wasm";
import type { SharedOptions } from "breaker-wasm/durable-object";

/** What isolates are set to: so long that no machine is too slow. All clocks are the tests'. */
export const MAX_AGE = 60_000;
export const RESET = 120_000;
export const LEASE = 240_000;

/**
 * A call that ends so, an operator's, or time that passes. `ask`: of a server, which may be slow.
 * `give up`: it is aborted by its signal.
 */
export type Step =
  | "succeed"
  | "fail"
  | "ignore"
  | "give up"
  | "wrap"
  | "forceOpen"
  | "close"
  | "disable"
  | "shadow"
  | { ask: string }
  | { openFor: number }
  | { pass: number };

export interface Command {
  /** The isolate's clock. */
  readonly now?: number;
  /** Default `pms`. */
  readonly name?: string;
  readonly options?: Omit<SharedOptions, "clock">;
  /** Without any: the call alone, as the shortest program has it. */
  readonly bare?: boolean;
  /** Default: one that is waited for at the end of the request, so that no test needs to. */
  readonly context?: "none" | "real";
  /** What the binding does that is not what it should. */
  readonly trouble?: "none" | "throws at idFromName" | "throws at get" | "rejects" | "missing";
  readonly steps: readonly Step[];
}

export interface Told {
  readonly type: EventType;
  readonly to?: State;
  readonly trigger?: Events["stateChange"]["trigger"];
  readonly wait?: number;
  readonly cause?: string;
}

export interface Report {
  /** What each step came to: `fresh`, or the error's name and message. */
  readonly ended: readonly string[];
  /** Until when a refused call was told to wait, if one was. */
  readonly retryAfter: number | undefined;
  /** Calls that were made and not refused. */
  readonly made: number;
  /** When the last step had ended, before what was said in the background was answered. */
  readonly state: State;
  /** And after it. */
  readonly after: State;
  /** What was said in the background. */
  readonly background: number;
  readonly events: readonly Told[];
  /** What `sharedBreaker` threw. */
  readonly thrown?: string;
}
