/** How calls end, and who says so. */

import { type Duration, millis } from "./duration.js";

/** How a call ended. `ignored`: an answer, like a 404, and not an outage. */
export type Outcome = "success" | "failure" | "ignored" | "dropped" | Overloaded;

/** The dependency asked to be left alone, like by `Retry-After`: opens at once, for so long. */
export interface Overloaded {
  overloaded: Duration;
}

/** Looks at an error or at an answer. `true`: it counts as a failure. */
export type Judge = (result: any) => boolean | Outcome | null | undefined;

/** The numbers of the module. */
export const SUCCESS = 0;
export const FAILURE = 1;
export const IGNORED = 2;
export const DROPPED = 3;
export const OVERLOADED = 4;

export const OUTCOMES = ["success", "failure", "ignored", "dropped", "overloaded"] as const;

/** An outcome as the module's number, and an overload's wait in milliseconds. */
export type Judged = [outcome: number, wait: number];

/** What a judge said of an error or an answer; `otherwise`: what it is if it doesn't count. */
export function read(said: unknown, otherwise: number): Judged {
  if (!said || said === true || typeof said === "number") {
    return [said ? FAILURE : otherwise, 0];
  }
  const wait = millis((said as Overloaded).overloaded);
  if (wait >= 0 && wait < Infinity) {
    return [OVERLOADED, wait];
  }
  const outcome = OUTCOMES.indexOf(said as "success");
  if (outcome < 0 || outcome === OVERLOADED) {
    throw new TypeError(
      'a classifier said neither true nor false: expected one of them, "success", "failure", ' +
        '"ignored", "dropped" or { overloaded: "30s" }',
    );
  }
  return [outcome, 0];
}
