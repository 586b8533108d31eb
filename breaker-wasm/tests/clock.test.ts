/** Clocks: those that stand still, go back, or say what is no time. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import { Down, ManualClock, breakerAt, ended, fail, succeed, trip } from "./support.js";

/** How long until a call may be admitted. */
async function left(breaker: CircuitBreaker): Promise<number | undefined> {
  const error = await ended(breaker.call(succeed));
  assert.ok(error instanceof CircuitOpenError, String(error));
  return error.retryAfter;
}

/** What a clock may say instead of a time; each with what `Number` would make of it, if anything. */
const NONSENSE: [name: string, read: () => unknown][] = [
  ["NaN", () => NaN],
  ["Infinity", () => Infinity],
  ["-Infinity", () => -Infinity],
  ["null", () => null],
  ["undefined", () => undefined],
  ["true", () => true],
  ["empty text", () => ""],
  ["a number as text", () => "999999"],
  ["text", () => "soon"],
  ["a bigint", () => 999_999n],
  ["a symbol", () => Symbol("now")],
  ["a date", () => new Date(999_999)],
  ["an object with a value", () => ({ valueOf: () => 999_999 })],
  ["a number as an object", () => new Number(999_999)],
  ["a list of a number", () => [999_999]],
  ["a function", () => () => 999_999],
  ["a promise", () => Promise.resolve(999_999)],
];

const THROWING: [name: string, read: () => unknown][] = [
  [
    "an error",
    () => {
      throw new Error("no clock");
    },
  ],
  [
    "nothing",
    () => {
      throw undefined;
    },
  ],
  ["what can't be read", () => ({ valueOf: () => assert.fail("read") })],
];

describe("a clock that says what is no time: none has passed", () => {
  for (const [name, read] of [...NONSENSE, ...THROWING]) {
    test(name, async () => {
      let now: () => unknown = () => 100_000;
      const breaker = breakerAt(new ManualClock(), { clock: () => now() as number });
      await trip(breaker);
      now = () => 100_400;
      assert.equal(await left(breaker), 600);
      now = read;
      assert.equal(await left(breaker), 600);
      assert.equal(breaker.snapshot().timeLeft, 600);
      assert.equal(breaker.state, "open");
      now = () => 100_999;
      assert.equal(await left(breaker), 1);
      now = read;
      assert.equal(await left(breaker), 1);
      now = () => 101_000;
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(breaker.state, "closed");
    });

    test(`${name}, from the beginning`, async () => {
      let now = read;
      const breaker = breakerAt(new ManualClock(), { clock: () => now() as number });
      await trip(breaker);
      assert.equal(await left(breaker), 1000);
      breaker.openFor(50);
      assert.equal(await left(breaker), 50);
      breaker.close();
      assert.equal(await breaker.call(succeed), "fresh");
      await trip(breaker);
      now = () => 1000;
      assert.equal(await breaker.call(succeed), "fresh");
    });

    test(`${name}: how long a call took is nothing, too`, async () => {
      let now: () => unknown = () => 500;
      const breaker = breakerAt(new ManualClock(), { clock: () => now() as number });
      const took: unknown[] = [];
      breaker.on("outcome", ({ duration }) => took.push(duration));
      await breaker.call(async () => {
        now = read;
      });
      assert.deepEqual(took, [0]);
    });
  }
});

describe("a clock that stands still", () => {
  for (const start of [0, -0, 1, 5.5, 1e12]) {
    test(`at ${start}: what it was set to holds`, async () => {
      const clock = new ManualClock();
      clock.now = start;
      const breaker = breakerAt(clock, { threshold: 3 });
      for (let call = 0; call < 3; call += 1) await ended(breaker.call(fail));
      for (let call = 0; call < 100; call += 1) assert.equal(await left(breaker), 1000);
      assert.equal(breaker.state, "open");
      breaker.close();
      assert.equal(await breaker.call(succeed), "fresh");
      breaker.openFor(0);
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(breaker.state, "closed");
    });
  }

  test("windows count all the same", async () => {
    for (const window of [10, "10s"] as const) {
      const clock = new ManualClock();
      const breaker = breakerAt(clock, { failureRate: 0.5, window, minCalls: 10 });
      for (let call = 0; call < 5; call += 1) await breaker.call(succeed);
      for (let call = 0; call < 4; call += 1) await ended(breaker.call(fail));
      assert.equal(breaker.state, "closed");
      await ended(breaker.call(fail));
      assert.equal(breaker.state, "open");
    }
  });

  test("no call is slow", async () => {
    const rates = { failureRate: 1, minCalls: 1, slow: 1e-6, slowRate: 0.1 };
    const breaker = breakerAt(new ManualClock(), rates);
    for (let call = 0; call < 50; call += 1) await breaker.call(succeed);
    assert.equal(breaker.state, "closed");
  });
});

describe("a clock that goes back", () => {
  for (const back of [1, 1000, 36e5, 1e9]) {
    test(`by ${back} ms: it is open no longer than reset from there`, async () => {
      const clock = new ManualClock();
      clock.now = 2e9;
      const breaker = breakerAt(clock);
      await trip(breaker);
      clock.now += 300;
      assert.equal(await left(breaker), 700);
      clock.now -= 300 + back;
      assert.equal(await left(breaker), 1000);
      clock.now += 999;
      assert.equal(await left(breaker), 1);
      clock.now += 1;
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(breaker.state, "closed");
    });
  }

  test("while a call runs: it took no time, and isn't slow", async () => {
    const clock = new ManualClock();
    clock.now = 1e6;
    const rates = { failureRate: 1, minCalls: 1, slow: 100, slowRate: 0.1 };
    const breaker = breakerAt(clock, rates);
    const took: unknown[] = [];
    breaker.on("outcome", ({ duration }) => took.push(duration));
    await breaker.call(async () => {
      clock.now = 5;
    });
    assert.deepEqual(took, [0]);
    assert.equal(breaker.state, "closed");
  });

  test("below zero: that counts as zero", async () => {
    const clock = new ManualClock();
    clock.now = -1e6;
    const breaker = breakerAt(clock);
    await trip(breaker);
    clock.now = -1;
    assert.equal(await left(breaker), 1000);
    clock.now = 600;
    assert.equal(await left(breaker), 400);
    clock.now = 1000;
    assert.equal(await breaker.call(succeed), "fresh");
  });

  test("again and again: probes still come, one at a time", async () => {
    const clock = new ManualClock();
    clock.now = 1e6;
    const breaker = breakerAt(clock);
    await trip(breaker);
    let probes = 0;
    for (let call = 0; call < 400; call += 1) {
      clock.now += call % 7 ? 200 : -150;
      if (!((await ended(breaker.call(fail))) instanceof CircuitOpenError)) probes += 1;
    }
    assert.ok(probes > 10 && probes < 80, `${probes} probes`);
  });
});

describe("a clock of large numbers", () => {
  for (const start of [Date.UTC(2026, 0), 2 ** 53, 1.8e13]) {
    test(`from ${start}: waits are those that were set`, async () => {
      const clock = new ManualClock();
      clock.now = start;
      const breaker = breakerAt(clock);
      await trip(breaker);
      const until = await left(breaker);
      // Nanoseconds are exact up to 2^53 of them.
      const lost = Math.max(start * 1e6 * Number.EPSILON, 0) / 1e6 + 0.01;
      assert.ok(Math.abs(until! - 1000) <= lost, `${until}`);
      clock.now = start + 1001;
      if (start < 1.8e13) assert.equal(await breaker.call(succeed), "fresh");
    });
  }

  test("beyond what nanoseconds hold: it stands still, and comes back with the clock", async () => {
    for (const now of [1e14, 1e300, Number.MAX_VALUE]) {
      const clock = new ManualClock();
      clock.now = now;
      const breaker = breakerAt(clock);
      await trip(breaker);
      clock.now = now * 1.5;
      assert.equal(await left(breaker), 1000);
      breaker.close();
      assert.equal(await breaker.call(succeed), "fresh");
      await trip(breaker);
      clock.now = 5000;
      assert.equal(await left(breaker), 1000);
      clock.now = 6000;
      assert.equal(await breaker.call(succeed), "fresh");
    }
  });
});

describe("when a clock is read", () => {
  test("never for a plain success, an operator's look or a refused option", async () => {
    const breaker = breakerAt(new ManualClock(), { clock: () => assert.fail("read") });
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(await breaker.wrap(succeed)(), "fresh");
    assert.equal(breaker.state, "closed");
    assert.equal(breaker.generation, 0);
  });

  test("one that calls back into the breaker does no harm", async () => {
    const clock = new ManualClock();
    let asked = 0;
    const breaker: CircuitBreaker = breakerAt(clock, {
      clock: () => {
        asked += 1;
        if (asked % 2) breaker.snapshot();
        return clock.now;
      },
    });
    await trip(breaker);
    assert.equal(await left(breaker), 1000);
    clock.now = 1000;
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(breaker.state, "closed");
  });

  test("one that operates the breaker does so before what it is read for", async () => {
    const clock = new ManualClock();
    let operate = false;
    const breaker: CircuitBreaker = breakerAt(clock, {
      threshold: 2,
      clock: () => {
        if (operate) {
          operate = false;
          breaker.close();
        }
        return clock.now;
      },
    });
    await ended(breaker.call(fail));
    operate = true;
    const down = new Down();
    assert.equal(await ended(breaker.call(() => Promise.reject(down))), down);
    assert.equal(breaker.state, "closed");
    assert.equal(breaker.snapshot().consecutive, 0);
  });

  test("the default may lag behind by a millisecond, which is waited for; also by key", async (context) => {
    context.mock.method(performance, "now", () => 5000);
    const options = { name: "pms", threshold: 1, reset: 1000, jitter: 0 };
    const keys = new KeyedCircuitBreakers(options);
    for (const breaker of [new CircuitBreaker(options), keys.get("a"), keys.get("b")]) {
      await trip(breaker);
      assert.equal(await left(breaker), 1001);
      assert.equal(breaker.snapshot().timeLeft, 1000);
    }
    const exact = new KeyedCircuitBreakers({ ...options, clock: () => 5000 }).get("a");
    await trip(exact);
    assert.equal(await left(exact), 1000);
  });

  test("the default is `performance.now`, as it is then", async () => {
    const breaker = new CircuitBreaker({ name: "pms", threshold: 1, reset: 1000, jitter: 0 });
    const { performance } = globalThis;
    const now = performance.now;
    try {
      performance.now = () => 5000;
      await trip(breaker);
      performance.now = () => 5999;
      const until = await left(breaker);
      // With what browsers may hide of it.
      assert.ok(until! >= 1 && until! <= 2.01, `${until}`);
      performance.now = () => 6001.01;
      assert.equal(await breaker.call(succeed), "fresh");
    } finally {
      performance.now = now;
    }
  });
});
