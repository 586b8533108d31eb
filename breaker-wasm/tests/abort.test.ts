/** A caller that gives its call up, by an `AbortSignal`. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, mock, test } from "node:test";
import { type CircuitBreaker, CircuitOpenError } from "breaker-wasm";
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
  trip,
  unhandledDuring,
} from "./support.js";

/** How many listen to a signal's abort. */
const listening = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

/** What a caller may give as the reason: anything. */
const REASONS: unknown[] = [
  new Error("left the page"),
  undefined,
  null,
  false,
  0,
  NaN,
  "",
  "left",
  {},
  () => {},
  Symbol("left"),
];

/** A breaker with one failure in a row before, so that both a success and a failure would show. */
async function breakerThatShows(): Promise<{ breaker: CircuitBreaker; outcomes: unknown[] }> {
  const breaker = breakerAt(new ManualClock(), { threshold: 3 });
  await ended(breaker.call(fail));
  const outcomes: unknown[] = [];
  breaker.on("outcome", ({ outcome, late }) => outcomes.push([outcome, late]));
  return { breaker, outcomes };
}

describe("a signal that is aborted before the call", () => {
  test("the call isn't made, nobody is told, and the caller gets the reason", async () => {
    for (const reason of REASONS) {
      const breaker = breakerAt(new ManualClock(), { fallback: () => assert.fail("asked") });
      breaker.on("outcome", () => assert.fail("there was no call"));
      const signal = AbortSignal.abort(reason);
      const call = breaker.call(() => assert.fail("called"), { signal });
      const got = await call.then(
        () => assert.fail("it resolved"),
        (error: unknown) => error,
      );
      assert.ok(Object.is(got, signal.reason));
      assert.equal(listening(signal), 0);
      assert.equal(breaker.state, "closed");
    }
  });

  test("an open breaker isn't even asked", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock);
    await trip(breaker);
    breaker.on("reject", () => assert.fail("asked"));
    const given = { signal: AbortSignal.abort("left") };
    assert.equal(await ended(breaker.call(succeed, given)), "left");
    clock.now = 1000;
    assert.equal(await ended(breaker.call(succeed, given)), "left");
    assert.equal(breaker.state, "open");
    assert.equal(await breaker.call(succeed), "fresh");
  });
});

describe("a signal that is aborted during the call", () => {
  test("the caller gets the reason at once, and nothing is counted", async () => {
    for (const reason of REASONS) {
      const { breaker, outcomes } = await breakerThatShows();
      const controller = new AbortController();
      const { signal } = controller;
      const held = new Held();
      const call = breaker.call(held.run, { signal });
      assert.equal(await isPending(call), true);
      controller.abort(reason);
      const got = await call.then(
        () => assert.fail("it resolved"),
        (error: unknown) => error,
      );
      assert.ok(Object.is(got, signal.reason));
      assert.deepEqual(outcomes, [["dropped", false]]);
      assert.equal(breaker.snapshot().consecutive, 1);
    }
  });

  test("the classifiers aren't asked about it", async () => {
    const breaker = breakerAt(new ManualClock(), {
      classify: () => assert.fail("asked"),
      classifyOutput: () => assert.fail("asked"),
    });
    for (const reason of REASONS) {
      const controller = new AbortController();
      const call = ended(breaker.call(new Held().run, { signal: controller.signal }));
      controller.abort(reason);
      await call;
    }
    assert.equal(breaker.state, "closed");
  });

  test("the context's signal is aborted for the same reason, once", async () => {
    for (const reason of REASONS) {
      const breaker = breakerAt(new ManualClock());
      const controller = new AbortController();
      const aborts: unknown[] = [];
      const call = ended(
        breaker.call(
          ({ signal }) => {
            signal.addEventListener("abort", () => aborts.push(signal.reason));
            return new Promise(() => {});
          },
          { signal: controller.signal },
        ),
      );
      controller.abort(reason);
      controller.abort("again");
      await call;
      assert.deepEqual(aborts, [controller.signal.reason]);
    }
  });

  for (const end of ["resolve", "reject"] as const) {
    test(`what the call comes to afterwards is ignored (${end})`, async () => {
      const unhandled = await unhandledDuring(async () => {
        const { breaker, outcomes } = await breakerThatShows();
        const controller = new AbortController();
        const held = new Held();
        const call = ended(breaker.call(held.run, { signal: controller.signal }));
        controller.abort("left");
        assert.equal(await call, "left");
        held[end](new Down());
        await idle();
        assert.equal(breaker.snapshot().consecutive, 1);
        assert.deepEqual(outcomes, [["dropped", false]]);
      });
      assert.deepEqual(unhandled, []);
    });
  }

  test("by the call itself, before it gives a promise", async () => {
    const { breaker, outcomes } = await breakerThatShows();
    const controller = new AbortController();
    const { signal } = controller;
    const unhandled = await unhandledDuring(async () => {
      const leave = () => {
        controller.abort("left");
        return Promise.reject(new Down());
      };
      assert.equal(await ended(breaker.call(leave, { signal })), "left");
    });
    assert.deepEqual(unhandled, []);
    assert.deepEqual(outcomes, [["dropped", false]]);
    assert.equal(listening(signal), 0);
  });

  test("by a listener that hears of the probe: its slot comes back", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { probeTimeout: "1h" });
    await trip(breaker);
    clock.now = 1000;
    const controller = new AbortController();
    const off = breaker.on("halfOpen", () => controller.abort("left"));
    const probe = breaker.call(new Held().run, { signal: controller.signal });
    assert.equal(await ended(probe), "left");
    off();
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(breaker.state, "closed");
  });

  test("while probing: the slot comes back, and the trial goes on", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { probes: 2, probeTimeout: "1h" });
    await trip(breaker);
    clock.now = 1000;
    const { generation } = breaker;
    for (let round = 0; round < 5; round += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const probes = [0, 1].map(() => ended(breaker.call(new Held().run, { signal })));
      assert.equal(breaker.state, "half_open");
      assert.equal(breaker.generation, generation + 1);
      const error = await ended(breaker.call(succeed));
      assert.ok(error instanceof CircuitOpenError);
      assert.equal(error.reason, "half_open_full");
      controller.abort("left");
      assert.deepEqual(await Promise.all(probes), ["left", "left"]);
    }
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(breaker.state, "half_open");
    assert.equal(await breaker.call(succeed), "fresh");
    assert.equal(breaker.state, "closed");
  });

  test("beside a timeout, whichever comes first counts", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const { breaker, outcomes } = await breakerThatShows();
      const early = new AbortController();
      const left = ended(breaker.call(new Held().run, { timeout: "2s", signal: early.signal }));
      await idle();
      mock.timers.tick(1999);
      early.abort("left");
      assert.equal(await left, "left");
      mock.timers.tick(1e6);
      const late = new AbortController();
      const timedOut = ended(breaker.call(new Held().run, { timeout: "2s", signal: late.signal }));
      await idle();
      mock.timers.tick(2000);
      late.abort("left");
      assert.equal(((await timedOut) as Error).name, "TimeoutError");
      assert.deepEqual(outcomes, [
        ["dropped", false],
        ["failure", false],
      ]);
      assert.equal(listening(early.signal) + listening(late.signal), 0);
    } finally {
      mock.timers.reset();
    }
  });

  test("one signal of many calls ends them all, and of one breaker none of another", async () => {
    const { breaker, outcomes } = await breakerThatShows();
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 50 }, () => ended(breaker.call(new Held().run, { signal })));
    const other = breaker.call(new Held().run);
    assert.equal(listening(signal), 50);
    controller.abort("left");
    assert.deepEqual(await Promise.all(calls), Array(50).fill("left"));
    assert.equal(await isPending(other), true);
    assert.equal(outcomes.length, 50);
    assert.equal(listening(signal), 0);
  });
});

describe("a signal that is aborted after the call, or never", () => {
  const ends: [string, (held: Held) => void, unknown][] = [
    ["resolves", (held) => held.resolve("answer"), "success"],
    ["rejects", (held) => held.reject(new Down()), "failure"],
  ];
  for (const [end, settle, outcome] of ends) {
    test(`${end}: it counts, and nothing listens to the signal any more`, async () => {
      const { breaker, outcomes } = await breakerThatShows();
      const controller = new AbortController();
      const { signal } = controller;
      const held = new Held();
      let context: AbortSignal | undefined;
      const call = ended(
        breaker.call(
          (given) => {
            context = given.signal;
            return held.run();
          },
          { signal },
        ),
      );
      assert.equal(listening(signal), 1);
      settle(held);
      await call;
      assert.equal(listening(signal), 0);
      controller.abort("left");
      await idle();
      assert.equal(context?.aborted, false);
      assert.deepEqual(outcomes, [[outcome, false]]);
    });
  }

  test("nothing is left on it of calls that throw at once, or were refused", async () => {
    const breaker = breakerAt(new ManualClock());
    const { signal } = new AbortController();
    const throwing = (): never => {
      throw new Down();
    };
    await ended(breaker.call(throwing, { signal }));
    assert.equal(breaker.state, "open");
    assert.ok((await ended(breaker.call(succeed, { signal }))) instanceof CircuitOpenError);
    assert.equal(listening(signal), 0);
  });

  test("a call that fails for a reason of its own has failed, aborted or not", async () => {
    const { breaker, outcomes } = await breakerThatShows();
    const controller = new AbortController();
    const held = new Held();
    const call = ended(breaker.call(held.run, { signal: controller.signal }));
    const down = new Down();
    held.reject(down);
    await Promise.resolve().then(() => controller.abort("left"));
    assert.equal(await call, down);
    assert.deepEqual(outcomes, [["failure", false]]);
  });
});

test("an abort is reported where nobody handles it, once for each call", async () => {
  const breaker = breakerAt(new ManualClock());
  const unhandled = await unhandledDuring(() => {
    void breaker.call(succeed, { signal: AbortSignal.abort("before") });
    const controller = new AbortController();
    void breaker.call(new Held().run, { signal: controller.signal });
    controller.abort("during");
  });
  assert.deepEqual(unhandled, ["before", "during"]);
});

describe('onCancel: "failure"', () => {
  test("an abort counts, trips and reopens; the caller still gets the reason", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { onCancel: "failure", threshold: 2 });
    const outcomes: unknown[] = [];
    breaker.on("outcome", ({ outcome }) => outcomes.push(outcome));
    const abandon = async () => {
      const controller = new AbortController();
      const call = ended(breaker.call(new Held().run, { signal: controller.signal }));
      controller.abort("left");
      assert.equal(await call, "left");
    };
    await abandon();
    assert.equal(breaker.snapshot().consecutive, 1);
    await abandon();
    assert.equal(breaker.state, "open");
    clock.now = 1000;
    await abandon();
    assert.equal(breaker.state, "open");
    assert.equal(breaker.snapshot().reopenings, 1);
    assert.deepEqual(outcomes, ["dropped", "dropped", "dropped"]);
  });

  test("a call that was never made counts for nothing", async () => {
    const breaker = breakerAt(new ManualClock(), { onCancel: "failure" });
    await ended(breaker.call(succeed, { signal: AbortSignal.abort("left") }));
    assert.equal(breaker.state, "closed");
  });
});

test("a call that rejects with an AbortError was given up, with or without a signal", async () => {
  const { breaker, outcomes } = await breakerThatShows();
  const given = new DOMException("given up", "AbortError");
  const plain = Object.assign(new Error("given up"), { name: "AbortError" });
  for (const error of [given, plain, { name: "AbortError" }]) {
    const { signal } = new AbortController();
    assert.equal(await ended(breaker.call(() => Promise.reject(error))), error);
    assert.equal(await ended(breaker.call(() => Promise.reject(error), { signal })), error);
    assert.equal(await ended(breaker.wrap(() => Promise.reject(error))()), error);
  }
  assert.deepEqual(outcomes, Array(9).fill(["dropped", false]));
  assert.equal(breaker.snapshot().consecutive, 1);
});

test("a real request that is aborted is no failure", async () => {
  const { createServer } = await import("node:http");
  const server = createServer(() => {});
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const { port } = server.address() as import("node:net").AddressInfo;
    const { breaker, outcomes } = await breakerThatShows();
    const controller = new AbortController();
    const arrived = new Promise((done) => server.once("request", (_, response) => done(response)));
    const call = ended(
      breaker.call(({ signal }) => fetch(`http://127.0.0.1:${port}/`, { signal }), {
        signal: controller.signal,
      }),
    );
    const response = (await arrived) as import("node:http").ServerResponse;
    const closed = new Promise((done) => response.once("close", done));
    controller.abort();
    assert.equal(((await call) as Error).name, "AbortError");
    await closed;
    assert.deepEqual(outcomes, [["dropped", false]]);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});
