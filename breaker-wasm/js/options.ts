/**
 * What breakers are made of: each option is looked at here, whether it is of its type and range;
 * whether they fit together, the module knows.
 */

import { type Duration, millis } from "./duration.js";
import { type Judge } from "./outcome.js";
import { look, said, wasm } from "./module.js";

/** The settings of a breaker. */
export interface Settings {
  /** Failures in a row that open it. Default 5. */
  threshold?: number | undefined;
  /** Instead of `threshold`: the share of failures in the window that opens it. Above 0, at most 1. */
  failureRate?: number | undefined;
  /** The window of `failureRate`: a number of calls, or a duration as text. Default 100 calls. */
  window?: number | string | undefined;
  /** Calls in the window before which nothing opens it. Default 20. */
  minCalls?: number | undefined;
  /** A call that takes longer is slow. Goes with `slowRate`. */
  slow?: Duration | undefined;
  /** The share of slow calls in the window that opens it, beside `failureRate`. */
  slowRate?: number | undefined;
  /** How long it stays open before a call is let through as a probe. Default 30 s. */
  reset?: Duration | undefined;
  /** The factor by which the wait grows with each reopening. Default 1. */
  backoff?: number | undefined;
  /** The longest wait that `backoff` may reach. */
  maxReset?: Duration | undefined;
  /** The largest share of the wait that is added at random, 0 to 1. Default 0.1. */
  jitter?: number | undefined;
  /** Probes at once while half-open. Default 1. */
  probes?: number | undefined;
  /** Successful probes that close it. Default: as many as `probes`. */
  closeAfter?: number | undefined;
  /** Instead of `closeAfter`: the share of failures among `probes` results that reopens it. */
  closeRate?: number | undefined;
  /** How long after its last probe a trial is given up. Default: the larger of `reset` and 60 s. */
  probeTimeout?: Duration | undefined;
  /** What an aborted call counts as. Default `"ignore"`. */
  onCancel?: "ignore" | "failure" | undefined;
}

/** What becomes of a call. */
export interface CallOptions<A extends unknown[] = any[]> {
  /** Looks at an error: does it count as a failure? Default: every error does. */
  classify?: Judge | undefined;
  /** Looks at an answer, for what fails without an error: a `Response` with status 503. */
  classifyOutput?: Judge | undefined;
  /** How long a call may take; at most `probeTimeout`. It is then given up, and a failure. */
  timeout?: Duration | undefined;
  /**
   * The answer in place of a call that was refused, timed out or failed. It gets the error (or the
   * answer that `classifyOutput` found to be a failure) and what the call got. `undefined`: there is
   * nothing to serve, and the caller gets the error.
   */
  fallback?: ((cause: any, ...args: A) => unknown) | undefined;
  /** `"open"`: only in place of a refused call. Default `"any"`. */
  fallbackOn?: "any" | "open" | undefined;
}

export interface BreakerOptions extends Settings, CallOptions {
  /** The name in errors and events. */
  name: string;
  /**
   * The time in milliseconds, which may stand still. Where it throws, or says what is no finite
   * number, none has passed. Default: `performance.now`.
   */
  clock?: (() => number) | undefined;
}

/** `read` says `true`, or the number that the value stands for; else it is not legal. */
type Check = [legal: string, read: (value: any) => boolean | number];

const number = (legal: string, accept: (value: number) => boolean): Check => [
  legal,
  (value) => typeof value === "number" && accept(value),
];
const count = (most: number): Check =>
  number(
    `a whole number from 1 to ${most}`,
    (value) => Number.isInteger(value) && value >= 1 && value <= most,
  );
const oneOf = (...names: string[]): Check => [
  names.map((name) => `"${name}"`).join(" or "),
  (value) => names.includes(value),
];
const inRange = (value: number): boolean => value >= 1e-6 && value < 2 ** 64 / 1e6;

const RATIO = number("a number above 0, at most 1", (value) => value > 0 && value <= 1);
export const DURATION: Check = [
  'milliseconds above 0, or text like "30s" or "1m30s"',
  (value) => {
    const time = millis(value);
    return inRange(time) && time;
  },
];
const FUNCTION: Check = ["a function", (value) => typeof value === "function"];

/** In the order in which the module reads them. */
const SETTINGS: Record<string, Check> = {
  threshold: count(134217726),
  failureRate: RATIO,
  window: [
    'a whole number of calls from 1 to 4095, or text like "10s"',
    (value) => (typeof value === "string" ? DURATION : count(4095))[1](value),
  ],
  minCalls: count(131071),
  slow: DURATION,
  slowRate: RATIO,
  reset: DURATION,
  backoff: number("a finite number of at least 1", (value) => value >= 1 && value < Infinity),
  maxReset: DURATION,
  jitter: number("a number from 0 to 1", (value) => value >= 0 && value <= 1),
  probes: count(511),
  closeAfter: count(511),
  closeRate: RATIO,
  probeTimeout: DURATION,
};

const CALL: Record<string, Check> = {
  timeout: DURATION,
  classify: FUNCTION,
  classifyOutput: FUNCTION,
  fallback: FUNCTION,
  fallbackOn: oneOf("any", "open"),
};

/** Of one call. */
const ONCE: Record<string, Check> = {
  ...CALL,
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
};

const BREAKER: Record<string, Check> = {
  ...SETTINGS,
  ...CALL,
  onCancel: oneOf("ignore", "failure"),
  name: ["text that is not empty", (value) => typeof value === "string" && value !== ""],
  clock: FUNCTION,
};

/** Options that were looked at; durations are milliseconds. */
export type Checked = Record<string, any>;

/** No list, function, or object of a platform's: an `AbortSignal` has no options that one could see. */
export function checkObject(options: unknown, whose: string): object {
  if (Object.prototype.toString.call(options) !== "[object Object]") {
    throw new TypeError(`${whose}: expected an object of options`);
  }
  return options as object;
}

function check(options: unknown, legal: Record<string, Check>, whose: string): Checked {
  const checked: Checked = {};
  for (const [option, value] of Object.entries(checkObject(options, whose))) {
    const known = legal[option];
    if (!known || !Object.hasOwn(legal, option)) {
      throw new TypeError(
        `${whose}: unknown option ${option}: expected ${Object.keys(legal).join(", ")}`,
      );
    }
    if (value !== undefined) {
      const read = known[1](value);
      checked[option] = read === true ? value : read;
      if (!read) {
        throw new TypeError(`${whose}: ${option} is ${show(value)}: expected ${known[0]}`);
      }
    }
  }
  return checked;
}

/** A value as messages show it. */
export function show(value: unknown): string {
  return typeof value === "string"
    ? JSON.stringify(value)
    : typeof value === "function" || (typeof value === "object" && value)
      ? `of type ${typeof value}`
      : String(value);
}

/** What is wrong with settings that are each right, by the module's number. */
const CONTRADICTIONS = [
  "threshold and failureRate contradict each other: write one of them",
  "window, minCalls, slow and slowRate need failureRate: write it too",
  "minCalls is above window, so it would never open: write a smaller minCalls",
  "slow needs slowRate: write it too",
  "slowRate needs slow: write it too",
  "closeAfter and closeRate contradict each other: write one of them",
  "maxReset is below reset: write at least as much",
  "timeout is above probeTimeout, so every probe would come too late: write a shorter timeout",
  "window is below 10ms: write more",
  "probes is above 255 beside closeRate: write at most 255",
];

const TIMEOUT_ABOVE_PROBE_TIMEOUT = 7;

/** How far `performance.now` may lag behind, at most: browsers make it coarse. */
const RESOLUTION = 1;

/** Looks at the options of a breaker; `more` are those of a group of them. */
export function checkBreaker(options: unknown, more?: Record<string, Check>): Checked {
  const name = (options as BreakerOptions | undefined)?.name;
  const whose = typeof name === "string" && name ? `circuit \`${name}\`` : "circuit breaker";
  const checked = check(options, { ...BREAKER, ...more }, whose);
  checked["ofTime"] = typeof (options as Settings).window === "string";
  if (!checked["name"]) {
    throw new TypeError(`${whose}: name is missing: expected ${BREAKER["name"]![0]}`);
  }
  return checked;
}

/** Looks at the options of a group. */
export function checkKeyed(options: unknown): Checked {
  return checkBreaker(options, { maxKeys: count(16_777_216) });
}

/** Looks at the options of a function, or of one call of it, beside those of its breaker. */
export function checkCall(options: unknown, breaker: Checked, once = false): Checked {
  const checked = check(options, once ? ONCE : CALL, `circuit \`${breaker["name"]}\``);
  checkTimeout(checked, breaker);
  return { ...breaker, ...checked };
}

/** Throws if a call's timeout is longer than its breaker waits for a probe. */
export function checkTimeout(call: Checked, breaker: Checked): void {
  if (call["timeout"] > probeTimeout(breaker)) {
    throw contradiction(TIMEOUT_ABOVE_PROBE_TIMEOUT, breaker);
  }
}

export function probeTimeout(breaker: Checked): number {
  return breaker["probeTimeout"] ?? Math.max(breaker["reset"] ?? 0, 6e4);
}

/** Makes a breaker, and gives its number in the module. */
export function create(options: Checked): number {
  const settings = Object.keys(SETTINGS).map((name) => options[name]);
  const { timeout, ofTime, onCancel, clock } = options;
  said.set([...settings, timeout, ofTime, onCancel === "failure", clock ? 0 : RESOLUTION]);
  const number = made(wasm.create);
  if (number in CONTRADICTIONS) {
    throw contradiction(number, options);
  }
  return number;
}

/** Another breaker of the same group. */
export function fork(first: number): number {
  return made(() => wasm.fork(first));
}

/** The module's answer, which can fail only for want of memory. */
function made(make: () => number): number {
  try {
    return make();
  } catch {
    throw new RangeError("no memory is left for another breaker");
  } finally {
    look();
  }
}

function contradiction(number: number, options: Checked): TypeError {
  return new TypeError(`circuit \`${options["name"]}\`: ${CONTRADICTIONS[number]}`);
}

/** A function that was given to be called. */
export function checkFunction<F>(f: F, options: Checked, what = "call"): F {
  if (typeof f !== "function") {
    throw new TypeError(
      `circuit \`${options["name"]}\`: the ${what} is ${show(f)}: expected a function`,
    );
  }
  return f;
}

/** A wait that was given to an operator's call: it may be none. */
export function checkWait(wait: unknown, options: Checked): number {
  const checked = millis(wait);
  if (checked === 0 || inRange(checked)) {
    return checked;
  }
  throw new TypeError(
    `circuit \`${options["name"]}\`: the wait is ${show(wait)}: expected 0, or ${DURATION[0]}`,
  );
}
