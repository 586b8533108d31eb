/** Jitter: what is added to a wait at random, so that a fleet doesn't probe in step. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BreakerOptions } from "breaker-wasm";
import { ManualClock, breakerAt, ended, fail, trip } from "./support.js";

const RESET = 1000;

/** The waits of so many openings: each of a breaker of its own, or of one. */
async function waits(options: Partial<BreakerOptions>, ofOne: boolean): Promise<number[]> {
  const found: number[] = [];
  const make = () => {
    const breaker = breakerAt(new ManualClock(), options);
    breaker.on("open", ({ wait }) => found.push(wait!));
    return breaker;
  };
  let breaker = make();
  for (let opening = 0; opening < 200; opening += 1) {
    await trip(breaker);
    if (ofOne) breaker.close();
    else breaker = make();
  }
  return found;
}

for (const [whose, ofOne] of [
  ["each of a breaker of its own", false],
  ["all of one breaker", true],
] as const) {
  describe(`waits, ${whose}`, () => {
    test("without jitter are the plain ones", async () => {
      assert.deepEqual(new Set(await waits({ jitter: 0 }, ofOne)), new Set([RESET]));
    });

    for (const [name, options, most] of [
      ["a tenth, where nothing is said", { jitter: undefined }, 0.1],
      ["a half", { jitter: 0.5 }, 0.5],
      ["as much again", { jitter: 1 }, 1],
    ] as const) {
      test(`are longer by up to ${name}, never shorter, and spread`, async () => {
        const found = await waits(options, ofOne);
        assert.equal(found.length, 200);
        assert.ok(found.every((wait) => wait >= RESET && wait <= RESET * (1 + most)));
        // That 200 leave one of them out has a chance of less than 1 in 10^8.
        for (let tenth = 0; tenth < 10; tenth += 1) {
          const from = RESET * (1 + (most * tenth) / 10);
          const to = from + (RESET * most) / 10;
          assert.ok(
            found.some((wait) => wait >= from && wait <= to),
            `none from ${from} to ${to}`,
          );
        }
      });
    }
  });
}

test("a refusal says the wait with its jitter", async () => {
  const breaker = breakerAt(new ManualClock(), { jitter: 1 });
  let drawn = 0;
  breaker.on("open", ({ wait }) => (drawn = wait!));
  await trip(breaker);
  const { retryAfter } = (await ended(breaker.call(fail))) as { retryAfter: number };
  assert.equal(retryAfter, drawn);
  assert.equal(breaker.snapshot().timeLeft, drawn);
});

test("what an overload or an operator says is not drawn", async () => {
  const clock = new ManualClock();
  const breaker = breakerAt(clock, { jitter: 1, classify: () => ({ overloaded: 700 }) });
  await trip(breaker);
  assert.equal(breaker.snapshot().timeLeft, 700);
  breaker.openFor(300);
  assert.equal(breaker.snapshot().timeLeft, 300);
});

test("processes that do the same draw differently", async () => {
  const program = fileURLToPath(new URL("../dist/node.js", import.meta.url));
  const text = `
    import { CircuitBreaker } from ${JSON.stringify(program)};
    const breaker = new CircuitBreaker({ name: "pms", threshold: 1, jitter: 1, clock: () => 0 });
    breaker.on("open", ({ wait }) => console.log(wait));
    await breaker.call(() => { throw new Error("down"); }).catch(() => {});
  `;
  const run = promisify(execFile);
  const said = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ["--input-type=module", "--eval", text])),
  );
  const drawn = new Set(said.map(({ stdout }) => stdout));
  assert.ok(drawn.size > 1, [...drawn].join());
});
