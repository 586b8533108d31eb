/** The contract's cases, as they are written in `tests/conformance/cases.jsonl`. */

import { readFileSync } from "node:fs";

export interface Case {
  source: string;
  name: string;
  config: Config | null;
  steps: Step[];
}

/** A configuration; what is absent means what the cases' README says. */
export interface Config {
  threshold?: unknown;
  failure_rate?: unknown;
  window?: { calls?: unknown; ms?: unknown; buckets?: unknown } | null;
  min_calls?: unknown;
  slow_ms?: unknown;
  slow_rate?: unknown;
  reset_ms?: unknown;
  backoff?: unknown;
  max_reset_ms?: unknown;
  probes?: unknown;
  close_after?: unknown;
  close_rate?: unknown;
  probe_timeout_ms?: unknown;
  on_cancel?: unknown;
  jitter?: unknown;
}

export interface Step {
  at_ms: number;
  op: string;
  id?: string;
  of?: string;
  n?: number;
  took_ms?: number;
  for_ms?: number;
  config?: Config;
  from?: { state?: unknown; left_ms?: unknown; consecutive?: unknown; reopenings?: unknown };
  expect?: Expect;
}

export interface Expect {
  admitted?: boolean;
  reason?: string;
  retry_after_ms?: number;
  state?: string;
  late?: boolean;
  tripped?: boolean;
  error?: string | null;
  snapshot?: Record<string, unknown>;
}

export function readCases(): Case[] {
  const file = new URL("../../../tests/conformance/cases.jsonl", import.meta.url);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.trim()).map((line) => JSON.parse(line) as Case);
}
