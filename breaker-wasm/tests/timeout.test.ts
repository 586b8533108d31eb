/** Timeouts: when a call is given up, and what becomes of it then. */

import assert from "node:assert/strict";
import { type Mock, afterEach, beforeEach, describe, mock, test } from "node:test";
import {
  type CallContext,
  CircuitOpenError,
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
  trip,
  unhandledDuring,
} from "./support.js";

/** Everything that was due has run, and then so much time has passed. */
async function pass(millis: number): Promise<void> {
  await idle();
  mock.timers.tick(millis);
  await idle();
}

/** A call that keeps what it was given, and ends when it is told to. */
class Watched extends Held<string> {
  context!: CallContext;
  readonly start = (context: CallContext): Promise<string> => {
    this.context = context;
    return this.run();
  };
}

describe("a call that takes longer than its timeout", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  test("is given up, not a millisecond before", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    const ways: [string, (held: Held) => Promise<unknown>][] = [
      ["call", (held) => breaker.call(held.run)],
      ["wrap", (held) => breaker.wrap(held.run)()],
      [
        "of a thenable",
        (held) => breaker.call(() => ({ then: held.promise.then.bind(held.promise) })),
      ],
    ];
    for (const [way, run] of ways) {
      breaker.close();
      const call = run(new Held());
      await pass(1999);
      assert.equal(await isPending(call), true, way);
      assert.equal(breaker.state, "closed");
      await pass(1);
      const error = await ended(call);
      assert.ok(error instanceof TimeoutError && error instanceof Error, way);
      assert.equal(error.name, "TimeoutError");
      assert.equal(error.breaker, "pms");
      assert.equal(error.key, undefined);
      assert.equal(error.timeout, 2000);
      assert.equal(error.message, "call through circuit `pms` timed out after 2s");
      assert.equal(breaker.state, "open");
    }
  });

  test("names its key", async () => {
    const hosts = new KeyedCircuitBreakers({ name: "hosts", timeout: 1500 });
    const call = ended(hosts.call("a.example", new Held().run));
    await pass(1500);
    const error = await call;
    assert.ok(error instanceof TimeoutError);
    assert.equal(error.key, "a.example");
    assert.equal(error.message, "call through circuit `hosts[a.example]` timed out after 1.5s");
  });

  test("is a failure, whatever the classifier says of errors", async () => {
    const breaker = breakerAt(new ManualClock(), {
      timeout: "2s",
      classify: () => assert.fail("asked"),
      classifyOutput: () => assert.fail("asked"),
    });
    const outcomes: unknown[] = [];
    breaker.on("outcome", ({ outcome, late }) => outcomes.push([outcome, late]));
    const call = ended(breaker.call(new Held().run));
    await pass(2000);
    assert.ok((await call) instanceof TimeoutError);
    assert.deepEqual(outcomes, [["failure", false]]);
  });

  for (const end of ["resolve", "reject"] as const) {
    test(`and then ends (${end}): that changes nothing, and is reported to nobody`, async () => {
      const unhandled = await unhandledDuring(async () => {
        const breaker = breakerAt(new ManualClock(), { timeout: "2s", threshold: 2 });
        const told: unknown[] = [];
        breaker.on("outcome", ({ outcome }) => told.push(outcome));
        const held = new Held();
        const call = ended(breaker.call(held.run));
        await pass(2000);
        assert.ok((await call) instanceof TimeoutError);
        const before = breaker.snapshot();
        assert.equal(before.consecutive, 1);
        held[end](new Down());
        await pass(1e6);
        assert.deepEqual(breaker.snapshot(), before);
        assert.deepEqual(told, ["failure"]);
      });
      assert.deepEqual(unhandled, []);
    });
  }

  test("has the signal of its context aborted, with the error that the caller gets", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    const watched = new Watched();
    const call = ended(breaker.call(watched.start));
    const aborts: unknown[] = [];
    const { signal } = watched.context;
    signal.addEventListener("abort", () => aborts.push(signal.reason));
    await pass(1999);
    assert.equal(signal.aborted, false);
    await pass(1);
    assert.deepEqual(aborts, [await call]);
    assert.ok(aborts[0] instanceof TimeoutError);
  });

  test("may ask for the signal when it is too late: it is aborted already", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    const watched = new Watched();
    const call = ended(breaker.call(watched.start));
    await pass(2000);
    const { signal } = watched.context;
    assert.equal(signal.aborted, true);
    assert.equal(signal.reason, await call);
    assert.equal(watched.context.signal, signal);
  });

  test("gets the timeout, also where it rejects as its signal is aborted", async () => {
    const unhandled = await unhandledDuring(async () => {
      const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
      const call = ended(
        breaker.call(
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(new Down()));
            }),
        ),
      );
      await pass(2000);
      assert.ok((await call) instanceof TimeoutError);
      assert.equal(breaker.state, "open");
    });
    assert.deepEqual(unhandled, []);
  });

  test("is reported where nobody handles it, once", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    const unhandled = await unhandledDuring(async () => {
      void breaker.call(new Held().run);
      await pass(2000);
    });
    assert.equal(unhandled.length, 1);
    assert.ok(unhandled[0] instanceof TimeoutError);
  });

  test("as a probe: it reopens, and its slot comes back", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { timeout: "1s", probeTimeout: "1h" });
    await trip(breaker);
    clock.now = 1000;
    const held = new Held();
    const probe = ended(breaker.call(held.run));
    assert.equal(breaker.state, "half_open");
    await pass(1000);
    assert.ok((await probe) instanceof TimeoutError);
    assert.equal(breaker.state, "open");
    assert.ok((await ended(breaker.call(succeed))) instanceof CircuitOpenError);
    clock.now = 2000;
    const second = breaker.call(succeed);
    held.resolve("late");
    assert.equal(await second, "fresh");
    assert.equal(breaker.state, "closed");
  });

  test("of an earlier generation decides nothing", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    const call = ended(breaker.call(new Held().run));
    breaker.close();
    await pass(2000);
    assert.ok((await call) instanceof TimeoutError);
    assert.equal(breaker.state, "closed");
    assert.equal(breaker.snapshot().consecutive, 0);
  });

  test("is given up also beyond what timers take at once", async () => {
    const longest = 2 ** 31 - 1;
    const timers = mock.method(globalThis, "setTimeout");
    const breaker = breakerAt(new ManualClock(), { timeout: "50d", probeTimeout: "60d" });
    const call = breaker.call(new Held().run);
    const rest = 50 * 864e5 - 2 * longest;
    for (const millis of [longest, longest, rest - 1]) {
      await pass(millis);
      assert.equal(await isPending(call), true);
    }
    await pass(1);
    timers.mock.restore();
    assert.ok((await ended(call)) instanceof TimeoutError);
    const delays = timers.mock.calls.map(({ arguments: [, delay] }) => delay);
    assert.deepEqual(delays, [longest, longest, rest]);
  });

  test("is measured by a timer, not by the breaker's clock, which may stand still", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { timeout: "2s" });
    const held = new Held();
    const call = breaker.call(held.run);
    clock.now = 1e9;
    await pass(1999);
    held.resolve("in time");
    assert.equal(await call, "in time");
  });

  test("is each by itself: of many, only the slow ones are given up", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s", threshold: 100 });
    const calls = Array.from({ length: 20 }, () => new Held());
    const results = calls.map((held) => ended(breaker.call(held.run)));
    await pass(1999);
    calls.forEach((held, index) => index % 2 && held.resolve(index));
    await pass(1);
    for (const [index, result] of (await Promise.all(results)).entries()) {
      if (index % 2) assert.equal(result, index);
      else assert.ok(result instanceof TimeoutError);
    }
    assert.equal(breaker.snapshot().consecutive, 10);
  });
});

describe("a call within its timeout", () => {
  let timers: Mock<typeof setTimeout>;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    timers = mock.method(globalThis, "setTimeout");
  });
  afterEach(() => {
    timers.mock.restore();
    mock.timers.reset();
  });

  test("that is ready at once takes no timer", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s", threshold: 9 });
    assert.equal(await breaker.call(() => 5), 5);
    assert.equal(await breaker.call(succeed), "fresh");
    await ended(breaker.call(fail));
    await ended(
      breaker.call(() => {
        throw new Down();
      }),
    );
    await idle();
    assert.equal(timers.mock.callCount(), 0);
    const held = new Held();
    const call = breaker.call(held.run);
    await idle();
    assert.equal(timers.mock.callCount(), 1);
    held.resolve("fresh");
    assert.equal(await call, "fresh");
  });

  test("that is refused takes no timer", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "2s" });
    breaker.forceOpen();
    await ended(breaker.call(new Held().run));
    await idle();
    assert.equal(timers.mock.callCount(), 0);
  });

  for (const end of ["resolve", "reject"] as const) {
    test(`has a context whose signal stays as it is, also afterwards (${end})`, async () => {
      const breaker = breakerAt(new ManualClock(), { timeout: "2s", threshold: 9 });
      const watched = new Watched();
      const call = ended(breaker.call(watched.start));
      await pass(1999);
      watched[end]("answer");
      assert.equal(await call, "answer");
      await pass(1e6);
      assert.equal(watched.context.signal.aborted, false);
      assert.equal(breaker.state, "closed");
    });
  }
});

describe("which timeout", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  test("that of the call, of the way, or of the breaker", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { timeout: "2s", threshold: 99 });
    const bare = breakerAt(clock, { threshold: 99 });
    const held = () => new Held().run();
    const ways: [timeout: number, call: () => Promise<unknown>][] = [
      [2000, () => breaker.call(held)],
      [2000, () => breaker.wrap(held)()],
      [2000, () => breaker.call(held, { timeout: undefined })],
      [2000, () => breaker.call(held, { classify: () => true })],
      [500, () => breaker.call(held, { timeout: 500 })],
      [500, () => breaker.wrap(held, { timeout: "500ms" })()],
      [3000, () => breaker.call(held, { timeout: "3s" })],
      [3000, () => bare.call(held, { timeout: "3s" })],
      [3000, () => bare.wrap(held, { timeout: 3000 })()],
    ];
    for (const [timeout, run] of ways) {
      const call = run();
      await pass(timeout - 1);
      assert.equal(await isPending(call), true);
      await pass(1);
      const error = await ended(call);
      assert.ok(error instanceof TimeoutError);
      assert.equal(error.timeout, timeout);
    }
  });

  test("at most probeTimeout, for all of them", async () => {
    const breaker = breakerAt(new ManualClock(), { probeTimeout: "2s", timeout: "2s" });
    for (const timeout of [2001, "2001ms", "1m"]) {
      const message =
        "circuit `pms`: timeout is above probeTimeout, so every probe would come too late: write a shorter timeout";
      assert.throws(() => breakerAt(new ManualClock(), { probeTimeout: "2s", timeout }), {
        name: "TypeError",
        message,
      });
      assert.throws(() => breaker.wrap(succeed, { timeout }), { name: "TypeError", message });
      const error = await ended(breaker.call(() => assert.fail("called"), { timeout }));
      assert.ok(error instanceof TypeError);
      assert.equal(error.message, message);
    }
    assert.equal(await breaker.call(succeed, { timeout: "2s" }), "fresh");
  });

  test("probeTimeout is at least a minute, and no less than reset", () => {
    const clock = new ManualClock();
    breakerAt(clock, { reset: "5m", timeout: "5m" });
    breakerAt(clock, { reset: "1s", timeout: "1m" });
    assert.throws(() => breakerAt(clock, { reset: "1s", timeout: 60_001 }), TypeError);
    assert.throws(() => breakerAt(clock, { reset: "5m", timeout: 300_001 }), TypeError);
    breakerAt(clock, { reset: "5m" }).wrap(succeed, { timeout: "5m" });
    assert.throws(
      () => breakerAt(clock, { reset: "5m" }).wrap(succeed, { timeout: 300_001 }),
      TypeError,
    );
  });
});

describe("with real timers", () => {
  const timersLeft = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

  test("none is left when a call has ended: it would hold the process", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: "1m", threshold: 99 });
    const before = timersLeft();
    const calls = [new Held(), new Held(), new Held()];
    const controller = new AbortController();
    const results = [
      breaker.call(calls[0]!.run),
      breaker.wrap(calls[1]!.run)(),
      breaker.call(calls[2]!.run, { signal: controller.signal }),
    ].map(ended);
    await idle();
    assert.equal(timersLeft(), before + 3);
    calls[0]!.resolve("answer");
    calls[1]!.reject(new Down());
    controller.abort();
    await Promise.all(results);
    assert.equal(timersLeft(), before);
  });

  test("a call that hangs is given up", async () => {
    const breaker = breakerAt(new ManualClock(), { timeout: 1 });
    const error = await ended(breaker.call(new Held().run));
    assert.ok(error instanceof TimeoutError);
    assert.equal(error.message, "call through circuit `pms` timed out after 0.001s");
    assert.equal(breaker.state, "open");
  });
});
