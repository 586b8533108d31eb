/** What the controls say, and the options of the package that this makes. */

import type { BreakerOptions } from "breaker-wasm";

/** Durations are seconds. */
export interface Form {
  policy: "row" | "rate";
  threshold: number;
  failureRate: number;
  windowOf: "calls" | "seconds";
  window: number;
  minCalls: number;
  slowCounts: boolean;
  slow: number;
  slowRate: number;
  reset: number;
  backoff: number;
  jitter: number;
  probes: number;
  closeAfter: number;
  timesOut: boolean;
  timeout: number;
  fallback: boolean;
}

/** The options that have a number. */
export type NumberOption =
  | "threshold"
  | "failureRate"
  | "window"
  | "minCalls"
  | "slow"
  | "slowRate"
  | "reset"
  | "backoff"
  | "jitter"
  | "probes"
  | "closeAfter"
  | "timeout";

/** Quick enough to be watched: a real service stays open for longer. */
export const START: Readonly<Form> = {
  policy: "row",
  threshold: 5,
  failureRate: 0.5,
  windowOf: "calls",
  window: 20,
  minCalls: 10,
  slowCounts: false,
  slow: 2,
  slowRate: 0.5,
  reset: 5,
  backoff: 1,
  jitter: 0.1,
  probes: 1,
  closeAfter: 1,
  timesOut: true,
  timeout: 1,
  fallback: false,
};

/** The options, in the order in which they are written, without those that are as they are anyway. */
export type Written = Pick<BreakerOptions, NumberOption>;

/** A duration as one writes it; what is no number stays as it is, for the package to refuse. */
export function duration(seconds: number): number | string {
  if (!Number.isFinite(seconds)) {
    return seconds;
  }
  const milliseconds = Number((seconds * 1000).toFixed(6));
  return Math.abs(milliseconds) < 1000 && milliseconds !== 0
    ? `${milliseconds}ms`
    : `${milliseconds / 1000}s`;
}

export function written(form: Form): Written {
  const byRate = form.policy === "rate";
  const ofTime = form.windowOf === "seconds";
  return {
    ...(byRate
      ? {
          failureRate: form.failureRate,
          window: ofTime ? duration(form.window) : form.window,
          minCalls: form.minCalls,
        }
      : { threshold: form.threshold }),
    ...(form.slowCounts ? { slow: duration(form.slow), slowRate: form.slowRate } : {}),
    reset: duration(form.reset),
    ...(form.backoff === 1 ? {} : { backoff: form.backoff }),
    ...(form.jitter === 0.1 ? {} : { jitter: form.jitter }),
    ...(form.probes === 1 ? {} : { probes: form.probes }),
    ...(form.closeAfter === form.probes ? {} : { closeAfter: form.closeAfter }),
    ...(form.timesOut ? { timeout: duration(form.timeout) } : {}),
  };
}

/** The option that an error of the package is about: of those that were written, the first it names. */
export function culprit(error: Error, options: Written): NumberOption | undefined {
  const text = error.message.replace(/^circuit `[^`]*`: /, "");
  const names = Object.keys(options) as NumberOption[];
  const at = (name: string) => text.search(new RegExp(`\\b${name}\\b`));
  return names.filter((name) => at(name) >= 0).sort((one, other) => at(one) - at(other))[0];
}
