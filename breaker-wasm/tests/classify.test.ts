/** What counts as a failure. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import type { CircuitBreaker, Judge } from "breaker-wasm";
import { Down, ManualClock, breakerAt, ended, idle, succeed, unhandledDuring } from "./support.js";

/** What a judge says, what comes of it in a breaker that counts, and for an error that is judged. */
const SAID: [said: unknown, state: string, consecutive: number][] = [
  [true, "closed", 2],
  ["failure", "closed", 2],
  [1, "closed", 2],
  [false, "closed", 1],
  [undefined, "closed", 1],
  [null, "closed", 1],
  [0, "closed", 1],
  [NaN, "closed", 1],
  ["", "closed", 1],
  ["ignored", "closed", 1],
  ["dropped", "closed", 1],
  ["success", "closed", 0],
  [{ overloaded: "5s" }, "open", 0],
  [{ overloaded: 5000 }, "open", 0],
  [{ overloaded: 0 }, "open", 0],
];

const NONSENSE: unknown[] = [
  "yes",
  "overloaded",
  "toString",
  {},
  [],
  () => true,
  Promise.resolve(true),
  { overloaded: "soon" },
  { overloaded: -1 },
  { overloaded: NaN },
  { overloaded: Infinity },
  { overloaded: undefined },
  { overloaded: 5n },
  { overloaded: null },
  { overloaded: true },
  { overloaded: -0.001 },
  { overloaded: "-5s" },
  { overloaded: "5" },
  { overloaded: "" },
  { overloaded: [5] },
  { overloaded: new Number(5) },
  { overloaded: new Date(5) },
  new Error("nonsense"),
  Symbol("nonsense"),
];

/** With one failure in a row before. */
async function breakerThatCounts(options: { classify?: Judge; classifyOutput?: Judge }) {
  const clock = new ManualClock();
  const breaker = breakerAt(clock, { threshold: 3 });
  await ended(breaker.call(() => Promise.reject(new Down())));
  assert.equal(breaker.snapshot().consecutive, 1);
  return { clock, breaker, run: breaker.wrap(async (f: () => unknown) => f(), options) };
}

const throwing = (error: unknown) => () => {
  throw error;
};

describe("a classifier of errors", () => {
  for (const [said, state, consecutive] of SAID) {
    test(`says ${JSON.stringify(said)}`, async () => {
      const seen: unknown[] = [];
      const { breaker, run } = await breakerThatCounts({
        classify: (error) => {
          seen.push(error);
          return said as boolean;
        },
      });
      const error = new Down();
      assert.equal(await ended(run(throwing(error))), error);
      assert.deepEqual(seen, [error]);
      assert.equal(breaker.state, state);
      if (state === "closed") assert.equal(breaker.snapshot().consecutive, consecutive);
    });
  }

  test("isn't asked about answers", async () => {
    const { breaker, run } = await breakerThatCounts({ classify: () => assert.fail("asked") });
    assert.equal(await run(() => "fine"), "fine");
    assert.equal(breaker.snapshot().consecutive, 0);
  });

  for (const said of NONSENSE) {
    test(`says nonsense: ${inspect(said)}: a failure, and the caller is told`, async () => {
      const { breaker, run } = await breakerThatCounts({ classify: () => said as boolean });
      const error = await ended(run(throwing(new Down())));
      assert.ok(error instanceof TypeError);
      assert.equal(
        error.message,
        'a classifier said neither true nor false: expected one of them, "success", "failure", ' +
          '"ignored", "dropped" or { overloaded: "30s" }',
      );
      assert.equal(breaker.snapshot().consecutive, 2);
    });
  }

  test("throws: a failure, and the caller gets what it threw", async () => {
    const broken = new Error("classifier is broken");
    for (const timeout of [undefined, "1s"]) {
      const clock = new ManualClock();
      const breaker = breakerAt(clock, { threshold: 3, timeout, classify: throwing(broken) });
      assert.equal(await ended(breaker.call(throwing(new Down()))), broken);
      assert.equal(breaker.snapshot().consecutive, 1);
    }
  });

  test("of a probe throws: its slot comes back", async () => {
    const clock = new ManualClock();
    let broken = false;
    const classify = () => {
      if (broken) throw new Error("classifier is broken");
      return true;
    };
    for (const options of [{}, { fallback: () => "stale" }, { timeout: 100 }]) {
      broken = false;
      const breaker = breakerAt(clock, { classify, ...options });
      await ended(breaker.call(throwing(new Down())));
      broken = true;
      clock.now += 1000;
      await ended(breaker.call(throwing(new Down())));
      assert.equal(breaker.state, "open");
      clock.now += 1000;
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(breaker.state, "closed");
    }
  });

  test("that is asynchronous is refused, and its own rejection reported", async () => {
    const { run } = await breakerThatCounts({ classify: (async () => true) as never });
    assert.ok((await ended(run(throwing(new Down())))) instanceof TypeError);
  });

  test("an error that can't be looked at costs its own call only", async () => {
    const { breaker, run } = await breakerThatCounts({});
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error("don't look");
        },
      },
    );
    assert.match(String(await ended(run(throwing(hostile)))), /don't look/);
    assert.equal(breaker.snapshot().consecutive, 2);
  });

  test("of one call takes the place of the breaker's", async () => {
    const breaker = breakerAt(new ManualClock(), { classify: () => true });
    await ended(breaker.call(throwing(404), { classify: () => false }));
    assert.equal(breaker.state, "closed");
    await ended(breaker.wrap(throwing(404), { classify: (error) => error !== 404 })());
    assert.equal(breaker.state, "closed");
    await ended(breaker.call(throwing(404)));
    assert.equal(breaker.state, "open");
  });
});

describe("a classifier of answers", () => {
  for (const [said, state, consecutive] of SAID) {
    test(`says ${JSON.stringify(said)}`, async () => {
      const { breaker, run } = await breakerThatCounts({ classifyOutput: () => said as boolean });
      assert.equal(await run(() => "answer"), "answer");
      assert.equal(breaker.state, state);
      // What doesn't count among answers is a success.
      const success = consecutive === 1 && said !== "ignored" && said !== "dropped";
      if (state === "closed") {
        assert.equal(breaker.snapshot().consecutive, success ? 0 : consecutive);
      }
    });
  }

  test("finds a 503, whose response is given as it is", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, {
      threshold: 2,
      classifyOutput: (response: Response) =>
        response.status === 429
          ? { overloaded: `${response.headers.get("retry-after")}s` }
          : response.status >= 500,
    });
    const answers = (status: number) => () =>
      Promise.resolve(new Response("body", { status, headers: { "retry-after": "7" } }));
    for (const status of [503, 404, 500, 200, 503]) {
      const response = await breaker.call(answers(status));
      assert.equal(response.status, status);
      assert.equal(response.bodyUsed, false);
      assert.equal(await response.text(), "body");
    }
    assert.equal(breaker.state, "closed");
    assert.equal((await breaker.call(answers(429))).status, 429);
    assert.equal(breaker.state, "open");
    const { timeLeft, imposed } = breaker.snapshot();
    assert.ok(timeLeft >= 7000 && timeLeft < 7001 && imposed);
  });

  for (const said of NONSENSE) {
    test(`says nonsense: ${inspect(said)}: a failure, and the caller is told`, async () => {
      const { breaker, run } = await breakerThatCounts({ classifyOutput: () => said as boolean });
      assert.ok((await ended(run(() => "answer"))) instanceof TypeError);
      assert.equal(breaker.snapshot().consecutive, 2);
    });
  }

  test("throws: a failure, and the caller gets what it threw", async () => {
    const broken = new Error("classifier is broken");
    const { breaker, run } = await breakerThatCounts({ classifyOutput: throwing(broken) });
    assert.equal(await ended(run(() => "answer")), broken);
    assert.equal(breaker.snapshot().consecutive, 2);
  });
});

describe("a classifier that calls back into the breaker", () => {
  for (const timeout of [undefined, "1s"]) {
    for (const option of ["classify", "classifyOutput"] as const) {
      const call = option === "classify" ? throwing(new Down()) : succeed;
      test(`${option}, by an operator's call: its own outcome comes too late (timeout: ${timeout})`, async () => {
        for (const operate of ["close", "forceOpen", "disable", "shadow"] as const) {
          const breaker: CircuitBreaker = breakerAt(new ManualClock(), {
            timeout,
            [option]: () => {
              breaker[operate]();
              return true;
            },
          });
          await ended(breaker.call(call));
          assert.equal(breaker.generation, 1);
          assert.notEqual(breaker.state, "open");
          assert.equal(breaker.snapshot().consecutive, 0);
        }
      });

      test(`${option}, by a call: that one counts first (timeout: ${timeout})`, async () => {
        let asked = 0;
        const inner: Promise<unknown>[] = [];
        const breaker: CircuitBreaker = breakerAt(new ManualClock(), {
          timeout,
          threshold: 3,
          [option]: () => {
            asked += 1;
            if (asked === 1) inner.push(ended(breaker.call(call)));
            return true;
          },
        });
        await ended(breaker.call(call));
        await Promise.all(inner);
        assert.equal(asked, 2);
        assert.equal(breaker.snapshot().consecutive, 2);
      });
    }
  }
});

test("a classifier that throws is reported to nobody but the caller", async () => {
  const unhandled = await unhandledDuring(async () => {
    for (const options of [
      { classify: throwing(1) },
      { classifyOutput: throwing(1) },
      { classify: throwing(1), timeout: "1s" },
    ]) {
      const breaker = breakerAt(new ManualClock(), options);
      await ended(breaker.call(throwing(new Down())));
      await ended(breaker.call(succeed));
      await idle();
    }
  });
  assert.deepEqual(unhandled, []);
});
