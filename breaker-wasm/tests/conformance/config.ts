/** From what a case writes to the options of the package. */

import type { BreakerOptions } from "breaker-wasm";
import type { Config } from "./case.js";

/** The options have no such thing: windows of time have ten buckets, as in the attribute. */
export class Inexpressible extends Error {}

const BUCKETS = 10;

/** The options of a case, every default of the cases' format set. */
export function options(config: Config): Omit<BreakerOptions, "clock"> {
  const given: Record<string, unknown> = {
    threshold: config.threshold,
    failureRate: config.failure_rate,
    window: window(config),
    minCalls: config.min_calls,
    slow: config.slow_ms,
    slowRate: config.slow_rate,
    reset: config.reset_ms,
    backoff: config.backoff,
    maxReset: config.max_reset_ms,
    jitter: config.jitter ?? 0,
    probes: config.probes,
    closeAfter: config.close_after,
    closeRate: config.close_rate,
    probeTimeout: config.probe_timeout_ms ?? config.reset_ms,
    onCancel: config.on_cancel,
  };
  const read = (value: unknown): unknown => (value === "NaN" ? NaN : value);
  const written = Object.entries(given).filter(([, value]) => value != null);
  return {
    name: "case",
    ...Object.fromEntries(written.map(([option, value]) => [option, read(value)])),
  };
}

function window({ window }: Config): unknown {
  if (window?.ms === undefined) {
    return window?.calls;
  }
  if (window.buckets !== BUCKETS) {
    throw new Inexpressible(
      `a window of time in ${String(window.buckets)} buckets and not ${BUCKETS}`,
    );
  }
  return `${String(window.ms)}ms`;
}
