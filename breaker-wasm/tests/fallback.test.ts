/** Fallbacks: when they are asked, what they get, and what becomes of what they give. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import {
  type CircuitBreaker,
  CircuitOpenError,
  type Events,
  KeyedCircuitBreakers,
  TimeoutError,
} from "breaker-wasm";
import {
  Down,
  Held,
  ManualClock,
  breakerAt,
  ended,
  fail,
  idle,
  isPending,
  succeed,
  thenable,
  trip,
  unhandledDuring,
  waysToFail,
} from "./support.js";

type Fallback = (cause: any, ...args: any[]) => unknown;

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

/** A call that a fallback is asked about. */
interface Asked {
  readonly breaker: CircuitBreaker;
  /** What the caller gets, or the error. */
  readonly run: () => Promise<unknown>;
  /** What it gets where there is nothing to serve: the cause, by identity where that can be known. */
  readonly isCause: (cause: unknown) => boolean;
}

/** An answer that is none. */
const ANSWER = Object.freeze({ status: 503 });

/** Each way to come to a fallback, after which the breaker is open. */
const CAUSES: [
  name: string,
  inPlaceOf: Events["fallback"]["inPlaceOf"],
  ask: (fallback: Fallback) => Promise<Asked>,
][] = [
  [
    "an error",
    "failed",
    async (fallback) => {
      const down = new Down();
      const breaker = breakerAt(new ManualClock(), { fallback });
      const run = () => ended(breaker.call(() => Promise.reject(down)));
      return { breaker, run, isCause: (cause) => cause === down };
    },
  ],
  [
    "an error thrown at once",
    "failed",
    async (fallback) => {
      const down = new Down();
      const breaker = breakerAt(new ManualClock());
      const broken = (): never => {
        throw down;
      };
      const run = () => ended(breaker.wrap(broken, { fallback })());
      return { breaker, run, isCause: (cause) => cause === down };
    },
  ],
  [
    "an answer that counts as a failure",
    "failed",
    async (fallback) => {
      const breaker = breakerAt(new ManualClock(), {
        fallback,
        classifyOutput: ({ status }) => status === 503,
      });
      const run = () => ended(breaker.call(async () => ANSWER));
      return { breaker, run, isCause: (cause) => cause === ANSWER };
    },
  ],
  [
    "an overload",
    "failed",
    async (fallback) => {
      const down = new Down(429);
      const breaker = breakerAt(new ManualClock(), {
        fallback,
        classify: () => ({ overloaded: "5s" }),
      });
      const run = () => ended(breaker.call(() => Promise.reject(down)));
      return { breaker, run, isCause: (cause) => cause === down };
    },
  ],
  [
    "a timeout",
    "timed_out",
    async (fallback) => {
      const breaker = breakerAt(new ManualClock(), { fallback, timeout: "2s" });
      const run = async () => {
        const got = ended(breaker.call(new Held().run));
        await idle();
        mock.timers.tick(2000);
        return got;
      };
      return { breaker, run, isCause: (cause) => cause instanceof TimeoutError };
    },
  ],
  [
    "a refusal",
    "rejected",
    async (fallback) => {
      const breaker = breakerAt(new ManualClock());
      await trip(breaker);
      const run = () => ended(breaker.call(() => assert.fail("called"), { fallback }));
      return { breaker, run, isCause: (cause) => cause instanceof CircuitOpenError };
    },
  ],
];

const broken = new Error("the cache is broken");

/** What a fallback gives, and what the caller gets. */
const SERVED: [form: string, fallback: Fallback, served: unknown][] = [
  ["a value", () => "stale", "stale"],
  ["a promise", async () => "stale", "stale"],
  ["a promise that takes a while", () => new Promise((done) => setImmediate(done, "old")), "old"],
  ["a thenable", () => thenable((resolve) => resolve("stale")), "stale"],
  ["a thenable of a promise", () => thenable((resolve) => resolve(succeed())), "fresh"],
  ["null, which is a value", () => null, null],
  ["false", () => false, false],
  ["0", async () => 0, 0],
  ["empty text", () => "", ""],
  ["an error as a value", () => broken, broken],
];

const NOTHING: [form: string, fallback: Fallback][] = [
  ["undefined", () => undefined],
  ["a promise of undefined", async () => {}],
  ["a thenable of undefined", () => thenable((resolve) => resolve(undefined))],
];

const FAILING: [form: string, fallback: Fallback][] = waysToFail(broken);

for (const [name, inPlaceOf, ask] of CAUSES) {
  describe(`in place of ${name}, a fallback that`, () => {
    for (const [form, fallback, served] of SERVED) {
      test(`gives ${form}: it is served, and told of once`, async () => {
        const causes: unknown[] = [];
        const told: Events["fallback"][] = [];
        const { breaker, run, isCause } = await ask((cause, ...args) => {
          causes.push(cause);
          assert.deepEqual(args, []);
          return fallback(cause);
        });
        breaker.on("fallback", (event) => told.push(event));
        assert.equal(await run(), served);
        assert.equal(causes.length, 1);
        assert.ok(isCause(causes[0]));
        assert.equal(told.length, 1);
        const { generation } = breaker;
        const common = { type: "fallback", breaker: "pms", key: undefined, sequence: 1 };
        assert.deepEqual(told[0], { ...common, generation, inPlaceOf, cause: causes[0] });
        assert.equal(told[0]?.cause, causes[0]);
        assert.equal(breaker.state, "open");
      });
    }

    for (const [form, fallback] of NOTHING) {
      test(`gives ${form}: the caller gets the cause, and nobody is told`, async () => {
        const { breaker, run, isCause } = await ask(fallback);
        breaker.on("fallback", () => assert.fail("nothing was served"));
        assert.ok(isCause(await run()));
        assert.equal(breaker.state, "open");
      });
    }

    for (const [form, fallback] of FAILING) {
      test(`${form}: the caller gets that error, and what failed is counted all the same`, async () => {
        const unhandled = await unhandledDuring(async () => {
          const { breaker, run } = await ask(fallback);
          breaker.on("fallback", () => assert.fail("nothing was served"));
          assert.equal(await run(), broken);
          assert.equal(breaker.state, "open");
        });
        assert.deepEqual(unhandled, []);
      });
    }

    test("never settles: its own call waits, and no other", async () => {
      const { breaker, run } = await ask(() => new Promise(() => {}));
      const got = run();
      assert.equal(await isPending(got), true);
      assert.equal(breaker.state, "open");
      breaker.close();
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(await isPending(got), true);
    });
  });
}

describe("a fallback", () => {
  test("gets what the function got, and its `this`", async () => {
    const seen: unknown[] = [];
    const breaker = breakerAt(new ManualClock(), {
      threshold: 2,
      fallback(this: { city: string }, cause: Down, ...args: unknown[]) {
        seen.push([this?.city, cause.status, args]);
        return "stale";
      },
    });
    const hotels = {
      city: "Bremen",
      inventory: breaker.wrap(async (..._: unknown[]) => Promise.reject(new Down(500))),
    };
    assert.equal(await hotels.inventory("H1", undefined, 3), "stale");
    assert.equal(await hotels.inventory(), "stale");
    assert.deepEqual(seen, [
      ["Bremen", 500, ["H1", undefined, 3]],
      ["Bremen", 500, []],
    ]);
  });

  test("gets them also where the call is refused", async () => {
    const breaker = breakerAt(new ManualClock());
    breaker.forceOpen();
    const guarded = breaker.wrap(async (hotel: string, rooms: number) => `${hotel}: ${rooms}`, {
      fallback: (cause: CircuitOpenError, hotel, rooms) => `${cause.reason} ${hotel}: ${rooms}`,
    });
    assert.equal(await guarded("H1", 2), "forced_open H1: 2");
  });

  test("sees the cause that its key had", async () => {
    const hosts = new KeyedCircuitBreakers({
      name: "hosts",
      threshold: 1,
      fallback: (cause: unknown) => cause,
    });
    const told: unknown[] = [];
    hosts.on("fallback", ({ key, inPlaceOf }) => told.push([key, inPlaceOf]));
    const get = hosts.wrap(fail as (host: string) => Promise<never>, (host) => host);
    assert.ok(((await get("a")) as unknown) instanceof Down);
    const refusal: unknown = await get("a");
    assert.ok(refusal instanceof CircuitOpenError && refusal.key === "a");
    assert.deepEqual(told, [
      ["a", "failed"],
      ["a", "rejected"],
    ]);
  });

  test("isn't asked about an answer, nor about what doesn't count as a failure", async () => {
    const asked = (): never => assert.fail("asked");
    for (const classify of [() => false, () => "ignored", () => "success", () => "dropped"]) {
      const options = { fallback: asked, classify: classify as () => false };
      const breaker = breakerAt(new ManualClock(), options);
      assert.ok((await ended(breaker.call(fail))) instanceof Down);
      assert.equal(await breaker.call(succeed), "fresh");
      assert.equal(await breaker.call(succeed, { classifyOutput: () => "ignored" }), "fresh");
      assert.equal(breaker.state, "closed");
    }
  });

  test("isn't asked about a call that its caller gave up", async () => {
    const breaker = breakerAt(new ManualClock(), {
      onCancel: "failure",
      threshold: 3,
      fallback: () => assert.fail("asked"),
    });
    const before = new Error("before");
    assert.equal(await ended(breaker.call(succeed, { signal: AbortSignal.abort(before) })), before);
    const controller = new AbortController();
    const during = ended(breaker.call(new Held().run, { signal: controller.signal }));
    controller.abort(before);
    assert.equal(await during, before);
    const given = new DOMException("given up", "AbortError");
    assert.equal(await ended(breaker.call(() => Promise.reject(given))), given);
    assert.equal(breaker.snapshot().consecutive, 2);
  });

  test("isn't asked where a classifier throws: the caller has to hear of it", async () => {
    const fallback = (): never => assert.fail("asked");
    const throws = (): never => {
      throw broken;
    };
    for (const options of [{ classify: throws }, { classifyOutput: throws }]) {
      const breaker = breakerAt(new ManualClock(), { fallback, ...options });
      const call = "classify" in options ? fail : succeed;
      assert.equal(await ended(breaker.call(call)), broken);
      assert.equal(breaker.state, "open");
    }
  });

  test("is asked in shadow and where it is disabled as well: the call did fail", async () => {
    for (const operate of ["shadow", "disable"] as const) {
      const breaker = breakerAt(new ManualClock(), { fallback: () => "stale" });
      breaker[operate]();
      assert.equal(await breaker.call(fail), "stale");
    }
  });

  test("is asked after the outcome was counted: it may call back into the breaker", async () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const breaker: CircuitBreaker = breakerAt(clock, {
      fallback: async () => {
        seen.push(breaker.state);
        breaker.close();
        return breaker.call(succeed);
      },
    });
    assert.equal(await breaker.call(fail), "fresh");
    assert.deepEqual(seen, ["open"]);
    assert.equal(breaker.state, "closed");
  });

  test("of a probe gives its slot back, whatever becomes of it", async () => {
    const forms = [...NOTHING, ...FAILING, ["never settles", () => new Promise(() => {})] as const];
    for (const [form, fallback] of forms) {
      const clock = new ManualClock();
      const breaker = breakerAt(clock, { probeTimeout: "1h" });
      await trip(breaker);
      clock.now = 1000;
      const probe = ended(breaker.call(fail, { fallback }));
      await idle();
      assert.equal(breaker.state, "open", form);
      clock.now = 2000;
      assert.equal(await breaker.call(succeed), "fresh", form);
      void probe;
    }
  });

  test("that fails where nobody handles it is reported, once", async () => {
    const breaker = breakerAt(new ManualClock(), { fallback: () => Promise.reject(broken) });
    const unhandled = await unhandledDuring(() => {
      void breaker.call(fail);
    });
    assert.deepEqual(unhandled, [broken]);
  });

  test("of one call takes the place of the breaker's", async () => {
    const breaker = breakerAt(new ManualClock(), { threshold: 9, fallback: () => "the breaker's" });
    assert.equal(await breaker.call(fail), "the breaker's");
    assert.equal(await breaker.call(fail, { fallback: () => "the call's" }), "the call's");
    assert.equal(await breaker.wrap(fail, { fallback: () => "the way's" })(), "the way's");
    assert.equal(await breaker.call(fail, { fallback: undefined }), "the breaker's");
  });

  test("is told of also where a listener throws", async () => {
    const breaker = breakerAt(new ManualClock(), { fallback: () => "stale" });
    const before = console.error;
    console.error = () => {};
    try {
      breaker.on("fallback", () => {
        throw broken;
      });
      assert.equal(await breaker.call(fail), "stale");
      await idle();
    } finally {
      console.error = before;
    }
  });
});

describe('fallbackOn: "open"', () => {
  test("asks in place of a refused call, and of no other", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, {
      threshold: 3,
      timeout: "2s",
      fallback: () => "stale",
      fallbackOn: "open",
      classifyOutput: (answer: unknown) => answer === ANSWER,
    });
    assert.ok((await ended(breaker.call(fail))) instanceof Down);
    assert.equal(await breaker.call(async () => ANSWER), ANSWER);
    const late = ended(breaker.call(new Held().run));
    await idle();
    mock.timers.tick(2000);
    assert.ok((await late) instanceof TimeoutError);
    assert.equal(breaker.state, "open");
    assert.equal(await breaker.call(succeed), "stale");
    breaker.forceOpen();
    assert.equal(await breaker.call(succeed), "stale");
  });

  test("of one call, or of a way, takes the place of the breaker's", async () => {
    const breaker = breakerAt(new ManualClock(), { threshold: 9, fallback: () => "stale" });
    assert.equal(await breaker.call(fail), "stale");
    assert.ok((await ended(breaker.call(fail, { fallbackOn: "open" }))) instanceof Down);
    const open = breakerAt(new ManualClock(), {
      threshold: 9,
      fallback: () => "stale",
      fallbackOn: "open",
    });
    assert.ok((await ended(open.call(fail))) instanceof Down);
    assert.equal(await open.wrap(fail, { fallbackOn: "any" })(), "stale");
  });
});
