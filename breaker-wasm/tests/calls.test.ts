/** What a call gives: the same as without a breaker, or a refusal. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import {
  Down,
  Held,
  ManualClock,
  breakerAt,
  ended,
  fail,
  isPending,
  succeed,
  trip,
  unhandledDuring,
} from "./support.js";

type AnyFunction = (...args: any[]) => any;

const withOwn = (promise: Promise<unknown>, name: string, value: unknown): Promise<unknown> =>
  Object.defineProperty(promise, name, { value });

/** The ways that a call may take inside, by what its breaker has to know of it. */
const WAYS: [string, () => CircuitBreaker][] = [
  ["a plain call", () => breakerAt(new ManualClock())],
  ["with a timeout", () => breakerAt(new ManualClock(), { timeout: "1s", probeTimeout: "1s" })],
  ["with a classifier", () => breakerAt(new ManualClock(), { classify: (error) => error !== 404 })],
  [
    "with a fallback that has nothing to serve",
    () => breakerAt(new ManualClock(), { fallback: () => undefined }),
  ],
  [
    "with a classifier of answers",
    () => breakerAt(new ManualClock(), { classifyOutput: () => false }),
  ],
  [
    "with slow calls",
    () =>
      breakerAt(new ManualClock(), { failureRate: 0.5, minCalls: 1, slow: "1s", slowRate: 0.5 }),
  ],
  [
    "with somebody who listens",
    () => {
      const breaker = breakerAt(new ManualClock());
      breaker.on("outcome", () => {});
      return breaker;
    },
  ],
  [
    "in shadow",
    () => {
      const breaker = breakerAt(new ManualClock(), { threshold: 1000 });
      breaker.shadow();
      return breaker;
    },
  ],
  [
    "disabled",
    () => {
      const breaker = breakerAt(new ManualClock());
      breaker.disable();
      return breaker;
    },
  ],
];

for (const [way, make] of WAYS) {
  describe(way, () => {
    const ways: [string, (f: AnyFunction) => Promise<unknown>][] = [
      ["call", (f) => make().call(f)],
      ["wrap", (f) => make().wrap(f)()],
      ["keyed", (f) => new KeyedCircuitBreakers({ name: "pms" }).wrap(f, () => "key")()],
      ["with a signal", (f) => make().call(f, { signal: new AbortController().signal })],
    ];
    for (const [name, run] of ways) {
      test(`${name}: answers and errors pass untouched`, async () => {
        const values = [undefined, null, 0, "", NaN, {}, [], Symbol("s"), () => {}, new Error("e")];
        for (const value of [...values, Object.freeze({}), new Response("body", { status: 503 })]) {
          assert.ok(Object.is(await run(() => value), value));
          assert.ok(Object.is(await run(async () => value), value));
          const thrown = { value, isThrown: true };
          for (const failing of [
            () => {
              throw value;
            },
            async () => {
              throw value;
            },
            () => Promise.reject(value),
          ]) {
            const got = await run(failing).then(
              () => assert.fail("it resolved"),
              (error: unknown) => ({ value: error, isThrown: true }),
            );
            assert.ok(Object.is(got.value, thrown.value));
          }
        }
      });

      test(`${name}: gives a promise, whatever it calls`, async () => {
        for (const f of [
          () => 1,
          () => {
            throw new Down();
          },
          succeed,
          fail,
        ]) {
          const call = run(f);
          assert.ok(call instanceof Promise);
          await ended(call);
        }
      });

      test(`${name}: thenables are awaited`, async () => {
        const thenable = (then: unknown) => () => ({ then });
        assert.equal(await run(thenable((resolve: AnyFunction) => resolve(5))), 5);
        const nested = { then: (resolve: AnyFunction) => resolve(Promise.resolve(6)) };
        assert.equal(await run(() => nested), 6);
        const broken = new Error("broken");
        assert.equal(
          await ended(run(thenable((_: AnyFunction, reject: AnyFunction) => reject(broken)))),
          broken,
        );
        assert.equal(
          await ended(
            run(
              thenable(() => {
                throw broken;
              }),
            ),
          ),
          broken,
        );
        const getter = {
          get then(): never {
            throw broken;
          },
        };
        assert.equal(await ended(run(() => getter)), broken);
        const twice = thenable((resolve: AnyFunction, reject: AnyFunction) => {
          resolve(7);
          reject(broken);
          resolve(8);
        });
        assert.equal(await run(twice), 7);
        assert.equal(await isPending(run(thenable(() => {}))), true);
      });

      test(`${name}: promises with a mind of their own are awaited like others`, async () => {
        class Sub<T> extends Promise<T> {}
        const foreign = new (class extends Promise<number> {
          static override get [Symbol.species](): PromiseConstructor {
            throw new Error("no species");
          }
        })((resolve) => resolve(2));
        for (const [promise, answer] of [
          [Sub.resolve(1), 1],
          [withOwn(Promise.resolve(3), "catch", undefined), 3],
          [withOwn(Promise.resolve(4), "constructor", Sub), 4],
          [withOwn(Promise.resolve(5), "constructor", undefined), 5],
        ] as [Promise<unknown>, unknown][]) {
          const call = run(() => promise);
          assert.equal(Object.getPrototypeOf(call), Promise.prototype);
          assert.equal(await call, answer);
        }
        assert.match(String(await ended(run(() => foreign))), /no species/);
        const down = new Down();
        assert.equal(await ended(run(() => Sub.reject(down))), down);
      });

      test(`${name}: an unhandled rejection is reported, once`, async () => {
        const down = new Down();
        const unhandled = await unhandledDuring(() => {
          void run(async () => {
            throw down;
          });
        });
        assert.deepEqual(unhandled, [down]);
      });

      test(`${name}: a handled one isn't reported`, async () => {
        const unhandled = await unhandledDuring(async () => {
          await ended(run(fail));
          run(() => {
            throw new Down();
          }).catch(() => {});
        });
        assert.deepEqual(unhandled, []);
      });
    }

    test("this and arguments are those of the call", async () => {
      const breaker = make();
      const hotel = {
        rooms: 3,
        inventory: breaker.wrap(async function (this: { rooms: number }, ...args: unknown[]) {
          return [this.rooms, args];
        }),
      };
      assert.deepEqual(await hotel.inventory("H1", undefined, 2), [3, ["H1", undefined, 2]]);
      assert.deepEqual(await hotel.inventory(), [3, []]);
      const many = Array.from({ length: 300 }, (_, index) => index);
      assert.deepEqual(await hotel.inventory(...many), [3, many]);
      const keyed = new KeyedCircuitBreakers({ name: "pms" });
      const byKey = {
        rooms: 4,
        inventory: keyed.wrap(
          function (this: { rooms: number }, hotel: string) {
            return [this.rooms, hotel];
          },
          (hotel) => hotel,
        ),
      };
      assert.deepEqual(await byKey.inventory("H1"), [4, "H1"]);
    });

    test("a function is called once for each call, before call returns", () => {
      const breaker = make();
      let calls = 0;
      const count = () => {
        calls += 1;
      };
      void breaker.call(count);
      assert.equal(calls, 1);
      void breaker.wrap(count)();
      assert.equal(calls, 2);
    });
  });
}

describe("a refused call", () => {
  const clock = new ManualClock();
  const refusals: [string, CircuitBreaker][] = [
    ["pms", breakerAt(clock)],
    ["pms with a timeout", breakerAt(clock, { timeout: "1s" })],
    ["pms with a fallback", breakerAt(clock, { fallback: () => undefined })],
  ];
  for (const [name, breaker] of refusals) {
    test(`${name}: isn't made, and says why`, async () => {
      await trip(breaker);
      const made: unknown[] = [];
      const call = breaker.call(() => made.push("called"));
      const error = await ended(call);
      assert.ok(error instanceof CircuitOpenError && error instanceof Error);
      assert.equal(error.name, "CircuitOpenError");
      assert.equal(error.message, "circuit `pms` is open: retry in 1s");
      assert.equal(error.breaker, "pms");
      assert.equal(error.key, undefined);
      assert.equal(error.reason, "open");
      assert.equal(error.retryAfter, 1000);
      assert.match(String(error.stack), /CircuitOpenError/);
      assert.deepEqual(made, []);
    });
  }

  test("never throws at once: it rejects", async () => {
    for (const [, breaker] of refusals) {
      breaker.forceOpen();
      for (const call of [breaker.call(succeed), breaker.wrap(succeed)()]) {
        assert.ok(call instanceof Promise);
        const error = await ended(call);
        assert.ok(error instanceof CircuitOpenError);
        assert.equal(error.message, "circuit `pms` is held open by an operator");
        assert.equal(error.retryAfter, undefined);
        assert.equal(error.reason, "forced_open");
      }
    }
  });

  test("is reported where nobody handles it, once", async () => {
    const breaker = breakerAt(clock);
    breaker.forceOpen();
    const unhandled = await unhandledDuring(() => {
      void breaker.call(succeed);
    });
    assert.equal(unhandled.length, 1);
    assert.ok(unhandled[0] instanceof CircuitOpenError);
  });

  test("half-open, it says that the probes are in flight", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { probeTimeout: 5000 });
    await trip(breaker);
    clock.now = 1000;
    const probe = new Held();
    const probing = breaker.call(probe.run);
    clock.now = 2500;
    const error = await ended(breaker.call(succeed));
    assert.ok(error instanceof CircuitOpenError);
    assert.equal(error.reason, "half_open_full");
    assert.equal(error.retryAfter, 3500);
    assert.equal(
      error.message,
      "circuit `pms` is half-open and its probes are in flight: retry in 3.5s",
    );
    probe.resolve("back");
    assert.equal(await probing, "back");
    assert.equal(breaker.state, "closed");
  });

  test("by key, it names the key", async () => {
    const hosts = new KeyedCircuitBreakers({ name: "hosts", threshold: 1 });
    await ended(hosts.call("a.example", fail));
    const error = await ended(hosts.call("a.example", succeed));
    assert.ok(error instanceof CircuitOpenError);
    assert.equal(error.key, "a.example");
    assert.match(error.message, /^circuit `hosts\[a\.example\]` is open: retry in 3\d/);
  });

  test("changes nothing in how other errors are made", async () => {
    const before = Error.stackTraceLimit;
    const breaker = breakerAt(clock);
    breaker.forceOpen();
    await ended(breaker.call(succeed));
    assert.equal(Error.stackTraceLimit, before);
    assert.match(String(new Error("other").stack), /\n +at /);
  });
});

describe("late outcomes", () => {
  for (const outcome of ["success", "failure"]) {
    for (const watched of [false, true]) {
      test(`a ${outcome} of an earlier generation decides nothing (watched: ${watched})`, async () => {
        const clock = new ManualClock();
        const breaker = breakerAt(clock, { probeTimeout: 5000 });
        const late: boolean[] = [];
        if (watched) breaker.on("outcome", (event) => late.push(event.late));
        const held = new Held();
        const slow = ended(breaker.call(held.run));
        await trip(breaker);
        clock.now = 1000;
        const probe = new Held();
        const probing = ended(breaker.call(probe.run));
        assert.equal(breaker.state, "half_open");
        if (outcome === "success") held.resolve("late");
        else held.reject(new Down());
        await slow;
        assert.equal(breaker.state, "half_open");
        const error = await ended(breaker.call(succeed));
        assert.ok(error instanceof CircuitOpenError, "it gave back the probe's slot");
        probe.resolve("back");
        await probing;
        assert.equal(breaker.state, "closed");
        if (watched) assert.deepEqual(late, [false, true, false]);
      });
    }
  }

  for (const watched of [false, true]) {
    for (const outcome of ["success", "failure"]) {
      test(`a call that makes another in a later generation has its own: ${outcome} (watched: ${watched})`, async () => {
        const breaker = breakerAt(new ManualClock(), { threshold: 3 });
        if (watched) breaker.on("outcome", () => {});
        const ends = async (): Promise<void> => {
          if (outcome === "failure") throw new Down();
        };
        const calls: Promise<unknown>[] = [];
        const guarded = breaker.wrap((depth: number): Promise<void> => {
          breaker.close();
          calls.push(ended(breaker.call(() => Promise.reject(new Down()))));
          if (depth > 0) calls.push(ended(guarded(depth - 1)));
          return ends();
        });
        calls.push(ended(guarded(5)));
        await Promise.all(calls);
        // All but the last of those that were made within others came to another generation.
        assert.equal(breaker.generation, 6);
        assert.equal(breaker.snapshot().consecutive, 1);
        assert.equal(breaker.state, "closed");
      });
    }
  }

  test("one function under calls of several generations settles each in its own", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 2 });
    const calls = [new Held(), new Held(), new Held()];
    let next = 0;
    const guarded = breaker.wrap(() => calls[next++]!.run());
    const first = ended(guarded());
    breaker.close();
    const second = ended(guarded());
    breaker.close();
    const third = ended(guarded());
    for (const held of calls) held.reject(new Down());
    await Promise.all([first, second, third]);
    assert.equal(breaker.snapshot().consecutive, 1);
  });
});
