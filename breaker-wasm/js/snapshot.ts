/** A breaker's state, to be carried to another isolate, process or run. */

import { STATES, type State } from "./names.js";
import { show } from "./options.js";

/** What `snapshot()` gives and `restore()` takes: plain data, for JSON or any store. */
export interface Snapshot {
  state: State;
  /** Milliseconds until a probe may be let through, where it is open; never a time of day. */
  timeLeft: number;
  /** Whether the wait was set by an overload or by `openFor`, and not by the options. */
  imposed: boolean;
  /** Failures in a row, where it is closed. */
  consecutive: number;
  /** Reopenings since it last closed. */
  reopenings: number;
}

const isCount = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

/** What is legal in each field. */
export const FIELDS: [keyof Snapshot, string, (value: any) => boolean][] = [
  ["state", `one of ${STATES.join(", ")}`, (value) => STATES.includes(value)],
  ["timeLeft", "milliseconds", (value) => Number.isFinite(value) && value >= 0],
  ["imposed", "true or false", (value) => typeof value === "boolean"],
  ["consecutive", "a whole number", (value) => isCount(value, 2 ** 32 - 1)],
  ["reopenings", "a whole number up to 255", (value) => isCount(value, 255)],
];

/** What was looked at, each field once. Throws for what no breaker ever gave. */
export function checkSnapshot(snapshot: unknown): Snapshot {
  const checked: Record<string, unknown> = {};
  for (const [field, legal, accept] of FIELDS) {
    const value = (checked[field] = (snapshot as Snapshot | undefined)?.[field]);
    if (!accept(value)) {
      throw new TypeError(`not a snapshot: ${field} is ${show(value)}: expected ${legal}`);
    }
  }
  return checked as unknown as Snapshot;
}
