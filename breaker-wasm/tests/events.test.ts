/** Events: what each says, in which order they come, and what a listener can't do. */

import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import {
  type CircuitBreaker,
  CircuitOpenError,
  type EventType,
  type Events,
  KeyedCircuitBreakers,
  TimeoutError,
} from "breaker-wasm";
import {
  Down,
  Held,
  ManualClock,
  breakerAt,
  consoleErrorsDuring,
  ended,
  fail,
  idle,
  succeed,
  trip,
  unhandledDuring,
  waysToFail,
} from "./support.js";

/** Those of a breaker; the others are of many by key. */
const TYPES = [
  "stateChange",
  "open",
  "halfOpen",
  "close",
  "wouldTrip",
  "reject",
  "outcome",
  "fallback",
] as const satisfies EventType[];

type Told = Events[(typeof TYPES)[number]];

/** Everything that a breaker tells, in the order in which it does. */
function listenTo(breaker: CircuitBreaker, types: readonly EventType[] = TYPES): Told[] {
  const told: Told[] = [];
  for (const type of types) breaker.on(type, (event) => told.push(event as Told));
  return told;
}

/** What is told of each event, less what all of them say. */
const said = (told: readonly Told[]): unknown[] =>
  told.map(({ breaker: _, key: __, sequence: ___, ...rest }) => rest);

describe("what is told", () => {
  test("of a circuit that opens, probes, reopens and closes", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { threshold: 2, backoff: 2 });
    const told = listenTo(breaker);
    await ended(breaker.call(fail));
    clock.now = 40;
    const held = new Held();
    const second = ended(breaker.call(held.run));
    clock.now = 100;
    held.reject(new Down());
    await second;
    const refusal = await ended(breaker.call(succeed));
    clock.now = 1100;
    await ended(breaker.call(fail));
    clock.now = 3100;
    await breaker.call(succeed);

    const outcome = { type: "outcome", late: false, duration: 0 };
    const opened = { from: "closed", to: "open", trigger: "failures", failures: 2, wait: 1000 };
    const probes = { from: "open", to: "half_open", trigger: "wait_over", failures: 0 };
    const failed = { from: "half_open", to: "open", trigger: "failed_probe", failures: 1 };
    const closed = { from: "half_open", to: "closed", trigger: "recovered", failures: 0 };
    assert.deepEqual(said(told), [
      { ...outcome, outcome: "failure", generation: 0 },
      { type: "stateChange", ...opened, generation: 1 },
      { type: "open", ...opened, generation: 1 },
      { ...outcome, outcome: "failure", duration: 60, generation: 0 },
      { type: "reject", error: refusal, generation: 1 },
      { type: "stateChange", ...probes, wait: undefined, generation: 2 },
      { type: "halfOpen", ...probes, wait: undefined, generation: 2 },
      { type: "stateChange", ...failed, wait: 2000, generation: 3 },
      { type: "open", ...failed, wait: 2000, generation: 3 },
      { ...outcome, outcome: "failure", generation: 2 },
      { type: "stateChange", ...probes, wait: undefined, generation: 4 },
      { type: "halfOpen", ...probes, wait: undefined, generation: 4 },
      { type: "stateChange", ...closed, wait: undefined, generation: 5 },
      { type: "close", ...closed, wait: undefined, generation: 5 },
      { ...outcome, outcome: "success", generation: 4 },
    ]);
    assert.ok(refusal instanceof CircuitOpenError);
    assert.deepEqual(
      told.map(({ sequence }) => sequence),
      told.map((_, index) => index + 1),
    );
    for (const event of told) {
      assert.equal(event.breaker, "pms");
      assert.ok("key" in event && event.key === undefined);
    }
  });

  test("of an overload, a rate, slow calls, and a trial whose probe never ended", async () => {
    const clock = new ManualClock();
    const changes: [EventType, string, number, number | undefined][] = [];
    const watch = (breaker: CircuitBreaker): CircuitBreaker => {
      for (const type of ["open", "halfOpen"] as const) {
        breaker.on(type, ({ type, trigger, failures, wait }) =>
          changes.push([type, trigger, failures, wait]),
        );
      }
      return breaker;
    };
    const overloaded = watch(breakerAt(clock, { classify: () => ({ overloaded: "5s" }) }));
    await ended(overloaded.call(fail));
    const rated = watch(breakerAt(clock, { failureRate: 0.5, minCalls: 4 }));
    for (const call of [succeed, fail, succeed, fail]) await ended(rated.call(call));
    const rates = { failureRate: 1, minCalls: 2, slow: 100, slowRate: 0.5 };
    const slow = watch(breakerAt(clock, rates));
    await slow.call(succeed);
    await slow.call(async () => {
      clock.now += 101;
    });
    const stuck = watch(breakerAt(clock, { probeTimeout: 5000 }));
    await ended(stuck.call(fail));
    clock.now += 1000;
    void stuck.call(new Held().run);
    clock.now += 5000;
    void stuck.call(new Held().run);
    assert.deepEqual(changes, [
      ["open", "overloaded", 1, 5000],
      ["open", "failure_rate", 2, 1000],
      ["open", "slow_rate", 0, 1000],
      ["open", "failures", 1, 1000],
      ["halfOpen", "wait_over", 0, undefined],
      ["halfOpen", "probe_timed_out", 0, undefined],
    ]);
  });

  test("of a call that ends as anything it can end as", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const clock = new ManualClock();
      const breaker = breakerAt(clock, {
        threshold: 9,
        classify: (error) => error as "ignored",
        classifyOutput: (answer) => answer as "ignored",
      });
      const told = listenTo(breaker, ["outcome"]) as Events["outcome"][];
      const answers = [false, true, "ignored", "dropped", "success", { overloaded: 5 }];
      for (const answer of answers) {
        for (const settle of [async () => answer, () => Promise.reject(answer)]) {
          breaker.close();
          const call = ended(breaker.call<Promise<unknown>>(settle));
          clock.now += 7;
          await call;
        }
      }
      breaker.close();
      const late = ended(breaker.call(new Held().run, { timeout: 10 }));
      await idle();
      clock.now += 10;
      mock.timers.tick(10);
      await late;
      const ends = told.map(({ outcome, duration }) => [outcome, duration]);
      assert.deepEqual(ends, [
        ["success", 7],
        ["ignored", 7],
        ["failure", 7],
        ["failure", 7],
        ["ignored", 7],
        ["ignored", 7],
        ["dropped", 7],
        ["dropped", 7],
        ["success", 7],
        ["success", 7],
        ["overloaded", 7],
        ["overloaded", 7],
        ["failure", 10],
      ]);
    } finally {
      mock.timers.reset();
    }
  });

  test("of a shadow that would have opened", async () => {
    const breaker = breakerAt(new ManualClock(), { threshold: 2 });
    breaker.shadow();
    const told = listenTo(
      breaker,
      TYPES.filter((type) => type !== "outcome"),
    );
    await ended(breaker.call(fail));
    await ended(breaker.call(fail));
    assert.equal(breaker.state, "shadow");
    assert.deepEqual(said(told), [
      {
        type: "wouldTrip",
        from: "shadow",
        to: "open",
        trigger: "failures",
        failures: 2,
        wait: 1000,
        generation: 1,
      },
    ]);
  });

  test("of those by key, with the key, in one order", async () => {
    const hosts = new KeyedCircuitBreakers({ name: "hosts", threshold: 1 });
    const told: unknown[] = [];
    for (const type of ["open", "reject"] as const) {
      hosts.on(type, ({ breaker, key, sequence }) => told.push([type, breaker, key, sequence]));
    }
    for (const key of ["a", "b"]) {
      await ended(hosts.call(key, fail));
      await ended(hosts.call(key, succeed));
    }
    assert.deepEqual(told, [
      ["open", "hosts", "a", 1],
      ["reject", "hosts", "a", 2],
      ["open", "hosts", "b", 3],
      ["reject", "hosts", "b", 4],
    ]);
  });

  test("of one key alone, to who listens to its breaker", async () => {
    const hosts = new KeyedCircuitBreakers<number>({ name: "hosts", threshold: 1 });
    const keys = [1, NaN, 0];
    const heard = keys.map((key) => {
      const told: unknown[] = [];
      for (const type of ["open", "outcome"] as const) {
        hosts.get(key).on(type, (event) => told.push([event.type, event.key, event.sequence]));
      }
      return told;
    });
    const offs = keys.map((key) => hosts.get(key).on("open", () => assert.fail("it was ended")));
    for (const off of offs) off();
    for (const key of [...keys, 5]) await ended(hosts.call(key, fail));
    assert.deepEqual(heard, [
      [
        ["open", 1, 1],
        ["outcome", 1, 2],
      ],
      [
        ["open", NaN, 3],
        ["outcome", NaN, 4],
      ],
      [
        ["open", 0, 5],
        ["outcome", 0, 6],
      ],
    ]);
  });

  test("of a fallback: in place of what it was", async () => {
    const breaker = breakerAt(new ManualClock(), { fallback: () => "stale" });
    const told = listenTo(breaker, ["fallback"]) as Events["fallback"][];
    const down = new Down();
    await breaker.call(() => Promise.reject(down));
    await breaker.call(succeed);
    await breaker.call(new Held().run, { timeout: 1 }).finally(() => breaker.close());
    await breaker.call(new Held().run, { timeout: 1 });
    assert.deepEqual(
      told.map(({ inPlaceOf }) => inPlaceOf),
      ["failed", "rejected", "rejected", "timed_out"],
    );
    assert.equal(told[0]?.cause, down);
    assert.ok(told[1]?.cause instanceof CircuitOpenError);
    assert.ok(told[3]?.cause instanceof TimeoutError);
  });

  test("how long a call took isn't known where it began before anybody listened", async () => {
    const clock = new ManualClock();
    for (const options of [{}, { timeout: "1h", probeTimeout: "1h" }]) {
      const breaker = breakerAt(clock, options);
      const held = new Held();
      const call = breaker.call(held.run);
      const told = listenTo(breaker, ["outcome"]) as Events["outcome"][];
      clock.now += 500;
      held.resolve("answer");
      await call;
      assert.deepEqual(
        told.map(({ duration }) => duration),
        [undefined],
      );
    }
  });

  test("where slow calls count, it is known all the same", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock, { failureRate: 1, minCalls: 9, slow: 100, slowRate: 1 });
    const held = new Held();
    const call = breaker.call(held.run);
    const told = listenTo(breaker, ["outcome"]) as Events["outcome"][];
    clock.now += 500;
    held.resolve("answer");
    await call;
    assert.equal(told[0]?.duration, 500);
  });
});

describe("a listener", () => {
  test("hears of its own type alone, also where it was added before", async () => {
    const breaker = breakerAt(new ManualClock());
    const heard: string[] = [];
    for (const type of TYPES) breaker.on(type, (event) => heard.push(`${type}: ${event.type}`));
    await trip(breaker);
    breaker.close();
    assert.deepEqual(heard, [
      "stateChange: stateChange",
      "open: open",
      "outcome: outcome",
      "stateChange: stateChange",
      "close: close",
    ]);
  });

  test("is called in the order of `on`", () => {
    const breaker = breakerAt(new ManualClock());
    const heard: number[] = [];
    for (const number of [1, 2, 3]) breaker.on("close", () => heard.push(number));
    breaker.close();
    assert.deepEqual(heard, [1, 2, 3]);
  });

  test("added twice is called twice, and each `off` ends its own", () => {
    const breaker = breakerAt(new ManualClock());
    let heard = 0;
    const listener = () => {
      heard += 1;
    };
    const first = breaker.on("close", listener);
    const second = breaker.on("close", listener);
    breaker.close();
    assert.equal(heard, 2);
    first();
    first();
    breaker.close();
    assert.equal(heard, 3);
    const third = breaker.on("close", listener);
    second();
    first();
    breaker.close();
    assert.equal(heard, 4);
    third();
    third();
    second();
    breaker.close();
    assert.equal(heard, 4);
  });

  test("an old `off` doesn't end a later `on`", () => {
    const breaker = breakerAt(new ManualClock());
    let heard = 0;
    const listener = () => {
      heard += 1;
    };
    const first = breaker.on("close", listener);
    first();
    breaker.on("close", listener);
    first();
    breaker.close();
    assert.equal(heard, 1);
  });

  test("that is gone leaves a plain call plain: its outcome isn't measured", async () => {
    let readings = 0;
    const clock = () => (readings += 1);
    const breaker = breakerAt(new ManualClock(), { clock });
    await breaker.call(succeed);
    assert.equal(readings, 0);
    const off = breaker.on("outcome", () => {});
    const other = breaker.on("outcome", () => {});
    await breaker.call(succeed);
    assert.equal(readings, 2);
    off();
    await breaker.call(succeed);
    assert.equal(readings, 4);
    other();
    await breaker.call(succeed);
    assert.equal(readings, 4);
  });

  test("removed by one that is called before it isn't called any more", () => {
    const breaker = breakerAt(new ManualClock());
    const heard: string[] = [];
    breaker.on("close", () => {
      heard.push("first");
      second();
      third();
    });
    const second = breaker.on("close", () => heard.push("second"));
    const third = breaker.on("open", () => heard.push("third"));
    const last = breaker.on("close", () => heard.push("last"));
    breaker.close();
    breaker.openFor(0);
    last();
    breaker.close();
    assert.deepEqual(heard, ["first", "last", "first"]);
  });

  test("may end itself", () => {
    const breaker = breakerAt(new ManualClock());
    const heard: string[] = [];
    const off = breaker.on("close", () => {
      heard.push("once");
      off();
    });
    breaker.on("close", () => heard.push("always"));
    breaker.close();
    breaker.close();
    assert.deepEqual(heard, ["once", "always", "always"]);
  });

  test("added by another hears of what happens from then on", () => {
    const breaker = breakerAt(new ManualClock());
    const heard: [string, number][] = [];
    const listen = (name: string) =>
      breaker.on("close", ({ generation }) => heard.push([name, generation]));
    const off = breaker.on("close", () => {
      off();
      listen("late");
      breaker.close();
    });
    listen("early");
    breaker.close();
    assert.deepEqual(heard, [
      ["early", 1],
      ["early", 2],
      ["late", 2],
    ]);
  });

  test("that isn't a function is refused, and so is a type that there isn't", () => {
    const breaker = breakerAt(new ManualClock());
    for (const listener of [undefined, null, {}, "f", 5, { handleEvent() {} }]) {
      assert.throws(() => breaker.on("open", listener as never), {
        name: "TypeError",
        message: "the listener of open is no function",
      });
    }
    const types: [unknown, string][] = [
      ["opened", '"opened"'],
      ["OPEN", '"OPEN"'],
      ["", '""'],
      ["toString", '"toString"'],
      ["__proto__", '"__proto__"'],
      [undefined, "undefined"],
      [null, "null"],
      [5, "5"],
      [Symbol("open"), "Symbol(open)"],
      [["open"], "of type object"],
      [Object.create(null), "of type object"],
      [() => "open", "of type function"],
    ];
    for (const [type, shown] of types) {
      assert.throws(() => breaker.on(type as never, () => {}), {
        name: "TypeError",
        message: `unknown event ${shown}: expected ${TYPES.join(", ")}, keyEvicted, keysFull, sharingFailed`,
      });
    }
  });
});

describe("a listener that calls back into the breaker", () => {
  /** What each of two listeners hears of changes, with the first of them doing something about it. */
  function withReaction(react: (breaker: CircuitBreaker, event: Told) => void): {
    breaker: CircuitBreaker;
    clock: ManualClock;
    first: Told[];
    second: Told[];
  } {
    const clock = new ManualClock();
    const breaker = breakerAt(clock);
    const first: Told[] = [];
    for (const type of TYPES) {
      breaker.on(type, (event) => {
        first.push(event as Told);
        react(breaker, event as Told);
      });
    }
    const second = listenTo(breaker);
    return { breaker, clock, first, second };
  }

  const inOrder = (told: readonly Told[]): void => {
    assert.deepEqual(
      told.map(({ sequence }) => sequence),
      told.map((_, index) => index + 1),
    );
  };

  test("is heard by all in the order in which things happened, each number once", async () => {
    const { breaker, first, second } = withReaction((breaker, { type }) => {
      if (type === "stateChange" && breaker.state === "open") breaker.close();
    });
    await ended(breaker.call(fail));
    assert.equal(breaker.state, "closed");
    assert.deepEqual(first, second);
    inOrder(first);
    assert.deepEqual(
      first.map(({ type, generation }) => [type, generation]),
      [
        ["stateChange", 1],
        ["open", 1],
        ["stateChange", 2],
        ["close", 2],
        ["outcome", 0],
      ],
    );
  });

  for (const type of TYPES) {
    test(`in ${type}: by an operator's call`, async () => {
      let reacted = false;
      const { breaker, clock, first, second } = withReaction((breaker, event) => {
        if (event.type === type && !reacted) {
          reacted = true;
          breaker.forceOpen();
          breaker.close();
        }
      });
      breaker.shadow();
      await ended(breaker.call(fail));
      breaker.close();
      await ended(breaker.call(fail, { fallback: () => "stale" }));
      if (breaker.state === "open") await ended(breaker.call(succeed));
      clock.now += 1000;
      await ended(breaker.call(succeed));
      assert.equal(reacted, true);
      assert.deepEqual(first, second);
      inOrder(first);
      assert.equal(await breaker.call(succeed), "fresh");
    });
  }

  test("by a call, whose events come after those that are under way", async () => {
    const answers: Promise<unknown>[] = [];
    const { breaker, first, second } = withReaction((breaker, { type }) => {
      if (type === "open") answers.push(ended(breaker.call(succeed)));
    });
    await ended(breaker.call(fail));
    assert.ok((await answers[0]) instanceof CircuitOpenError);
    assert.deepEqual(first, second);
    inOrder(first);
    assert.deepEqual(
      first.map(({ type }) => type),
      ["stateChange", "open", "reject", "outcome"],
    );
  });

  test("as the probe is let through: the probe counts for nothing in a later generation", async () => {
    const clock = new ManualClock();
    const breaker = breakerAt(clock);
    await trip(breaker);
    clock.now = 1000;
    const off = breaker.on("halfOpen", () => breaker.forceOpen());
    assert.equal(await breaker.call(succeed), "fresh");
    off();
    assert.equal(breaker.state, "forced_open");
  });

  test("a thousand deep, that doesn't run out of stack", () => {
    const breaker = breakerAt(new ManualClock());
    let rounds = 0;
    breaker.on("close", () => {
      rounds += 1;
      if (rounds < 100_000) breaker.close();
    });
    breaker.close();
    assert.equal(rounds, 100_000);
  });
});

describe("a listener that fails", () => {
  const broken = new Error("the listener is broken");

  for (const [how, listener] of waysToFail(broken)) {
    test(`${how}: nothing changes, and the console has it`, async () => {
      let unhandled: unknown[] = [];
      let heard = 0;
      const written = await consoleErrorsDuring(async () => {
        unhandled = await unhandledDuring(async () => {
          const clock = new ManualClock();
          const breaker = breakerAt(clock, { fallback: () => undefined });
          for (const type of TYPES) {
            breaker.on(type, listener);
            breaker.on(type, () => {
              heard += 1;
            });
          }
          const down = new Down();
          assert.equal(await ended(breaker.call(() => Promise.reject(down))), down);
          assert.equal(breaker.state, "open");
          assert.ok((await ended(breaker.call(succeed))) instanceof CircuitOpenError);
          clock.now = 1000;
          assert.equal(await breaker.call(succeed), "fresh");
          assert.equal(breaker.state, "closed");
          assert.equal(await breaker.call(fail, { fallback: () => "stale" }), "stale");
          breaker.forceOpen();
          assert.equal(breaker.state, "forced_open");
          breaker.restore({ ...breaker.snapshot(), state: "closed" });
          assert.equal(breaker.state, "closed");
        });
      });
      assert.deepEqual(unhandled, []);
      assert.ok(heard >= 13);
      assert.deepEqual(written, Array(heard).fill(broken));
    });
  }

  test("throws nothing: that is told as well", async () => {
    const written = await consoleErrorsDuring(() => {
      const breaker = breakerAt(new ManualClock());
      breaker.on("close", () => {
        throw undefined;
      });
      breaker.close();
    });
    assert.deepEqual(written, [undefined]);
  });

  test("where the console fails as well, the breaker and the others go on", async () => {
    const before = console.error;
    console.error = () => {
      throw new Error("no console");
    };
    const unhandled = await unhandledDuring(async () => {
      const breaker = breakerAt(new ManualClock());
      let heard = 0;
      breaker.on("open", () => {
        throw broken;
      });
      breaker.on("open", () => {
        heard += 1;
      });
      const down = new Down();
      assert.equal(await ended(breaker.call(() => Promise.reject(down))), down);
      breaker.close();
      await trip(breaker);
      assert.equal(heard, 2);
    });
    console.error = before;
    assert.deepEqual(unhandled.map(String), Array(2).fill("Error: no console"));
  });

  test("gives what is neither promise nor thenable: it isn't looked at", async () => {
    const written = await consoleErrorsDuring(async () => {
      const breaker = breakerAt(new ManualClock());
      const given = [5, null, "text", { catch: 5 }, { then: 5 }, { catch: () => assert.fail() }];
      for (const value of given) breaker.on("close", () => value);
      breaker.close();
    });
    assert.deepEqual(written, []);
  });
});
