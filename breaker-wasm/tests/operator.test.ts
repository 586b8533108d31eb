/** What operators do, from each state. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CircuitBreaker, CircuitOpenError, type Duration, type State } from "breaker-wasm";
import { Down, Held, ManualClock, breakerAt, ended, fail, succeed, trip } from "./support.js";

interface Ready {
  readonly breaker: CircuitBreaker;
  readonly clock: ManualClock;
}

/** A breaker in each state, and how it came there. */
const FROM: Record<State, () => Promise<Ready>> = {
  closed: async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 2 });
    await ended(breaker.call(fail));
    return { breaker, clock };
  },
  open: async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 2, backoff: 3 });
    for (let call = 0; call < 2; call += 1) await ended(breaker.call(fail));
    clock.now = 1000;
    await ended(breaker.call(fail));
    return { breaker, clock };
  },
  half_open: async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 2 });
    for (let call = 0; call < 2; call += 1) await ended(breaker.call(fail));
    clock.now = 1000;
    void breaker.call(new Held().run);
    return { breaker, clock };
  },
  forced_open: async () => operated((breaker) => breaker.forceOpen()),
  disabled: async () => operated((breaker) => breaker.disable()),
  shadow: async () => operated((breaker) => breaker.shadow()),
};

function operated(operate: (breaker: CircuitBreaker) => void): Ready {
  const clock = new ManualClock();
  const breaker = breakerAt(clock, { threshold: 2 });
  operate(breaker);
  return { breaker, clock };
}

/** Each operator's call, the state that it brings about, and the wait that is told. */
const CALLS: [
  name: string,
  operate: (breaker: CircuitBreaker) => void,
  to: State,
  wait?: number,
][] = [
  ["close", (breaker) => breaker.close(), "closed"],
  ["clear", (breaker) => breaker.clear(), "closed"],
  ["forceOpen", (breaker) => breaker.forceOpen(), "forced_open"],
  ["disable", (breaker) => breaker.disable(), "disabled"],
  ["shadow", (breaker) => breaker.shadow(), "shadow"],
  ["openFor", (breaker) => breaker.openFor("5s"), "open", 5000],
  ["openFor(0)", (breaker) => breaker.openFor(0), "open", 0],
];

const NAMES: Partial<Record<State, string>> = { closed: "close", open: "open" };

/** What a breaker does with calls, which tells its state better than its name. */
const DOES: Record<Exclude<State, "half_open">, (ready: Ready) => Promise<void>> = {
  closed: async ({ breaker }) => {
    assert.deepEqual(breaker.snapshot(), {
      state: "closed",
      timeLeft: 0,
      imposed: false,
      consecutive: 0,
      reopenings: 0,
    });
    await ended(breaker.call(fail));
    assert.equal(breaker.state, "closed");
    await ended(breaker.call(fail));
    assert.equal(breaker.state, "open");
    assert.equal(breaker.snapshot().timeLeft, 1000);
  },
  open: async ({ breaker, clock }) => {
    const { timeLeft, imposed } = breaker.snapshot();
    assert.equal(imposed, true);
    if (timeLeft > 0) {
      const error = await ended(breaker.call(() => assert.fail("called")));
      assert.ok(error instanceof CircuitOpenError);
      assert.equal(error.retryAfter, timeLeft);
      assert.equal(error.reason, "open");
    }
    clock.now += timeLeft;
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(breaker.state, "closed");
  },
  forced_open: async ({ breaker, clock }) => {
    clock.now += 1e12;
    const error = await ended(breaker.call(() => assert.fail("called")));
    assert.ok(error instanceof CircuitOpenError);
    assert.equal(error.reason, "forced_open");
    assert.equal(error.retryAfter, undefined);
    assert.equal(breaker.state, "forced_open");
  },
  disabled: async ({ breaker }) => {
    breaker.on("wouldTrip", () => assert.fail("counted"));
    for (let call = 0; call < 9; call += 1) {
      assert.ok((await ended(breaker.call(fail))) instanceof Down);
    }
    assert.equal(breaker.state, "disabled");
    assert.equal(breaker.snapshot().consecutive, 0);
  },
  shadow: async ({ breaker }) => {
    let would = 0;
    breaker.on("wouldTrip", () => {
      would += 1;
    });
    for (let call = 0; call < 9; call += 1) {
      assert.ok((await ended(breaker.call(fail))) instanceof Down);
    }
    assert.equal(breaker.state, "shadow");
    assert.ok(would >= 1);
  },
};

for (const from of Object.keys(FROM) as State[]) {
  describe(`from ${from}`, () => {
    for (const [name, operate, to, wait] of CALLS) {
      test(`${name} brings about ${to}, in a new generation, and is told of`, async () => {
        const ready = await FROM[from]();
        const { breaker } = ready;
        assert.equal(breaker.state, from);
        const { generation } = breaker;
        const told: unknown[] = [];
        for (const type of ["stateChange", "open", "halfOpen", "close"] as const) {
          breaker.on(type, (event) => told.push(event));
        }
        operate(breaker);
        assert.equal(breaker.state, to);
        assert.equal(breaker.generation, generation + 1);
        const change = {
          breaker: "pms",
          key: undefined,
          generation: generation + 1,
          from,
          to,
          trigger: "operator",
          failures: 0,
          wait,
        };
        const expected: unknown[] = [{ type: "stateChange", ...change, sequence: 1 }];
        const type = NAMES[to];
        if (type) expected.push({ type, ...change, sequence: 2 });
        assert.deepEqual(told, expected);
        await DOES[to as "closed"](ready);
      });

      test(`after ${name}, a call from before counts for nothing`, async () => {
        const { breaker } = await FROM[from]();
        breaker.close();
        const calls = [new Held(), new Held()];
        const results = calls.map((held) => ended(breaker.call(held.run)));
        operate(breaker);
        const before = breaker.snapshot();
        calls[0]!.resolve("late");
        calls[1]!.reject(new Down());
        assert.equal(await results[0], "late");
        assert.ok((await results[1]) instanceof Down);
        assert.equal(breaker.state, to);
        assert.deepEqual(breaker.snapshot(), before);
      });
    }
  });
}

describe("close and clear", () => {
  for (const name of ["close", "clear"] as const) {
    test(`${name} forgets failures, windows and backoff`, async () => {
      const clock = new ManualClock();
      const counted = breakerAt(clock, { threshold: 2 });
      await ended(counted.call(fail));
      counted[name]();
      await ended(counted.call(fail));
      assert.equal(counted.state, "closed");

      for (const window of [10, "10s"] as const) {
        const rated = breakerAt(clock, { failureRate: 0.5, window, minCalls: 2 });
        await ended(rated.call(fail));
        rated[name]();
        await ended(rated.call(fail));
        assert.equal(rated.state, "closed");
      }

      const grown = breakerAt(clock, { backoff: 2 });
      await trip(grown);
      clock.now += 1000;
      await ended(grown.call(fail));
      assert.equal(grown.snapshot().reopenings, 1);
      grown[name]();
      assert.equal(grown.snapshot().reopenings, 0);
      await trip(grown);
      assert.equal(grown.snapshot().timeLeft, 1000);
    });
  }
});

describe("openFor", () => {
  test("waits exactly so long, without jitter or backoff", async () => {
    const waits: [Duration, number][] = [
      [1, 1],
      [1500, 1500],
      ["250ms", 250],
      ["1m30s", 90_000],
      ["1.5s", 1500],
      [0, 0],
      [-0, 0],
      ["0s", 0],
      ["0ms", 0],
    ];
    for (const [wait, millis] of waits) {
      const clock = new ManualClock();
      const breaker = breakerAt(clock, { jitter: 1, backoff: 10, reset: 7 });
      breaker.openFor(wait);
      assert.equal(breaker.state, "open");
      assert.equal(breaker.snapshot().timeLeft, millis);
      if (millis > 0) {
        clock.now = millis - 0.01;
        assert.ok((await ended(breaker.call(succeed))) instanceof CircuitOpenError);
      }
      clock.now = millis;
      assert.equal(await breaker.call(succeed), "fresh");
    }
  });

  test("is never shorter than was asked for, and at most a step of its scale longer", () => {
    for (const [wait, step] of [
      [0.000001, 1],
      [0.5, 1],
      [123.456, 1],
      [36e5 * 10 + 1, 1000],
      [864e5 * 200 + 1, 36e5],
      ["18446744073s", 36e5],
    ] as [Duration, number][]) {
      const breaker = breakerAt(new ManualClock());
      breaker.openFor(wait);
      const asked = typeof wait === "number" ? wait : 18446744073000;
      const { timeLeft } = breaker.snapshot();
      assert.ok(timeLeft >= asked && timeLeft - asked <= step, `${wait}: ${timeLeft}`);
    }
  });

  const WRONG: unknown[] = [
    ...[undefined, null, true, false, NaN, Infinity, -Infinity, -1, -0.001, -1e-300, 1e-7],
    ...[2 ** 64 / 1e6, Number.MAX_VALUE, "", " ", "5", "-5s", "-0s", "+5s", "5 s", "soon", "NaNs"],
    ...["Infinity", "1e3s", "99999999999999999999d", 5n, [], [5], ["5s"], {}, new Date(5)],
    ...[() => 5, Symbol("wait"), new Number(5), new String("5s"), Object.create(null)],
    ...[{ valueOf: () => 5 }, { toString: () => "5s" }],
  ];
  for (const from of Object.keys(FROM) as State[]) {
    test(`refuses what is no wait, and stays ${from}`, async () => {
      const { breaker } = await FROM[from]();
      breaker.on("stateChange", () => assert.fail("it changed"));
      const { generation } = breaker;
      const before = breaker.snapshot();
      for (const wait of WRONG) {
        assert.throws(() => breaker.openFor(wait as Duration), {
          name: "TypeError",
          message:
            /^circuit `pms`: the wait is .*: expected 0, or milliseconds above 0, or text like "30s" or "1m30s"$/,
        });
      }
      assert.equal(breaker.state, from);
      assert.equal(breaker.generation, generation);
      assert.deepEqual(breaker.snapshot(), before);
    });
  }
});

test("operators' calls give nothing and take nothing", () => {
  const breaker = breakerAt(new ManualClock());
  for (const name of ["close", "clear", "forceOpen", "disable", "shadow"] as const) {
    const call = breaker[name] as (...args: unknown[]) => unknown;
    assert.equal(call.call(breaker, "5s", null, NaN), undefined);
  }
  assert.equal(breaker.openFor("5s"), undefined);
  assert.equal(breaker.snapshot().timeLeft, 5000);
});
