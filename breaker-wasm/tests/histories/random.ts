/** What random histories are made of, and how many are played. */

import fc from "fast-check";
import type { Ending, Order } from "./model.js";

const seed = process.env["HISTORY_SEED"];
export const RUNS: fc.Parameters<unknown> = {
  numRuns: Number(process.env["HISTORIES"] ?? 500),
  ...(seed !== undefined && { seed: Number(seed) }),
};

/** Durations that meet each other's edges, and others. */
export const millis = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(1, 10, 50, 99, 100, 101, 200, 400) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: most }) },
  );

export const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 5, arbitrary: fc.constant("failure" as const) },
  { weight: 4, arbitrary: fc.constant("success" as const) },
  { weight: 1, arbitrary: fc.constantFrom("ignored" as const, "dropped" as const) },
  { weight: 1, arbitrary: fc.record({ overloaded: fc.oneof(fc.constant(0), millis(500)) }) },
);

export const order: fc.Arbitrary<Order> = fc.oneof(
  fc.constantFrom<Order[]>("close", "forceOpen", "disable", "shadow", "shadow"),
  fc.record({ openFor: fc.oneof(fc.constant(0), millis(500)) }),
);
