/** A breaker's state in another isolate or run: what is carried over, and what is refused. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type BreakerOptions,
  type CircuitBreaker,
  CircuitOpenError,
  type Snapshot,
  type State,
} from "breaker-wasm";
import { Held, ManualClock, breakerAt, ended, fail, succeed } from "./support.js";

const ZERO: Snapshot = {
  state: "closed",
  timeLeft: 0,
  imposed: false,
  consecutive: 0,
  reopenings: 0,
};

async function failures(breaker: CircuitBreaker, count: number): Promise<void> {
  for (let call = 0; call < count; call += 1) await ended(breaker.call(fail));
}

/** Each state, how one comes there, what is carried over, and what becomes of that elsewhere. */
const CARRIED: [
  name: string,
  options: Partial<BreakerOptions>,
  bring: (breaker: CircuitBreaker, clock: ManualClock) => Promise<void> | void,
  taken: Partial<Snapshot>,
  restored?: Partial<Snapshot>,
][] = [
  ["closed, nothing counted", {}, () => {}, {}],
  [
    "closed, with failures",
    { threshold: 5 },
    (breaker) => failures(breaker, 4),
    { consecutive: 4 },
  ],
  [
    "open",
    {},
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 300;
    },
    { state: "open", timeLeft: 700 },
  ],
  [
    "open, to the hundredth of a millisecond",
    {},
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 300.25;
    },
    { state: "open", timeLeft: 699.75 },
  ],
  [
    "open, its wait over",
    {},
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 5000;
    },
    { state: "open", timeLeft: 0 },
  ],
  [
    "open, reopened",
    { backoff: 2 },
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 1000;
      await failures(breaker, 1);
      clock.now += 2000;
      await failures(breaker, 1);
      clock.now += 500;
    },
    { state: "open", timeLeft: 3500, reopenings: 2 },
  ],
  [
    "open, by an overload",
    { classify: () => ({ overloaded: "1h" }) },
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 60_000;
    },
    { state: "open", timeLeft: 59 * 60_000, imposed: true },
  ],
  [
    "open, by an operator",
    {},
    (breaker) => breaker.openFor("90s"),
    { state: "open", timeLeft: 90_000, imposed: true },
  ],
  [
    "half-open: probes can't be handed over",
    {},
    async (breaker, clock) => {
      await failures(breaker, 1);
      clock.now += 1000;
      void breaker.call(new Held().run);
    },
    { state: "half_open" },
    { state: "open" },
  ],
  ["forced open", {}, (breaker) => breaker.forceOpen(), { state: "forced_open" }],
  ["disabled", {}, (breaker) => breaker.disable(), { state: "disabled" }],
  ["shadow", {}, (breaker) => breaker.shadow(), { state: "shadow" }],
  [
    "open, by a rate over calls",
    { failureRate: 0.5, window: 4, minCalls: 4 },
    async (breaker, clock) => {
      await failures(breaker, 4);
      clock.now += 400;
    },
    { state: "open", timeLeft: 600 },
  ],
  [
    "closed, with half of a window of time that would open it",
    { failureRate: 0.5, window: "10s", minCalls: 4 },
    (breaker) => failures(breaker, 3),
    {},
  ],
];

describe("a snapshot, through JSON, taken by another breaker on another clock", () => {
  for (const [name, options, bring, taken, restored = taken] of CARRIED) {
    test(name, async () => {
      const clock = new ManualClock();
      clock.now = 1e6;
      const breaker = breakerAt(clock, options);
      await bring(breaker, clock);
      const { generation } = breaker;
      const snapshot = breaker.snapshot();
      assert.deepEqual(snapshot, { ...ZERO, ...taken });
      assert.equal(breaker.generation, generation);

      for (const start of [0, 123.5, 9e12]) {
        const elsewhere = new ManualClock();
        elsewhere.now = start;
        const other = breakerAt(elsewhere, options);
        const told: unknown[] = [];
        other.on("stateChange", ({ from, to, trigger }) => told.push([from, to, trigger]));
        assert.equal(other.restore(JSON.parse(JSON.stringify(snapshot))), undefined);
        const expected = { ...ZERO, ...restored };
        assert.deepEqual(told, [["closed", expected.state, "restored"]]);
        assert.equal(other.generation, 1);
        const got = other.snapshot();
        assert.ok(Math.abs(got.timeLeft - expected.timeLeft) <= 2e-6 * (1 + start / 1e6));
        assert.deepEqual({ ...got, timeLeft: 0 }, { ...expected, timeLeft: 0 });
      }
    });
  }

  test("a window begins empty: it isn't carried over", async () => {
    for (const window of [4, "10s"] as const) {
      const options = { failureRate: 0.5, window, minCalls: 4 };
      const breaker = breakerAt(new ManualClock(), options);
      await failures(breaker, 3);
      const other = breakerAt(new ManualClock(), options);
      await failures(other, 3);
      other.restore(breaker.snapshot());
      await failures(other, 3);
      assert.equal(other.state, "closed");
      await failures(other, 1);
      assert.equal(other.state, "open");
    }
  });

  test("failures in a row go on where they were", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 3 });
    breaker.restore({ ...ZERO, consecutive: 2 });
    await failures(breaker, 1);
    assert.equal(breaker.state, "open");
  });

  test("the wait goes on where it was, and grows as it would have", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { backoff: 2 });
    breaker.restore({ ...ZERO, state: "open", timeLeft: 3500, reopenings: 2 });
    clock.now = 3499;
    const error = await ended(breaker.call(succeed));
    assert.ok(error instanceof CircuitOpenError);
    assert.equal(error.retryAfter, 1);
    clock.now = 3500;
    await failures(breaker, 1);
    assert.deepEqual(breaker.snapshot(), {
      ...ZERO,
      state: "open",
      timeLeft: 8000,
      reopenings: 3,
    });
  });

  test("into each state from each: calls from before count for nothing", async () => {
    const states: State[] = ["closed", "open", "half_open", "forced_open", "disabled", "shadow"];
    for (const from of states) {
      for (const to of states) {
        const breaker = breakerAt(new ManualClock(), { threshold: 2, classifyOutput: () => true });
        const held = new Held();
        breaker.restore({ ...ZERO, state: from });
        const before = ended(breaker.call(held.run));
        breaker.restore({ ...ZERO, state: to });
        const after = breaker.snapshot();
        assert.equal(after.state, to === "half_open" ? "open" : to);
        held.resolve("late");
        await before;
        assert.deepEqual(breaker.snapshot(), after);
      }
    }
  });

  test("a snapshot is the caller's: nothing changes with it", () => {
    const breaker = breakerAt(new ManualClock());
    const snapshot = breaker.snapshot();
    snapshot.state = "forced_open";
    assert.equal(breaker.state, "closed");
    const frozen = Object.freeze({ ...ZERO, state: "open" as const, timeLeft: 5 });
    breaker.restore(frozen);
    assert.equal(breaker.snapshot().timeLeft, 5);
  });

  test("time left is cut to the wait that is configured here", async () => {
    const clock = new ManualClock();
    const cut = (options: Partial<BreakerOptions>, snapshot: Partial<Snapshot>): number => {
      const breaker = breakerAt(clock, options);
      breaker.restore({ ...ZERO, state: "open", ...snapshot });
      return breaker.snapshot().timeLeft;
    };
    const day = 864e5;
    assert.equal(cut({}, { timeLeft: 1e300 }), 1000);
    assert.equal(cut({ jitter: 1 }, { timeLeft: 1900 }), 1000);
    assert.equal(cut({ backoff: 2 }, { timeLeft: 1e300, reopenings: 3 }), 8000);
    const capped = { backoff: 2, maxReset: 3000 };
    assert.equal(cut(capped, { timeLeft: 1e300, reopenings: 255 }), 3000);
    assert.equal(cut({}, { timeLeft: 1e300, imposed: true }), day);
    assert.equal(cut({}, { timeLeft: day - 1000, imposed: true }), day - 1000);
  });

  test("on a clock that says no time", () => {
    let now: () => number = () => 5000;
    const breaker = breakerAt(new ManualClock(), { clock: () => now() });
    breaker.openFor(1000);
    now = () => NaN;
    const snapshot = breaker.snapshot();
    assert.equal(snapshot.timeLeft, 1000);
    breaker.restore(snapshot);
    assert.deepEqual(breaker.snapshot(), snapshot);
  });
});

/** What each field can't be. */
const WRONG: Record<keyof Snapshot, { values: unknown[]; legal: string }> = {
  state: {
    values: ["", "Closed", "half-open", "halfOpen", "toString", "0", 0, 1, ["open"], 5n],
    legal: "one of closed, open, half_open, forced_open, disabled, shadow",
  },
  timeLeft: {
    values: [
      ...[-1, -1e-300, Infinity, "", "5", "5s", "-5s", "soon", [], [5], 5n, new Date(5)],
      ...[new Number(5), { valueOf: () => 5 }],
    ],
    legal: "milliseconds",
  },
  imposed: {
    values: [0, 1, "", "true", "false", [], new Boolean(false)],
    legal: "true or false",
  },
  consecutive: {
    values: [-1, 0.5, 2 ** 32, 1e300, Infinity, "", "0", "5", [], [0], 0n, new Number(0)],
    legal: "a whole number",
  },
  reopenings: {
    values: [-1, 0.5, 256, 1e300, Infinity, "", "0", "5", [], [0], 0n, new Number(0)],
    legal: "a whole number up to 255",
  },
};
const NO_FIELD: unknown[] = [
  ...[undefined, null, NaN, {}, Object.create(null), () => 0, Symbol("field")],
  { toString: () => "open" },
  new Proxy({}, {}),
];

describe("restore", () => {
  /** Refused, with this to say, and nothing is changed. */
  function refused(breaker: CircuitBreaker, snapshot: unknown, message: RegExp): void {
    const { generation } = breaker;
    const before = breaker.snapshot();
    assert.throws(() => breaker.restore(snapshot as Snapshot), { name: "TypeError", message });
    assert.equal(breaker.generation, generation);
    assert.deepEqual(breaker.snapshot(), before);
  }

  async function openBreaker(): Promise<CircuitBreaker> {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { backoff: 2 });
    await failures(breaker, 1);
    clock.now = 1000;
    await failures(breaker, 1);
    breaker.on("stateChange", () => assert.fail("it changed"));
    return breaker;
  }

  for (const [field, { values, legal }] of Object.entries(WRONG)) {
    test(`refuses a ${field} that is none, by its name`, async () => {
      const breaker = await openBreaker();
      const more = field === "imposed" ? [] : [true, false];
      for (const value of [...values, ...NO_FIELD, ...more]) {
        const snapshot = { ...ZERO, state: "open", [field]: value };
        refused(
          breaker,
          snapshot,
          new RegExp(`^not a snapshot: ${field} is .*: expected ${legal}$`),
        );
      }
    });

    test(`refuses a snapshot without ${field}`, async () => {
      const { [field as "state"]: _, ...rest } = ZERO;
      refused(
        await openBreaker(),
        rest,
        new RegExp(`^not a snapshot: ${field} is undefined: expected ${legal}$`),
      );
    });
  }

  test("refuses what is no object at all", async () => {
    const breaker = await openBreaker();
    const nothing = [undefined, null, true, 0, NaN, "", "closed", "{}", 5n, Symbol("s"), []];
    for (const snapshot of [...nothing, () => ZERO, new Map(Object.entries(ZERO)), [ZERO]]) {
      refused(breaker, snapshot, /^not a snapshot: state is undefined: expected one of closed, /);
    }
    refused(breaker, JSON.stringify(ZERO), /^not a snapshot: state is undefined: /);
  });

  test("refuses what no breaker can have been in", async () => {
    const breaker = await openBreaker();
    for (const timeLeft of [1e-6, 5, 1e300]) {
      refused(breaker, { ...ZERO, timeLeft }, /^not a snapshot: it is closed, but has time left$/);
    }
    for (const consecutive of [1, 2, 2 ** 32 - 1]) {
      refused(
        breaker,
        { ...ZERO, consecutive },
        new RegExp(`^not a snapshot: ${consecutive} failures in a row would have opened it$`),
      );
    }
  });

  test("refuses a snapshot that throws when it is looked at, with what it throws", async () => {
    const breaker = await openBreaker();
    const broken = new Error("don't look");
    for (const field of Object.keys(ZERO)) {
      const snapshot = Object.defineProperty({ ...ZERO }, field, {
        get() {
          throw broken;
        },
      });
      assert.throws(() => breaker.restore(snapshot), broken);
      assert.equal(breaker.state, "open");
    }
  });

  test("looks at each field once: what it looked at is what it takes", async () => {
    const breaker = breakerAt(new ManualClock(), { threshold: 3 });
    const looks: string[] = [];
    const right: Record<string, unknown> = { ...ZERO, consecutive: 2 };
    const snapshot = new Proxy(right as unknown as Snapshot, {
      get(_, field: string) {
        const first = !looks.includes(field);
        looks.push(field);
        return first ? right[field] : NaN;
      },
    });
    breaker.restore(snapshot);
    assert.deepEqual(looks.sort(), Object.keys(ZERO).sort());
    assert.equal(breaker.snapshot().consecutive, 2);
  });

  test("takes what has more fields than it knows, also inherited ones and those of a class", () => {
    class Stored implements Snapshot {
      state = "forced_open" as const;
      timeLeft = 0;
      imposed = false;
      consecutive = 0;
      reopenings = 0;
      at = "2026-01-01";
    }
    for (const snapshot of [new Stored(), Object.create(new Stored()) as Snapshot]) {
      const breaker = breakerAt(new ManualClock());
      breaker.restore(snapshot);
      assert.equal(breaker.state, "forced_open");
    }
  });

  test("takes -0 and the largest numbers there are", () => {
    const breaker = breakerAt(new ManualClock());
    const zero = { ...ZERO, timeLeft: -0, consecutive: -0, reopenings: -0 };
    breaker.restore(zero);
    assert.deepEqual(breaker.snapshot(), ZERO);
    breaker.restore({ ...ZERO, state: "shadow", consecutive: 2 ** 32 - 1, reopenings: 255 });
    assert.equal(breaker.snapshot().reopenings, 255);
    breaker.restore({ ...ZERO, state: "open", timeLeft: Number.MAX_VALUE });
    assert.equal(breaker.snapshot().timeLeft, 1000);
  });
});
