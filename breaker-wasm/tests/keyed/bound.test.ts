/** The bound: which key is given up for a new one, and what is told of it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CircuitBreaker,
  CircuitOpenError,
  KeyedCircuitBreakers,
  type KeyedOptions,
} from "breaker-wasm";
import { Down, Held, ManualClock, ended, fail, succeed } from "../support.js";

/** Keys of which each opens for 1 s after its second failure. */
class Keys {
  readonly clock = new ManualClock();
  readonly breakers: KeyedCircuitBreakers;
  readonly evicted: unknown[] = [];
  readonly full: unknown[] = [];

  constructor(maxKeys: number, options: Partial<KeyedOptions> = {}) {
    this.breakers = new KeyedCircuitBreakers({
      name: "hosts",
      threshold: 2,
      reset: 1000,
      jitter: 0,
      clock: this.clock.read,
      maxKeys,
      ...options,
    });
    this.breakers.on("keyEvicted", ({ key }) => this.evicted.push(key));
    this.breakers.on("keysFull", ({ key }) => this.full.push(key));
  }

  async succeed(...keys: string[]): Promise<void> {
    for (const key of keys) assert.equal(await this.breakers.call(key, succeed), "fresh");
  }

  async fail(...keys: string[]): Promise<void> {
    for (const key of keys) assert.ok((await ended(this.breakers.call(key, fail))) instanceof Down);
  }

  get remembered(): string[] {
    return [...this.breakers].map(([key]) => key).sort();
  }
}

describe("which key is given up", () => {
  test("the one that was longest not asked for", async () => {
    const keys = new Keys(3);
    await keys.succeed("a", "b", "c", "d", "e");
    assert.deepEqual(keys.evicted, ["a", "b"]);
    assert.deepEqual(keys.remembered, ["c", "d", "e"]);
  });

  test("one that was asked for again is spared, once", async () => {
    const keys = new Keys(3);
    await keys.succeed("a", "b", "c", "a", "d");
    assert.deepEqual(keys.evicted, ["b"]);
    await keys.succeed("e", "f");
    assert.deepEqual(keys.evicted, ["b", "c", "a"]);
  });

  test("if all were asked for again, still one of them", async () => {
    const keys = new Keys(3);
    await keys.succeed("a", "b", "c", "a", "b", "c", "d");
    assert.equal(keys.evicted.length, 1);
    assert.deepEqual(keys.full, []);
    assert.equal(keys.breakers.size, 3);
  });

  test("rather one without a failure in a row", async () => {
    const keys = new Keys(3);
    await keys.fail("a", "b");
    await keys.succeed("c", "d", "e");
    assert.deepEqual(keys.evicted, ["c", "d"]);
    assert.deepEqual(keys.remembered, ["a", "b", "e"]);
  });

  test("one with failures, if there is no other", async () => {
    const keys = new Keys(3);
    await keys.fail("a", "b", "c", "d", "e");
    assert.deepEqual(keys.evicted, ["a", "b"]);
    assert.deepEqual(keys.full, []);
    assert.deepEqual(keys.remembered, ["c", "d", "e"]);
  });

  test("one that was spared once and not asked for since", async () => {
    const keys = new Keys(10);
    const known = Array.from({ length: 10 }, (_, n) => `h${n}`);
    await keys.succeed(...known, ...known);
    await keys.succeed(...Array.from({ length: 10 }, (_, n) => `i${n}`));
    assert.deepEqual(keys.evicted, known);
  });

  test("a flood of keys that each fail once finds its bound, and ends", async () => {
    const keys = new Keys(10);
    await keys.fail(...Array.from({ length: 1_000 }, (_, n) => `h${n}`));
    assert.equal(keys.breakers.size, 10);
    assert.equal(keys.evicted.length, 990);
    assert.deepEqual(keys.full, []);
  });

  test("one that keeps failing opens, in the midst of a flood", async () => {
    const keys = new Keys(10);
    await keys.fail("down");
    for (let n = 0; n < 5; n += 1) await keys.fail(`h${n}`);
    await keys.fail("down");
    for (let n = 0; n < 1_000; n += 1) await keys.fail(`i${n}`);
    assert.ok((await ended(keys.breakers.call("down", succeed))) instanceof CircuitOpenError);
  });

  for (const [state, bring] of [
    ["open", (keys: Keys) => keys.fail("held", "held")],
    ["forced_open", (keys: Keys) => keys.breakers.get("held").forceOpen()],
    ["disabled", (keys: Keys) => keys.breakers.get("held").disable()],
    ["shadow", (keys: Keys) => keys.breakers.get("held").shadow()],
    ["open", (keys: Keys) => keys.breakers.get("held").openFor("1h")],
    [
      "half_open",
      async (keys: Keys) => {
        await keys.fail("held", "held");
        keys.clock.now += 1000;
        void keys.breakers.call("held", new Held().run);
      },
    ],
  ] as [string, (keys: Keys) => unknown][]) {
    test(`never one that is ${state}`, async () => {
      const keys = new Keys(2);
      await bring(keys);
      await keys.succeed(...Array.from({ length: 50 }, (_, n) => `h${n}`));
      await keys.fail(...Array.from({ length: 50 }, (_, n) => `i${n}`));
      const held = [...keys.breakers].find(([key]) => key === "held")?.[1];
      assert.equal(held?.state, state);
      assert.ok(!keys.evicted.includes("held"));
      assert.equal(keys.breakers.size, 2);
    });
  }

  test("one that closed again is given up again", async () => {
    const keys = new Keys(1);
    await keys.fail("a", "a");
    await keys.succeed("b");
    assert.deepEqual(keys.full, ["b"]);
    keys.clock.now += 1000;
    await keys.succeed("a", "b");
    assert.deepEqual(keys.evicted, ["a"]);
    assert.deepEqual(keys.remembered, ["b"]);
  });

  test("rather one that no call is using, also where that one was used of late", async () => {
    for (const way of ["call", "wrap"]) {
      const keys = new Keys(2);
      const slow = new Held();
      const guarded = keys.breakers.wrap(
        (_key: string) => slow.run(),
        (key) => key,
      );
      const call = ended(way === "call" ? keys.breakers.call("a", slow.run) : guarded("a"));
      await keys.succeed("b", "b", "c", "c", "d", "d");
      assert.deepEqual(keys.evicted, ["b", "c"], way);
      slow.reject(new Down());
      await call;
      assert.equal(keys.breakers.get("a").snapshot().consecutive, 1, way);
      await keys.succeed("a", "e", "f", "g");
      assert.ok(keys.evicted.includes("a"), way);
    }
  });

  test("one whose calls never end, if there is no other: those of aborted requests don't", async () => {
    const keys = new Keys(2);
    for (const key of ["a", "b", "c", "d"]) void keys.breakers.call(key, new Held().run);
    assert.deepEqual(keys.evicted, ["a", "b"]);
    assert.deepEqual(keys.full, []);
  });
});

describe("where none can be given up", () => {
  test("a new key has a breaker that isn't kept, and it is told", async () => {
    const keys = new Keys(2);
    await keys.fail("a", "a", "b", "b");
    await keys.fail("c", "c", "c", "c");
    assert.deepEqual(keys.full, ["c", "c", "c", "c"]);
    assert.deepEqual(keys.evicted, []);
    assert.deepEqual(keys.remembered, ["a", "b"]);
    const alone = keys.breakers.get("c");
    assert.notEqual(keys.breakers.get("c"), alone);
    alone.forceOpen();
    assert.equal(alone.state, "forced_open");
    assert.equal(alone.key, "c");
  });

  test("known keys are still known", async () => {
    const keys = new Keys(2);
    await keys.fail("a", "a", "b", "b");
    keys.clock.now += 1000;
    await keys.succeed("a", "b");
    assert.deepEqual(keys.full, []);
  });
});

describe("who is told of a key", () => {
  test("hears its name, key and generation, in order", async () => {
    const keys = new Keys(1);
    const told: unknown[] = [];
    keys.breakers.on("keyEvicted", (event) => told.push(event));
    keys.breakers.on("keysFull", (event) => told.push(event));
    const a = keys.breakers.get("a");
    a.forceOpen();
    a.close();
    await keys.succeed("b");
    await keys.fail("b", "b");
    keys.breakers.get("c");
    assert.deepEqual(told, [
      { type: "keyEvicted", breaker: "hosts", key: "a", generation: 2, sequence: 1 },
      { type: "keysFull", breaker: "hosts", key: "c", generation: 0, sequence: 2 },
    ]);
  });

  test("finds the new key kept, and the old one not", async () => {
    const keys = new Keys(2);
    const seen: unknown[] = [];
    keys.breakers.on("keyEvicted", ({ key }) => {
      seen.push([key, keys.remembered, keys.breakers.size]);
    });
    await keys.succeed("a", "b", "c");
    assert.deepEqual(seen, [["a", ["b", "c"], 2]]);
  });

  test("gets one breaker for the new key, the same as whoever asked for it", async () => {
    const keys = new Keys(2);
    const got: unknown[] = [];
    keys.breakers.on("keyEvicted", () => got.push(keys.breakers.get("c")));
    await keys.succeed("a", "b");
    const asked = keys.breakers.get("c");
    assert.deepEqual(got, [asked]);
    assert.equal(keys.breakers.get("c"), asked);
    assert.equal(keys.breakers.size, 2);
  });

  for (const [asks, ask] of [
    ["the key that was given up", (key: string) => key],
    ["another new key", (key: string) => `${key}'`],
  ] as [string, (key: string) => string][]) {
    for (const maxKeys of [1, 2, 50]) {
      test(`may ask for ${asks}, of ${maxKeys}: nothing is given up for it`, async () => {
        const keys = new Keys(maxKeys);
        keys.breakers.on("keyEvicted", ({ key }) => {
          keys.breakers.get(ask(String(key))).snapshot();
          assert.equal(keys.breakers.size, maxKeys);
        });
        const asked = Array.from({ length: 200 }, (_, n) => `h${n}`);
        for (const key of asked) {
          const breaker = keys.breakers.get(key);
          assert.equal(keys.breakers.get(key), breaker);
          assert.equal(keys.breakers.size, Math.min(maxKeys, asked.indexOf(key) + 1));
        }
        assert.equal(keys.evicted.length, 200 - maxKeys);
        assert.deepEqual(keys.full, []);
      });
    }
  }

  test("may do so where a listener of something else asked for the new key", async () => {
    for (const maxKeys of [1, 2, 10]) {
      const keys = new Keys(maxKeys);
      const asks = (key: unknown) => {
        // Else it would go on for ever.
        if (keys.evicted.length + keys.full.length < 100) keys.breakers.get(String(key));
      };
      keys.breakers.on("keyEvicted", ({ key }) => asks(key));
      keys.breakers.on("keysFull", ({ key }) => asks(`${String(key)}'`));
      await keys.succeed(...Array.from({ length: maxKeys - 1 }, (_, n) => `h${n}`));
      keys.breakers.on("open", () => keys.breakers.get("backup").forceOpen());
      await keys.fail("down", "down");
      assert.equal(keys.breakers.size, maxKeys);
      assert.equal(keys.evicted.length + keys.full.length, 1);
      const kept = maxKeys > 1;
      assert.equal(keys.breakers.get("backup").state, kept ? "forced_open" : "closed");
    }
  });

  test("may ask for the key that there was no place for", async () => {
    const keys = new Keys(1);
    await keys.fail("a", "a");
    let told = 0;
    keys.breakers.on("keysFull", ({ key }) => {
      told += 1;
      keys.breakers.get(String(key)).close();
    });
    keys.breakers.get("b");
    assert.equal(told, 1);
    keys.breakers.get("b");
    assert.equal(told, 2);
  });

  test("may throw: the key is there all the same, and the next one is told of", async (context) => {
    const written = context.mock.method(console, "error", () => {});
    const keys = new Keys(1);
    const broken = new Error("broken");
    keys.breakers.on("keyEvicted", () => {
      throw broken;
    });
    await keys.succeed("a", "b", "c");
    assert.deepEqual(keys.evicted, ["a", "b"]);
    assert.deepEqual(keys.remembered, ["c"]);
    assert.deepEqual(
      written.mock.calls.map((call) => call.arguments),
      [[broken], [broken]],
    );
  });
});

describe("a breaker that was given up", () => {
  test("is told so itself; who listens to it hears of it, and not of its successor", async () => {
    const keys = new Keys(1, { threshold: 1 });
    const old = keys.breakers.get("a");
    const heard: unknown[] = [];
    old.on("keyEvicted", ({ key, sequence }) => heard.push(["keyEvicted", key, sequence]));
    old.on("open", ({ key, sequence }) => heard.push(["open", key, sequence]));
    await keys.succeed("b");
    await keys.fail("a");
    assert.equal(keys.breakers.get("a").state, "open");
    assert.deepEqual(heard, [["keyEvicted", "a", 1]]);
    await ended(old.call(fail));
    assert.deepEqual(heard, [
      ["keyEvicted", "a", 1],
      // Of its successor nobody wanted to hear.
      ["open", "a", 3],
    ]);
  });

  test("goes on by itself for who still has it, and touches no other", async () => {
    const keys = new Keys(1);
    const old = keys.breakers.get("a");
    const guarded = old.wrap(fail);
    await keys.succeed("b");
    assert.deepEqual(keys.evicted, ["a"]);
    const others = Array.from({ length: 100 }, () => new Keys(1).breakers.get("b"));
    await ended(guarded());
    await ended(guarded());
    assert.equal(old.state, "open");
    assert.ok((await ended(guarded())) instanceof CircuitOpenError);
    for (const other of others) assert.equal(other.state, "closed");
    const fresh = keys.breakers.get("a");
    assert.notEqual(fresh, old);
    assert.equal(fresh.state, "closed");
    assert.equal(old.key, "a");
  });

  test("that somebody came by while walking over the keys is still that of its key", async () => {
    const keys = new Keys(3);
    await keys.succeed("a", "b", "c");
    const walked: string[] = [];
    for (const [key, breaker] of keys.breakers) {
      walked.push(key);
      if (walked.length === 1) await keys.succeed("d", "e", "f", "g");
      breaker.forceOpen();
    }
    assert.deepEqual(walked, ["a", "b", "c"]);
    assert.deepEqual(keys.remembered, ["e", "f", "g"]);
    await keys.succeed("e", "f", "g");
  });

  test("whose call was under way settles that call, and no other's", async () => {
    const keys = new Keys(1, { threshold: 1 });
    const slow = new Held();
    const call = ended(keys.breakers.call("a", slow.run));
    await keys.succeed("b");
    assert.deepEqual(keys.evicted, ["a"]);
    const opened: unknown[] = [];
    keys.breakers.on("open", ({ key }) => opened.push(key));
    slow.reject(new Down());
    assert.ok((await call) instanceof Down);
    assert.deepEqual(opened, ["a"]);
    assert.equal(keys.breakers.get("b").state, "closed");
  });

  for (const way of ["get", "call", "wrap"] as const) {
    test(`while it was being asked for, by ${way}, is its caller's, and no other's`, async () => {
      const keys = new Keys(1, { threshold: 1 });
      const first = keys.breakers.get("first");
      // What one listener causes is told before the call goes on, and gives the new key up.
      keys.breakers.on("keyEvicted", () => first.forceOpen());
      let others: CircuitBreaker[] = [];
      keys.breakers.on("stateChange", ({ key }) => {
        if (key !== "first" || others.length) return;
        keys.breakers.get("second");
        others = Array.from({ length: 10 }, () => new CircuitBreaker({ name: "other" }));
      });
      const call = {
        get: () => keys.breakers.get("a").call(fail),
        call: () => keys.breakers.call("a", fail),
        wrap: () => keys.breakers.wrap(fail, () => "a")(),
      }[way];
      assert.ok((await ended(call())) instanceof Down);
      assert.deepEqual(keys.evicted, ["first", "a"]);
      assert.equal(others.length, 10);
      for (const other of others) assert.equal(other.state, "closed");
    });
  }
});

describe("walking over the keys", () => {
  test("ends, whatever is added meanwhile, and gives each once", async () => {
    const keys = new Keys(100);
    await keys.succeed("a", "b");
    const walked: string[] = [];
    for (const [key, breaker] of keys.breakers) {
      assert.equal(breaker.key, key);
      walked.push(key);
      keys.breakers.get(`${key}${key}`);
    }
    assert.deepEqual(walked, ["a", "b"]);
    assert.deepEqual(keys.remembered, ["a", "aa", "b", "bb"]);
  });

  test("gives the breakers that get gives", async () => {
    const keys = new Keys(10);
    const breakers = ["a", "b", "c"].map((key) => keys.breakers.get(key));
    assert.deepEqual(
      [...keys.breakers].map(([, breaker]) => breaker),
      breakers,
    );
    assert.equal(new Map(keys.breakers).get("b"), breakers[1]);
  });
});
