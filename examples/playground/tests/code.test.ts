// The code that the page shows is code: it stands in files that are compiled.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { rust, typescript } from "../src/code.js";
import { type Form, START, duration } from "../src/form.js";

const FORMS: Record<string, Partial<Form>> = {
  as_it_starts: {},
  by_rate_of_calls: {
    policy: "rate",
    failureRate: 1,
    slowCounts: true,
    slow: 0.25,
    slowRate: 0.5,
    backoff: 2,
    jitter: 0,
    probes: 3,
    closeAfter: 5,
    fallback: true,
  },
  by_rate_of_time: {
    policy: "rate",
    windowOf: "seconds",
    window: 10,
    backoff: 1.5,
    probes: 2,
    closeAfter: 2,
    timesOut: false,
  },
};

/** What stands between each name and the end that belongs to it, without what it is indented by. */
function standing(file: string, begins: string, ends: string): Map<string, string> {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const found = new Map<string, string>();
  for (const part of text.split(begins).slice(1)) {
    const [name, ...rest] = part.slice(0, part.indexOf(ends)).split("\n");
    const indented = /^ */.exec(rest[0] ?? "")?.[0].length ?? 0;
    const lines = rest.map((line) => line.slice(indented));
    found.set(name?.trim() ?? "", lines.join("\n").trim());
  }
  return found;
}

describe("the code that is shown", () => {
  const inTypescript = standing("./shown.ts", "// shown: ", "return inventory;");
  const inRust = standing("../../../tests/ui/pass/playground.rs", "// shown: ", "// end");

  for (const [name, changed] of Object.entries(FORMS)) {
    test(name, () => {
      const form = { ...START, ...changed };
      assert.equal(typescript(form), inTypescript.get(name));
      assert.equal(rust(form), inRust.get(name));
    });
  }

  test("and nothing else stands there", () => {
    assert.deepEqual([...inTypescript.keys()], Object.keys(FORMS));
    assert.deepEqual([...inRust.keys()], Object.keys(FORMS));
  });

  test("durations are written as one writes them", () => {
    for (const [seconds, text] of [
      [0.1, "100ms"],
      [0.25, "250ms"],
      [1, "1s"],
      [1.1, "1.1s"],
      [60, "60s"],
      [0, "0s"],
      [-0.5, "-500ms"],
    ] as const) {
      assert.equal(duration(seconds), text);
    }
    assert.ok(Number.isNaN(duration(NaN)));
  });
});
