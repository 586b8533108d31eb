/**
 * Random histories: calls in flight side by side, late outcomes, a clock that also goes back,
 * operators. A failure names its seed, and the shortest history that fails.
 * `HISTORIES=100000` plays more of them, `HISTORY_SEED=1` those again.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Driver, type Step, WAYS } from "./driver.js";
import type { Rules, Share } from "./model.js";
import { RUNS, ending, millis, order } from "./random.js";

/** Ratios of up to four decimals, as the contract takes them. */
const share: fc.Arbitrary<Share> = fc.constantFrom<Share[]>(
  [1, 10],
  [1, 4],
  [3, 10],
  [1, 2],
  [3, 4],
  [7, 100],
  [9999, 10_000],
  [1, 1],
);

const inARow = fc.record({ threshold: fc.integer({ min: 1, max: 4 }) });

const rates = {
  failureRate: share,
  slow: fc.option(fc.record({ than: millis(300), rate: share }), { nil: undefined }),
};

const overCalls = fc
  .record({
    calls: fc.integer({ min: 1, max: 20 }),
    least: fc.integer({ min: 1, max: 20 }),
    ...rates,
  })
  .map(({ calls, least, ...rest }) => ({
    window: { calls },
    minCalls: Math.min(calls, least),
    ...rest,
  }));

const overTime = fc.record({
  window: fc.constantFrom(10, 20, 100, 500, 1000, 2000).map((time) => ({ time })),
  minCalls: fc.integer({ min: 1, max: 10 }),
  ...rates,
});

const rules = (trips: fc.Arbitrary<Rules["trips"]>): fc.Arbitrary<Rules> =>
  fc
    .record({
      trips,
      reset: millis(500),
      backoff: fc.constantFrom(1, 2, 3),
      more: fc.nat(2000),
      probes: fc.integer({ min: 1, max: 3 }),
      closes: fc.oneof(
        fc.record({ after: fc.integer({ min: 1, max: 4 }) }),
        fc.record({ rate: share }),
      ),
      probeTimeout: millis(500),
      cancelFails: fc.boolean(),
    })
    .map(({ more, ...rest }) => ({ ...rest, maxReset: rest.reset + more }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ do: "call" as const }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(5), ending }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("step" as const), by: millis(1000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("back" as const), by: millis(1000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("operate" as const), order }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: "keep" as const }, { do: "restore" as const }) },
);

const history = fc.array(step, { minLength: 1, maxLength: 120, size: "max" });

/** What happened in any of the histories. */
const reached = new Set<string>();

/** Ways into a state, and what else may become of a call. */
const HAPPENS = [
  ...["failures", "failure_rate", "slow_rate", "failed_probe", "overloaded", "wait_over"],
  ...["probe_timed_out", "recovered", "operator", "restored"],
  ...["open", "half_open_full", "forced_open", "late", "would trip"],
];

describe("random histories end as the contract's model says", () => {
  for (const [policy, trips] of [
    ["failures in a row", inARow],
    ["a rate over the last calls", overCalls],
    ["a rate over the last time", overTime],
  ] as const) {
    for (const way of WAYS) {
      test(`${policy}, ${way}`, () =>
        fc.assert(
          fc.asyncProperty(rules(trips), history, (rules, steps) =>
            new Driver(rules, way, reached).play(steps),
          ),
          RUNS,
        ));
    }
  }

  test("and come by all that can happen", () => {
    assert.deepEqual([...reached].sort(), HAPPENS.sort());
  });
});
